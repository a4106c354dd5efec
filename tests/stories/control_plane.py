# SPDX-License-Identifier: Apache-2.0
"""A control plane on paper: what users do, and what Karmada would have written by then.

Two designs react. `preemption` is Karmada as it is: a policy acts at once, a claimed template
keeps its policy. `static` is the design of seed 001: a policy waits for the user's next change
of the template, and then the best-ranked one takes over. It is written from the texts, not from
the program under test, and knows one template kind: enough for the stories.
"""
import copy
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/e2e"))
from exporter import PROGRAM  # noqa: E402

# By what the stories' tables say of a template: its stage, and how far its binding has come, which
# is healthy in all clusters as soon as there is one.
STAGES = {
    "current": ("healthy", "healthy"),
    "orphaned": ("unmatched left_behind", "healthy"),
    "pending kind_not_selected": ("unmatched no_policy", "none"),
    "pending policy_gone": ("unmatched left_behind_changed", "healthy"),
    "stale policy_replaced": ("outdated policy_replaced", "healthy"),
    "stale policy_updated": ("outdated policy_updated", "healthy"),
    "stale template_updated": ("outdated template_updated", "healthy"),
    "unbound waiting": ("unbound waiting", "none"),
}
NAMESPACED, CLUSTER_WIDE = "PropagationPolicy", "ClusterPropagationPolicy"


def report(folder, *flags):
    """What `check` says of a folder, as JSON."""
    done = subprocess.run([PROGRAM, "check", "--allow-empty", "--output", "json", *flags, str(folder)],
                          capture_output=True, timeout=60, check=False)
    if done.returncode not in (0, 1):
        raise AssertionError(done.stderr.decode())
    return json.loads(done.stdout)


def describe(template):
    """A template's state in the words of the stories' tables."""
    words = [template["state"], template.get("reason"), template.get("phase")]
    words += ["+".join(template["fields"])] if template.get("fields") else []
    return " ".join(word for word in words if word)


def stage_of(template):
    """Its stage and its delivery, each with the reason."""
    return tuple(" ".join(filter(None, (template[stage], template[reason]))) or "none"
                 for stage, reason in (("stage", "stageReason"), ("delivery", "deliveryReason")))


def healthy_in(clusters):
    """What Karmada says of a binding that runs everywhere."""
    return {"conditions": [{"type": "Scheduled", "status": "True", "reason": "Success"}],
            "aggregatedStatus": [{"clusterName": name, "applied": True, "health": "Healthy"}
                                 for name in clusters]}


def name_of(policy):
    return policy["name"] if policy else "-"


class ControlPlane:
    """Objects by (kind, namespace, name), and the design that reacts to what users do."""

    def __init__(self, design, policy_kind, namespace="default"):
        self.design, self.policy_kind, self.namespace = design, policy_kind, namespace
        self.objects, self.minute, self.ids = {}, 0, 0

    # ---- what users do

    def create_policy(self, name, *, clusters, priority=0, selects=None, **spec):
        """`selects`: a list of resource selectors; every Deployment unless told."""
        self.ids += 1
        wide = self.policy_kind == CLUSTER_WIDE
        policy = {
            "apiVersion": "policy.karmada.io/v1alpha1", "kind": self.policy_kind,
            "metadata": {"name": name, "labels": {self.key("permanent-id"): f"id-{self.ids}"},
                         **({} if wide else {"namespace": self.namespace})},
            "spec": {"resourceSelectors": selects or [self.selector()], "priority": priority,
                     "placement": {"clusterAffinity": {"clusterNames": clusters}}, **spec}}
        self.put(policy)
        self.wake_waiting()

    def update_policy(self, name, *, clusters=None, **spec):
        policy = self.policy(name)
        if clusters:
            spec["placement"] = {"clusterAffinity": {"clusterNames": clusters}}
        policy["spec"].update(spec)
        self.put(policy)
        for template in self.claimed_by(name):
            if not self.selects(policy, template):
                self.release(template)
            elif self.design == "preemption":
                self.apply(template, policy)
        self.wake_waiting()

    def delete_policy(self, name):
        claimed = self.claimed_by(name)
        del self.objects[self.identity(self.policy(name))]
        for template in claimed:
            self.release(template)

    def create_template(self, name, *, kind="Deployment", namespace=None, replicas=2):
        self.put({"apiVersion": "apps/v1" if kind == "Deployment" else "v1", "kind": kind,
                  "metadata": {"name": name, "namespace": namespace or self.namespace},
                  **({"spec": {"replicas": replicas}} if kind == "Deployment" else {})})
        self.wake_waiting()

    def update_template(self, name, *, kind="Deployment", namespace=None, replicas=3,
                        karmada_sees_it=True):
        template = self.objects[(kind, namespace or self.namespace, name)]
        if kind == "Deployment":
            template["spec"]["replicas"] = replicas
        else:
            template["data"] = {"changed": str(self.minute)}
        self.put(template)
        if not karmada_sees_it:
            return
        claim = self.claim(template)
        best = self.best(template)
        if claim and self.design == "preemption":
            self.apply(template, self.policy(claim))
        elif best:
            self.apply(template, best)
        else:
            template["waiting"] = True

    # ---- what Karmada does

    def wake_waiting(self):
        """Templates that nobody propagates are taken as soon as there is a match."""
        for template in self.templates():
            unbound = self.binding(template) is None
            if not self.claim(template) and (unbound or template.get("waiting")
                                             or self.design == "preemption"):
                best = self.best(template)
                if best:
                    self.apply(template, best)

    def release(self, template):
        """The claim goes from template and binding; what runs goes on."""
        for holder in (template, self.binding(template)):
            if holder:
                holder["metadata"].pop("labels", None)
                holder["metadata"].pop("annotations", None)
        if self.design == "preemption":
            best = self.best(template)
            if best:
                self.apply(template, best)

    def apply(self, template, policy):
        """Claim the template and write its binding; scheduler and members follow at once."""
        template.pop("waiting", None)
        meta, spec = template["metadata"], policy["spec"]
        claim = {"labels": dict(policy["metadata"]["labels"]),
                 "annotations": {self.key("name"): policy["metadata"]["name"]}}
        if self.policy_kind == NAMESPACED:
            claim["annotations"][self.key("namespace")] = self.namespace
        meta.update(copy.deepcopy(claim))
        self.minute += 1
        replicas = template.get("spec", {}).get("replicas", 0)
        clusters = spec["placement"]["clusterAffinity"]["clusterNames"]
        self.objects[self.binding_identity(template)] = {
            "apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding",
            "metadata": {"name": self.binding_identity(template)[2],
                         "namespace": meta["namespace"], **claim,
                         **self.written("karmada-controller-manager")},
            "spec": {"resource": {"apiVersion": template["apiVersion"], "kind": template["kind"],
                                  "namespace": meta["namespace"], "name": meta["name"]},
                     "placement": copy.deepcopy(spec["placement"]),
                     "conflictResolution": spec.get("conflictResolution", "Abort"),
                     "replicas": replicas,
                     "clusters": [{"name": name, **({"replicas": replicas} if replicas else {})}
                                  for name in clusters],
                     "schedulerName": "default-scheduler"},
            "status": healthy_in(clusters)}

    # ---- matching, in the words of the seeds

    def best(self, template):
        matches = [p for p in self.policies() if self.selects(p, template)]
        rank = lambda p: (-p["spec"].get("priority", 0), p["metadata"]["name"])  # noqa: E731
        return min(matches, key=rank, default=None)

    @staticmethod
    def fits(rule, template):
        meta = template["metadata"]
        facts = {"apiVersion": template["apiVersion"], "kind": template["kind"],
                 "namespace": meta["namespace"], "name": meta["name"]}
        return all(facts[key] == value for key, value in rule.items())

    def selects(self, policy, template):
        spec = policy["spec"]
        return (any(self.fits(rule, template) for rule in spec["resourceSelectors"])
                and not any(self.fits(rule, template)
                            for rule in spec.get("excludedResources", [])))

    # ---- book-keeping

    @staticmethod
    def selector(kind="Deployment", **rest):
        return {"apiVersion": "apps/v1" if kind == "Deployment" else "v1", "kind": kind, **rest}

    def key(self, word):
        prefix = "cluster" if self.policy_kind == CLUSTER_WIDE else ""
        return f"{prefix}propagationpolicy.karmada.io/{word}"

    @staticmethod
    def identity(obj):
        return obj["kind"], obj["metadata"].get("namespace", ""), obj["metadata"]["name"]

    @staticmethod
    def binding_identity(template):
        meta = template["metadata"]
        return ("ResourceBinding", meta["namespace"],
                f"{meta['name']}-{template['kind']}".lower())

    def written(self, manager):
        return {"managedFields": [{"manager": manager, "operation": "Update",
                                   "time": f"2026-01-01T{self.minute // 60:02}:"
                                           f"{self.minute % 60:02}:00Z",
                                   "fieldsV1": {"f:spec": {}}}]}

    def put(self, obj):
        """A user writes an object, a minute after what was before."""
        self.minute += 1
        obj["metadata"].update(self.written("kubectl"))
        self.objects[self.identity(obj)] = obj

    def policies(self):
        return [o for o in self.objects.values() if o["kind"] == self.policy_kind]

    def policy(self, name):
        return next(p for p in self.policies() if p["metadata"]["name"] == name)

    def templates(self):
        return [o for o in self.objects.values() if o["kind"] in ("Deployment", "ConfigMap")]

    def binding(self, template):
        return self.objects.get(self.binding_identity(template))

    def claim(self, template):
        return template["metadata"].get("annotations", {}).get(self.key("name"))

    def claimed_by(self, name):
        return [t for t in self.templates() if self.claim(t) == name]

    # ---- what the exporter says of it

    def written_objects(self):
        return [{k: v for k, v in o.items() if k != "waiting"} for o in self.objects.values()]

    def states(self, *flags):
        """{"namespace/kind/name": "state reason phase fields, claimed"}, once the stages are right."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "objects.json")
            path.write_text(json.dumps({"apiVersion": "v1", "kind": "List",
                                        "items": self.written_objects()}))
            said = report(path, "--rules.takeover", self.design, *flags)
        for template in said["templates"]:
            expected = STAGES[" ".join(filter(None, (template["state"], template["reason"])))]
            if stage_of(template) != expected:
                raise AssertionError(f"{template['name']}, {describe(template)}:\n"
                                     f"  expected: {expected}\n  said:     {stage_of(template)}")
        return {f"{t['namespace']}/{t['kind']}/{t['name']}":
                f"{describe(t)}, claimed by {name_of(t['claimed'])}"
                for t in said["templates"]}
