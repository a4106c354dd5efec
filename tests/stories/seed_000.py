# SPDX-License-Identifier: Apache-2.0
"""Seed 000, Resolving Conflicts with Dependency Distribution Policies: the five cases of its plan.

app-a and app-b mount my-config; each has its policy and its binding, and the attached binding of
my-config is required by both. The table says what each step is in conflict and resolves to.
"""
from control_plane import healthy_in

ID = "propagationpolicy.karmada.io/permanent-id"
CLUSTERS = ["member1", "member2"]
TARGETS = [{"name": name, "replicas": 2} for name in CLUSTERS]
BOTH = {"ConflictResolution", "PreserveResourcesOnDeletion"}
A = {"conflictResolution": "Overwrite", "preserveResourcesOnDeletion": True}
B = {"conflictResolution": "Abort", "preserveResourcesOnDeletion": False}

# case: [(what app-a's policy says, what app-b's says or None, fields in conflict, resolved)]
CASES = {
    "conflict on both fields": [(A, B, BOTH, ("Overwrite", True))],
    "conflict on ConflictResolution only": [
        (A, {**A, "conflictResolution": "Abort"}, {"ConflictResolution"}, ("Overwrite", True)),
        ({**A, "preserveResourcesOnDeletion": False}, B, {"ConflictResolution"},
         ("Overwrite", False))],
    "conflict on PreserveResourcesOnDeletion only": [
        (A, {**A, "preserveResourcesOnDeletion": False}, {"PreserveResourcesOnDeletion"},
         ("Overwrite", True)),
        ({**B, "preserveResourcesOnDeletion": True}, B, {"PreserveResourcesOnDeletion"},
         ("Abort", True))],
    "conflict resolved by updating policy": [
        (A, B, BOTH, ("Overwrite", True)), (A, A, set(), ("Overwrite", True))],
    "conflict resolved by deleting policy, which removes its binding": [
        (A, B, BOTH, ("Overwrite", True)), (None, B, set(), ("Abort", False))],
}


def template(name):
    return {"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": name, "namespace": "default"},
            "spec": {"replicas": 2, "template": {"spec": {"volumes": [
                {"name": "configmap", "configMap": {"name": "my-config"}}]}}}}


def policy(name, wants):
    return {"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy",
            "metadata": {"name": f"{name}-policy", "namespace": "default",
                         "labels": {ID: f"{name}-policy"}},
            "spec": {**wants, "propagateDeps": True,
                     "placement": {"clusterAffinity": {"clusterNames": CLUSTERS}},
                     "resourceSelectors": [
                         {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}]}}


def binding(name, kind, api_version, spec, claims=None):
    claim = {"labels": {ID: claims},
             "annotations": {"propagationpolicy.karmada.io/namespace": "default",
                             "propagationpolicy.karmada.io/name": claims}} if claims else {}
    return {"apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding",
            "metadata": {"name": f"{name}-{kind.lower()}", "namespace": "default", **claim},
            "spec": {"resource": {"apiVersion": api_version, "kind": kind, "name": name,
                                  "namespace": "default"}, **spec},
            "status": healthy_in(CLUSTERS)}


def manifests(wants):
    """What is in Git: the ConfigMap, the Deployments, the policies that there are."""
    config = {"apiVersion": "v1", "kind": "ConfigMap",
              "metadata": {"name": "my-config", "namespace": "default"}}
    return [config, template("app-a"), template("app-b"),
            *(policy(name, said) for name, said in wants.items())]


def bindings(wants, stored):
    """What Karmada makes of it: independent bindings, and the attached one."""
    referrers = [{"namespace": "default", "name": f"{name}-deployment", "clusters": TARGETS}
                 for name in wants]
    return [
        *(binding(name, "Deployment", "apps/v1",
                  {**said, "propagateDeps": True, "replicas": 2, "clusters": TARGETS,
                   "placement": {"clusterAffinity": {"clusterNames": CLUSTERS}}},
                  claims=f"{name}-policy")
          for name, said in wants.items()),
        binding("my-config", "ConfigMap", "v1",
                {"requiredBy": referrers, "conflictResolution": stored[0],
                 "preserveResourcesOnDeletion": stored[1]})]


def wanted(step):
    """{"app-a": what its policy says, ...} of the policies that there are."""
    return {name: said for name, said in (("app-a", step[0]), ("app-b", step[1])) if said}


def value_of(want, field):
    """What a policy says about a field, by the field's name in metrics."""
    return want[field[0].lower() + field[1:]]
