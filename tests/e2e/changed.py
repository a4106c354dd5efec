# SPDX-License-Identifier: Apache-2.0
"""Templates that somebody changed, by himself or by writing their policy, and one of which no object
says anything."""

CREATED = "2026-01-01T08:00:00Z"
WRITTEN = "2026-01-01T09:00:00Z"
POLICY_WRITTEN = "2026-01-01T10:00:00Z"
CLAIM = {"labels": {"propagationpolicy.karmada.io/permanent-id": "1"},
         "annotations": {"propagationpolicy.karmada.io/namespace": "shop",
                         "propagationpolicy.karmada.io/name": "web"}}


def placement(cluster):
    return {"clusterAffinity": {"clusterNames": [cluster]}}


def managed(manager, time, field="f:spec"):
    return {"creationTimestamp": CREATED, "managedFields": [
        {"manager": manager, "operation": "Update", "time": time, "fieldsV1": {field: {"f:x": {}}}}]}


def deployment(name, **metadata):
    return {"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": name, "namespace": "shop", **metadata}, "spec": {}}


def changed(cluster="m2"):
    """`cluster`: where the policy of the template shop/web wants it; its binding is on m1."""
    return [
        deployment("web", **CLAIM, **managed("deployer", WRITTEN)),
        deployment("alone", **managed("deployer", WRITTEN)),
        deployment("silent"),
        {"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy",
         "metadata": {"name": "web", "namespace": "shop", "generation": 2,
                      "labels": CLAIM["labels"], **managed("platform", POLICY_WRITTEN)},
         "spec": {"placement": placement(cluster), "resourceSelectors": [
             {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}]}},
        {"apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding",
         "metadata": {"name": "web-deployment", "namespace": "shop", **CLAIM},
         "spec": {"placement": placement("m1"), "clusters": [{"name": "m1"}], "resource": {
             "apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "web"}}},
    ]
