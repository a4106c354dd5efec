# SPDX-License-Identifier: Apache-2.0
"""Manifests in which each problem that `check` finds in files holds, and the nearest ones in which it does not."""
import copy
import json

NOW, NOW_S = "2026-01-20 00:00:00", 1768867200  # The time of all checks, in UTC.
DAY = "2026-01-{:02}T00:00:00Z"
POLICY_API, WORK_API, CLUSTER_API = "policy.karmada.io/v1alpha1", "work.karmada.io/v1alpha2", "cluster.karmada.io/v1alpha1"
ID = "propagationpolicy.karmada.io/permanent-id"

# Reasons that objects in files never have: `help problems` marks their problems, or the condition needs more.
ELSEWHERE = {
    "not_propagated/waiting": "no problem in files: no client has applied the objects yet",
    "placement_at_risk/cluster_not_ready": "no release of Karmada has this filter yet",
    "placement_at_risk/workload_affinity": "the condition does not read the other workloads of the affinity group",
    "policy_invalid/kind_not_served": "needs the discovery of an API server",
    "member_cluster_unavailable/flapping": "needs observation over time",
    "deferred_too_long/selector_mismatch": "deferred only while the exporter observes that Karmada processes the policy",
    "deferred_too_long/policy_gone": "deferred only while the exporter observes that Karmada processes the policy",
    "data_incomplete/forbidden": "needs an API server",
    "data_incomplete/failing": "needs an API server",
    "data_incomplete/late": "needs an API server",
    "data_incomplete/diverged": "needs several replicas of the exporter",
}


def merged(base, more):
    """A copy of a tree with the members of another one."""
    out = copy.deepcopy(base)
    for key, value in more.items():
        both = isinstance(out.get(key), dict) and isinstance(value, dict)
        out[key] = merged(out[key], value) if both else copy.deepcopy(value)
    return out


def written(day, **more):
    """Metadata of an object that a user wrote on a day of January 2026."""
    return {"creationTimestamp": DAY.format(day), "managedFields": [
        {"manager": "kubectl", "operation": "Update", "time": DAY.format(day), "fieldsType": "FieldsV1",
         "fieldsV1": {"f:spec": {"f:x": {}}}}], **more}


def claim(name="p"):
    return {"labels": {ID: f"id-{name}"}, "annotations": {"propagationpolicy.karmada.io/namespace": "a",
                                                          "propagationpolicy.karmada.io/name": name}}


def selector(api_version="apps/v1", kind="Deployment", **more):
    return {"apiVersion": api_version, "kind": kind, **more}


def policy(name="p", metadata=None, **spec):
    return {"apiVersion": POLICY_API, "kind": "PropagationPolicy",
            "metadata": merged({"name": name, "namespace": "a", "labels": {ID: f"id-{name}"}, **written(2)}, metadata or {}),
            "spec": {"resourceSelectors": [selector(name="web")], "placement": {}, **spec}}


def web(metadata=None, name="web", **spec):
    """A template that a client has applied."""
    return {"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": merged({"name": name, "namespace": "a", "uid": f"u-{name}", "resourceVersion": "7", **written(1)},
                               metadata or {}),
            "spec": {"replicas": 2, **spec}}


CLAIMED = web(claim())
UNAPPLIED = {"labels": None, "creationTimestamp": None, "managedFields": None}
SUCCESS = [{"type": "Scheduled", "status": "True", "reason": "Success", "lastTransitionTime": DAY.format(5)}]


def unscheduled(reason="NoClusterFit", message=""):
    return {"conditions": [{"type": "Scheduled", "status": "False", "reason": reason, "message": message,
                            "lastTransitionTime": DAY.format(6)}]}


def binding(status=None, metadata=None, name="web-deployment", resource=None, **spec):
    return {"apiVersion": WORK_API, "kind": "ResourceBinding",
            "metadata": merged({"name": name, "namespace": "a", "uid": "u-" + name, **claim()}, metadata or {}),
            "spec": {"resource": resource or {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "a", "name": "web",
                                              "uid": "u-web", "resourceVersion": "7"},
                     "replicas": 2, "placement": {}, **spec},
            "status": status or {}}


def on(*clusters):
    return [{"name": name, "replicas": 2} for name in clusters]


def items(*statuses):
    return {"conditions": SUCCESS, "aggregatedStatus": list(statuses)}


def item(cluster="m1", applied=True, **more):
    return {"clusterName": cluster, "applied": applied, **more}


GOOD = items(item(health="Healthy"))
BOUND = binding(GOOD, clusters=on("m1"))


def cluster(name, ready="True", metadata=None, status=None, **spec):
    return {"apiVersion": CLUSTER_API, "kind": "Cluster", "metadata": merged({"name": name}, metadata or {}), "spec": spec,
            "status": {"conditions": [{"type": "Ready", "status": ready}], **(status or {})}}


def task(cluster_name="m2", **more):
    return [{"fromCluster": cluster_name, **more}]


def config_map(name="c", metadata=None, **more):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": merged({"name": name, "namespace": "a"}, metadata or {}), **more}


def config_binding(metadata=None, **spec):
    return {"apiVersion": WORK_API, "kind": "ResourceBinding",
            "metadata": merged({"name": "c-configmap", "namespace": "a", **written(3)}, metadata or {}),
            "spec": {"resource": {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "a", "name": "c"}, **spec}}


def required_by(*names):
    return [{"namespace": "a", "name": name} for name in names]


def referrer(name, **spec):
    """The binding of a Deployment that requires ConfigMap c."""
    return {"apiVersion": WORK_API, "kind": "ResourceBinding",
            "metadata": {"name": f"{name}-deployment", "namespace": "a", "creationTimestamp": DAY.format(2)},
            "spec": {"resource": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "a", "name": name},
                     "placement": {}, "clusters": [], "propagateDeps": True, **spec}}


def user(name):
    """A Deployment that mounts ConfigMap c, as no client has applied it yet."""
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": "a"}, "spec": {
        "template": {"spec": {"volumes": [{"name": "v", "configMap": {"name": "c"}}]}}}}


def policies_of_users(**second):
    """Two users of ConfigMap c; the policy of the second has further members."""
    return [config_map(), user("one"), user("two"), *(
        policy(name, UNAPPLIED, resourceSelectors=[selector(name=name)], propagateDeps=True, **more)
        for name, more in (("one", {}), ("two", second)))]


def case(fires, silent, *flags):
    return {"fires": fires, "silent": silent, "flags": flags}


# ---- policies ----

def of_policy(flags=(), **spec):
    """A defect of a policy that selects a Deployment."""
    return case([web(), policy(**spec)], [web(claim()), policy(), BOUND], *flags)


PRIORITY = {"priorityClassSource": "KubePriorityClass", "priorityClassName": "high"}
CLASS = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "low"}, "value": 1}
BAD_LABELS = {"matchExpressions": [{"key": "a", "operator": "x"}]}
OTHERS = [selector(name="none")]


def policies():
    yield "policy_invalid/invalid_selector", of_policy(resourceSelectors=[selector(labelSelector=BAD_LABELS)])
    yield "policy_invalid/invalid_exclusion", of_policy(excludedResources=[selector("v1", "Secret", labelSelector=BAD_LABELS)])
    yield "policy_invalid/empty_exclusion", of_policy(excludedResources=[{}])
    yield "policy_invalid/no_selector", of_policy(resourceSelectors=[])
    yield "policy_invalid/foreign_namespace", of_policy(resourceSelectors=[selector(namespace="b")])
    yield "policy_invalid/unwatched_version", of_policy(resourceSelectors=[selector("apps/v1beta1")])
    yield "policy_invalid/preemption_without_name", of_policy(resourceSelectors=[selector()], preemption="Always")
    yield "policy_invalid/cluster_scoped_kind", of_policy(
        resourceSelectors=[selector("rbac.authorization.k8s.io/v1", "ClusterRole")])
    yield "policy_invalid/priority_class_missing", case(
        [web(), CLASS, policy(schedulePriority=PRIORITY)],
        [web(), merged(CLASS, {"metadata": {"name": "high"}}), policy(schedulePriority=PRIORITY)])
    yield "policy_invalid/override_missing", of_policy(dependentOverrides=["o"])
    yield "policy_invalid/field_pruned", case(
        [web(), policy(metadata=UNAPPLIED, propagateDependencies=True)], [CLAIMED, policy(propagateDeps=True), BOUND])
    yield "policy_invalid/refused", of_policy(
        placement={"spreadConstraints": [{"spreadByField": "cluster", "minGroups": 3, "maxGroups": 1}]})
    yield "policy_tie", case([web(), policy(), policy("q")], [web(), policy(), policy("q", priority=1)])
    yield "policy_outranked", case([CLAIMED, policy(), BOUND, policy("q", priority=9)], [CLAIMED, policy(priority=9), BOUND, policy("q")])
    yield "policy_unused", of_policy(resourceSelectors=OTHERS)


# ---- templates ----

LAZY = {"activationPreference": "Lazy"}
CHANGED = {"conflictResolution": "Overwrite"}
BROAD = policy("q", resourceSelectors=OTHERS)
NAMED = {"clusterAffinity": {"clusterNames": ["m1"]}}


def propagation():
    healthy = [CLAIMED, policy(), BOUND]
    yield "not_propagated/override_missing", case([web(), policy(dependentOverrides=["gone"])], healthy)
    thing = {"apiVersion": "a.io/v1", "kind": "Thing", "metadata": {"name": "x", "namespace": "a", "uid": "u", **claim()}}
    other = merged(thing, {"apiVersion": "b.io/v1"})
    things = policy(resourceSelectors=[selector("a.io/v1", "Thing"), selector("b.io/v1", "Thing")])
    yield "not_propagated/namesake", case([CLAIMED, policy(), merged(BOUND, {"spec": {"resource": {"uid": "u-old"}}})], healthy)
    yield "not_propagated/priority_class_missing", case(
        [CLAIMED, CLASS, policy(schedulePriority=PRIORITY)],
        [CLAIMED, merged(CLASS, {"metadata": {"name": "high"}}), policy(schedulePriority=PRIORITY)])
    yield "not_propagated/stuck", case([CLAIMED, policy()], healthy)
    yield "not_propagated/not_claimed", case([web(), policy()], healthy)
    yield "not_propagated/policy_deleting", case([web(), policy(metadata={"deletionTimestamp": DAY.format(9)})], healthy)
    yield "not_propagated/no_match", case([web(), BROAD], healthy)
    unclaimed = merged(BOUND, {"metadata": {"labels": None, "annotations": None, "creationTimestamp": DAY.format(3), "managedFields": [
        {"manager": "karmada-controller-manager", "operation": "Update", "time": DAY.format(3), "fieldsType": "FieldsV1",
         "fieldsV1": {"f:spec": {"f:resource": {}}}}]}})
    yield "not_propagated/policy_gone", case([web({**written(6), "generation": 2, "resourceVersion": "9"}), unclaimed, BROAD], healthy)
    yield "binding_name_collision/taken", case([thing, other, things], [thing, things])
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "acme::lock", "namespace": "a"}}
    roles = policy(resourceSelectors=[selector("rbac.authorization.k8s.io/v1", "Role")])
    yield "binding_name_collision/invalid_name", case([role, roles], [merged(role, {"metadata": {"name": "acme:lock"}}), roles])
    yield "excluded", case([web(), policy(excludedResources=[selector(name="web")])], healthy)
    yield "orphaned", case([web(), merged(BOUND, {"metadata": {"labels": None, "annotations": None}}), BROAD], healthy)
    yield "template_frozen/selector_mismatch", case([web(merged(claim(), written(6))), policy(resourceSelectors=OTHERS), BOUND],
                                                    healthy)
    yield "template_frozen/policy_gone", case([CLAIMED, BOUND], healthy)
    late = written(4)
    yield "policy_not_in_force/priority_class_missing", case(
        [CLAIMED, CLASS, policy(metadata=late, schedulePriority=PRIORITY, **CHANGED), BOUND], healthy)
    yield "policy_not_in_force/override_missing", case(
        [CLAIMED, policy(metadata=late, dependentOverrides=["gone"], **CHANGED), BOUND], healthy)
    yield "policy_not_in_force/policy_replaced", case(
        [web(merged(claim(), written(6))), policy(), merged(BOUND, {"metadata": claim("q")}), policy("q")], healthy)
    yield "policy_not_in_force/policy_updated", case([CLAIMED, policy(metadata=late, **CHANGED), BOUND], healthy)
    yield "policy_not_in_force/never_bound", case([web(merged(claim(), written(6))), policy(metadata=late, **LAZY)], healthy)
    yield "policy_not_in_force/template_updated", case(
        [web(merged(claim(), {"generation": 2}), replicas=5), policy(), merged(BOUND, {"spec": {"resource": {"resourceVersion": "6"}}})],
        healthy)
    yield "deferred_too_long/policy_updated", case([CLAIMED, policy(metadata=late, **LAZY, **CHANGED), BOUND], healthy)
    yield "deferred_too_long/policy_replaced", case([CLAIMED, policy(), policy("q", priority=9), BOUND], healthy,
                                                    "--rules.takeover", "static")
    yield "deferred_too_long/never_bound", case([CLAIMED, policy(metadata=late, **LAZY)], healthy)


# ---- placement ----

SETUP = {"clusterAffinity": {"labelSelector": {"matchLabels": {"phase": "setup"}}}}
BY_REGION = {**SETUP, "spreadConstraints": [{"spreadByField": "region", "maxGroups": 1, "minGroups": 1}]}


def phase(value, **more):
    return {"labels": {"phase": value}, **more}


MOVED = cluster("m1", metadata=phase("done"))
TAINTS = [{"key": "k", "effect": "NoSchedule"}]
COMPLETE = {"apiEnablements": [], "conditions": [{"type": "Ready", "status": "True"},
                                                 {"type": "CompleteAPIEnablements", "status": "True"}]}


def placed_by(placement, *clusters, **spec):
    return [CLAIMED, policy(placement=placement), binding(GOOD, placement=placement, clusters=on("m1"), **spec), *clusters]


def placement():
    fine = placed_by(SETUP, cluster("m1", metadata=phase("setup")))

    def risk(*clusters, rule=SETUP, **spec):
        return case(placed_by(rule, *clusters, **spec), fine)

    yield "placement_at_risk/affinity", risk(MOVED)
    yield "placement_at_risk/api_not_served", risk(MOVED, *(cluster(name, metadata=phase("setup"), status=COMPLETE)
                                                            for name in ("m2", "m3")))
    yield "placement_at_risk/taint", risk(MOVED, *(cluster(name, metadata=phase("setup"), taints=TAINTS)
                                                   for name in ("m2", "m3")))
    yield "placement_at_risk/evicting", risk(cluster("m2", metadata=phase("setup")), gracefulEvictionTasks=task())
    yield "placement_at_risk/spread_property", risk(cluster("m1", metadata=phase("setup")), rule=BY_REGION)
    yield "placement_at_risk/cluster_deleting", risk(
        cluster("m1", metadata=phase("setup", deletionTimestamp=DAY.format(7))))
    evicted = [CLAIMED, policy(), binding(unscheduled(), gracefulEvictionTasks=task(creationTimestamp=DAY.format(7)))]
    kept = [CLAIMED, policy(), binding(GOOD, clusters=on("m1"), gracefulEvictionTasks=task(creationTimestamp=DAY.format(7)))]
    yield "last_copy_at_risk/cluster_ready", case([*evicted, cluster("m2")], [*kept, cluster("m2")])
    yield "last_copy_at_risk/cluster_not_ready", case([*evicted, cluster("m2", "False")], [*kept, cluster("m2", "False")])
    was = {"lastScheduledTime": DAY.format(2), **unscheduled()}
    yield "placement_lost/cluster_gone", case([CLAIMED, policy(placement=NAMED), binding(was, placement=NAMED), cluster("m2")],
                                              placed_by(NAMED, cluster("m1")))
    yield "placement_lost/no_cluster_fit", case([CLAIMED, policy(), binding(was)], [CLAIMED, policy(), BOUND])
    groups = {"clusterAffinities": [{"affinityName": name, "clusterNames": [at]} for name, at in (("first", "m1"), ("second", "m2"))]}
    yield "on_fallback", case(*(
        [CLAIMED, policy(placement=groups), cluster("m1"), cluster("m2"),
         binding({**items(item(at, health="Healthy")), "schedulerObservingAffinityName": name},
                 {"annotations": {"policy.karmada.io/applied-placement": json.dumps(groups)}}, placement=groups, clusters=on(at))]
        for name, at in (("second", "m2"), ("first", "m1"))))
    yield "two_copies_held", case(
        [CLAIMED, policy(), binding(GOOD, clusters=on("m1"), gracefulEvictionTasks=task(
            suppressDeletion=True, creationTimestamp=DAY.format(7)))], [CLAIMED, policy(), BOUND])
    yield "forbidden_placement/binding", risk(MOVED, cluster("m2", metadata=phase("setup")))
    yield "forbidden_placement/policy", case(
        [CLAIMED, policy(metadata=written(4), placement={"clusterAffinity": {"clusterNames": ["m2"]}}, **LAZY),
         binding(GOOD, placement=NAMED, clusters=on("m1")), cluster("m1"), cluster("m2")], placed_by(NAMED, cluster("m1"), cluster("m2")))
    yield "change_suspended", case(
        [CLAIMED, policy(suspension={"dispatching": True}),
         binding({"conditions": SUCCESS}, suspension={"dispatching": True}, clusters=on("m1"))], [CLAIMED, policy(), BOUND])


# ---- delivery ----

def delivery():
    healthy = [CLAIMED, policy(), BOUND]

    def not_scheduled(reason, message="", **spec):
        return case([CLAIMED, policy(), binding(unscheduled(reason, message), **spec)], healthy)

    def unapplied(message):
        return case([CLAIMED, policy(), binding(items(item(applied=False, appliedMessage=message)), clusters=on("m1"))], healthy)

    def unhealthy(health):
        return case([CLAIMED, policy(), binding(items(item(health=health)), clusters=on("m1"))], healthy)

    yield "not_scheduled/no_cluster_fit", not_scheduled("NoClusterFit")
    yield "not_scheduled/unschedulable", not_scheduled("Unschedulable")
    yield "not_scheduled/quota_exceeded", not_scheduled("QuotaExceeded")
    yield "not_scheduled/scheduler_error", not_scheduled("Odd")
    yield "not_scheduled/other_scheduler", case(
        [CLAIMED, policy(schedulerName="other"), binding(schedulerName="other")], healthy)
    yield "not_scheduled/waiting", case([CLAIMED, policy(), binding()], healthy)
    yield "not_delivered/already_exists", unapplied("Deployment a/web already exists in the cluster m1")
    yield "not_delivered/refused", unapplied("denied by the webhook")
    yield "not_delivered/waiting", case([CLAIMED, policy(), binding({"conditions": SUCCESS}, clusters=on("m1"))], healthy)
    yield "unhealthy/rolling", case([CLAIMED, policy(), binding(items(item(health="Unhealthy", status={
        "resourceTemplateGeneration": 1, "generation": 2, "observedGeneration": 2, "updatedReplicas": 1})), clusters=on("m1"))], healthy)
    works = "--karmada.works"
    work = {"apiVersion": "work.karmada.io/v1alpha1", "kind": "Work", "metadata": {
        "name": "web", "namespace": "karmada-es-m1", "creationTimestamp": DAY.format(5), "annotations": {
            "resourcebinding.karmada.io/name": "web-deployment", "resourcebinding.karmada.io/namespace": "a"}}}
    undelivered = [CLAIMED, policy(), binding({"conditions": SUCCESS}, clusters=on("m1"))]
    other_work = merged(work, {"metadata": {"name": "other", "annotations": {"resourcebinding.karmada.io/name": "other-deployment"}}})
    yield "not_delivered/work_missing", case([*undelivered, other_work], [*healthy, work], works)
    yield "not_delivered/work_deleting", case([*undelivered, merged(work, {"metadata": {"deletionTimestamp": DAY.format(8)}})],
                                              [*healthy, work], works)
    yield "not_delivered/work_outdated", case(
        [merged(CLAIMED, {"metadata": {"generation": 3}}), policy(),
         binding(items(item(health="Healthy", status={"resourceTemplateGeneration": 2})), clusters=on("m1")),
         merged(work, {"spec": {"workload": {"manifests": [{"metadata": {"annotations": {
             "resourcetemplate.karmada.io/generation": "2"}}}]}}})], [*healthy, work], works)
    event = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "f", "namespace": "a"}, "reason": "ApplyOverridePolicyFailed",
             "involvedObject": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "a", "name": "web", "uid": "u-web"},
             "lastTimestamp": DAY.format(8), "message": "Apply override policy(a/o) for cluster(m1) failed."}
    kept = {"apiVersion": POLICY_API, "kind": "OverridePolicy", "metadata": {"name": "o", "namespace": "a", **written(2)}, "spec": {
        "resourceSelectors": [selector(name="web")], "overrideRules": []}}
    yield "override_failed/observed", case([*undelivered, work, kept, event], [*undelivered, work, kept], works)
    yield "unhealthy/unavailable", unhealthy("Unhealthy")
    yield "unhealthy/unknown", unhealthy("Unknown")
    override = {"apiVersion": POLICY_API, "kind": "OverridePolicy", "metadata": {"name": "o", "namespace": "a"}, "spec": {
        "resourceSelectors": [selector(name="web")], "overrideRules": [{"overriders": {"plaintext": [
            {"path": "/spec/none/deep", "operator": "replace", "value": 1}]}}]}}
    fine = merged(override, {})
    fine["spec"]["overrideRules"][0]["overriders"]["plaintext"][0]["path"] = "/spec/replicas"
    yield "override_failed/predicted", case([*healthy, override], [*healthy, fine])
    many = [[policy(resourceSelectors=[selector()]), cluster("m1")] for _ in range(2)]
    for objects, refused in zip(many, (10, 0)):
        for i in range(10):
            name = f"web-{i}"
            objects.append(web(claim(), name))
            objects.append(binding(items(item(applied=False, appliedMessage="denied") if i < refused else item(health="Healthy")),
                                   name=f"{name}-deployment", clusters=on("m1"),
                                   resource={"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "a", "name": name,
                                             "uid": f"u-{name}", "resourceVersion": "7"}))
    yield "member_cluster_unavailable/refusing", case(*many)
    yield "member_cluster_unavailable/gone", case([*healthy, cluster("m2")], [*healthy, cluster("m1")])
    yield "member_cluster_unavailable/not_ready", case([*healthy, cluster("m1", "False")], [*healthy, cluster("m1")])


# ---- dependencies and references ----

FIELDS = {"ConflictResolution": {"conflictResolution": "Overwrite"}, "PreserveResourcesOnDeletion": {"preserveResourcesOnDeletion": True}}


def dependencies():
    broad = policy(resourceSelectors=[selector("v1", "ConfigMap", name="none")])
    for field, value in FIELDS.items():
        yield f"dependency_conflict/{field}", case(policies_of_users(**value), policies_of_users())
        bindings = [broad, config_map(), referrer("one"), referrer("two")]
        yield f"dependency_not_resolved/{field}", case(
            [*bindings, config_binding(requiredBy=required_by("one-deployment", "two-deployment"), **value)],
            [*bindings, config_binding(requiredBy=required_by("one-deployment", "two-deployment"))])
        x, y = referrer("one", **value), referrer("two", **value)
        yield f"value_overridden/{field}", case(
            [broad, config_map(), x, y, config_binding(requiredBy=required_by("one-deployment", "two-deployment"), placement={})],
            [broad, config_map(), x, y, config_binding(requiredBy=required_by("one-deployment", "two-deployment"), **value)])
        changed = [CLAIMED, policy(propagateDeps=True, metadata=written(4), **value, **LAZY),
                   binding(GOOD, propagateDeps=True, clusters=on("m1"))]
        predicted = [config_map(), referrer("one"), config_binding(requiredBy=required_by("web-deployment", "one-deployment"))]
        yield f"conflict_predicted/{field}", case(
            [*changed, *predicted], [CLAIMED, policy(propagateDeps=True), binding(GOOD, propagateDeps=True, clusters=on("m1")), *predicted])
    yield "reference_broken/required_by_missing", case(
        [broad, config_map(), referrer("one"), config_binding(requiredBy=required_by("one-deployment", "z"))],
        [broad, config_map(), referrer("one"), config_binding(requiredBy=required_by("one-deployment"))])
    yield "reference_broken/template_missing", case(
        [broad, referrer("one"), config_binding(requiredBy=required_by("one-deployment"))],
        [broad, config_map(), referrer("one"), config_binding(requiredBy=required_by("one-deployment"))])
    yield "reference_broken/claim_missing", case(
        [CLAIMED, policy(), binding(GOOD, claim("gone"), clusters=on("m1"))], [CLAIMED, policy(), BOUND])


# ---- capacity and autoscalers ----

def amounts(allocatable, allocated=None):
    return {"resourceSummary": {"allocatable": allocatable, "allocated": allocated or {}}}


def capacity():
    def moving(requests, allocatable, allocated=None):
        return [CLAIMED, policy(metadata=written(4), placement={"clusterAffinity": {"clusterNames": ["m2"]}}, **LAZY),
                binding(GOOD, placement=NAMED, clusters=on("m1"), replicaRequirements={"resourceRequest": requests}),
                cluster("m1"), cluster("m2", status=amounts(allocatable, allocated))]

    def exceeds(requests, allocatable, allocated=None):
        room = {name: "1000Gi" if name in ("memory", "ephemeral-storage") else "1000" for name in ("cpu", "pods", *allocatable, *requests)}
        return case(moving(requests, allocatable, allocated), moving(requests, room))

    yield "drift_exceeds_capacity/cpu", exceeds({"cpu": "2"}, {"cpu": "4", "pods": "10"})
    yield "drift_exceeds_capacity/memory", exceeds({"memory": "1Gi"}, {"memory": "2Gi", "pods": "10"})
    yield "drift_exceeds_capacity/pods", exceeds({"cpu": "1"}, {"cpu": "100", "pods": "1"})
    yield "drift_exceeds_capacity/ephemeral-storage", exceeds(
        {"ephemeral-storage": "1Gi"}, {"ephemeral-storage": "1Gi", "pods": "10"}, {"ephemeral-storage": "1Gi"})
    yield "drift_exceeds_capacity/other", exceeds({"a.example/gpu": "1"}, {"pods": "10"})
    target = {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}, "maxReplicas": 5, "minReplicas": 1}
    hpa = {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
           "metadata": {"name": "web", "namespace": "a", "uid": "u-hpa", "resourceVersion": "7", **claim()}, "spec": target}
    hpa_binding = binding(items(item(health="Healthy")), name="web-horizontalpodautoscaler", clusters=on("m1"), replicas=0, resource={
        "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "namespace": "a", "name": "web", "uid": "u-hpa",
        "resourceVersion": "7"})
    both = policy(resourceSelectors=[selector(name="web"), selector("autoscaling/v2", "HorizontalPodAutoscaler", name="web")])
    retained = merged(CLAIMED, {"metadata": {"labels": {"resourcetemplate.karmada.io/retain-replicas": "true"}}})
    yield "replicas_contested/hpa", case([CLAIMED, both, BOUND, hpa, hpa_binding], [retained, both, BOUND, hpa, hpa_binding])
    federated = {"apiVersion": "autoscaling.karmada.io/v1alpha1", "kind": "FederatedHPA",
                 "metadata": {"name": "web", "namespace": "a"}, "spec": target}
    scaled = merged(CLAIMED, {"metadata": {"managedFields": [{"manager": "kubectl", "operation": "Update", "time": DAY.format(1),
                                                              "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:replicas": {}}}}]}})
    yield "replicas_contested/federated_hpa", case([scaled, policy(), BOUND, federated], [retained, policy(), BOUND, federated])


# ---- Config Connector ----

PREVENTION, SETTING = "management-conflict-prevention-policy", "cnrm.cloud.google.com/"
TOPIC_API, NETWORK_API = "pubsub.cnrm.cloud.google.com/v1beta1", "compute.cnrm.cloud.google.com/v1beta1"
IDS = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "namespace-id", "namespace": "cnrm-system"},
       "data": {"a": "abc", "b": "def"}}


def topic(ns="a", api=TOPIC_API, kind="PubSubTopic", status=None, **annotations):
    return {"apiVersion": api, "kind": kind, "metadata": {"name": "t", "namespace": ns, "annotations": {
        SETTING + name.replace("_", "-"): value for name, value in annotations.items()}}, "status": status or {}}


def prevented(**annotations):
    return topic(management_conflict_prevention_policy="resource", **annotations)


def topics_on(*clusters):
    return binding(name="t-pubsubtopic", metadata={"labels": None, "annotations": None}, clusters=[{"name": c} for c in clusters], resource={
        "apiVersion": TOPIC_API, "kind": "PubSubTopic", "namespace": "a", "name": "t"})


def asset(holder, left_s):
    """A line of the asset export of NOW_S with the lease of the topic a/t."""
    return {"name": "//pubsub.googleapis.com/projects/a/topics/t", "asset_type": "pubsub.googleapis.com/Topic", "resource": {
        "data": {"labels": {"managed-by-cnrm": "true", "cnrm-lease-holder-id": holder, "cnrm-lease-expiration": str(NOW_S + left_s)}}}}


def leased(fires, silent, *objects):
    """Cases with an asset export: a holder, and the seconds until the lease expires."""
    return {"fires": [IDS, *objects], "silent": [IDS, *objects], "flags": ("--configconnector.asset-file", "assets.json"),
            "assets": {"fires": [asset(*fires)], "silent": [asset(*silent)]}}


def connector():
    both = [topic(project_id="x"), topic("b", project_id="x")]
    yield "cloud_resource_conflict/duplicate_identity", case(both, [topic(project_id="x"), topic("b", project_id="y")])
    yield "cloud_resource_conflict/multi_cluster_placement", case([topic(), topics_on("m1", "m2")], [topic(), topics_on("m1")])
    yield "cloud_resource_conflict/silent", leased(("def", 1800), ("abc", 1800), topic())
    yield "deletion_trap", case([topic(), topics_on("m1", "m2")], [topic(deletion_policy="abandon"), topics_on("m1", "m2")])
    yield "management_conflict/invalid_prevention", case([topic(management_conflict_prevention_policy="Resource")], [prevented()])
    yield "management_conflict/reported", case([topic(status={"conditions": [
        {"type": "Ready", "status": "False", "reason": "ManagementConflict"}]})], [topic()])
    yield "management_conflict/refused", leased(("def", 1800), ("abc", 1800), prevented())
    yield "lease_unprotected/lapse_hazard", case([prevented(reconcile_interval_in_seconds="2401")],
                                                 [prevented(reconcile_interval_in_seconds="2400")])
    network = topic(api=NETWORK_API, kind="ComputeNetwork", management_conflict_prevention_policy="resource")
    yield "lease_unprotected/unprotectable", case([network], [topic(api=NETWORK_API, kind="ComputeNetwork")])
    yield "lease_at_risk/expired", leased(("abc", -3600), ("abc", 1800))
    # A lease is expired before the default patience of 20 minutes is over.
    expiring = leased(("abc", 60), ("abc", 1800))
    yield "lease_at_risk/expiring", {**expiring, "flags": (*expiring["flags"], "--problems.patience", "lease_at_risk=0s")}
    yield "lease_at_risk/unknown_holder", leased(("xyz", 1800), ("abc", 1800))
    old = leased(("abc", 1800), ("abc", 1800))
    yield "data_incomplete/snapshot_old", {**old, "age_s": {"fires": 26 * 3600, "silent": 0}}


# ---- files ----

def files():
    twice = [config_map(data={"a": "1"}), config_map(data={"a": "2"})]
    yield "duplicate_object", case(twice, twice[:1])
    yield "data_incomplete/broken_file", {"fires": "a: [\n", "silent": "a: []\n", "flags": ("--allow-empty",)}
    yield "data_incomplete/rejected", case([policy(priority="high")], [policy(priority=1)])


def cases():
    """{PROBLEM/REASON: {"fires": objects or text, "silent": objects or text, "flags": arguments of `check`}}"""
    return dict(pair for part in (policies, propagation, placement, delivery, dependencies, capacity, connector, files)
                for pair in part())
