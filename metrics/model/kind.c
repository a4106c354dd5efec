/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/kind.h"

#include "metrics/model/autoscaler.h"
#include "metrics/model/binding.h"
#include "metrics/model/cluster.h"
#include "metrics/model/connector_resource.h"
#include "metrics/model/event.h"
#include "metrics/model/federated_quota.h"
#include "metrics/model/override_policy.h"
#include "metrics/model/template.h"
#include "metrics/model/work.h"

static void *other_decode(struct decode *d, const cJSON *json)
{
    struct other *o = pool_alloc_zeroed(intern_memory(d->strings), sizeof(*o));
    const cJSON *spec = json_get(json, "spec");
    bool unread;

    o->admission = decode_admission(d, json, &unread);
    if (cJSON_IsObject(spec) && strcmp(json_str(json, "kind", ""), TAINT_POLICY_KIND) == 0)
        o->taint_policy = cJSON_PrintUnformatted(spec);
    return o;
}

static void *federated_hpa_decode(struct decode *d, const cJSON *json)
{
    struct other *o = other_decode(d, json);

    o->autoscaler = autoscaler_decode(d, json);
    return o;
}

static void other_release(struct intern *strings, void *object)
{
    struct other *o = object;

    if (!o)
        return;
    free(o->admission);
    free(o->taint_policy);
    autoscaler_release(strings, o->autoscaler);
    pool_free(o);
}

#define POLICY_GROUP "policy.karmada.io"
#define WORK_GROUP   "work.karmada.io"
#define SCALER_GROUP "autoscaling.karmada.io"
#define POLICY_V1    POLICY_GROUP "/v1alpha1"
#define WORK_V1      WORK_GROUP "/v1alpha1"
#define WORK_V2      WORK_GROUP "/v1alpha2"

/* Indexes in `rows` of the kinds that kind_of_policies() and similar functions return. */
enum {
    ROW_POLICY,
    ROW_CLUSTER_POLICY,
    ROW_BINDING,
    ROW_CLUSTER_BINDING,
    ROW_OVERRIDE,
    ROW_CLUSTER_OVERRIDE,
    ROW_CLUSTER,
};

/* Initializers of struct kind_watch, all except NEVER with `resource` and further members. */
#define ALWAYS(plural, ...)                                                                        \
    {                                                                                              \
        .when = WATCH_ALWAYS, .resource = (plural), __VA_ARGS__                                    \
    }
#define WITH_CONNECTOR(plural, ...)                                                                \
    {                                                                                              \
        .when = WATCH_WITH_CONNECTOR, .resource = (plural), __VA_ARGS__                            \
    }
#define WITH_PRIORITY(plural, ...)                                                                 \
    {                                                                                              \
        .when = WATCH_WITH_PRIORITY, .resource = (plural), __VA_ARGS__                             \
    }
#define WITH_WORKS(plural, ...)                                                                    \
    {                                                                                              \
        .when = WATCH_WITH_WORKS, .resource = (plural), __VA_ARGS__                                \
    }
#define WITH_OVERRIDES(plural, ...)                                                                \
    {                                                                                              \
        .when = WATCH_WITH_OVERRIDES, .resource = (plural), __VA_ARGS__                            \
    }
#define IF_SERVED(plural, ...)                                                                     \
    {                                                                                              \
        .when = WATCH_IF_SERVED, .resource = (plural), __VA_ARGS__                                 \
    }
#define NEVER(why)                                                                                 \
    {                                                                                              \
        .when = WATCH_NEVER_##why                                                                  \
    }

/*
 * Members: group, name, api_version, class, cluster_scoped, decode, release, inherit, watch. The
 * rows name no members, so that the compiler rejects a row without its last member.
 */
static const struct kind_def rows[] = {
    {POLICY_GROUP, "PropagationPolicy", POLICY_V1, CLASS_POLICY, false, policy_decode,
     policy_release, policy_inherit, ALWAYS("propagationpolicies", .required = true)},
    {POLICY_GROUP, "ClusterPropagationPolicy", POLICY_V1, CLASS_POLICY, true, policy_decode,
     policy_release, policy_inherit,
     ALWAYS("clusterpropagationpolicies", .required = true, .unfiltered = true)},
    {WORK_GROUP, "ResourceBinding", WORK_V2, CLASS_BINDING, false, binding_decode, binding_release,
     binding_inherit, ALWAYS("resourcebindings", .required = true)},
    {WORK_GROUP, "ClusterResourceBinding", WORK_V2, CLASS_BINDING, true, binding_decode,
     binding_release, binding_inherit, ALWAYS("clusterresourcebindings", .required = true)},
    {POLICY_GROUP, "OverridePolicy", POLICY_V1, CLASS_OVERRIDE, false, override_decode,
     override_release, NULL, ALWAYS("overridepolicies")},
    {POLICY_GROUP, "ClusterOverridePolicy", POLICY_V1, CLASS_OVERRIDE, true, override_decode,
     override_release, NULL, ALWAYS("clusteroverridepolicies", .unfiltered = true)},
    {CLUSTER_GROUP, CLUSTER_KIND, CLUSTER_API_VERSION, CLASS_CLUSTER, true, cluster_decode,
     cluster_release, NULL, ALWAYS("clusters", .unfiltered = true)},
    {POLICY_GROUP, QUOTA_KIND, POLICY_V1, CLASS_QUOTA, false, federated_quota_decode,
     federated_quota_release, NULL, ALWAYS("federatedresourcequotas")},
    {WORK_GROUP, "Work", WORK_V1, CLASS_WORK, false, work_decode, work_release, NULL,
     WITH_WORKS("works", .optional = true, .unfiltered = true, .by_binding = true)},
    /* The groups "" and events.k8s.io serve the same Events: events.k8s.io is not read. */
    {"", "Event", "v1", CLASS_EVENT, false, event_decode, event_release, NULL,
     ALWAYS("events", .optional = true, .field_selector = "reason=" EVENT_CONFLICT)},
    /*
     * A field selector matches one reason only, so each further reason needs a row. kind_of()
     * returns the first row of Event.
     */
    {"", "Event", "v1", CLASS_EVENT, false, event_decode, event_release, NULL,
     ALWAYS("events", .optional = true, .supplement = true,
            .field_selector = "reason=" EVENT_REFUSAL)},
    {"", "Event", "v1", CLASS_EVENT, false, event_decode, event_release, NULL,
     WITH_OVERRIDES("events", .optional = true, .supplement = true,
                    .field_selector = "reason=ApplyOverridePolicyFailed")},
    {"events.k8s.io", "Event", "v1", CLASS_EVENT, false, event_decode, event_release, NULL,
     NEVER(DUPLICATE)},
    {LEASE_GROUP, LEASE_KIND, LEASE_API_VERSION, CLASS_LEASE, true, lease_decode, lease_release,
     NULL, NEVER(FROM_FILES)},
    {SETTING_GROUP, "Namespace", SETTING_API_VERSION, CLASS_SETTING, true, template_decode,
     template_release, template_inherit,
     WITH_CONNECTOR("namespaces", .read_api_version = "v1", .unfiltered = true,
                    .metadata_only = true)},
    {SETTING_GROUP, "ConfigMap", SETTING_API_VERSION, CLASS_SETTING, false, template_decode,
     template_release, template_inherit,
     WITH_CONNECTOR("configmaps", .read_api_version = "v1", .unfiltered = true,
                    .only_namespace = "cnrm-system",
                    .field_selector = "metadata.name=namespace-id")},
    {POLICY_GROUP, PRIORITY_CLASS_KIND, POLICY_V1, CLASS_SETTING, true, template_decode,
     template_release, template_inherit,
     WITH_PRIORITY("priorityclasses", .read_api_version = PRIORITY_CLASS_API_VERSION,
                   .unfiltered = true)},
    {SCALER_GROUP, "FederatedHPA", SCALER_GROUP "/v1alpha1", CLASS_OTHER, false,
     federated_hpa_decode, other_release, NULL, IF_SERVED("federatedhpas", .optional = true)},
};

static const struct kind_def template_row = {
    .class = CLASS_TEMPLATE,
    .decode = template_decode,
    .release = template_release,
    .inherit = template_inherit,
    .watch = {.when = WATCH_IF_SELECTED},
};

static const struct kind_def other_row = {
    .class = CLASS_OTHER,
    .decode = other_decode,
    .release = other_release,
    .watch = NEVER(USED),
};

/* Groups of Karmada that are never propagated. Karmada does propagate search.karmada.io. */
static const char *const own_groups[] = {
    CLUSTER_GROUP,           POLICY_GROUP, WORK_GROUP,          "config.karmada.io",
    "networking.karmada.io", SCALER_GROUP, "remedy.karmada.io", "apps.karmada.io",
};

const struct kind_def *kind_of(const char *api_version, const char *kind)
{
    size_t len = api_group_len(api_version);

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (*rows[i].name == *kind && strcmp(rows[i].name, kind) == 0 &&
            api_group_is(api_version, len, rows[i].group))
            return &rows[i];
    }
    for (size_t i = 0; i < ARRAY_LEN(own_groups); i++) {
        if (api_group_is(api_version, len, own_groups[i]))
            return &other_row;
    }
    return &template_row;
}

const struct kind_def *kind_table(size_t *count)
{
    *count = ARRAY_LEN(rows);
    return rows;
}

const struct kind_def *kind_of_policies(bool cluster_scoped)
{
    return &rows[cluster_scoped ? ROW_CLUSTER_POLICY : ROW_POLICY];
}

const struct kind_def *kind_of_bindings(bool cluster_scoped)
{
    return &rows[cluster_scoped ? ROW_CLUSTER_BINDING : ROW_BINDING];
}

const struct kind_def *kind_of_overrides(bool cluster_scoped)
{
    return &rows[cluster_scoped ? ROW_CLUSTER_OVERRIDE : ROW_OVERRIDE];
}

const struct kind_def *kind_of_clusters(void)
{
    return &rows[ROW_CLUSTER];
}

/* Cluster-scoped kinds that are neither in the table of kinds nor in that of built-in kinds. */
static const struct cluster_kind {
    const char *group;
    const char *kind;
} cluster_kinds[] = {
    {"", "ComponentStatus"},
    {"apps.karmada.io", "WorkloadRebalancer"},
    {"certificates.k8s.io", "ClusterTrustBundle"},
    {"config.karmada.io", "ResourceInterpreterCustomization"},
    {"config.karmada.io", "ResourceInterpreterWebhookConfiguration"},
    {"metrics.k8s.io", "NodeMetrics"},
    {"policy", "PodSecurityPolicy"},
    {"policy.karmada.io", "ClusterTaintPolicy"},
    {"remedy.karmada.io", "Remedy"},
    {"search.karmada.io", "ResourceRegistry"},
    {"storagemigration.k8s.io", "StorageVersionMigration"},
};

enum scope scope_of_kind(const char *api_version, const char *kind)
{
    const struct builtin_kind *builtin = builtin_kind_find(api_version, kind);
    const struct kind_def *def = kind_of(api_version, kind);
    size_t len = api_group_len(api_version);
    bool known = def->api_version || !memchr(api_version, '.', len);

    if (def->cluster_scoped || (builtin && builtin->cluster_scoped))
        return SCOPE_CLUSTER;
    if (builtin)
        return SCOPE_NAMESPACED;
    for (size_t i = 0; i < ARRAY_LEN(cluster_kinds); i++) {
        if (!api_group_is(api_version, len, cluster_kinds[i].group))
            continue;
        if (strcmp(kind, cluster_kinds[i].kind) == 0)
            return SCOPE_CLUSTER;
        known = true;
    }
    known = known || is_builtin_group(api_version);
    return known ? SCOPE_NAMESPACED : SCOPE_UNKNOWN;
}
