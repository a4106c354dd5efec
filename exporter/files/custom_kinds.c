/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/custom_kinds.h"

#include "exporter/files/manifest_problems.h"
#include "metrics/model/kind.h"

enum { API_VERSION_MAX_BYTES = 1024 };

void custom_kinds_init(struct custom_kinds *k, const char *ns)
{
    /* kubectl treats an empty namespace as not set. */
    *k = (struct custom_kinds){.ns = xstrdup(*ns ? ns : "default")};
}

void custom_kinds_release(struct custom_kinds *k)
{
    for (size_t i = 0; i < k->count; i++) {
        free(k->items[i].group);
        free(k->items[i].kind);
        free(k->items[i].versions);
        free(k->items[i].used_versions);
    }
    free(k->items);
    free(k->ns);
    *k = (struct custom_kinds){0};
}

/* ---- definitions ---- */

/* Compares a kind with a group of the given length and a name. */
static int compare_kind(const struct custom_kind *item, const char *group, size_t group_len,
                        const char *kind)
{
    int order = strncmp(item->group, group, group_len);

    if (order == 0 && item->group[group_len] != '\0')
        order = 1;
    return order ? order : strcmp(item->kind, kind);
}

/* Returns the index of the kind, or where to insert it. */
static size_t find_index(const struct custom_kinds *k, const char *group, size_t group_len,
                         const char *kind)
{
    size_t low = 0, high = k->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (compare_kind(&k->items[middle], group, group_len, kind) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct custom_kind *find_kind(const struct custom_kinds *k, const char *api_version,
                                     const char *kind)
{
    size_t len = api_group_len(api_version);
    size_t i = find_index(k, api_version, len, kind);

    return i < k->count && compare_kind(&k->items[i], api_version, len, kind) == 0 ? &k->items[i]
                                                                                   : NULL;
}

/* Returns the kind, added if it is new; NULL if it is new and the limit is reached. */
static struct custom_kind *find_or_add_kind(struct custom_kinds *k, const char *group,
                                            const char *kind)
{
    size_t len = strlen(group);
    size_t i = find_index(k, group, len, kind);

    if (i < k->count && compare_kind(&k->items[i], group, len, kind) == 0)
        return &k->items[i];
    if (k->count == CUSTOM_KINDS_MAX)
        return NULL;
    k->items = xreallocarray(k->items, k->count + 1, sizeof(*k->items));
    memmove(&k->items[i + 1], &k->items[i], (k->count++ - i) * sizeof(*k->items));
    k->items[i] = (struct custom_kind){
        .group = xstrdup(group),
        .kind = xstrdup(kind),
        .versions = xstrdup(""),
        .used_versions = xstrdup(""),
    };
    return &k->items[i];
}

static int compare_versions(const void *a, const void *b)
{
    return version_compare(*(const char *const *)a, *(const char *const *)b);
}

/* Returns the served versions of a definition, the preferred one first. The caller frees them. */
static char *list_versions(const cJSON *spec)
{
    const cJSON *versions = json_get(spec, "versions"), *version;
    size_t count = 0;
    CLEANUP(free_cleanup)
    const char **names = xcalloc((size_t)cJSON_GetArraySize(versions) + 1, sizeof(*names));
    CLEANUP(strbuf_release) struct strbuf list = STRBUF_INIT(SIZE_MAX);

    cJSON_ArrayForEach (version, versions) {
        const char *name = json_str(version, "name", "");

        if (*name == '\0' || strchr(name, ' ') || !cJSON_IsTrue(json_get(version, "served")))
            continue;
        names[count++] = name;
    }
    qsort(names, count, sizeof(*names), compare_versions);
    for (size_t i = 0; i < count; i++)
        strbuf_addf(&list, "%s%s", i > 0 ? " " : "", names[i]);
    return xstrdup(list.data);
}

static void set_definition(struct custom_kinds *k, struct custom_kind *item, char *versions,
                           bool cluster_scoped)
{
    if (item->cluster_scoped != cluster_scoped || strcmp(item->versions, versions) != 0) {
        k->changed = true;
        k->version++;
    }
    free(item->versions);
    item->versions = versions;
    item->cluster_scoped = cluster_scoped;
}

void custom_kinds_add_definition(struct custom_kinds *k, const cJSON *object,
                                 const struct manifest_file *file)
{
    static const char group[] = "apiextensions.k8s.io/";
    const cJSON *spec = json_get(object, "spec");
    struct custom_kind *item;

    if (strncmp(json_str(object, "apiVersion", ""), group, sizeof(group) - 1) != 0 ||
        strcmp(json_str(object, "kind", ""), "CustomResourceDefinition") != 0)
        return;
    item = find_or_add_kind(k, json_str(spec, "group", ""),
                            json_str(json_get(spec, "names"), "kind", ""));
    if (!item || (item->file && file && manifest_file_compare(file, item->file) < 0))
        return;
    item->file = file;
    set_definition(k, item, list_versions(spec),
                   strcmp(json_str(spec, "scope", ""), "Cluster") == 0);
}

/* Returns true if the identity of an object depends on the definition. */
static bool has_choice(const char *versions, bool cluster_scoped)
{
    return cluster_scoped || strchr(versions, ' ');
}

bool custom_kinds_end_file(struct custom_kinds *k)
{
    bool affected = false;

    for (size_t i = 0; i < k->count && k->changed; i++) {
        struct custom_kind *item = &k->items[i];

        if (item->cluster_scoped == item->used_cluster_scoped &&
            strcmp(item->versions, item->used_versions) == 0)
            continue;
        affected = affected || has_choice(item->versions, item->cluster_scoped) ||
                   has_choice(item->used_versions, item->used_cluster_scoped);
        free(item->used_versions);
        item->used_versions = xstrdup(item->versions);
        item->used_cluster_scoped = item->cluster_scoped;
    }
    k->changed = false;
    return affected;
}

void custom_kinds_forget_file(struct custom_kinds *k, const struct manifest_file *file)
{
    for (size_t i = 0; i < k->count; i++) {
        if (k->items[i].file == file)
            k->items[i].file = NULL;
    }
}

void custom_kinds_import(struct custom_kinds *k, const struct custom_kinds *from)
{
    for (size_t i = 0; i < from->count; i++) {
        const struct custom_kind *source = &from->items[i];
        struct custom_kind *item = find_or_add_kind(k, source->group, source->kind);

        if (item)
            set_definition(k, item, xstrdup(source->versions), source->cluster_scoped);
    }
}

/* ---- namespace of an object ---- */

static const char *namespace_of(const struct custom_kinds *k, const cJSON *object, enum scope scope)
{
    const char *api_version = json_str(object, "apiVersion", "");
    const char *kind = json_str(object, "kind", "");
    const cJSON *metadata = json_get(object, "metadata");
    const char *own = json_str(metadata, "namespace", "");
    const struct custom_kind *custom;

    switch (scope) {
    case SCOPE_CLUSTER:
        return "";
    case SCOPE_NAMESPACED:
        return *own ? own : k->ns;
    case SCOPE_UNKNOWN:
        break;
    }
    custom = find_kind(k, api_version, kind);
    if (custom && custom->cluster_scoped)
        return "";
    return *own || (!custom && *json_str(metadata, "uid", "")) ? own : k->ns;
}

static void set_namespace(const struct custom_kinds *k, cJSON *object, enum scope scope)
{
    cJSON *metadata = cJSON_GetObjectItemCaseSensitive(object, "metadata");
    const char *ns = namespace_of(k, object, scope);

    if (!cJSON_IsObject(metadata) || strcmp(ns, json_str(metadata, "namespace", "")) == 0)
        return;

    cJSON *text = cJSON_CreateString(ns);
    if (!text)
        memory_exhausted(0);
    cJSON_DeleteItemFromObjectCaseSensitive(metadata, "namespace");
    if (*ns == '\0')
        cJSON_Delete(text);
    else if (!cJSON_AddItemToObject(metadata, "namespace", text))
        memory_exhausted(0);
}

/* ---- API version of an object ---- */

/*
 * Returns the served versions of a kind, the preferred one first; "" if they are unknown, NULL if
 * no API server serves the kind.
 */
static const char *versions_of(const struct custom_kinds *k, const char *api_version,
                               const char *kind)
{
    const struct builtin_kind *builtin = builtin_kind_find(api_version, kind);
    const struct custom_kind *custom = builtin ? NULL : find_kind(k, api_version, kind);

    if (builtin)
        return builtin->versions;
    if (custom)
        return custom->versions;
    return is_builtin_group(api_version) ? NULL : "";
}

static enum api_version_answer judge_version(const void *context, const char *api_version,
                                             const char *kind)
{
    const char *versions = versions_of(context, api_version, kind);

    if (!versions)
        return API_VERSION_ABSENT;
    if (*versions == '\0')
        return API_VERSION_UNKNOWN;
    switch (version_rank_of(versions, api_version)) {
    case VERSION_PREFERRED:
        return API_VERSION_WATCHED;
    case VERSION_SERVED:
        return API_VERSION_UNWATCHED;
    case VERSION_UNSERVED:
        break;
    }
    return API_VERSION_UNSERVED;
}

static bool add_preferred_version(const void *context, const char *api_version, const char *kind,
                                  struct strbuf *out)
{
    const char *versions = versions_of(context, api_version, kind);
    size_t group_len = api_group_len(api_version);

    if (!versions || *versions == '\0')
        return false;
    strbuf_add(out, api_version, group_len + (group_len > 0));
    strbuf_add(out, versions, strcspn(versions, " "));
    return true;
}

struct api_version_source custom_kinds_api_versions(const struct custom_kinds *k)
{
    return (struct api_version_source){
        .judge = judge_version,
        .preferred = add_preferred_version,
        .context = k,
        .objects_decide = true,
    };
}

void set_preferred_version(const struct api_version_source *source, cJSON *object)
{
    CLEANUP(strbuf_release) struct strbuf preferred = STRBUF_INIT(API_VERSION_MAX_BYTES);
    const char *api_version = json_str(object, "apiVersion", "");
    const char *kind = json_str(object, "kind", "");
    cJSON *text;

    if (api_version_judge(source, api_version, kind) != API_VERSION_UNWATCHED ||
        kind_of(api_version, kind)->class != CLASS_TEMPLATE ||
        !api_version_add_preferred(source, api_version, kind, &preferred) || !strbuf_ok(&preferred))
        return;
    text = cJSON_CreateString(preferred.data);
    if (!text || !cJSON_ReplaceItemInObjectCaseSensitive(object, "apiVersion", text))
        memory_exhausted(0);
}

void custom_kinds_complete_object(const struct custom_kinds *k, cJSON *object, bool *guessed)
{
    struct api_version_source source = custom_kinds_api_versions(k);
    enum scope scope =
        scope_of_kind(json_str(object, "apiVersion", ""), json_str(object, "kind", ""));

    *guessed = *guessed || scope == SCOPE_UNKNOWN;
    set_namespace(k, object, scope);
    set_preferred_version(&source, object);
}
