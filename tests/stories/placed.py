# SPDX-License-Identifier: Apache-2.0
"""Member clusters, and templates with the policy and the binding that place them there."""
import json

PLACEMENT = "policy.karmada.io/applied-placement"
SINCE = "2026-01-01T00:00:00Z"


def member(name, *zones, **spec):
    kinds = {"apps/v1": ["Deployment", "ReplicaSet"], "v1": ["ConfigMap"]}
    apis = [{"groupVersion": version, "resources": [{"name": k.lower() + "s", "kind": k} for k in names]}
            for version, names in kinds.items()]
    conditions = [{"type": kind, "status": "True", "lastTransitionTime": SINCE}
                  for kind in ("Ready", "CompleteAPIEnablements")]
    return {"apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster", "metadata": {"name": name},
            "spec": {"syncMode": "Push", "zones": list(zones), **spec},
            "status": {"apiEnablements": apis, "conditions": conditions}}


def static(**weights):
    rules = [{"targetCluster": {"clusterNames": [name]}, "weight": weight} for name, weight in weights.items()]
    return {"replicaScheduling": {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted",
                                  "weightPreference": {"staticWeightList": rules}}}


def workload(name, placement, clusters, replicas=4, policy=(), binding=(), kind="Deployment", status=()):
    """A template with its policy, and its binding as the scheduler of the older release has made it."""
    ident = {"name": name, "namespace": "shop"}
    claim = {"labels": {"propagationpolicy.karmada.io/permanent-id": f"id-{name}"},
             "annotations": {"propagationpolicy.karmada.io/namespace": "shop",
                             "propagationpolicy.karmada.io/name": name}}
    note = {**claim["annotations"], PLACEMENT: json.dumps(placement)}
    return [
        {"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy",
         "metadata": {**ident, "uid": f"p-{name}", "creationTimestamp": SINCE, "labels": claim["labels"]},
         "spec": {"resourceSelectors": [{"apiVersion": "apps/v1", "kind": kind, "namespace": "shop", "name": name}],
                  "placement": placement, **dict(policy)}},
        {"apiVersion": "apps/v1", "kind": kind,
         "metadata": {**ident, "uid": f"t-{name}", "resourceVersion": "10", **claim},
         "spec": {"replicas": replicas, "template": {"spec": {"containers": []}}}},
        {"apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding",
         "metadata": {"name": f"{name}-{kind.lower()}", "namespace": "shop", "generation": 1,
                      "labels": claim["labels"], "annotations": note},
         "spec": {"resource": {"apiVersion": "apps/v1", "kind": kind, **ident, "uid": f"t-{name}", "resourceVersion": "10"},
                  "replicas": replicas, "replicaRequirements": {}, "conflictResolution": "Abort",
                  "schedulerName": "default-scheduler", "placement": placement,
                  "clusters": [{"name": c, "replicas": n} for c, n in clusters.items()], **dict(binding)},
         "status": {"schedulerObservedGeneration": 1, "lastScheduledTime": SINCE, **dict(status),
                    "conditions": [{"type": "Scheduled", "status": "True", "reason": "Success"}]}}]


def names(*clusters_):
    return {"clusterAffinity": {"clusterNames": list(clusters_)}}


def in_zone(zone):
    return {"clusterAffinity": {"fieldSelector": {"matchExpressions": [
        {"key": "zone", "operator": "In", "values": [zone]}]}}}


def clusters(outcome):
    return outcome.get("undetermined") or {c["cluster"]: c["replicas"] for c in outcome["clusters"]}


def config_map():
    return {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {
        "name": "conf", "namespace": "shop", "uid": "t-conf", "resourceVersion": "5"}}


def attachment(*referrers, on=("m1",)):
    """The binding of the ConfigMap that these Deployments require."""
    required = [{"namespace": "shop", "name": f"{name}-deployment",
                 "clusters": [{"name": cluster, "replicas": 1} for cluster in on]} for name in referrers]
    return {"apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding",
            "metadata": {"name": "conf-configmap", "namespace": "shop"},
            "spec": {"resource": {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "shop", "name": "conf",
                                  "uid": "t-conf", "resourceVersion": "5"},
                     "conflictResolution": "Abort", "preserveResourcesOnDeletion": False, "requiredBy": required}}


def requiring(objects):
    """The objects of workload() with Pods that use the ConfigMap."""
    pods = {"containers": [{"name": "c", "envFrom": [{"configMapRef": {"name": "conf"}}]}]}
    objects[1]["spec"]["template"]["spec"] = pods
    return objects
