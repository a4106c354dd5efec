# SPDX-License-Identifier: Apache-2.0
"""For each alert about Karmada's objects the smallest story that leads to it: the objects, the one
that somebody who follows the runbook asks about, and the series that the alert looks at.

The objects are as a control plane has them, with what Karmada wrote, so that the stories can be
told from files and on a real API server alike.
"""
import copy
import json
import pathlib
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
RUNBOOKS = pathlib.Path(__file__).resolve().parents[2] / "alerts/runbooks"
COMMAND = re.compile(r"^karmada-policy-exporter explain (\S+)$", re.M)


def commands():
    """{alert: what its runbook explains}; those about the exporter itself explain nothing."""
    found = {}
    for path in RUNBOOKS.glob("*.md"):
        wanted = COMMAND.findall(path.read_text())
        assert len(wanted) == (0 if path.stem.startswith("KarmadaPolicyExporter") else 1), path
        found.update({path.stem: one for one in wanted})
    return found


def titled(said, target):
    """True if the first line names the object: "Deployment shop/web (apps/v1)"."""
    return re.match(rf"\w+ {re.escape(target)}( |$)", said.split("\n")[0]) is not None


def policy(name, placement=MEMBER1, kind="Deployment", select=None, lazy=False, **spec):
    """Selects the one that has the name before the dash, unless told."""
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


def story(alert, target, objects, sign, labels=None, assets=()):
    """`target` is what stands in the command for NAMESPACE/NAME."""
    STORIES[alert] = {"target": target, "objects": objects, "sign": (sign, labels or {}),
                      "assets": list(assets)}


# ---- templates and their policies

WEB, BOUND = deployment(), deployment(claimed="web-policy")


def stale(alert, sign="karmada_templates_stale", **labels):
    """The policy moved on, and nobody applied it."""
    story(alert, f"{NS}/web", [policy("web-policy", MEMBER2), BOUND, binding(BOUND, "web-policy"),
                               *clusters()], sign, labels)


def clusters():
    return [{"apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster",
             "metadata": {"name": name}, "spec": {"syncMode": "Push"},
             "status": {"conditions": [{"type": "Ready", "status": "True"}]}}
            for name in ("member1", "member2")]


def templates():
    stale("PolicyStaleTemplates", phase="overdue")
    stale("PolicyOverdueShareHigh", phase="overdue")
    stale("PolicyMassDriftBurst")
    stale("PolicyDriftCapacityAtRisk", "karmada_templates_stale_field", field="placement")
    stale("PolicyForbiddenReplicas", "karmada_templates_stale_field", field="placement")
    story("PolicyStaleTooLong", f"{NS}/web",
          [policy("web-policy", MEMBER2, lazy=True), BOUND, binding(BOUND, "web-policy")],
          "karmada_templates_stale", {"phase": "deferred"})
    story("PolicyFrozenTemplates", f"{NS}/web",
          [policy("other-policy"), BOUND, binding(BOUND, "web-policy")],
          "karmada_templates_stale", {"reason": "policy_gone"})
    story("PolicyTemplatesOutranked", f"{NS}/web",
          [policy("web-policy"), policy("web-better", priority=5), BOUND,
           binding(BOUND, "web-policy")], "karmada_templates_outranked")
    story("PolicyNameDecides", f"{NS}/web", [policy("web-a"), policy("web-b"), WEB],
          "karmada_propagationpolicy_overlaps", {"decided_by": "name"})
    story("TemplatesOrphaned", f"{NS}/web", [policy("other-policy"), WEB, binding(WEB)],
          "karmada_namespace_templates", {"state": "orphaned"})
    story("TemplatePendingTooLong", f"{NS}/web", [policy("other-policy"), WEB],
          "karmada_templates_pending", {"reason": "no_match"})
    story("TemplateExcludedTooLong", f"{NS}/web",
          [policy("web-policy", excludedResources=[{"name": "web"}]), WEB],
          "karmada_templates_pending", {"reason": "excluded"})
    story("TemplateUnboundTooLong", f"{NS}/web", [policy("web-policy"), WEB],
          "karmada_templates", {"state": "unbound"})


def policies():
    story("PolicyInvalid", f"{NS}/bad-policy",
          [policy("bad-policy", excludedResources=[{}]), WEB], "karmada_propagationpolicy_invalid")
    story("PolicyUnused", f"{NS}/nobody-policy", [policy("nobody-policy"), WEB],
          "karmada_propagationpolicy_unused")
    story("PolicyKindNotServed", f"{NS}/old-policy",
          [policy("old-policy", select={"apiVersion": "apps/v1beta1", "kind": "Deployment"}), WEB],
          "karmada_policy_exporter_selected_kind_not_served")


# ---- bindings

def bindings():
    ingress = template("Ingress", "networking.k8s.io/v1", "web", spec={
        "defaultBackend": {"service": {"name": "web", "port": {"number": 80}}}})
    other = template("Ingress", "example.com/v1", "web")
    story("BindingNameCollision", f"{NS}/web",
          [policy("web-ingress", kind="Ingress"), ingress, other,
           policy("web-other", select={"apiVersion": "example.com/v1", "kind": "Ingress"})],
          "karmada_binding_name_collisions")
    story("BindingsNotRescheduled", f"{NS}/web-deployment",
          [policy("web-policy"), BOUND, binding(BOUND, "web-policy", applied=MEMBER2)],
          "karmada_bindings_not_rescheduled")
    story("BindingsWithoutTemplate", f"{NS}/web-deployment",
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


def on_the_way(alert, sign, said, placement=MEMBER1, labels=None, suspension=None, **spec):
    """The binding is as the policy says, and `said` is its status."""
    held = {"suspension": suspension} if suspension else {}
    made = {**binding(BOUND, "web-policy", placement, **held, **spec), "status": said}
    story(alert, f"{NS}/web", [policy("web-policy", placement, **held), BOUND, made, *clusters()],
          sign, labels)


def stopped(alert, stage, reason, said, placement=MEMBER1, **spec):
    on_the_way(alert, "karmada_templates_delivery", said, placement,
               {"stage": stage, "reason": reason}, **spec)


def ways():
    stopped("TemplateNoClusterFit", "unscheduled", "no_cluster_fit", status(
        "NoClusterFit", "0/2 clusters are available: 2 cluster(s) did not match the placement "
        "cluster affinity constraint."), {"clusterAffinity": {"clusterNames": ["member3"]}},
        clusters=[])
    stopped("TemplateNotScheduled", "unscheduled", "scheduler_error", status(
        "SchedulerError", "failed to select clusters: the number of feasible clusters is less than "
        "spreadConstraint.MinGroups"), {"spreadConstraints": [
            {"spreadByField": "cluster", "minGroups": 5, "maxGroups": 5}]},
        applied=False, clusters=[])
    stopped("TemplateQuotaExceeded", "unscheduled", "quota_exceeded", status(
        "QuotaExceeded", 'admission webhook "resourcebinding.karmada.io" denied the request: '
        f"FederatedResourceQuota({NS}/limit) exceeded for resource cpu: requested sum 800m, limit "
        "500m."), applied=False, clusters=[])
    stopped("TemplateNotDelivered", "undispatched", "waiting", status())
    stopped("TemplateNotApplied", "unapplied", "already_exists", status(aggregatedStatus=[item(
        "member1", appliedMessage="Failed to apply all manifests (0/1): resource(kind=Deployment, "
        f"{NS}/web) already exists in the cluster member1 and the work.karmada.io/conflict-"
        "resolution strategy value is empty, Karmada will not manage this resource")]))
    on_the_way("TemplateChangesSuspended", "karmada_templates_suspended",
               status(aggregatedStatus=[item("member1")]), labels={"waiting": "true"},
               suspension={"dispatching": True})


def moves():
    """Off member1, which is ready again: its taint was there for a moment only."""
    old, new = (item(name, "Healthy", applied=True) for name in ("member1", "member2"))
    member2 = [{"name": "member2", "replicas": 2}]
    evicted = [{"fromCluster": "member1", "replicas": 2, "purgeMode": "Gracefully",
                "producer": "TaintManager", "reason": "TaintUntolerated"}]
    on_the_way("TemplateLastCopyAtRisk", "karmada_templates_last_copy_at_risk", status(
        "NoClusterFit", "0/2 clusters are available: 1 cluster(s) did not match the placement "
        "cluster affinity constraint, 1 cluster(s) is in the process of eviction.",
        aggregatedStatus=[old]), clusters=[], gracefulEvictionTasks=evicted)
    stopped("TemplateEvictionStuck", "evicting", "replacing",
            status(aggregatedStatus=[old, {**new, "health": "Unhealthy"}]), BOTH,
            clusters=member2, gracefulEvictionTasks=evicted)
    on_the_way("TemplatesOnFallback", "karmada_templates_on_fallback", status(
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
    target = f"{NS}/config"
    field = {"field": "ConflictResolution"}
    story("DependencyPolicyConflict", target, shared(), "karmada_dependency_conflicts", field)
    story("DependencyConflictsRecurring", target, shared(), "karmada_dependency_conflicts", field)
    story("DependencyResolutionUnapplied", target, shared(stored="Abort"),
          "karmada_dependency_unapplied_resolutions", field)
    story("DependencyDanglingReferences", target, shared(also=["gone-deployment"]),
          "karmada_dependency_dangling_references")
    story("DependencyValueOverridden", target,
          [policy("config-policy", kind="Secret"),
           *shared("Secret", wants=("Overwrite", "Overwrite"), stored="Abort",
                   claimed="config-policy", made_by="config-policy")],
          "karmada_dependency_overridden", field)
    predicted = shared(wants=("Abort", "Abort"), stored="Abort")
    predicted[0]["spec"]["conflictResolution"] = "Overwrite"
    story("DependencyConflictPredicted", target, predicted,
          "karmada_dependency_conflicts_predicted", field)


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
    def told(alert, conflict, *objects, assets=()):
        story(alert, f"{NS}/db", [policy("db-policy", kind="SQLInstance", select={
            "apiVersion": f"sql.{CNRM}v1beta1", "kind": "SQLInstance"}), ids(), *objects],
            "karmada_configconnector_conflicts", {"class": conflict}, assets)
    refused = {"conditions": [{
        "type": "Ready", "status": "False", "reason": "ManagementConflict",
        "message": "resource is under lease by 'xyz' for an additional 1m"}]}
    placed = sql(claimed="db-policy")
    told("ConfigConnectorManagementConflict", "reported",
         sql(annotations=PROTECTED, status=refused))
    told("ConfigConnectorSharedResource", "duplicate_identity", sql(),
         sql("two", spec={"resourceID": "db"}))
    told("ConfigConnectorDeletionTrap", "deletion_trap", placed,
         binding(placed, "db-policy", replicas=0,
                 clusters=[{"name": "member1"}, {"name": "member2"}]))
    told("ConfigConnectorUnprotected", "lapse_hazard", sql(
        annotations={**PROTECTED, CNRM + "reconcile-interval-in-seconds": "3600"}))
    held = sql(annotations=PROTECTED)
    told("ConfigConnectorUnknownHolder", "unknown_holder", held, assets=[lease("zzz", 2000)])
    told("ConfigConnectorLeaseExpired", "expired", held, assets=[lease("id-of-shop", -60)])
    told("ConfigConnectorLeaseExpiring", "expiring", held, assets=[lease("id-of-shop", 300)])
    told("ConfigConnectorSnapshotStale", "unknown_holder", held, assets=[lease("zzz", 2000)])


for tell in (templates, policies, bindings, ways, moves, dependencies, connector):
    tell()
