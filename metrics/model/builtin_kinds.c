/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/builtin_kinds.h"

#include "metrics/base/suggest.h"

static const struct builtin_kind rows[] = {
    /* Begin of the rows that cluster_kinds.test writes. */
    {"", "ConfigMap", "v1", false},
    {"", "Endpoints", "v1", false},
    {"", "Event", "v1", false},
    {"", "LimitRange", "v1", false},
    {"", "Namespace", "v1", true},
    {"", "Node", "v1", true},
    {"", "PersistentVolume", "v1", true},
    {"", "PersistentVolumeClaim", "v1", false},
    {"", "Pod", "v1", false},
    {"", "PodTemplate", "v1", false},
    {"", "ReplicationController", "v1", false},
    {"", "ResourceQuota", "v1", false},
    {"", "Secret", "v1", false},
    {"", "Service", "v1", false},
    {"", "ServiceAccount", "v1", false},
    {"admissionregistration.k8s.io", "MutatingAdmissionPolicy", "v1 v1beta1 v1alpha1", true},
    {"admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding", "v1 v1beta1 v1alpha1", true},
    {"admissionregistration.k8s.io", "MutatingWebhookConfiguration", "v1", true},
    {"admissionregistration.k8s.io", "ValidatingAdmissionPolicy", "v1", true},
    {"admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding", "v1", true},
    {"admissionregistration.k8s.io", "ValidatingWebhookConfiguration", "v1", true},
    {"apiextensions.k8s.io", "CustomResourceDefinition", "v1", true},
    {"apiregistration.k8s.io", "APIService", "v1", true},
    {"apps", "ControllerRevision", "v1", false},
    {"apps", "DaemonSet", "v1", false},
    {"apps", "Deployment", "v1", false},
    {"apps", "ReplicaSet", "v1", false},
    {"apps", "StatefulSet", "v1", false},
    {"autoscaling", "HorizontalPodAutoscaler", "v2 v1", false},
    {"batch", "CronJob", "v1", false},
    {"batch", "Job", "v1", false},
    {"certificates.k8s.io", "CertificateSigningRequest", "v1", true},
    {"coordination.k8s.io", "Lease", "v1", false},
    {"coordination.k8s.io", "LeaseCandidate", "v1beta1 v1alpha2", false},
    {"discovery.k8s.io", "EndpointSlice", "v1", false},
    {"events.k8s.io", "Event", "v1", false},
    {"flowcontrol.apiserver.k8s.io", "FlowSchema", "v1", true},
    {"flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration", "v1", true},
    {"internal.apiserver.k8s.io", "StorageVersion", "v1alpha1", true},
    {"networking.k8s.io", "IPAddress", "v1 v1beta1", true},
    {"networking.k8s.io", "Ingress", "v1", false},
    {"networking.k8s.io", "IngressClass", "v1", true},
    {"networking.k8s.io", "NetworkPolicy", "v1", false},
    {"networking.k8s.io", "ServiceCIDR", "v1 v1beta1", true},
    {"node.k8s.io", "RuntimeClass", "v1", true},
    {"policy", "PodDisruptionBudget", "v1", false},
    {"rbac.authorization.k8s.io", "ClusterRole", "v1", true},
    {"rbac.authorization.k8s.io", "ClusterRoleBinding", "v1", true},
    {"rbac.authorization.k8s.io", "Role", "v1", false},
    {"rbac.authorization.k8s.io", "RoleBinding", "v1", false},
    {"resource.k8s.io", "DeviceClass", "v1 v1beta2 v1beta1", true},
    {"resource.k8s.io", "DeviceTaintRule", "v1beta2 v1alpha3", true},
    {"resource.k8s.io", "ResourceClaim", "v1 v1beta2 v1beta1", false},
    {"resource.k8s.io", "ResourceClaimTemplate", "v1 v1beta2 v1beta1", false},
    {"resource.k8s.io", "ResourcePoolStatusRequest", "v1alpha3", true},
    {"resource.k8s.io", "ResourceSlice", "v1 v1beta2 v1beta1", true},
    {"scheduling.k8s.io", "PriorityClass", "v1", true},
    {"storage.k8s.io", "CSIDriver", "v1", true},
    {"storage.k8s.io", "CSINode", "v1", true},
    {"storage.k8s.io", "CSIStorageCapacity", "v1", false},
    {"storage.k8s.io", "StorageClass", "v1", true},
    {"storage.k8s.io", "VolumeAttachment", "v1", true},
    {"storage.k8s.io", "VolumeAttributesClass", "v1 v1beta1", true},
    /* End of the rows that cluster_kinds.test writes. */
};

size_t api_group_len(const char *api_version)
{
    const char *slash = strchr(api_version, '/');

    return slash ? (size_t)(slash - api_version) : 0;
}

/* Comparing the first characters saves most calls: every change of an object comes here. */
bool api_group_is(const char *api_version, size_t len, const char *group)
{
    if (len == 0 || *group != *api_version)
        return len == 0 && *group == '\0';
    return strncmp(api_version, group, len) == 0 && group[len] == '\0';
}

bool api_group_equals(const char *a, const char *b)
{
    size_t len = api_group_len(a);

    return len == api_group_len(b) && memcmp(a, b, len) == 0;
}

const struct builtin_kind *builtin_kind_table(size_t *count)
{
    *count = ARRAY_LEN(rows);
    return rows;
}

/* A kind that is searched for: a group without its end, and a name. */
struct wanted_kind {
    const char *group;
    size_t group_len;
    const char *kind;
};

static int compare_with_row(const void *key, const void *item)
{
    const struct wanted_kind *wanted = key;
    const struct builtin_kind *row = item;
    int order = strncmp(wanted->group, row->group, wanted->group_len);

    if (order == 0 && row->group[wanted->group_len] != '\0')
        order = -1;
    return order ? order : strcmp(wanted->kind, row->kind);
}

const struct builtin_kind *builtin_kind_find(const char *api_version, const char *kind)
{
    struct wanted_kind wanted = {api_version, api_group_len(api_version), kind};

    return bsearch(&wanted, rows, ARRAY_LEN(rows), sizeof(*rows), compare_with_row);
}

bool is_builtin_group(const char *api_version)
{
    size_t len = api_group_len(api_version);

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (api_group_is(api_version, len, rows[i].group))
            return true;
    }
    return api_group_is(api_version, len, "extensions");
}

/* Kinds of a group, or of all groups: position of suggest_name(). */
struct kind_cursor {
    const char *api_version; /* NULL: all groups. */
    size_t next;
};

static const char *next_kind(void *context)
{
    struct kind_cursor *at = context;

    while (at->next < ARRAY_LEN(rows)) {
        const struct builtin_kind *row = &rows[at->next++];

        if (!at->api_version ||
            api_group_is(at->api_version, api_group_len(at->api_version), row->group))
            return row->kind;
    }
    return NULL;
}

const struct builtin_kind *builtin_kind_suggest(const char *api_version, const char *kind)
{
    struct kind_cursor group = {api_version, 0}, all = {NULL, 0};
    const char *nearest;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (strcmp(rows[i].kind, kind) == 0)
            return &rows[i];
    }
    nearest = suggest_name(kind, next_kind, &group);
    nearest = nearest ? nearest : suggest_name(kind, next_kind, &all);
    for (size_t i = 0; nearest && i < ARRAY_LEN(rows); i++) {
        if (rows[i].kind == nearest)
            return &rows[i];
    }
    return NULL;
}

void builtin_kind_add_name(const struct builtin_kind *row, struct strbuf *out)
{
    strbuf_addf(out, "%s of %s%s%.*s", row->kind, row->group, *row->group ? "/" : "",
                (int)strcspn(row->versions, " "), row->versions);
}

/* ---- API versions ---- */

/* Returns the version in an apiVersion. */
static const char *version_in(const char *api_version)
{
    const char *slash = strchr(api_version, '/');

    return slash ? slash + 1 : api_version;
}

enum version_rank version_rank_of(const char *versions, const char *api_version)
{
    const char *version = version_in(api_version);
    size_t len = strlen(version);

    for (const char *at = versions; *at;) {
        size_t next = strcspn(at, " ");

        if (next == len && memcmp(at, version, len) == 0)
            return at == versions ? VERSION_PREFERRED : VERSION_SERVED;
        at += next + (at[next] == ' ');
    }
    return VERSION_UNSERVED;
}

/* A version in parts: "v1beta2" has major 1, stage beta and minor 2. */
struct version_parts {
    int stage; /* 3: general availability, 2: beta, 1: alpha, 0: not in this form. */
    const char *major;
    size_t major_len;
    const char *minor;
    size_t minor_len;
};

/* Takes the digits of a number, without its leading zeros. Returns false if there is no digit. */
static bool take_number(const char **text, const char **digits, size_t *len)
{
    const char *end = *text + strspn(*text, "0123456789");
    bool found = end > *text;

    *digits = *text + strspn(*text, "0");
    *len = (size_t)(end - *digits);
    *text = end;
    return found;
}

static struct version_parts split_version(const char *text)
{
    struct version_parts parts = {.minor = ""};
    const struct version_parts other = parts;

    if (*text++ != 'v' || !take_number(&text, &parts.major, &parts.major_len))
        return other;
    parts.stage = 3;
    if (*text == '\0')
        return parts;
    parts.stage = strncmp(text, "beta", 4) == 0 ? 2 : 1;
    if (parts.stage == 1 && strncmp(text, "alpha", 5) != 0)
        return other;
    text += parts.stage == 2 ? 4 : 5;
    if (!take_number(&text, &parts.minor, &parts.minor_len) || *text != '\0')
        return other;
    return parts;
}

/* Compares numbers as text without leading zeros: the larger one comes first. */
static int compare_numbers(const char *a, size_t a_len, const char *b, size_t b_len)
{
    if (a_len != b_len)
        return a_len > b_len ? -1 : 1;
    return memcmp(b, a, a_len);
}

int version_compare(const char *a, const char *b)
{
    struct version_parts x = split_version(a), y = split_version(b);
    int order;

    if (x.stage != y.stage)
        return y.stage - x.stage;
    if (x.stage == 0)
        return strcmp(a, b);
    order = compare_numbers(x.major, x.major_len, y.major, y.major_len);
    return order ? order : compare_numbers(x.minor, x.minor_len, y.minor, y.minor_len);
}
