/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/kind.h"

#include "metrics/model/binding.h"
#include "metrics/model/cluster.h"
#include "metrics/model/connector.h"
#include "metrics/model/event.h"
#include "metrics/model/lease.h"
#include "metrics/model/other.h"
#include "metrics/model/override.h"
#include "metrics/model/template.h"

#define POLICY_GROUP  "policy.karmada.io"
#define WORK_GROUP    "work.karmada.io"
#define CLUSTER_GROUP "cluster.karmada.io"
#define POLICY_V1     POLICY_GROUP "/v1alpha1"
#define WORK_V2       WORK_GROUP "/v1alpha2"
#define CLUSTER_V1    CLUSTER_GROUP "/v1alpha1"

enum {
    ROW_POLICY,
    ROW_CLUSTER_POLICY,
    ROW_OVERRIDE,
    ROW_CLUSTER_OVERRIDE,
    ROW_BINDING,
    ROW_CLUSTER_BINDING,
};

/* group, name, api_version, class, cluster_scoped, decode, release */
static const struct kind_def rows[] = {
    [ROW_POLICY] = {POLICY_GROUP, "PropagationPolicy", POLICY_V1, CLASS_POLICY, false,
                    policy_decode, policy_release},
    [ROW_CLUSTER_POLICY] = {POLICY_GROUP, "ClusterPropagationPolicy", POLICY_V1, CLASS_POLICY, true,
                            policy_decode, policy_release},
    [ROW_OVERRIDE] = {POLICY_GROUP, "OverridePolicy", POLICY_V1, CLASS_OVERRIDE, false,
                      override_decode, override_release},
    [ROW_CLUSTER_OVERRIDE] = {POLICY_GROUP, "ClusterOverridePolicy", POLICY_V1, CLASS_OVERRIDE,
                              true, override_decode, override_release},
    [ROW_BINDING] = {WORK_GROUP, "ResourceBinding", WORK_V2, CLASS_BINDING, false, binding_decode,
                     binding_release},
    [ROW_CLUSTER_BINDING] = {WORK_GROUP, "ClusterResourceBinding", WORK_V2, CLASS_BINDING, true,
                             binding_decode, binding_release},
    {CLUSTER_GROUP, "Cluster", CLUSTER_V1, CLASS_CLUSTER, true, cluster_decode, cluster_release},
    /* The same Event is served by both groups: one identity, or it would count twice. */
    {"", "Event", "v1", CLASS_EVENT, false, event_decode, event_release},
    {"events.k8s.io", "Event", "v1", CLASS_EVENT, false, event_decode, event_release},
    {LEASE_GROUP, LEASE_KIND, LEASE_API_VERSION, CLASS_LEASE, true, lease_decode, lease_release},
    {SETTING_GROUP, "Namespace", SETTING_API_VERSION, CLASS_SETTING, true, template_decode,
     template_release},
    {SETTING_GROUP, "ConfigMap", SETTING_API_VERSION, CLASS_SETTING, false, template_decode,
     template_release},
};

static const struct kind_def template_row = {
    .class = CLASS_TEMPLATE,
    .decode = template_decode,
    .release = template_release,
};

static const struct kind_def other_row = {
    .class = CLASS_OTHER,
    .decode = other_decode,
    .release = other_release,
};

/* Karmada's own, which it never propagates. Not search.karmada.io: that it would. */
static const char *const own_groups[] = {
    CLUSTER_GROUP,
    POLICY_GROUP,
    WORK_GROUP,
    "config.karmada.io",
    "networking.karmada.io",
    "autoscaling.karmada.io",
    "remedy.karmada.io",
    "apps.karmada.io",
};

size_t api_group_len(const char *api_version)
{
    const char *slash = strchr(api_version, '/');

    return slash ? (size_t)(slash - api_version) : 0;
}

static bool is_group(const char *api_version, size_t len, const char *group)
{
    return strlen(group) == len && memcmp(api_version, group, len) == 0;
}

const struct kind_def *kind_of(const char *api_version, const char *kind)
{
    size_t len = api_group_len(api_version);

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (strcmp(rows[i].name, kind) == 0 && is_group(api_version, len, rows[i].group))
            return &rows[i];
    }
    for (size_t i = 0; i < ARRAY_LEN(own_groups); i++) {
        if (is_group(api_version, len, own_groups[i]))
            return &other_row;
    }
    return &template_row;
}

const struct kind_def *kind_policy(bool cluster_scoped)
{
    return &rows[cluster_scoped ? ROW_CLUSTER_POLICY : ROW_POLICY];
}

const struct kind_def *kind_binding(bool cluster_scoped)
{
    return &rows[cluster_scoped ? ROW_CLUSTER_BINDING : ROW_BINDING];
}

const struct kind_def *kind_override(bool cluster_scoped)
{
    return &rows[cluster_scoped ? ROW_CLUSTER_OVERRIDE : ROW_OVERRIDE];
}
