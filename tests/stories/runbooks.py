# SPDX-License-Identifier: Apache-2.0
"""For each alert about Karmada's objects, and each part of its page, the smallest story that leads
to it: the objects, the one in trouble, and the series that the alert looks at. The objects are as a control plane has them, with what Karmada wrote, so that the stories can be
told from files and on a real API server alike.
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


def of_alert(alert):
    """The stories of an alert by the part of its page that they are about."""
    return {part: story for (name, part), story in STORIES.items() if name == alert}


def titled(said, target):
    """True if the first line names the object: "Deployment shop/web (apps/v1)"."""
    return re.match(rf"\w+ {re.escape(target)}( |$)", said.split("\n")[0]) is not None


def policy(name, placement=MEMBER1, kind="Deployment", select=None, lazy=False, **spec):
    group = {"Deployment": "apps/v1", "Ingress": "networking.k8s.io/v1",
             "SQLInstance": f"sql.{CNRM}v1beta1"}.get(kind, "v1")
    selector = {"apiVersion": group, "kind": kind, "name": name.split("-")[0]}
    return {"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy",
            "metadata": {"name": name, "namespace": NS,
                         "labels": {"propagationpolicy.karmada.io/permanent-id": f"id-{name}"}},
            "spec": {"resourceSelectors": [select or selector],
                     "placement": copy.deepcopy(placement),
                     **({"activationPreference": "Lazy"} if lazy else {}), **spec}}


def claim(name):
    prefix = "propagationpolicy.karmada.io/"
    return {"labels": {prefix + "permanent-id": f"id-{name}"},
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


def story(alert, part, target, objects, sign, labels=None, assets=(), **alerted):
    """`part` is what the page's heading has, if it has parts: most often the alert's reason.

    `target` is "KIND NAME" of the object in trouble, and `alerted` what labels the alert has.
    """
    kind, name = target.split()
    alerted = alerted or ({"reason": part} if part else {})
    STORIES[alert, part] = {
        "kind": kind, "name": name, "target": f"{NS}/{name}", "objects": objects,
        "sign": (sign, labels or {}), "assets": list(assets), "alerted": alerted}


# ---- templates and their policies

WEB, BOUND = deployment(), deployment(claimed="web-policy")
TEMPLATE = "Deployment web"


def clusters():
    return [{"apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster",
             "metadata": {"name": name}, "spec": {"syncMode": "Push"},
             "status": {"conditions": [{"type": "Ready", "status": "True"}]}}
            for name in ("member1", "member2")]


def stale(alert, part=None, lazy=False, sign="karmada_templates_stale", like=None, **alerted):
    """The policy moved on, and nobody applied it."""
    needs = {"replicaRequirements": {"resourceRequest": {"cpu": "1", "memory": "1Gi"}}}
    story(alert, part, TEMPLATE,
          [policy("web-policy", MEMBER2, lazy=lazy), BOUND, binding(BOUND, "web-policy", **needs),
           *clusters()],
          sign, like or {"phase": "deferred" if lazy else "overdue"}, **alerted)


def written(changes, owned, at):
    """What managedFields say of who wrote an object last."""
    return {**changes, "managedFields": [{
        "manager": "karmada-controller-manager" if owned else "kubectl", "operation": "Update",
        "apiVersion": "v1", "fieldsType": "FieldsV1", "time": f"2026-01-01T0{at}:00:00Z",
        "fieldsV1": {"f:spec": {"f:resource": {}} if owned else {"f:replicas": {}}}}]}


def changed_since():
    """A user scaled the Deployment after its binding was made."""
    late, old = copy.deepcopy(BOUND), binding(BOUND, "web-policy")
    late["metadata"] = written(late["metadata"], False, 2)
    late["spec"]["replicas"] = 5
    old["metadata"] = written(old["metadata"], True, 1)
    return [policy("web-policy"), late, old]


def templates():
    stale("KarmadaControllersStuck")
    stale("KarmadaPolicyNotInForce", "policy_updated")
    story("KarmadaPolicyNotInForce", "policy_replaced", TEMPLATE,
          [policy("web-policy", MEMBER2), policy("other-policy"), BOUND,
           binding(BOUND, "other-policy")],
          "karmada_templates_stale", {"reason": "policy_replaced", "phase": "overdue"})
    said, late = policy("web-policy", lazy=True), copy.deepcopy(BOUND)
    said["metadata"] = written(said["metadata"], False, 1)
    late["metadata"] = written(late["metadata"], False, 2)
    story("KarmadaPolicyNotInForce", "never_bound", TEMPLATE, [said, late],
          "karmada_templates_stale", {"reason": "never_bound", "phase": "overdue"})
    story("KarmadaPolicyNotInForce", "template_updated", TEMPLATE, changed_since(),
          "karmada_templates_stale", {"reason": "template_updated"})
    stale("KarmadaPolicyOverdue", policy_kind="PropagationPolicy", policy_namespace=NS,
          policy="web-policy", reason="policy_updated")
    stale("KarmadaPolicyStaleTooLong", "overdue", phase="overdue")
    stale("KarmadaPolicyStaleTooLong", "deferred", True, phase="deferred")
    stale("KarmadaPolicyDriftBurst")
    stale("KarmadaDecisionsFlapping", "templates", what="templates")
    stale("KarmadaPolicyDriftCapacityAtRisk", None, False, "karmada_templates_stale_field",
          {"field": "placement"}, member_cluster="member2", resource="cpu")
    stale("KarmadaPolicyReview", "forbidden_replicas", False, "karmada_templates_stale_field",
          {"field": "placement"}, item="forbidden_replicas")
    stale("KarmadaPolicyReview", "dropped_details", item="dropped_details")
    story("KarmadaPolicyFrozenTemplates", "policy_gone", TEMPLATE,
          [policy("other-policy"), BOUND, binding(BOUND, "web-policy")], "karmada_templates_stale",
          {"reason": "policy_gone"})
    story("KarmadaPolicyFrozenTemplates", "selector_mismatch", TEMPLATE,
          [policy("web-policy", select={"apiVersion": "apps/v1", "kind": "Deployment",
                                        "name": "renamed"}), BOUND, binding(BOUND, "web-policy")],
          "karmada_templates_stale", {"reason": "selector_mismatch"})
    story("KarmadaTemplateUnboundTooLong", None, TEMPLATE, [policy("web-policy"), WEB],
          "karmada_templates", {"state": "unbound"})


def pending():
    def waits(reason, *objects):
        story("KarmadaTemplatePendingTooLong", reason, TEMPLATE, objects,
              "karmada_templates_pending", {"reason": reason})
    going = policy("web-policy")
    going["metadata"].update(deletionTimestamp="2026-01-01T00:00:00Z", finalizers=["x.io/wait"])
    left = binding(WEB)
    left["metadata"] = written(left["metadata"], True, 1)
    changed = copy.deepcopy(WEB)
    changed["metadata"] = written(changed["metadata"], False, 2)
    changed["spec"]["replicas"] = 5
    waits("no_match", policy("other-policy"), WEB)
    waits("policy_gone", policy("other-policy"), changed, left)
    waits("policy_deleting", going, WEB)
    waits("override_missing", policy("web-policy", dependentOverrides=["missing"]), WEB)


def review():
    def item(what, target, objects, sign, labels=None, assets=()):
        story("KarmadaPolicyReview", what, target, objects, sign, labels, assets, item=what)
    item("outranked_templates", TEMPLATE,
         [policy("web-policy"), policy("web-better", priority=5), BOUND,
          binding(BOUND, "web-policy")], "karmada_templates_outranked")
    item("name_decides", "PropagationPolicy web-b", [policy("web-a"), policy("web-b"), WEB],
         "karmada_propagationpolicy_overlaps", {"decided_by": "name"})
    item("orphaned_templates", TEMPLATE, [policy("other-policy"), WEB, binding(WEB)],
         "karmada_namespace_templates", {"state": "orphaned"})
    item("excluded_templates", TEMPLATE,
         [policy("web-policy", excludedResources=[{"name": "web"}]), WEB],
         "karmada_templates_pending", {"reason": "excluded"})
    item("unused_policies", "PropagationPolicy nobody-policy", [policy("nobody-policy"), WEB],
         "karmada_propagationpolicy_unused")
    predicted = shared(wants=("Abort", "Abort"), stored="Abort")
    predicted[0]["spec"]["conflictResolution"] = "Overwrite"
    item("predicted_conflicts", "ConfigMap config", predicted,
         "karmada_dependency_conflicts_predicted", {"field": "ConflictResolution"})
    item("overridden_values", "ResourceBinding config-secret",
         [policy("config-policy", kind="Secret"),
          *shared("Secret", wants=("Overwrite", "Overwrite"), stored="Abort",
                  claimed="config-policy", made_by="config-policy")],
         "karmada_dependency_overridden", {"field": "ConflictResolution"})


def policies():
    story("KarmadaPolicyInvalid", "empty_exclusion", "PropagationPolicy bad-policy",
          [policy("bad-policy", excludedResources=[{}]), WEB], "karmada_propagationpolicy_invalid")
    story("KarmadaPolicyInvalid", "kind_not_served", "PropagationPolicy old-policy",
          [policy("old-policy", select={"apiVersion": "apps/v1beta1", "kind": "Deployment"}), WEB],
          "karmada_policy_exporter_selected_kind_not_served")


# ---- bindings

def bindings():
    ingress = template("Ingress", "networking.k8s.io/v1", "web", spec={
        "defaultBackend": {"service": {"name": "web", "port": {"number": 80}}}})
    other = template("Ingress", "example.com/v1", "web")
    story("KarmadaBindingNameCollision", None, "Ingress web",
          [policy("web-ingress", kind="Ingress"), ingress, other,
           policy("web-other", select={"apiVersion": "example.com/v1", "kind": "Ingress"})],
          "karmada_binding_name_collisions")
    story("KarmadaTemplateNotScheduled", "placement_not_applied", "ResourceBinding web-deployment",
          [policy("web-policy"), BOUND, {**binding(BOUND, "web-policy", applied=MEMBER2),
                                         "status": status()}, *clusters()],
          "karmada_bindings_not_rescheduled")
    story("KarmadaDanglingReferences", "template_missing", "ResourceBinding web-deployment",
          [policy("web-policy"), binding(BOUND, "web-policy")],
          "karmada_bindings_without_template")


# ---- the way to the member clusters

def status(reason="Success", message="Binding has been scheduled successfully.", **more):
    """Of a binding: what the scheduler says, and what else is known."""
    success = reason == "Success"
    return {"conditions": [{"type": "Scheduled", "status": str(success), "reason": reason,
                            "message": message}],
            **({"schedulerObservedGeneration": 1} if success else {}), **more}


def item(cluster, health="Unknown", **more):
    return {"clusterName": cluster, "health": health, **more}


def on_the_way(alert, part, sign, said, placement=MEMBER1, labels=None, suspension=None,
               alerted=None, **spec):
    """The binding is as the policy says, and `said` is its status."""
    held = {"suspension": suspension} if suspension else {}
    made = {**binding(BOUND, "web-policy", placement, **held, **spec), "status": said}
    story(alert, part, TEMPLATE,
          [policy("web-policy", placement, **held), BOUND, made, *clusters()],
          sign, labels, **(alerted or {}))


def stopped(alert, stage, reason, said, placement=MEMBER1, part=True, **spec):
    on_the_way(alert, reason if part else None, "karmada_templates_delivery", said, placement,
               {"stage": stage, "reason": reason}, alerted={"stage": stage, "reason": reason},
               **spec)


def ways():
    stopped("KarmadaTemplateNoClusterFit", "unscheduled", "no_cluster_fit", status(
        "NoClusterFit", "0/2 clusters are available: 2 cluster(s) did not match the placement "
        "cluster affinity constraint."), {"clusterAffinity": {"clusterNames": ["member3"]}},
        part=False, clusters=[])
    stopped("KarmadaTemplateNotScheduled", "unscheduled", "scheduler_error", status(
        "SchedulerError", "failed to select clusters: the number of feasible clusters is less than "
        "spreadConstraint.MinGroups"), {"spreadConstraints": [
            {"spreadByField": "cluster", "minGroups": 5, "maxGroups": 5}]},
        applied=False, clusters=[])
    stopped("KarmadaTemplateNotScheduled", "unscheduled", "quota_exceeded", status(
        "QuotaExceeded", 'admission webhook "resourcebinding.karmada.io" denied the request: '
        f"FederatedResourceQuota({NS}/limit) exceeded for resource cpu: requested sum 800m, limit "
        "500m."), applied=False, clusters=[])
    stopped("KarmadaTemplateNotDelivered", "undispatched", "waiting", status())
    taken = "already exists in the cluster member1 and the work.karmada.io/conflict-resolution " \
            "strategy value is empty, Karmada will not manage this resource"
    for reason, message in (
            ("already_exists", f"resource(kind=Deployment, {NS}/web) {taken}"),
            ("refused", f'Deployment.apps "web" is invalid: spec.selector: {NS} is immutable')):
        stopped("KarmadaTemplateNotApplied", "unapplied", reason, status(aggregatedStatus=[item(
            "member1", appliedMessage=f"Failed to apply all manifests (0/1): {message}")]))
    on_the_way("KarmadaPolicyReview", "suspended_changes", "karmada_templates_suspended",
               status(aggregatedStatus=[item("member1")]), labels={"waiting": "true"},
               suspension={"dispatching": True}, alerted={"item": "suspended_changes"})


def moves():
    """Off member1, which is ready again: its taint was there for a moment only."""
    old, new = (item(name, "Healthy", applied=True) for name in ("member1", "member2"))
    member2 = [{"name": "member2", "replicas": 2}]
    evicted = [{"fromCluster": "member1", "replicas": 2, "purgeMode": "Gracefully",
                "producer": "TaintManager", "reason": "TaintUntolerated"}]
    on_the_way("KarmadaTemplateLastCopyAtRisk", None, "karmada_templates_last_copy_at_risk", status(
        "NoClusterFit", "0/2 clusters are available: 1 cluster(s) did not match the placement "
        "cluster affinity constraint, 1 cluster(s) is in the process of eviction.",
        aggregatedStatus=[old]), clusters=[], gracefulEvictionTasks=evicted)
    stopped("KarmadaTemplateEvictionStuck", "evicting", "replacing",
            status(aggregatedStatus=[old, {**new, "health": "Unhealthy"}]), BOTH,
            clusters=member2, gracefulEvictionTasks=evicted)
    on_the_way("KarmadaTemplatesOnFallback", None, "karmada_templates_on_fallback", status(
        aggregatedStatus=[new], schedulerObservingAffinityName="backup"), GROUPS, clusters=member2)


# ---- dependencies

def shared(kind="ConfigMap", wants=("Overwrite", "Abort"), stored="Overwrite", **more):
    """Two Deployments that need one ConfigMap, and what each one's policy wants of it."""
    objects, names = [], []
    for name, want in zip(("web", "api"), wants):
        one = deployment(name, f"{name}-policy", mounts="config")
        objects += [policy(f"{name}-policy", propagateDeps=True, conflictResolution=want), one,
                    binding(one, f"{name}-policy", propagateDeps=True, conflictResolution=want)]
        names.append(f"{name}-deployment")
    config = template(kind, "v1", "config", more.pop("claimed", None), data={})
    names += more.pop("also", [])
    return [*objects, config, binding(config, more.pop("made_by", None), required_by=names,
                                      conflictResolution=stored)]


def dependencies():
    field = {"field": "ConflictResolution"}
    story("KarmadaDependencyPolicyConflict", None, "ConfigMap config", shared(),
          "karmada_dependency_conflicts", field, **field)
    story("KarmadaDecisionsFlapping", "conflicts", "ConfigMap config", shared(),
          "karmada_dependency_conflicts", field, what="conflicts")
    story("KarmadaDependencyResolutionUnapplied", None, "ResourceBinding config-configmap",
          shared(stored="Abort"),
          "karmada_dependency_unapplied_resolutions", field, **field)
    story("KarmadaDanglingReferences", "required_by_missing", "ResourceBinding config-configmap",
          shared(also=["gone-deployment"]), "karmada_dependency_dangling_references")


# ---- Config Connector

def sql(name="db", annotations=None, **more):
    one = template("SQLInstance", f"sql.{CNRM}v1beta1", name, **more)
    one["metadata"].setdefault("annotations", {}).update(
        {CNRM + "project-id": "p", **(annotations or {})})
    return one


def ids():
    return {"apiVersion": "v1", "kind": "ConfigMap", "data": {NS: "id-of-shop"},
            "metadata": {"name": "namespace-id", "namespace": "cnrm-system"}}


def lease(holder, left_s):
    return {"name": "//cloudsql.googleapis.com/projects/p/instances/db",
            "assetType": "sqladmin.googleapis.com/Instance", "resource": {"data": {"settings": {
                "userLabels": {"cnrm-lease-holder-id": holder,
                               "cnrm-lease-expiration": str(int(time.time() + left_s))}}}}}


def connector():
    def told(alert, part, conflict, *objects, assets=(), **alerted):
        story(alert, part, "SQLInstance db", [policy("db-policy", kind="SQLInstance", select={
            "apiVersion": f"sql.{CNRM}v1beta1", "kind": "SQLInstance"}), ids(), *objects],
            "karmada_configconnector_conflicts", {"class": conflict}, assets,
            **(alerted or {"class": conflict}))
    refused = {"conditions": [{
        "type": "Ready", "status": "False", "reason": "ManagementConflict",
        "message": "resource is under lease by 'xyz' for an additional 1m"}]}
    placed = sql(claimed="db-policy")
    on_both = binding(placed, "db-policy", replicas=0,
                      clusters=[{"name": "member1"}, {"name": "member2"}])
    held = sql(annotations=PROTECTED)
    told("KarmadaConfigConnectorManagementConflict", "reported", "reported",
         sql(annotations=PROTECTED, status=refused))
    shares = "KarmadaConfigConnectorSharedResource"
    told(shares, "duplicate_identity", "duplicate_identity", sql(),
         sql("two", spec={"resourceID": "db"}))
    told(shares, "multi_cluster_placement", "multi_cluster_placement", placed, on_both)
    told(shares, "silent", "silent", sql(), assets=[lease("zzz", 2000)])
    told("KarmadaConfigConnectorDeletionTrap", None, "deletion_trap", placed, on_both)
    told("KarmadaPolicyReview", "unprotected_leases", "lapse_hazard", sql(
        annotations={**PROTECTED, CNRM + "reconcile-interval-in-seconds": "3600"}),
        item="unprotected_leases")
    told("KarmadaConfigConnectorLeaseAtRisk", "unknown_holder", "unknown_holder", held,
         assets=[lease("zzz", 2000)], reason="unknown_holder")
    told("KarmadaConfigConnectorLeaseExpired", None, "expired", held,
         assets=[lease("id-of-shop", -60)])
    told("KarmadaConfigConnectorLeaseAtRisk", "expiring", "expiring", held,
         assets=[lease("id-of-shop", 300)], reason="expiring")
    told("KarmadaConfigConnectorLeaseAtRisk", "snapshot_old", "unknown_holder", held,
         assets=[lease("zzz", 2000)], reason="snapshot_old")


for tell in (templates, pending, review, policies, bindings, ways, moves, dependencies, connector):
    tell()
