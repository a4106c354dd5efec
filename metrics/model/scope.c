/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/scope.h"

#include "metrics/model/kind.h"

/* THE table of kinds without a namespace, but for those that have a row in kind.c. */
static const struct cluster_kind {
    const char *group;
    const char *kind;
} cluster_kinds[] = {
    {"", "ComponentStatus"},
    {"", "Namespace"},
    {"", "Node"},
    {"", "PersistentVolume"},
    {"admissionregistration.k8s.io", "MutatingAdmissionPolicy"},
    {"admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding"},
    {"admissionregistration.k8s.io", "MutatingWebhookConfiguration"},
    {"admissionregistration.k8s.io", "ValidatingAdmissionPolicy"},
    {"admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"},
    {"admissionregistration.k8s.io", "ValidatingWebhookConfiguration"},
    {"apiextensions.k8s.io", "CustomResourceDefinition"},
    {"apiregistration.k8s.io", "APIService"},
    {"apps.karmada.io", "WorkloadRebalancer"},
    {"certificates.k8s.io", "CertificateSigningRequest"},
    {"certificates.k8s.io", "ClusterTrustBundle"},
    {"config.karmada.io", "ResourceInterpreterCustomization"},
    {"config.karmada.io", "ResourceInterpreterWebhookConfiguration"},
    {"flowcontrol.apiserver.k8s.io", "FlowSchema"},
    {"flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"},
    {"internal.apiserver.k8s.io", "StorageVersion"},
    {"metrics.k8s.io", "NodeMetrics"},
    {"networking.k8s.io", "IPAddress"},
    {"networking.k8s.io", "IngressClass"},
    {"networking.k8s.io", "ServiceCIDR"},
    {"node.k8s.io", "RuntimeClass"},
    {"policy", "PodSecurityPolicy"},
    {"policy.karmada.io", "ClusterTaintPolicy"},
    {"rbac.authorization.k8s.io", "ClusterRole"},
    {"rbac.authorization.k8s.io", "ClusterRoleBinding"},
    {"remedy.karmada.io", "Remedy"},
    {"resource.k8s.io", "DeviceClass"},
    {"resource.k8s.io", "DeviceTaintRule"},
    {"resource.k8s.io", "ResourceSlice"},
    {"scheduling.k8s.io", "PriorityClass"},
    {"search.karmada.io", "ResourceRegistry"},
    {"storage.k8s.io", "CSIDriver"},
    {"storage.k8s.io", "CSINode"},
    {"storage.k8s.io", "StorageClass"},
    {"storage.k8s.io", "VolumeAttachment"},
    {"storage.k8s.io", "VolumeAttributesClass"},
    {"storagemigration.k8s.io", "StorageVersionMigration"},
};

static bool is_group(const char *api_version, size_t len, const char *group)
{
    return strlen(group) == len && memcmp(api_version, group, len) == 0;
}

enum scope scope_of(const char *api_version, const char *kind)
{
    const struct kind_def *def = kind_of(api_version, kind);
    size_t len = api_group_len(api_version);
    bool known = def->api_version || !memchr(api_version, '.', len);

    if (def->cluster_scoped)
        return SCOPE_CLUSTER;
    for (size_t i = 0; i < ARRAY_LEN(cluster_kinds); i++) {
        if (!is_group(api_version, len, cluster_kinds[i].group))
            continue;
        if (strcmp(kind, cluster_kinds[i].kind) == 0)
            return SCOPE_CLUSTER;
        known = true;
    }
    return known ? SCOPE_NAMESPACED : SCOPE_UNKNOWN;
}
