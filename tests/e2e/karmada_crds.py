# SPDX-License-Identifier: Apache-2.0
"""Karmada's kinds as CustomResourceDefinitions: names, versions, scope, status, and the defaults
that the API server fills in. Whatever else a schema would say is left open.

Clusters are served by another API server in a real installation; here they are one more of these.
"""
OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def choice(*values, default):
    return {"type": "string", "enum": list(values), "default": default}


def with_fields(**fields):
    return {**OPEN, "properties": fields}


FAILOVER = with_fields(
    application=with_fields(
        purgeMode=choice("Directly", "Gracefully", "Never", default="Gracefully"),
        decisionConditions=with_fields(tolerationSeconds={"type": "integer", "default": 300})),
    cluster=with_fields(purgeMode=choice("Directly", "Gracefully", default="Gracefully")))
PLACEMENT = with_fields(replicaScheduling=with_fields(
    replicaSchedulingType=choice("Duplicated", "Divided", default="Divided")))
CONFLICT_RESOLUTION = choice("Abort", "Overwrite", default="Abort")
POLICY = {
    **with_fields(
        resourceSelectors={"type": "array", "minItems": 1, "items": OPEN},
        priority={"type": "integer", "format": "int32", "default": 0},
        preemption=choice("Always", "Never", default="Never"),
        schedulerName={"type": "string", "default": "default-scheduler"},
        conflictResolution=CONFLICT_RESOLUTION,
        activationPreference={"type": "string", "enum": ["Lazy"]},
        placement=PLACEMENT, failover=FAILOVER),
    "required": ["resourceSelectors"]}
BINDING = with_fields(
    conflictResolution=CONFLICT_RESOLUTION, placement=PLACEMENT, failover=FAILOVER,
    schedulePriority=with_fields(priority={"type": "integer", "default": 0}))

# (kind, plural, short name, group, versions of which the last is stored, namespaced, has status,
# schema of spec)
KINDS = [
    ("PropagationPolicy", "propagationpolicies", "pp", "policy", ["v1alpha1"], True, False, POLICY),
    ("ClusterPropagationPolicy", "clusterpropagationpolicies", "cpp", "policy", ["v1alpha1"], False,
     False, POLICY),
    ("OverridePolicy", "overridepolicies", "op", "policy", ["v1alpha1"], True, False, OPEN),
    ("ClusterOverridePolicy", "clusteroverridepolicies", "cop", "policy", ["v1alpha1"], False,
     False, OPEN),
    ("FederatedResourceQuota", "federatedresourcequotas", None, "policy", ["v1alpha1"], True, True,
     OPEN),
    ("ResourceBinding", "resourcebindings", "rb", "work", ["v1alpha1", "v1alpha2"], True, True,
     BINDING),
    ("ClusterResourceBinding", "clusterresourcebindings", "crb", "work", ["v1alpha1", "v1alpha2"],
     False, True, BINDING),
    ("Work", "works", "wk", "work", ["v1alpha1"], True, True, OPEN),
    ("FederatedHPA", "federatedhpas", None, "autoscaling", ["v1alpha1"], True, True, OPEN),
    ("Cluster", "clusters", None, "cluster", ["v1alpha1"], False, True, OPEN),
]


def version(name, stored, has_status, spec):
    return {"name": name, "served": True, "storage": stored,
            **({"subresources": {"status": {}}} if has_status else {}),
            "schema": {"openAPIV3Schema": {"type": "object",
                                           "properties": {"spec": spec, "status": OPEN}}}}


def definition(kind, plural, group, *, versions=("v1",), namespaced=True, has_status=False,
               spec=None, short=None, category=None):
    """A CustomResourceDefinition; the last version is the one that is stored."""
    names = {"kind": kind, "listKind": kind + "List", "plural": plural, "singular": kind.lower(),
             **({"shortNames": [short]} if short else {}),
             **({"categories": [category]} if category else {})}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{group}"},
            "spec": {"group": group, "names": names,
                     "scope": "Namespaced" if namespaced else "Cluster",
                     "versions": [version(name, name == versions[-1], has_status, spec or OPEN)
                                  for name in versions]}}


def karmada_definitions():
    return [definition(kind, plural, f"{group}.karmada.io", versions=versions,
                       namespaced=namespaced, has_status=has_status, spec=spec, short=short,
                       category="karmada-io")
            for kind, plural, short, group, versions, namespaced, has_status, spec in KINDS]
