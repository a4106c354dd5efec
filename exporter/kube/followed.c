/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/followed.h"

/* api_version, kind, resource, field_selector, namespaced, required, unscoped */
const struct fixed_kind fixed_kinds[FIXED_KIND_COUNT] = {
    {"policy.karmada.io/v1alpha1", "PropagationPolicy", "propagationpolicies", NULL, true, true,
     false},
    {"policy.karmada.io/v1alpha1", "ClusterPropagationPolicy", "clusterpropagationpolicies", NULL,
     false, true, true},
    {"work.karmada.io/v1alpha2", "ResourceBinding", "resourcebindings", NULL, true, true, false},
    {"work.karmada.io/v1alpha2", "ClusterResourceBinding", "clusterresourcebindings", NULL, false,
     true, false},
    {"policy.karmada.io/v1alpha1", "OverridePolicy", "overridepolicies", NULL, true, false, false},
    {"policy.karmada.io/v1alpha1", "ClusterOverridePolicy", "clusteroverridepolicies", NULL, false,
     false, true},
    {"cluster.karmada.io/v1alpha1", "Cluster", "clusters", NULL, false, false, true},
    {"v1", "Event", "events", "reason=DependencyPolicyConflict", true, false, false},
};

const struct reflector_spec setting_specs[SETTING_COUNT] = {
    {.api_version = "v1",
     .kind = "Namespace",
     .resource = "namespaces",
     .metadata_only = true,
     .unscoped = true,
     .settings = true},
    {.api_version = "v1",
     .kind = "ConfigMap",
     .resource = "configmaps",
     .ns = "cnrm-system",
     .field_selector = "metadata.name=namespace-id",
     .unscoped = true,
     .settings = true},
};
