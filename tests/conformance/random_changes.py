# SPDX-License-Identifier: Apache-2.0
"""Random control planes, random changes of them, and the placements that Karmada's scheduler makes of each change.

A control plane has member clusters and templates, each in a namespace of its own with its policy and its binding. The
model of the scheduler placed the templates, and went through a few events since: lost APIs, taints, evictions.
"""
import copy
import json

import scheduler_model as model

DEPLOYMENT = {"apiVersion": "apps/v1", "kind": "Deployment"}
CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap"}
POLICY_LABEL = "propagationpolicy.karmada.io/permanent-id"
TIME = "2026-01-01T00:00:00Z"
LATER = "2026-01-01T01:00:00Z"
LABELS = {"env": ("prod", "test"), "tier": ("a", "b", "")}
PROVIDERS, REGIONS, ZONES = ("aws", "azure", "gcp"), ("ap", "eu", "us"), ("z1", "z2", "z3", "z4")
TERMINATING = {"key": "cluster.karmada.io/terminating", "effect": "NoExecute"}


# ---- clusters ----

def some(random, values, least=0):
    return random.sample(values, random.randint(least, len(values)))


def random_labels(random):
    return {key: random.choice(values) for key, values in LABELS.items() if random.random() < 0.6}


def random_spec(random):
    spec = {"syncMode": random.choice(("Push", "Pull"))}
    for member, values in (("provider", PROVIDERS), ("region", REGIONS)):
        if random.random() < 0.7:
            spec[member] = random.choice(values)
    zones = random.sample(ZONES, random.choice((0, 1, 1, 2, 3)))
    return {**spec, **({"zones": zones} if zones else {})}


def cluster_status(serves=True, complete=True):
    enablements = [{"groupVersion": "v1", "resources": [{"name": "configmaps", "kind": "ConfigMap"}]}]
    if serves:
        enablements.append({"groupVersion": "apps/v1", "resources": [{"name": "deployments", "kind": "Deployment"}]})
    return {"apiEnablements": enablements,
            "conditions": [{"type": name, "status": "True" if status else "False", "reason": "R", "message": "",
                            "lastTransitionTime": TIME}
                           for name, status in (("Ready", True), ("CompleteAPIEnablements", complete))]}


def random_cluster(random, name):
    labels = random_labels(random)
    return {"apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster",
            "metadata": {"name": name, **({"labels": labels} if labels else {})},
            "spec": random_spec(random), "status": cluster_status(random.random() < 0.93)}


def random_taint(random):
    taint = {"key": random.choice("kl"), "effect": random.choice(("NoSchedule", "NoExecute"))}
    return {**taint, "value": "v"} if random.random() < 0.3 else taint


# ---- placements ----

def random_expression(random, key, values, operators=("In", "In", "NotIn", "Exists", "DoesNotExist")):
    operator = random.choice(operators)
    expression = {"key": key, "operator": operator}
    return {**expression, "values": some(random, values, 1)} if operator in ("In", "NotIn") else expression


def random_affinity(random, names):
    affinity = {}
    if random.random() < 0.35:
        affinity["clusterNames"] = some(random, names, 1)
    if random.random() < 0.2:
        affinity["exclude"] = [random.choice(names)]
    if random.random() < 0.25:
        key = random.choice(tuple(LABELS))
        affinity["labelSelector"] = ({"matchLabels": {key: random.choice(LABELS[key])}} if random.random() < 0.4 else
                                     {"matchExpressions": [random_expression(random, key, LABELS[key])]})
    if random.random() < 0.35:
        fields = (("provider", PROVIDERS), ("region", REGIONS), ("zone", ZONES), ("zone", ZONES))
        # The webhook refuses other operators.
        affinity["fieldSelector"] = {"matchExpressions": [
            random_expression(random, *random.choice(fields), ("In", "In", "NotIn"))
            for _ in range(random.choice((1, 1, 2)))]}
    return affinity


def random_weights(random, names):
    weights = random.choice(((1,), (1, 2, 3), (1, 1, 5, 10, 100)))
    return {"staticWeightList": [{"targetCluster": random_affinity(random, names), "weight": random.choice(weights)}
                                 for _ in range(random.randint(1, 4))]}


def random_strategy(random, names):
    kind = random.random()
    if kind < 0.35:
        return {"replicaSchedulingType": "Duplicated"}
    strategy = {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted"}
    if kind < 0.8:
        strategy["weightPreference"] = random_weights(random, names)
    elif kind > 0.95:
        strategy["weightPreference"] = {"dynamicWeight": "AvailableReplicas"}
    elif kind > 0.9:
        strategy["replicaDivisionPreference"] = "Aggregated"
    return strategy


def random_placement(random, names):
    placement = {}
    if random.random() < 0.2:
        placement["clusterAffinities"] = [{"affinityName": f"group{i}", **random_affinity(random, names)}
                                          for i in range(random.randint(1, 3))]
    elif random.random() < 0.8:
        placement["clusterAffinity"] = random_affinity(random, names)
    if random.random() < 0.25:
        toleration = {"key": random.choice("kl"), "operator": "Exists"}
        placement["clusterTolerations"] = [toleration if random.random() < 0.7 else {"operator": "Exists"}]
    if random.random() < 0.15:
        most = random.randint(1, 3)
        placement["spreadConstraints"] = [{"spreadByField": "cluster", "minGroups": random.randint(1, most),
                                           "maxGroups": most}]
    if random.random() < 0.85:
        placement["replicaScheduling"] = random_strategy(random, names)
    return placement


# ---- templates ----

def claim(namespace):
    return {"labels": {POLICY_LABEL: f"id-{namespace}"},
            "annotations": {"propagationpolicy.karmada.io/name": "p",
                            "propagationpolicy.karmada.io/namespace": namespace}}


def template_manifest(binding):
    """Returns the template of a binding."""
    resource = binding["spec"]["resource"]
    namespace = resource["namespace"]
    template = {"apiVersion": resource["apiVersion"], "kind": resource["kind"],
                "metadata": {"name": "web", "namespace": namespace, "uid": resource["uid"], **claim(namespace)}}
    if resource["kind"] == "ConfigMap":
        return {**template, "data": {"key": "value"}}
    container = {"name": "a", "image": "a", "resources": {"requests": {"cpu": "100m"}}}
    return {**template, "spec": {"replicas": binding["spec"]["replicas"], "selector": {"matchLabels": {"app": "web"}},
                                 "template": {"metadata": {"labels": {"app": "web"}},
                                              "spec": {"containers": [container]}}}}


def policy_manifest(binding):
    """Returns the policy that gives a binding its placement."""
    resource, namespace = binding["spec"]["resource"], binding["metadata"]["namespace"]
    selector = {key: resource[key] for key in ("apiVersion", "kind", "namespace", "name")}
    return {"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy",
            "metadata": {"name": "p", "namespace": namespace, "labels": {POLICY_LABEL: f"id-{namespace}"}},
            "spec": {"resourceSelectors": [selector], "placement": copy.deepcopy(binding["spec"]["placement"])}}


def binding_manifest(namespace, kind, uid, replicas, placement):
    """Returns the binding of a template that the scheduler has not seen yet."""
    workload = {"replicas": replicas, "replicaRequirements": {"resourceRequest": {"cpu": "100m"}}}
    return {"apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding",
            "metadata": {"name": f"web-{kind['kind'].lower()}", "namespace": namespace, "generation": 1,
                         **claim(namespace)},
            "spec": {"conflictResolution": "Abort", "schedulerName": "default-scheduler",
                     **(workload if kind is DEPLOYMENT else {}), "placement": placement,
                     "resource": {**kind, "namespace": namespace, "name": "web", "uid": uid}},
            "status": {}}


# ---- Karmada ----

def scheduled(binding, answer, result):
    """Returns the binding that the scheduler writes: `result` are replicas by cluster."""
    before, binding = targets(binding), copy.deepcopy(binding)
    spec, status = binding["spec"], binding["status"]
    if answer.error in ("", "no cluster fits"):
        spec["clusters"] = [{"name": name, **({"replicas": count} if count else {})}
                            for name, count in sorted(result.items())]
        binding["metadata"]["annotations"][model.APPLIED_PLACEMENT] = json.dumps(spec["placement"])
        binding["metadata"]["generation"] += targets(binding) != before
    if answer.affinity:
        status["schedulerObservingAffinityName"] = answer.affinity
    if not answer.error:
        status["schedulerObservedGeneration"] = binding["metadata"]["generation"]
        status["lastScheduledTime"] = LATER if spec.get("rescheduleTriggeredAt") else TIME
    reason = {"": "Success", "no cluster fits": "NoClusterFit"}.get(answer.error, "SchedulerError")
    status["conditions"] = [{"type": "Scheduled", "status": "False" if answer.error else "True", "reason": reason,
                             "message": answer.error, "lastTransitionTime": TIME}]
    return binding


def settle(binding, clusters, release):
    """Returns all bindings that the scheduler can arrive at: more than one where a lot decides."""
    results, queue = [], [binding]
    while queue:
        now = queue.pop()
        try:
            answer = model.look(now, clusters, release)
            possible = [answer.clusters]
        except model.Undetermined as unknown:
            if unknown.possible is None:
                raise
            answer, possible = model.Answer(True, {}, unknown.affinity), unknown.possible
        for result in possible:
            after = scheduled(now, answer, result) if answer.called else now
            (queue if targets(after) != targets(now) else results).append(after)
    return results


def targets(binding):
    return {c["name"]: c.get("replicas", 0) for c in binding["spec"].get("clusters") or []}


def queued(binding, old, new, release):
    """Returns whether an update of a Cluster puts a binding into the queue of the scheduler."""
    if old["metadata"].get("labels") == new["metadata"].get("labels") and old["spec"] == new["spec"] and \
            not new["metadata"].get("deletionTimestamp"):
        return False
    placement = model.fields_of_release(binding["spec"]["placement"], release)
    affinity = placement.get("clusterAffinity")
    if placement.get("clusterAffinities"):
        if binding["status"].get("schedulerObservedGeneration", 0) != binding["metadata"]["generation"]:
            return True
        observed = binding["status"].get("schedulerObservingAffinityName")
        affinity = next((t for t in placement["clusterAffinities"] if t["affinityName"] == observed),
                        placement["clusterAffinities"][0])
    return affinity is None or any(model.cluster_matches(c, affinity, release) for c in (old, new))


# ---- control plane and change ----

class Plane:
    """Clusters by name, and bindings by namespace; templates and policies follow from the bindings."""

    def __init__(self, random, release, templates):
        self.random, self.release = random, release
        names = [f"member{i}" for i in range(1, random.randint(3, 6) + 1)]
        self.clusters = {name: random_cluster(random, name) for name in names}
        self.bindings = {}
        for number in range(templates):
            namespace = f"ns{number}"
            uid = f"{random.getrandbits(32):08x}-0000-4000-8000-{random.getrandbits(48):012x}"
            kind = DEPLOYMENT if random.random() < 0.85 else CONFIG_MAP
            self.bindings[namespace] = binding_manifest(namespace, kind, uid, random.choice((1, 2, 3, 5, 7, 10, 29)),
                                                        random_placement(random, names))
        for namespace in list(self.bindings):
            self.look(namespace)
        for _ in range(random.randint(0, 2)):
            self.happen()

    def look(self, namespace):
        """The scheduler looks at a binding. Free replicas that no rule knows divide at random."""
        binding, clusters = self.bindings[namespace], list(self.clusters.values())
        try:
            self.bindings[namespace] = self.random.choice(settle(binding, clusters, self.release))
        except model.Undetermined as unknown:
            parsed = model.Binding(binding, self.release)
            feasible = model.feasible_clusters(parsed, clusters, unknown.affinity)
            if parsed.placement.get("spreadConstraints") or parsed.scheduling_type == "Duplicated" or not feasible:
                del self.bindings[namespace]
                return
            shares = {}
            for _ in range(parsed.replicas):
                name = model.name_of(self.random.choice(feasible))
                shares[name] = shares.get(name, 0) + 1
            self.bindings[namespace] = scheduled(binding, model.Answer(True, {}, unknown.affinity), shares)

    def update_cluster(self, cluster):
        name = model.name_of(cluster)
        old, self.clusters[name] = self.clusters[name], cluster
        for namespace, binding in list(self.bindings.items()):
            if queued(binding, old, cluster, self.release):
                self.look(namespace)

    def happen(self):
        """An event of the past: a lost API, a taint, an eviction."""
        cluster = copy.deepcopy(self.random.choice(list(self.clusters.values())))
        event = self.random.choice(("api", "taint", "evict"))
        if event == "api":
            # A change of the status queues no binding.
            self.clusters[model.name_of(cluster)] = {**cluster, "status": cluster_status(False, self.random.random() < 0.5)}
        elif event == "taint":
            cluster["spec"]["taints"] = [random_taint(self.random)]
            self.update_cluster(cluster)
        else:
            self.evict(model.name_of(cluster))

    def evict(self, name):
        for namespace, binding in list(self.bindings.items()):
            kept = [c for c in binding["spec"].get("clusters") or [] if c["name"] != name]
            if len(kept) < len(binding["spec"].get("clusters") or []):
                binding["spec"]["clusters"] = kept
                binding["metadata"]["generation"] += 1
                binding["spec"]["gracefulEvictionTasks"] = [{"fromCluster": name, "reason": "TaintUntolerated",
                                                             "producer": "TaintManager", "creationTimestamp": TIME}]
                self.look(namespace)

    def manifests(self):
        for cluster in self.clusters.values():
            yield cluster
        for binding in self.bindings.values():
            yield from (template_manifest(binding), policy_manifest(binding), binding)


class Change:
    """A random change: objects to apply, objects to delete, and the clusters and bindings right after."""

    def __init__(self, random, plane):
        self.random, self.plane = random, plane
        self.applied, self.deleted = [], []
        self.clusters = dict(plane.clusters)
        self.bindings = copy.deepcopy(plane.bindings)
        self.updates = {}
        kinds = ("replicas", "replicas", "zero", "policy", "policy", "both", "labels", "zones", "taint", "untaint",
                 "region", "join", "delete", "rebalance", "twice")
        self.kind = random.choice(kinds)
        getattr(self, "change_" + self.kind)()
        if not self.applied and not self.deleted:
            self.change_policy()

    def a_namespace(self):
        return self.random.choice(sorted(self.bindings))

    def workloads(self):
        return sorted(namespace for namespace, binding in self.bindings.items() if "replicas" in binding["spec"])

    def some_workloads(self):
        return some(self.random, self.workloads(), min(1, len(self.workloads())))

    def update(self, namespace, **members):
        """Changes members of the spec of a binding; the scheduler looks at the binding after each update.

        A template counts as updated with equal replicas too: another part of the template may differ.
        """
        spec = self.bindings[namespace]["spec"]
        if members.get("placement") != spec["placement"]:
            self.updates.setdefault(namespace, []).append(members)
        spec.update(members)

    def scale(self, namespace, replicas):
        if namespace in self.workloads():
            self.update(namespace, replicas=replicas)
            self.applied.append(template_manifest(self.bindings[namespace]))

    def change_replicas(self):
        for namespace in self.some_workloads():
            self.scale(namespace, self.random.choice((1, 2, 4, 6, 9, 30)))

    def change_zero(self):
        for namespace in self.some_workloads()[:1]:
            self.scale(namespace, 0)

    def change_policy(self, namespace=None):
        namespace = namespace or self.a_namespace()
        placement = random_placement(self.random, sorted(self.clusters))
        if self.random.random() < 0.3:
            placement = {**self.bindings[namespace]["spec"]["placement"],
                         "replicaScheduling": random_strategy(self.random, sorted(self.clusters))}
        self.update(namespace, placement=placement)
        self.applied.append(policy_manifest(self.bindings[namespace]))

    def change_both(self):
        namespace = self.a_namespace()
        self.scale(namespace, self.random.choice((0, 1, 3, 8)))
        self.change_policy(namespace)

    def change_twice(self):
        """Declares a policy twice: the last declaration counts."""
        namespace = self.a_namespace()
        before = copy.deepcopy(self.bindings[namespace])
        self.change_policy(namespace)
        self.bindings[namespace] = before
        self.updates.clear()
        if self.random.random() < 0.5:
            self.scale(namespace, self.random.choice((1, 2, 8)))
        self.change_policy(namespace)

    def change_cluster(self, change):
        name = self.random.choice(sorted(self.clusters))
        cluster = copy.deepcopy(self.clusters[name])
        change(cluster)
        self.clusters[name] = cluster
        self.applied.append({key: member for key, member in cluster.items() if key != "status"})

    def change_labels(self):
        self.change_cluster(lambda cluster: cluster["metadata"].update(
            labels={"env": self.random.choice(LABELS["env"]), "tier": self.random.choice(LABELS["tier"])}))

    def change_zones(self):
        self.change_cluster(lambda cluster: cluster["spec"].update(zones=some(self.random, ZONES, 1)))

    def change_region(self):
        self.change_cluster(lambda cluster: cluster["spec"].update(region=self.random.choice(REGIONS),
                                                                   provider=self.random.choice(PROVIDERS)))

    def change_taint(self):
        self.change_cluster(lambda cluster: cluster["spec"].update(taints=[random_taint(self.random)]))

    def change_untaint(self):
        self.change_cluster(lambda cluster: cluster["spec"].pop("taints", None))

    def change_join(self):
        """A Cluster joins: Karmada taints the Cluster until it is ready, and the end of the taint queues bindings."""
        cluster = random_cluster(self.random, "member9")
        self.clusters["member9"] = cluster
        self.applied.append(cluster)

    def change_delete(self):
        name = self.random.choice(sorted(self.clusters))
        cluster = copy.deepcopy(self.clusters[name])
        cluster["metadata"]["deletionTimestamp"] = LATER
        cluster["spec"]["taints"] = [*cluster["spec"].get("taints", []), TERMINATING]
        self.clusters[name] = cluster
        self.deleted.append(f"cluster/{name}")

    def change_rebalance(self):
        namespace = self.a_namespace()
        self.update(namespace, rescheduleTriggeredAt=LATER)
        selector = policy_manifest(self.bindings[namespace])["spec"]["resourceSelectors"][0]
        self.applied.append({"apiVersion": "apps.karmada.io/v1alpha1", "kind": "WorkloadRebalancer",
                             "metadata": {"name": "again"}, "spec": {"workloads": [selector]}})

    def results(self):
        """Returns by namespace the list of possible targets afterwards; None if estimators decide."""
        release, clusters = self.plane.release, list(self.clusters.values())
        # A Cluster that joins had a taint before.
        updates = [(self.plane.clusters.get(name, {**cluster, "spec": {"taints": []}}), cluster)
                   for name, cluster in self.clusters.items() if cluster != self.plane.clusters.get(name)]
        results = {}
        for namespace, binding in self.plane.bindings.items():
            looks = self.updates.get(namespace) or [{}] * any(queued(binding, old, new, release) for old, new in updates)
            after = [binding]
            try:
                for members in looks:
                    after = [last for each in after for last in settle(updated(each, members), clusters, release)]
                results[namespace] = distinct([targets(each) for each in after])
            except model.Undetermined:
                results[namespace] = None
        return results


def updated(binding, members):
    """Returns a binding with other members of its spec."""
    metadata = {**binding["metadata"], "generation": binding["metadata"]["generation"] + 1}
    return {**binding, "metadata": metadata, "spec": {**binding["spec"], **members}}


def distinct(values):
    return [value for number, value in enumerate(values) if value not in values[:number]]
