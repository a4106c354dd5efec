# SPDX-License-Identifier: Apache-2.0
"""A namespace of a real API server in which the test plays Karmada's part: it writes what the
resource detector, the scheduler and the dependencies distributor write, each under its own name.
Every story has a namespace of its own, so that all may use one server."""
import json
import os
import subprocess
import tempfile
import threading
import time

from api_client import KARMADA, USER
from exporter import PROGRAM, equal
from written import portable, second_of

POLICY_API = "policy.karmada.io/v1alpha1"
BINDING_API = "work.karmada.io/v1alpha2"
SCHEDULER = "karmada-scheduler"
KEY = "propagationpolicy.karmada.io/"
APIS = {"Deployment": "apps/v1", "HorizontalPodAutoscaler": "autoscaling/v2"}
# What Karmada copies from a policy into its bindings.
COPIED = ("placement", "conflictResolution", "preserveResourcesOnDeletion", "propagateDeps",
          "failover", "suspension", "schedulerName")
PREEMPTION = ("--karmada.feature-gates", "PropagationPolicyPreemption=true")
# Whatever is different counts at once: nobody waits here for a Karmada that is slow.
AT_ONCE = ("--rules.grace", "0s")


class Repeating:
    """A block with a thread that calls look() until the end of the block, where an error of look() is raised."""

    def __init__(self):
        self.going, self.error = True, None
        self.thread = threading.Thread(target=self.go_on)

    def go_on(self):
        try:
            while self.going:
                self.look()
                time.sleep(0.02)
        except Exception as error:  # pylint: disable=broad-except
            self.error = error

    def look(self):
        raise NotImplementedError

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.going = False
        self.thread.join()
        if self.error:
            raise self.error


def clusters(*names):
    """Member clusters that policies may name."""
    return [{"apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster",
             "metadata": {"name": name}, "spec": {"syncMode": "Push"}} for name in names]


def on(*names):
    """A placement on these clusters, as a part of a policy's spec."""
    return {"placement": {"clusterAffinity": {"clusterNames": list(names)}}}


def selecting(kind, name=None, api=None, **labels):
    """A resource selector, as a policy has it."""
    return {"apiVersion": api or APIS.get(kind, "v1"), "kind": kind,
            **({"name": name} if name else {}),
            **({"labelSelector": {"matchLabels": labels}} if labels else {})}


def words_of(template):
    """Its state in one line."""
    words = (template["state"], template.get("reason"), template.get("phase"))
    return " ".join(word for word in words if word)


class Story:
    """The namespace, and what the program says of it."""

    def __init__(self, server, namespace):
        self.server, self.client, self.namespace = server, server.admin, namespace
        self.client.create({"apiVersion": "v1", "kind": "Namespace",
                            "metadata": {"name": namespace}})

    # ---- objects, as users write them

    def template(self, kind, name, *, labels=None, **spec):
        return portable({"apiVersion": APIS.get(kind, "v1"), "kind": kind,
                         "metadata": {"name": name, "namespace": self.namespace,
                                      "labels": labels or {}},
                         **({"spec": {"replicas": 2, **spec}} if kind == "Deployment" else spec)})

    def workload(self, name, *configs, **how):
        """A Deployment that mounts these ConfigMaps."""
        made = self.template("Deployment", name, **how)
        made["spec"]["template"]["spec"]["volumes"] = [
            {"name": config, "configMap": {"name": config}} for config in configs]
        return made

    def policy(self, name, *selectors, **spec):
        """It selects these, or the Deployment `web`; as Karmada's webhook completes it."""
        selectors = selectors or (selecting("Deployment", "web"),)
        return {"apiVersion": POLICY_API, "kind": "PropagationPolicy",
                "metadata": {"name": name, "namespace": self.namespace,
                             "labels": {KEY + "permanent-id": f"id-{self.namespace}-{name}"}},
                "spec": {"resourceSelectors": [{**s, "namespace": self.namespace}
                                               for s in selectors],
                         **({} if "placement" in spec else on("member1")), **spec}}

    def write(self, *objects):
        for obj in objects:
            self.client.apply(obj, USER)

    def change(self, obj, change):
        self.client.patch(obj, change, USER)

    def scale(self, template, replicas):
        self.change(template, {"spec": {"replicas": replicas}})

    def change_later(self, obj, change):
        """So much later than Karmada's last write that the recorded seconds prove it."""
        written = self.client.get(self.binding_of(obj))["metadata"]["managedFields"]
        newest = max(second_of(field["time"]) for field in written)
        time.sleep(max(0.0, newest + 2.02 - time.time()))
        self.change(obj, change)

    # ---- what Karmada makes of them

    def claim(self, template, policy):
        """The detector's claim, on a template or on a binding."""
        claim = claim_of(policy)
        return self.client.patch(template, {"metadata": claim}, KARMADA)

    def release(self, template, policy):
        """The claim is taken back, as when the policy is deleted or selects something else."""
        nothing = {field: {key: None for key in keys} for field, keys in claim_of(policy).items()}
        for obj in (self.binding_of(template), template):
            if self.client.get(obj):
                self.client.patch(obj, {"metadata": nothing}, KARMADA)

    def apply(self, template, policy, **spec):
        """The detector claims the template and makes its binding, or makes it over."""
        there = self.claim(template, policy)
        binding = self.binding_of(template)
        old, new = self.client.get(binding), self.made_of(there)
        new["metadata"] |= claim_of(policy)
        new["spec"] |= {field: policy["spec"][field] for field in COPIED
                        if field in policy["spec"]}
        new["spec"] |= {"schedulerName": "default-scheduler", **spec}
        if old:
            for field in COPIED:
                new["spec"].setdefault(field, None)
        self.client.apply(new, KARMADA)
        return self.schedule(template, policy)

    def follow(self, template, **spec):
        """The detector brings the template's present version into its binding."""
        made = self.made_of(self.client.get(template))
        self.client.patch(made, {"spec": {**made["spec"], **spec}}, KARMADA)

    def schedule(self, template, policy):
        names = policy["spec"]["placement"]["clusterAffinity"]["clusterNames"]
        replicas = template.get("spec", {}).get("replicas")
        applied = json.dumps(policy["spec"]["placement"])
        return self.client.patch(self.binding_of(template), {
            "metadata": {"annotations": {"policy.karmada.io/applied-placement": applied}},
            "spec": {"clusters": [{"name": name, **({"replicas": replicas} if replicas else {})}
                                  for name in names]}}, SCHEDULER)

    def attach(self, dependency, *referrers, **spec):
        """The distributor's binding of a dependency that these need, and its note on theirs."""
        made = self.made_of(self.client.get(dependency))
        bindings = [self.client.get(self.binding_of(referrer)) for referrer in referrers]
        made["spec"] |= {"requiredBy": [
            {"namespace": self.namespace, "name": b["metadata"]["name"],
             "clusters": b["spec"]["clusters"]} for b in bindings], **spec}
        self.client.apply(made, KARMADA)
        note = json.dumps([{key: made["spec"]["resource"][key]
                            for key in ("apiVersion", "kind", "namespace", "name")}])
        for binding in bindings:
            self.client.patch(binding, {"metadata": {"annotations": {
                "resourcebinding.karmada.io/dependencies": note}}}, KARMADA)

    def binding_of(self, template):
        name = f"{template['metadata']['name']}-{template['kind']}".lower()
        return {"apiVersion": BINDING_API, "kind": "ResourceBinding",
                "metadata": {"name": name, "namespace": self.namespace}}

    def made_of(self, there):
        """The binding of a template as the server has it, without a policy's part."""
        meta, identity = there["metadata"], {key: there[key] for key in ("apiVersion", "kind")}
        binding = self.binding_of(there)
        binding["metadata"] |= {
            "finalizers": ["karmada.io/binding-controller"],
            "ownerReferences": [{**identity, "name": meta["name"], "uid": meta["uid"],
                                 "controller": True}]}
        replicas = there.get("spec", {}).get("replicas")
        binding["spec"] = {
            "resource": {**identity, **{key: meta[key] for key in
                                        ("namespace", "name", "uid", "resourceVersion")}},
            **({"replicas": replicas} if replicas else {})}
        return binding

    # ---- what the program says

    def run(self, verb, *arguments, change=()):
        """Its exit status and output. `change` is given to it as a file."""
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump({"apiVersion": "v1", "kind": "List", "items": list(change)}, file)
            file.flush()
            arguments = [*arguments, *(["-f", file.name] if change else [])]
            done = subprocess.run(
                [PROGRAM, verb, "--kubeconfig", self.server.kubeconfig(), "--namespaces",
                 self.namespace, *map(str, arguments)], capture_output=True, text=True, timeout=60,
                check=False, env={**os.environ, "COLUMNS": "400"})
        assert done.returncode in (0, 1), f"{done.returncode}: {done.stderr}"
        return done.returncode, done.stdout

    def json(self, verb, *arguments, **how):
        return json.loads(self.run(verb, "-o", "json", *arguments, **how)[1])

    def explain(self, name, *arguments):
        kind, name = name.split("/")
        return self.run("explain", *AT_ONCE, *arguments, f"{kind}/{self.namespace}/{name}")[1]

    def templates(self, *arguments):
        said = self.json("check", *AT_ONCE, *arguments)
        return {t["name"]: t for t in said["templates"] if t["namespace"] == self.namespace}

    def states(self, *arguments):
        """{name: its state in one line}"""
        return {name: words_of(t) for name, t in self.templates(*arguments).items()}

    def stands(self, name):
        """(state, reason, policy that has claimed it, clusters) of a template."""
        said = self.templates()[name]
        bound = self.client.get(self.binding_of({"kind": said["kind"],
                                                 "metadata": {"name": name}}))
        holder = said["claimed"] or (said["policy"] if said["state"] == "unbound" else None)
        return (said["state"], said.get("reason"), holder and holder["name"],
                [c["name"] for c in (bound or {"spec": {}})["spec"].get("clusters", [])])

    def plan(self, *change, delete=(), gates=PREEMPTION):
        """The plan of a change."""
        return self.json("plan", *AT_ONCE, *gates, *(f"--delete={name}" for name in delete),
                         change=change)

    def foresee(self, name, when, after, *change, **how):
        """The plan says so of the one template that it touches; `after` as from stands()."""
        said = self.plan(*change, **how)
        equal([(t["name"], t["when"], outcome_of(t["after"])) for t in said["templates"]],
              [(name, when, after)])
        equal(said["settled"], True)
        return said["templates"][0]


class Others:
    """Somebody else who writes something else all the time; `write` gets a client and a count."""

    def __init__(self, server, write):
        self.client, self.write = server.admin.another(), write
        self.writes, self.going = 0, True
        self.thread = threading.Thread(target=self.go_on)

    def go_on(self):
        while self.going:
            self.write(self.client, self.writes)
            self.writes += 1

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.going = False
        self.thread.join()


def bound(server, namespace, name="p", *, labels=None, **spec):
    """(story, the Deployment web, the policy of this name that has bound it)"""
    story = Story(server, namespace)
    web, policy = story.template("Deployment", "web", labels=labels), story.policy(name, **spec)
    story.write(policy, web)
    story.apply(web, policy)
    return story, web, policy


def outcome_of(outcome):
    return (outcome["state"], outcome.get("reason"), (outcome["policy"] or {}).get("name"),
            [c["cluster"] for c in outcome.get("clusters", [outcome.get("undetermined")])])


def claim_of(policy):
    meta = policy["metadata"]
    return {"labels": dict(meta["labels"]),
            "annotations": {KEY + "name": meta["name"], KEY + "namespace": meta["namespace"]}}
