# SPDX-License-Identifier: Apache-2.0
"""Small sets of objects, each with one problem and reason of the exporter's table.

The objects are as a control plane has them, with the fields that Karmada wrote, so that the tests
can serve them from files and write them to a real API server.
"""
import copy
import json
import re
import time

NS = "shop"
MEMBER1 = {"clusterAffinity": {"clusterNames": ["member1"]}}
MEMBER2 = {"clusterAffinity": {"clusterNames": ["member2"]}}
BOTH = {"clusterAffinity": {"clusterNames": ["member1", "member2"]}}
GROUPS = {"clusterAffinities": [{"affinityName": "primary", "clusterNames": ["member1"]},
                                {"affinityName": "backup", "clusterNames": ["member2"]}]}
CNRM = "cnrm.cloud.google.com/"
PROTECTED = {CNRM + "management-conflict-prevention-policy": "resource"}
STORIES = {}


def titled(said, target):
    """True if the first line names the object: "Deployment shop/web (apps/v1)"."""
    return re.match(rf"\w+ {re.escape(target)}( |$)", said.split("\n")[0]) is not None


def permanent_id(name):
    """Value of a label, so that a long name loses its beginning."""
    return f"id-{name[-60:]}"


def policy(name, placement=MEMBER1, kind="Deployment", select=None, lazy=False, **spec):
    group = {"Deployment": "apps/v1", "Ingress": "networking.k8s.io/v1",
             "SQLInstance": f"sql.{CNRM}v1beta1"}.get(kind, "v1")
    selector = {"apiVersion": group, "kind": kind, "name": name.split("-")[0]}
    return {"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy",
            "metadata": {"name": name, "namespace": NS,
                         "labels": {"propagationpolicy.karmada.io/permanent-id": permanent_id(name)}},
            "spec": {"resourceSelectors": [select or selector],
                     "placement": copy.deepcopy(placement),
                     **({"activationPreference": "Lazy"} if lazy else {}), **spec}}


def claim(name):
    prefix = "propagationpolicy.karmada.io/"
    return {"labels": {prefix + "permanent-id": permanent_id(name)},
            "annotations": {prefix + "namespace": NS, prefix + "name": name}}


def template(kind, api_version, name, claimed=None, **more):
    return {"apiVersion": api_version, "kind": kind, **more,
            "metadata": {"name": name, "namespace": NS, **(claim(claimed) if claimed else {})}}


def deployment(name="web", claimed=None, mounts=None):
    volumes = [{"name": "config", "configMap": {"name": mounts}}] if mounts else []
    return template("Deployment", "apps/v1", name, claimed, spec={
        "replicas": 2, "selector": {"matchLabels": {"app": name}},
        "template": {"metadata": {"labels": {"app": name}}, "spec": {
            "containers": [{"name": "main", "image": "nginx"}], "volumes": volumes}}})


def binding(of, made_by=None, placement=MEMBER1, required_by=(), applied=None, **spec):
    """The binding of a template: placed by a policy, or required by others, or both.

    `applied` is the placement that the scheduler has acted on; False: none so far.
    """
    meta = claim(made_by) if made_by else {"annotations": {}}
    placed = placement if placement is not None and not (required_by and not made_by) else None
    if placed is not None and applied is not False:
        meta["annotations"]["policy.karmada.io/applied-placement"] = json.dumps(applied or placed)
    if placed is not None:
        spec = {"placement": copy.deepcopy(placed), "replicas": 2,
                "clusters": [{"name": "member1", "replicas": 2}], **spec}
    return {"apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding",
            "metadata": {"name": f"{of['metadata']['name']}-{of['kind'].lower()}", "namespace": NS,
                         **meta},
            "spec": {"resource": {"apiVersion": of["apiVersion"], "kind": of["kind"],
                                  "namespace": NS, "name": of["metadata"]["name"]},
                     **({"requiredBy": [{"namespace": NS, "name": name} for name in required_by]}
                        if required_by else {}), **spec}}


def story(problem, reason, target, objects, assets=(), flags=(), files=None, age_s=0):
    """`target` is "KIND NAME" of the subject.

    `flags` are flags of the exporter. `files` are texts by the name of a file beside the objects.
    `assets` is an asset export of that age.
    """
    kind, name = target.split()
    STORIES[problem, reason] = {
        "kind": kind, "name": name, "target": f"{NS}/{name}", "objects": list(objects),
        "assets": list(assets), "flags": list(flags), "files": files or {}, "age_s": age_s}


# ---- templates and their policies

WEB, BOUND = deployment(), deployment(claimed="web-policy")
TEMPLATE, BINDING = "Deployment web", "ResourceBinding web-deployment"
NEEDS = {"replicaRequirements": {"resourceRequest": {"cpu": "1", "memory": "1Gi"}}}
# A problem of the policy hides that of its templates.
UNHIDDEN = ["--problems.severity", "policy_invalid=off"]


def cluster(name, ready="True", taints=(), labels=None, free="100"):
    return {"apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster",
            "metadata": {"name": name, "labels": labels or {}},
            "spec": {"syncMode": "Push", "taints": list(taints)},
            "status": {"conditions": [{"type": "Ready", "status": ready}], "resourceSummary": {
                "allocatable": {"cpu": free, "memory": "100Gi", "pods": "1000"},
                "allocated": {"cpu": "0", "memory": "0", "pods": "0"}}}}


def clusters():
    return [cluster("member1"), cluster("member2")]


def stale(problem, reason, *objects, lazy=False):
    """The policy changed, and the binding did not follow."""
    story(problem, reason, TEMPLATE, objects or [
        policy("web-policy", MEMBER2, lazy=lazy), BOUND, binding(BOUND, "web-policy", **NEEDS),
        *clusters()])


def written(changes, owned, at):
    """`changes` with managedFields of the last writer: Karmada if `owned`, else a user."""
    return {**changes, "managedFields": [{
        "manager": "karmada-controller-manager" if owned else "kubectl", "operation": "Update",
        "apiVersion": "v1", "fieldsType": "FieldsV1", "time": f"2026-01-01T0{at}:00:00Z",
        "fieldsV1": {"f:spec": {"f:resource": {}} if owned else {"f:replicas": {}}}}]}


def changed(of, at=2):
    """A user scaled the Deployment at that hour."""
    late = copy.deepcopy(of)
    late["metadata"] = written(late["metadata"], False, at)
    late["spec"]["replicas"] = 5
    return late


def at_hour(one, owned, at):
    return {**one, "metadata": written(one["metadata"], owned, at)}


PRIORITY = {"schedulePriority": {"priorityClassName": "gone",
                                 "priorityClassSource": "KubePriorityClass"}}
PRIORITY_CLASS = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": 1,
                  "metadata": {"name": "other"}}


def not_in_force():
    for reason, more, others in (
            ("priority_class_missing", PRIORITY, [PRIORITY_CLASS]),
            ("override_missing", {"dependentOverrides": ["gone"]}, [])):
        story("policy_not_in_force", reason, TEMPLATE,
              [policy("web-policy", MEMBER2, **more), BOUND, binding(BOUND, "web-policy"),
               *clusters(), *others], flags=UNHIDDEN)
        story("not_propagated", reason, TEMPLATE,
              [policy("web-policy", **more), *clusters(), *others,
               WEB if reason == "override_missing" else BOUND], flags=UNHIDDEN)
        story("policy_invalid", reason, "PropagationPolicy web-policy",
              [policy("web-policy", **more), BOUND, binding(BOUND, "web-policy"), *others])
    stale("policy_not_in_force", "policy_updated")
    replaced = [policy("web-policy", MEMBER2), policy("other-policy"), BOUND,
                binding(BOUND, "other-policy")]
    stale("policy_not_in_force", "policy_replaced", *replaced)
    stale("policy_not_in_force", "never_bound",
          at_hour(policy("web-policy", lazy=True), False, 1), at_hour(BOUND, False, 2))
    stale("policy_not_in_force", "template_updated", policy("web-policy"), changed(BOUND),
          at_hour(binding(BOUND, "web-policy"), True, 1))
    stale("deferred_too_long", "policy_updated", lazy=True)
    stale("deferred_too_long", "policy_replaced", policy("web-policy", MEMBER2, lazy=True),
          *replaced[1:])
    stale("deferred_too_long", "never_bound", policy("web-policy", lazy=True), BOUND)
    stale("template_frozen", "policy_gone", policy("other-policy"), BOUND,
          binding(BOUND, "web-policy"))
    stale("reference_broken", "claim_missing", *STORIES["template_frozen", "policy_gone"]["objects"])
    STORIES["reference_broken", "claim_missing"]["flags"] = [
        "--problems.severity", "template_frozen=off"]
    stale("template_frozen", "selector_mismatch", policy("web-policy", select={
        "apiVersion": "apps/v1", "kind": "Deployment", "name": "renamed"}), BOUND,
        binding(BOUND, "web-policy"))


def not_propagated():
    def waits(reason, *objects):
        story("not_propagated", reason, TEMPLATE, objects)
    going = policy("web-policy")
    going["metadata"].update(deletionTimestamp="2026-01-01T00:00:00Z", finalizers=["x.io/wait"])
    waits("no_match", policy("other-policy"), WEB)
    waits("policy_gone", policy("other-policy"), changed(WEB), at_hour(binding(WEB), True, 1))
    waits("policy_deleting", going, WEB)
    waits("stuck", policy("web-policy"), BOUND)
    old = binding(BOUND, "web-policy")
    old["spec"]["resource"]["uid"] = "uid-of-the-old"
    new = copy.deepcopy(BOUND)
    new["metadata"]["uid"] = "uid-of-the-new"
    waits("namesake", policy("web-policy"), new, old)
    fresh = copy.deepcopy(WEB)
    fresh["metadata"]["uid"] = "uid"
    waits("not_claimed", policy("web-policy"), fresh)
    ingress = template("Ingress", "networking.k8s.io/v1", "web", spec={
        "defaultBackend": {"service": {"name": "web", "port": {"number": 80}}}})
    story("binding_name_collision", "taken", "Ingress web",
          [policy("web-ingress", kind="Ingress"), ingress, template("Ingress", "example.com/v1", "web"),
           policy("web-other", select={"apiVersion": "example.com/v1", "kind": "Ingress"})])
    long = deployment()
    long["metadata"]["name"] = "w" * 250
    story("binding_name_collision", "invalid_name", "Deployment " + "w" * 250,
          [policy("web-policy", select={"apiVersion": "apps/v1", "kind": "Deployment"}), long])
    story("orphaned", "", TEMPLATE, [policy("other-policy"), WEB, binding(WEB)])
    story("excluded", "", TEMPLATE,
          [policy("web-policy", excludedResources=[{"name": "web"}]), WEB])


# ---- policies and references

def policies():
    def invalid(reason, **more):
        story("policy_invalid", reason, "PropagationPolicy bad-policy",
              [policy("bad-policy", **more), WEB])

    def selecting(**more):
        return {"select": {"apiVersion": "apps/v1", "kind": "Deployment", **more}}
    wrong = {"matchExpressions": [{"key": "a", "operator": "Near", "values": ["b"]}]}
    invalid("invalid_selector", **selecting(labelSelector=wrong))
    invalid("invalid_exclusion", excludedResources=[{"labelSelector": wrong}])
    invalid("empty_exclusion", excludedResources=[{}])
    invalid("foreign_namespace", **selecting(namespace="other"))
    invalid("unwatched_version", select={"apiVersion": "apps/v1beta1", "kind": "Deployment"})
    invalid("preemption_without_name", preemption="Always", **selecting())
    invalid("cluster_scoped_kind", select={"apiVersion": "rbac.authorization.k8s.io/v1",
                                           "kind": "ClusterRole"})
    invalid("field_pruned", clusterAffinity={"clusterNames": ["member1"]})
    invalid("refused", conflictResolution="Merge")
    empty = policy("bad-policy")
    empty["spec"]["resourceSelectors"] = []
    story("policy_invalid", "no_selector", "PropagationPolicy bad-policy", [empty, WEB])
    story("policy_outranked", "", "PropagationPolicy web-policy",
          [policy("web-policy"), policy("web-better", priority=5), BOUND,
           binding(BOUND, "web-policy")])
    story("policy_tie", "", "PropagationPolicy web-a", [policy("web-a"), policy("web-b"), WEB])
    story("policy_unused", "", "PropagationPolicy idle-policy", [policy("idle-policy"), WEB])
    story("duplicate_object", "", TEMPLATE, [policy("web-policy"), WEB, WEB])
    story("reference_broken", "template_missing", BINDING,
          [policy("web-policy"), binding(BOUND, "web-policy")])
    story("reference_broken", "required_by_missing", "ResourceBinding config-configmap",
          shared(also=["gone-deployment"]))


# ---- from the binding to the member clusters

def status(reason="Success", message="Binding has been scheduled successfully.", **more):
    """The status of a binding, with the condition Scheduled."""
    success = reason == "Success"
    return {"conditions": [{"type": "Scheduled", "status": str(success), "reason": reason,
                            "message": message}],
            **({"schedulerObservedGeneration": 1} if success else {}), **more}


def item(name, health="Unknown", **more):
    return {"clusterName": name, "health": health, **more}


def bound(problem, reason, said, placement=MEMBER1, members=None, suspension=None, **spec):
    """The binding is as its policy; `said` is the status of the binding."""
    held = {"suspension": suspension} if suspension else {}
    story(problem, reason, TEMPLATE,
          [policy("web-policy", placement, **held), BOUND,
           {**binding(BOUND, "web-policy", placement, **held, **spec), "status": said},
           *(clusters() if members is None else members)])


NO_FIT = status("NoClusterFit", "0/2 clusters are available: 2 cluster(s) did not match the "
                "placement cluster affinity constraint.")
NOWHERE = {"clusterAffinity": {"clusterNames": ["member3"]}}
LABELLED = {"clusterAffinity": {"labelSelector": {"matchLabels": {"region": "north"}}}}


def not_scheduled():
    bound("not_scheduled", "no_cluster_fit", NO_FIT, NOWHERE, clusters=[])
    lost = {**NO_FIT, "lastScheduledTime": "2026-01-01T00:00:00Z"}
    bound("placement_lost", "cluster_gone", lost, NOWHERE, clusters=[])
    bound("placement_lost", "no_cluster_fit", lost, LABELLED, clusters=[])
    for reason, said, message in (
            ("scheduler_error", "SchedulerError",
             "failed to select clusters: the number of feasible clusters is less than "
             "spreadConstraint.MinGroups"),
            ("unschedulable", "Unschedulable", "Clusters available replicas 1 are not enough "
             "to schedule."),
            ("quota_exceeded", "QuotaExceeded",
             'admission webhook "resourcebinding.karmada.io" denied the request: '
             f"FederatedResourceQuota({NS}/limit) exceeded for resource cpu: requested sum 800m, "
             "limit 500m.")):
        bound("not_scheduled", reason, status(said, message), applied=False, clusters=[])
    bound("not_scheduled", "waiting", {}, applied=False, clusters=[])
    other = {"schedulerName": "other"}
    story("not_scheduled", "other_scheduler", TEMPLATE,
          [policy("web-policy", **other), BOUND,
           binding(BOUND, "web-policy", applied=False, clusters=[], **other), *clusters()])
    bound("placement_at_risk", "affinity", status(aggregatedStatus=[item("member1", applied=True)]),
          LABELLED)
    taint = [{"key": "maintenance", "effect": "NoSchedule"}]
    bound("placement_at_risk", "taint", status(aggregatedStatus=[item("member1", applied=True)]),
          MEMBER2, [cluster("member2", taints=taint)])


def not_delivered():
    bound("not_delivered", "waiting", status())
    taken = "already exists in the cluster member1 and the work.karmada.io/conflict-resolution " \
            "strategy value is empty, Karmada will not manage this resource"
    for reason, message in (
            ("already_exists", f"resource(kind=Deployment, {NS}/web) {taken}"),
            ("refused", f'Deployment.apps "web" is invalid: spec.selector: {NS} is immutable')):
        bound("not_delivered", reason, status(aggregatedStatus=[item(
            "member1", appliedMessage=f"Failed to apply all manifests (0/1): {message}")]))
    applied = item("member1", "Unhealthy", applied=True)
    bound("unhealthy", "unavailable", status(aggregatedStatus=[applied]))
    bound("unhealthy", "unknown", status(aggregatedStatus=[item("member1", applied=True)]))
    bound("unhealthy", "rolling", status(aggregatedStatus=[{**applied, "status": {
        "replicas": 2, "updatedReplicas": 1, "generation": 2, "observedGeneration": 2,
        "resourceTemplateGeneration": 1}}]))
    bound("change_suspended", "", status(aggregatedStatus=[item("member1")]),
          suspension={"dispatching": True})


def moves():
    """From member1, which is Ready again: its taint was there for a moment."""
    old, new = (item(name, "Healthy", applied=True) for name in ("member1", "member2"))
    member2 = [{"name": "member2", "replicas": 2}]
    task = {"fromCluster": "member1", "replicas": 2, "purgeMode": "Gracefully",
            "producer": "TaintManager", "reason": "TaintUntolerated"}
    said = status(
        "NoClusterFit", "0/2 clusters are available: 1 cluster(s) did not match the placement "
        "cluster affinity constraint, 1 cluster(s) is in the process of eviction.",
        aggregatedStatus=[old])
    bound("last_copy_at_risk", "cluster_ready", said, clusters=[], gracefulEvictionTasks=[task])
    bound("last_copy_at_risk", "cluster_not_ready", said, MEMBER1,
          [cluster("member1", "False"), cluster("member2")], clusters=[],
          gracefulEvictionTasks=[task])
    bound("two_copies_held", "", status(aggregatedStatus=[old, new]), BOTH, clusters=member2,
          gracefulEvictionTasks=[{**task, "suppressDeletion": True}])
    bound("on_fallback", "", status(
        aggregatedStatus=[new], schedulerObservingAffinityName="backup"), GROUPS, clusters=member2)
    bound("forbidden_placement", "binding", status(aggregatedStatus=[old]), LABELLED)
    story("forbidden_placement", "policy", TEMPLATE,
          STORIES["policy_not_in_force", "policy_updated"]["objects"])
    for reason, resource, free in (
            ("cpu", "cpu", "1"), ("memory", "memory", "1Gi"), ("pods", "pods", "1"),
            ("ephemeral-storage", "ephemeral-storage", "1Gi"), ("other", "example.com/gpu", "1")):
        full, needs = cluster("member2"), copy.deepcopy(NEEDS)
        full["status"]["resourceSummary"]["allocatable"][resource] = free
        needs["replicaRequirements"]["resourceRequest"].setdefault(resource, free)
        story("drift_exceeds_capacity", reason, "Cluster member2",
              [policy("web-policy", MEMBER2), BOUND, binding(BOUND, "web-policy", **needs),
               cluster("member1"), full])
    placed = [policy("web-policy"), BOUND, {**binding(BOUND, "web-policy"), "status": status(
        aggregatedStatus=[old])}]
    story("member_cluster_unavailable", "gone", "Cluster member1", [*placed, cluster("member2")])
    story("member_cluster_unavailable", "not_ready", "Cluster member1",
          [*placed, cluster("member1", "False")])
    refused = []
    for number in range(10):
        one = deployment(f"web{number}", claimed="all-policy")
        refused += [one, {**binding(one, "all-policy"), "status": status(aggregatedStatus=[item(
            "member1", appliedMessage="Failed to apply all manifests (0/1): "
            "deployments.apps is forbidden")])}]
    story("member_cluster_unavailable", "refusing", "Cluster member1",
          [policy("all-policy", select={"apiVersion": "apps/v1", "kind": "Deployment"}), *refused,
           *clusters()])


# ---- dependencies

def shared(kind="ConfigMap", wants=("Overwrite", "Abort"), stored="Overwrite",
           field="conflictResolution", **more):
    """Two Deployments that need one ConfigMap, and the value that each policy requests for it."""
    objects, names = [], []
    for name, want in zip(("web", "api"), wants):
        one = deployment(name, f"{name}-policy", mounts="config")
        objects += [policy(f"{name}-policy", propagateDeps=True, **{field: want}), one,
                    binding(one, f"{name}-policy", propagateDeps=True, **{field: want})]
        names.append(f"{name}-deployment")
    config = template(kind, "v1", "config", more.pop("claimed", None), data={})
    names += more.pop("also", [])
    return [*objects, config, binding(config, more.pop("made_by", None), required_by=names,
                                      **{field: stored})]


def dependencies():
    """Of the dependency's problems, the subject is its binding."""
    subject = "ResourceBinding config-configmap"
    for reason, field, values in (
            ("ConflictResolution", "conflictResolution", ("Overwrite", "Abort")),
            ("PreserveResourcesOnDeletion", "preserveResourcesOnDeletion", (True, False))):
        high, low = values
        story("dependency_conflict", reason, subject, shared(wants=values, stored=high, field=field))
        story("dependency_not_resolved", reason, subject,
              shared(wants=values, stored=low, field=field))
        predicted = shared(wants=(low, low), stored=low, field=field)
        predicted[0]["spec"][field] = high
        story("conflict_predicted", reason, subject, predicted)
        story("value_overridden", reason, "ResourceBinding config-secret",
              [policy("config-policy", kind="Secret"),
               *shared("Secret", wants=(high, high), stored=low, field=field,
                       claimed="config-policy", made_by="config-policy")])


# ---- autoscalers

def autoscaler(kind, api_version, claimed=None):
    return template(kind, api_version, "scaler", claimed, spec={
        "minReplicas": 1, "maxReplicas": 5,
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}})


def contested():
    kind, api_version = "HorizontalPodAutoscaler", "autoscaling/v2"
    scaler = autoscaler(kind, api_version, "scaler-policy")
    web = [policy("web-policy"), BOUND, binding(BOUND, "web-policy"), *clusters()]
    story("replicas_contested", "hpa", TEMPLATE, [
        *web, policy("scaler-policy", BOTH, select={"apiVersion": api_version, "kind": kind}), scaler,
        binding(scaler, "scaler-policy", BOTH, replicas=0,
                clusters=[{"name": "member1"}, {"name": "member2"}])])
    story("replicas_contested", "federated_hpa", TEMPLATE, [
        *web, autoscaler("FederatedHPA", "autoscaling.karmada.io/v1alpha1")])


# ---- Config Connector

def sql(name="db", annotations=None, **more):
    one = template("SQLInstance", f"sql.{CNRM}v1beta1", name, **more)
    one["metadata"].setdefault("annotations", {}).update(
        {CNRM + "project-id": "p", **(annotations or {})})
    return one


def ids():
    return {"apiVersion": "v1", "kind": "ConfigMap", "data": {NS: "id-of-shop", "other": "id-of-other"},
            "metadata": {"name": "namespace-id", "namespace": "cnrm-system"}}


def lease(holder, left_s):
    return {"name": "//cloudsql.googleapis.com/projects/p/instances/db",
            "assetType": "sqladmin.googleapis.com/Instance", "resource": {"data": {"settings": {
                "userLabels": {"cnrm-lease-holder-id": holder,
                               "cnrm-lease-expiration": str(int(time.time() + left_s))}}}}}


def connector():
    def told(problem, reason, *objects, assets=(), subject="SQLInstance db"):
        story(problem, reason, subject, [policy("db-policy", kind="SQLInstance", select={
            "apiVersion": f"sql.{CNRM}v1beta1", "kind": "SQLInstance"}), ids(), *objects], assets)
    refused = {"conditions": [{
        "type": "Ready", "status": "False", "reason": "ManagementConflict",
        "message": "resource is under lease by 'xyz' for an additional 1m"}]}
    placed = sql(claimed="db-policy")
    on_both = binding(placed, "db-policy", replicas=0,
                      clusters=[{"name": "member1"}, {"name": "member2"}])
    held = sql(annotations=PROTECTED)
    told("management_conflict", "reported", sql(annotations=PROTECTED, status=refused))
    told("management_conflict", "invalid_prevention", sql(
        annotations={CNRM + "management-conflict-prevention-policy": "project"}))
    told("management_conflict", "refused", held, assets=[lease("id-of-other", 2000)])
    told("cloud_resource_conflict", "duplicate_identity", sql(),
         sql("two", spec={"resourceID": "db"}))
    told("cloud_resource_conflict", "multi_cluster_placement", placed, on_both)
    told("cloud_resource_conflict", "silent", sql(), assets=[lease("zzz", 2000)])
    told("deletion_trap", "", placed, on_both)
    STORIES["deletion_trap", ""]["flags"] = ["--problems.severity", "cloud_resource_conflict=off"]
    told("lease_unprotected", "lapse_hazard", sql(
        annotations={**PROTECTED, CNRM + "reconcile-interval-in-seconds": "3600"}))
    network = template("ComputeNetwork", f"compute.{CNRM}v1beta1", "net")
    network["metadata"]["annotations"] = {CNRM + "project-id": "p", **PROTECTED}
    story("lease_unprotected", "unprotectable", "ComputeNetwork net", [
        policy("net-policy", select={"apiVersion": f"compute.{CNRM}v1beta1",
                                     "kind": "ComputeNetwork"}), network])
    for reason, holder, left_s in (("unknown_holder", "zzz", 2000), ("expired", "id-of-shop", -2000),
                                   ("expiring", "id-of-shop", 300)):
        told("lease_at_risk", reason, held, assets=[lease(holder, left_s)],
             subject=f"Asset {lease(holder, left_s)['name']}")
    # A lease expires within 20 minutes, which is also the patience.
    STORIES["lease_at_risk", "expiring"]["flags"] = ["--problems.patience", "lease_at_risk=10m"]


# ---- files

def files():
    story("data_incomplete", "broken_file", "Source broken.yaml", [WEB],
          files={"broken.yaml": "kind: A\n  b: [\n"})
    wrong = copy.deepcopy(WEB)
    wrong["spec"]["replicas"] = "two"
    story("data_incomplete", "rejected", "Source wrong.json", [WEB],
          files={"wrong.json": json.dumps(wrong)})
    story("data_incomplete", "snapshot_old", "Source assets", [WEB],
          assets=[lease("id-of-shop", 2000)], age_s=3 * 86400)


for tell in (not_in_force, not_propagated, policies, not_scheduled, not_delivered, moves,
             dependencies, contested, connector, files):
    tell()
