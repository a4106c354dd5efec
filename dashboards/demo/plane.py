# SPDX-License-Identifier: Apache-2.0
"""A Karmada control plane in a folder: what users write, and what Karmada writes in answer.

Every object is one file. Karmada's part is small, but the objects look as a real control plane
leaves them: claims as labels and annotations, bindings with copied fields, dependencies with
requiredBy, times in managedFields, and in each binding's status what became of it in the member
clusters. Whatever is in `stuck` Karmada forgets, so that there is something to be overdue; what is
in `asleep` its scheduler forgets; `trouble` is what the member clusters make of a template.
"""
import copy
import datetime
import json
import pathlib
import time

TEMPLATES = ("Deployment", "ConfigMap", "PubSubTopic")
OVERWRITE, ABORT = "Overwrite", "Abort"
COPIED = ("conflictResolution", "preserveResourcesOnDeletion", "propagateDeps", "schedulerName",
          "suspension")


def stamp(when):
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")


def named(obj):
    return obj["metadata"].get("namespace", ""), obj["metadata"]["name"]


def identity(obj):
    return obj["kind"], obj["metadata"].get("namespace", ""), obj["metadata"]["name"]


class Plane:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        # The cloud's side of Config Connector: an export beside the manifests.
        self.assets = self.folder.with_name(self.folder.name + ".assets.json")
        self.objects, self.stuck, self.ids, self.version = {}, set(), 0, 0
        self.asleep, self.drained = set(), set()
        # By (namespace, name) of a template: `failure` of the scheduler (reason, message), and by
        # cluster `messages` of what was not applied, `health`, and `late`: not delivered yet.
        self.trouble = {}
        self.ago = datetime.timedelta()

    # ---- what users write

    def cluster(self, name, cpu, memory, used_cpu, used_memory, coming=None):
        self.write({
            "apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster",
            "metadata": {"name": name, "labels": {"env": "demo"}}, "spec": {"region": "eu"},
            "status": {"conditions": [{"type": "Ready", "status": "True"}], "resourceSummary": {
                "allocatable": {"cpu": cpu, "memory": memory, "pods": "110"},
                "allocated": {"cpu": used_cpu, "memory": used_memory, "pods": "20"},
                "allocating": coming or {}}}})

    def drain(self, name, down=True):
        """It does not answer, and its taint moves off what does not tolerate it; or it is back."""
        cluster = self.objects[("Cluster", "", name)]
        (self.drained.add if down else self.drained.discard)(name)
        taint = {"key": "cluster.karmada.io/not-ready", "effect": "NoExecute"}
        self.write({**cluster, "spec": {"region": "eu", **({"taints": [taint]} if down else {})},
                    "status": {**cluster["status"], "conditions": [
                        {"type": "Ready", "status": "False" if down else "True"}]}})
        self.settle()

    def end_evictions(self):
        """The time of every task is over."""
        for binding in self.bindings():
            if binding["spec"].pop("gracefulEvictionTasks", None):
                self.write(binding, "karmada-controller-manager")
        self.report()

    def policy(self, namespace, name, clusters, *, selects=None, divide="Duplicated", lazy=False,
               **spec):
        """A PropagationPolicy, or without namespace a ClusterPropagationPolicy."""
        kind = "PropagationPolicy" if namespace else "ClusterPropagationPolicy"
        before = self.objects.get((kind, namespace, name))
        self.ids += not before
        selectors = [{"apiVersion": "apps/v1", "kind": "Deployment", **s} for s in selects or [{}]]
        self.user_writes({
            "apiVersion": "policy.karmada.io/v1alpha1", "kind": kind,
            "metadata": {"name": name, **({"namespace": namespace} if namespace else {}),
                         "labels": before["metadata"]["labels"] if before else {
                             self.key(namespace, "permanent-id"): f"demo-{self.ids}"}},
            "spec": {"resourceSelectors": selectors, "placement": placement(clusters, divide),
                     "preemption": "Never", "priority": 0, "propagateDeps": True,
                     "conflictResolution": ABORT, "preserveResourcesOnDeletion": False,
                     "schedulerName": "default-scheduler",
                     **({"activationPreference": "Lazy"} if lazy else {}), **spec}})
        self.settle()

    def template(self, namespace, name, *, replicas=2, cpu="250m", memory="512Mi", mounts=None):
        volumes = [{"name": "config", "configMap": {"name": mounts}}] if mounts else []
        container = {"name": "app", "image": "nginx",
                     "resources": {"requests": {"cpu": cpu, "memory": memory}}}
        self.user_writes({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": name, "namespace": namespace, "labels": {
                "app": name, "team": f"{namespace}-team"}},
            "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}},
                     "template": {"metadata": {"labels": {"app": name}},
                                  "spec": {"containers": [container], "volumes": volumes}}}})
        self.settle()

    def config_map(self, namespace, name, **values):
        self.user_writes({"apiVersion": "v1", "kind": "ConfigMap",
                          "metadata": {"name": name, "namespace": namespace}, "data": values or {"a": "b"}})
        self.settle()

    def topic(self, namespace, name, cloud_name):
        self.user_writes({
            "apiVersion": "pubsub.cnrm.cloud.google.com/v1beta1", "kind": "PubSubTopic",
            "metadata": {"name": name, "namespace": namespace, "annotations": {
                "cnrm.cloud.google.com/project-id": "demo",
                "cnrm.cloud.google.com/management-conflict-prevention-policy": "resource"}},
            "spec": {"resourceID": cloud_name}})
        self.settle()

    def leases(self, holder, **left_s):
        """The export, with the seconds that the lease of each topic has left."""
        lines = [json.dumps({
            "name": f"//pubsub.googleapis.com/projects/demo/topics/{name}",
            "asset_type": "pubsub.googleapis.com/Topic", "resource": {"data": {"labels": {
                "managed-by-cnrm": "true", "cnrm-lease-holder-id": holder,
                "cnrm-lease-expiration": str(int(time.time() + left))}}}})
            for name, left in left_s.items()]
        beside = self.assets.with_name(self.assets.name + "~")
        beside.write_text("\n".join(lines) + "\n")
        beside.rename(self.assets)

    def touch(self, namespace, name):
        """Its user changes a template: what was deferred is done."""
        template = self.objects[("Deployment", namespace, name)]
        template["spec"]["template"]["metadata"].setdefault("annotations", {})["touched"] = (
            stamp(self.now()))
        self.user_writes(template)
        policy = self.claimed(template) or self.best(template)
        if policy:
            self.bind(template, policy)
        self.settle()

    def delete(self, kind, namespace, name):
        gone = self.objects.pop((kind, namespace, name))
        self.path(gone).unlink()
        if kind.endswith("PropagationPolicy"):
            for template in self.templates():
                if (self.claim(template) == (kind, namespace, name)
                        and template["metadata"]["name"] not in self.stuck):
                    self.release(template)
        binding = self.objects.get(self.binding_of(gone))
        if binding:
            self.delete(*identity(binding))
        self.settle()

    # ---- what Karmada writes

    def settle(self):
        for template in self.templates():
            if template["metadata"]["name"] in self.stuck:
                continue
            policy = self.claimed(template)
            if policy and not selects(policy, template):
                self.release(template)
                policy = None
            held = policy or self.claim(template)
            policy = policy or (None if held else self.best(template))
            bound = self.objects.get(self.binding_of(template))
            lazy = policy and policy["spec"].get("activationPreference") == "Lazy"
            if policy and not (lazy and bound):
                self.bind(template, policy)
        for template in self.templates():
            if template["kind"] == "ConfigMap" and template["metadata"]["name"] not in self.stuck:
                self.attach(template)
        self.report()

    def bind(self, template, policy):
        """Claim the template, and copy to its binding what the policy says."""
        meta, spec = template["metadata"], policy["spec"]
        namespace = policy["metadata"].get("namespace", "")
        claim = {"labels": {**policy["metadata"]["labels"]}, "annotations": {
            self.key(namespace, "name"): policy["metadata"]["name"],
            **({self.key(namespace, "namespace"): namespace} if namespace else {})}}
        for field, keys in claim.items():
            meta[field] = {**meta.get(field, {}), **keys}
        self.write(template)
        before = self.objects.get(self.binding_of(template), {}).get("spec", {})
        annotations = {**claim["annotations"],
                       "policy.karmada.io/applied-placement": json.dumps(spec["placement"])}
        self.karmada_writes({
            "apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding",
            "metadata": {"name": self.binding_of(template)[2], "namespace": meta["namespace"],
                         "labels": claim["labels"], "annotations": annotations},
            "spec": {"resource": reference(template), **requirements(template),
                     **self.schedule(template, spec["placement"], before),
                     "placement": copy.deepcopy(spec["placement"]),
                     **{field: spec[field] for field in COPIED if field in spec}}})

    def schedule(self, template, where, before):
        """The clusters of a binding, and the tasks that move it off drained ones."""
        held = before.get("clusters", [])
        if self.trouble.get(named(template), {}).get("failure"):
            return {"clusters": held}
        left = set() if "clusterTolerations" in where else self.drained
        clusters = divide(template.get("spec", {}).get("replicas", 0), where, self.members() - left)
        kept = [t for t in before.get("gracefulEvictionTasks", [])
                if t["fromCluster"] in self.drained]
        tasks = kept + [{"fromCluster": c["name"], "purgeMode": "Gracefully",
                         "reason": "TaintUntolerated", "producer": "TaintManager",
                         "creationTimestamp": stamp(self.now())}
                        for c in held if c["name"] in left]
        return {"clusters": clusters, **({"gracefulEvictionTasks": tasks} if tasks else {})}

    def release(self, template):
        """The claim goes from template and binding; what runs goes on."""
        for obj in (template, self.objects.get(self.binding_of(template))):
            if obj:
                for field in ("labels", "annotations"):
                    obj["metadata"][field] = {
                        k: v for k, v in obj["metadata"].get(field, {}).items()
                        if "propagationpolicy.karmada.io/" not in k}
                self.write(obj)

    def attach(self, config):
        """The binding of a dependency: any Overwrite wins over Abort, any true over false."""
        namespace, name = config["metadata"]["namespace"], config["metadata"]["name"]
        referrers = []
        for template in self.templates():
            volumes = template.get("spec", {}).get("template", {}).get("spec", {}).get("volumes")
            binding = self.objects.get(self.binding_of(template))
            mounted = [v["configMap"]["name"] for v in volumes or []]
            if binding and name in mounted and template["metadata"]["namespace"] == namespace:
                referrers.append(binding["spec"] | {"name": binding["metadata"]["name"]})
        binding = self.objects.get(self.binding_of(config))
        if not referrers:
            return
        required = {"requiredBy": [{"namespace": namespace, "name": r["name"],
                                    "clusters": r["clusters"]} for r in referrers]}
        if binding and "placement" in binding["spec"]:
            # It has a policy of its own, whose values stand.
            self.karmada_writes({**binding, "spec": {**binding["spec"], **required}})
            return
        resolved = {
            "conflictResolution": OVERWRITE if any(
                r["conflictResolution"] == OVERWRITE for r in referrers) else ABORT,
            "preserveResourcesOnDeletion": any(r["preserveResourcesOnDeletion"]
                                               for r in referrers)}
        self.karmada_writes({
            "apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding",
            "metadata": {"name": self.binding_of(config)[2], "namespace": namespace},
            "spec": {"resource": reference(config), **resolved, **required}})
        self.tell_of_conflict(namespace, self.binding_of(config)[2], referrers)

    def tell_of_conflict(self, namespace, binding, referrers):
        texts = [f"{title} conflicted ({one} vs {other})" for title, field, one, other in (
            ("ConflictResolution", "conflictResolution", OVERWRITE, ABORT),
            ("PreserveResourcesOnDeletion", "preserveResourcesOnDeletion", "true", "false"))
            if len({r[field] for r in referrers}) > 1]
        if texts:
            key = ("Event", namespace, binding + ".conflict")
            count = self.objects.get(key, {}).get("count", 0) + 1
            self.write({"apiVersion": "v1", "kind": "Event",
                        "metadata": {"namespace": namespace, "name": key[2]},
                        "involvedObject": {"apiVersion": "work.karmada.io/v1alpha2",
                                           "kind": "ResourceBinding", "namespace": namespace,
                                           "name": binding},
                        "reason": "DependencyPolicyConflict", "type": "Warning", "count": count,
                        "message": f"Dependency policy conflict detected: {'; '.join(texts)}.",
                        "source": {"component": "dependencies-distributor"}})

    # ---- what became of it

    def report(self):
        """The status of every binding, as scheduler and member clusters have it now."""
        for binding in self.bindings():
            of = binding["spec"]["resource"]
            template = self.objects.get((of["kind"], of["namespace"], of["name"]))
            if template:
                status = self.status(binding, template)
                if binding.get("status") != status:
                    self.write({**binding, "status": status})

    def status(self, binding, template):
        meta, spec, before = binding["metadata"], binding["spec"], binding.get("status", {})
        trouble = self.trouble.get(named(template), {})
        targets = [c["name"] for c in spec.get("clusters", [])] + [
            c["name"] for r in spec.get("requiredBy", []) for c in r.get("clusters", [])]
        items = [item for name in sorted(set(targets))
                 for item in self.item(name, template, spec, trouble, before)]
        conditions, placed = {}, "placement" in spec
        if placed:
            conditions["Scheduled"] = trouble.get("failure") or (
                ("Success", "Binding has been scheduled successfully.") if targets else
                ("NoClusterFit", f"0/{len(self.members())} clusters are available."))
        if not targets:
            # Nothing is left that Karmada would hear of: it goes on saying what it said last.
            items = before.get("aggregatedStatus", [])
        if items:
            whole = len(items) >= len(set(targets)) and all(i.get("applied") for i in items)
            conditions["FullyApplied"] = (
                f"FullyApplied{'Success' if whole else 'Failed'}", "See status.aggregatedStatus.")
        status = {"conditions": [self.condition(name, *why, before)
                                 for name, why in conditions.items()], "aggregatedStatus": items}
        if placed and conditions["Scheduled"][0] == "Success":
            groups = spec["placement"].get("clusterAffinities", [])
            status |= {
                "schedulerObservedGeneration": meta["generation"] - (named(template) in self.asleep),
                "lastScheduledTime": meta["managedFields"][0]["time"],
                **{"schedulerObservingAffinityName": g["affinityName"] for g in groups
                   if targets[0] in g["clusterNames"]}}
        return status

    def condition(self, name, reason, message, before):
        status = "True" if reason.endswith("Success") else "False"
        held = [c for c in before.get("conditions", []) if (c["type"], c["status"]) == (name, status)]
        return {"type": name, "status": status, "reason": reason, "message": message,
                "lastTransitionTime": held[0]["lastTransitionTime"] if held else stamp(self.now())}

    def item(self, cluster, template, spec, trouble, before):
        """What a member cluster has: one item or none. What does not reach it changes nothing."""
        suspended = spec.get("suspension", {}).get("dispatchingOnClusters", {})
        if (cluster in self.drained or cluster in trouble.get("late", ())
                or cluster in suspended.get("clusterNames", ())):
            return [i for i in before.get("aggregatedStatus", []) if i["clusterName"] == cluster]
        message = trouble.get("messages", {}).get(cluster)
        if message:
            return [{"clusterName": cluster, "health": "Unknown", "appliedMessage": message}]
        health = trouble.get("health", {}).get(cluster, "Healthy")
        replicas = template.get("spec", {}).get("replicas", 0)
        status = {"resourceTemplateGeneration": template["metadata"]["generation"], "generation": 1,
                  "observedGeneration": 1, "replicas": replicas,
                  "updatedReplicas": 0 if health == "Rolling" else replicas}
        return [{"clusterName": cluster, "applied": True,
                 "health": "Unhealthy" if health == "Rolling" else health,
                 **({"status": status} if template["kind"] == "Deployment" else {})}]

    # ---- who selects what

    def best(self, template):
        namespace = template["metadata"]["namespace"]
        matches = [p for p in self.objects.values() if p["kind"].endswith("PropagationPolicy")
                   and p["metadata"].get("namespace", namespace) == namespace
                   and selects(p, template)]
        return min(matches, default=None, key=lambda p: (
            p["kind"] != "PropagationPolicy", -p["spec"]["priority"], p["metadata"]["name"]))

    def claim(self, template):
        notes = template["metadata"].get("annotations", {})
        if self.key("ns", "name") in notes:
            return ("PropagationPolicy", notes[self.key("ns", "namespace")],
                    notes[self.key("ns", "name")])
        if self.key("", "name") in notes:
            return "ClusterPropagationPolicy", "", notes[self.key("", "name")]
        return None

    def claimed(self, template):
        return self.objects.get(self.claim(template))

    @staticmethod
    def key(namespace, word):
        return f"{'' if namespace else 'cluster'}propagationpolicy.karmada.io/{word}"

    @staticmethod
    def binding_of(template):
        kind, namespace, name = identity(template)
        return "ResourceBinding", namespace, f"{name}-{kind}".lower()

    def members(self):
        return {name for kind, _, name in self.objects if kind == "Cluster"}

    def bindings(self):
        return [o for o in list(self.objects.values()) if o["kind"] == "ResourceBinding"]

    def templates(self):
        return [o for o in list(self.objects.values()) if o["kind"] in TEMPLATES]

    # ---- writing

    def now(self):
        return datetime.datetime.now(datetime.timezone.utc) - self.ago

    def user_writes(self, obj):
        self.write(obj, "kubectl")

    def karmada_writes(self, obj):
        before = self.objects.get(identity(obj))
        if before is None or before["spec"] != obj["spec"]:
            self.write({**({"status": before["status"]} if before and "status" in before else {}),
                        **obj}, "karmada-controller-manager")

    def write(self, obj, manager=None):
        before = self.objects.get(identity(obj))
        meta = obj["metadata"]
        if before:
            old = before["metadata"]
            meta.update({k: v for k, v in old.items() if k not in meta})
        meta.setdefault("creationTimestamp", stamp(self.now()))
        if manager:
            # Karmada's writes to a template are no news: bindings hold the version of its user's.
            self.version += 1
            meta["resourceVersion"] = str(self.version)
            meta["generation"] = meta.get("generation", 0) + 1
            meta["managedFields"] = [{"manager": manager, "operation": "Update",
                                      "time": stamp(self.now()), "fieldsV1": {"f:spec": {}}}]
        self.objects[identity(obj)] = obj
        path = self.path(obj)
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(path.name + "~")
        beside.write_text(json.dumps(obj, indent=2) + "\n")
        beside.rename(path)

    def path(self, obj):
        kind, namespace, name = identity(obj)
        return self.folder / (namespace or "cluster-wide") / f"{kind.lower()}-{name}.json"


def placement(clusters, how):
    """`clusters`: names, or names with weights for a Divided placement."""
    affinity = {"clusterAffinity": {"clusterNames": list(clusters)}}
    if how == "Aggregated":
        return {**affinity, "replicaScheduling": {"replicaSchedulingType": "Divided",
                                                  "replicaDivisionPreference": "Aggregated"}}
    if isinstance(clusters, dict):
        weights = [{"targetCluster": {"clusterNames": [name]}, "weight": weight}
                   for name, weight in clusters.items()]
        return {**affinity, "replicaScheduling": {
            "replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted",
            "weightPreference": {"staticWeightList": weights}}}
    return affinity


def divide(replicas, where, ready):
    """Roughly as the scheduler would; of several groups the first that has a cluster."""
    groups = where.get("clusterAffinities") or [where["clusterAffinity"]]
    fit = [[name for name in group["clusterNames"] if name in ready] for group in groups]
    names = next(filter(None, fit), [])
    how = where.get("replicaScheduling", {})
    if how.get("replicaDivisionPreference") == "Aggregated":
        return [{"name": name, "replicas": replicas} for name in names[:1]]
    if "weightPreference" not in how:
        return [{"name": name, "replicas": replicas} for name in names]
    weights = {w["targetCluster"]["clusterNames"][0]: w["weight"]
               for w in how["weightPreference"]["staticWeightList"]}
    shares = {name: replicas * weight // sum(weights.values()) for name, weight in weights.items()}
    shares[names[0]] += replicas - sum(shares.values())
    return [{"name": name, "replicas": share} for name, share in shares.items() if share]


def requirements(template):
    """What the binding of a workload says of its replicas; nothing else has any."""
    if template["kind"] != "Deployment":
        return {}
    container = template["spec"]["template"]["spec"]["containers"][0]
    return {"replicas": template["spec"]["replicas"],
            "replicaRequirements": {"resourceRequest": container["resources"]["requests"]}}


def selects(policy, template):
    facts = {"apiVersion": template["apiVersion"], "kind": template["kind"],
             "namespace": template["metadata"]["namespace"], "name": template["metadata"]["name"],
            "resourceVersion": template["metadata"]["resourceVersion"]}
    fits = lambda rule: all(facts.get(key) == value for key, value in rule.items())  # noqa: E731
    spec = policy["spec"]
    return (any(map(fits, spec["resourceSelectors"]))
            and not any(map(fits, spec.get("excludedResources", []))))


def reference(template):
    return {"apiVersion": template["apiVersion"], "kind": template["kind"],
            "namespace": template["metadata"]["namespace"], "name": template["metadata"]["name"],
            "resourceVersion": template["metadata"]["resourceVersion"]}
