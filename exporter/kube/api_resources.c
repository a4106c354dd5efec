/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/api_resources.h"

#include <ctype.h>

#include <strings.h>

#include "metrics/base/map.h"
#include "metrics/base/strbuf.h"
#include "metrics/model/kind.h"

enum {
    RESOURCES_MAX = 20 * 1000,
    VERSIONS_MAX = 5 * 1000,
    NAMES_MAX_BYTES = 1024, /* Limit of api_resource.other_names. */
};

void api_table_release(struct api_table *t)
{
    for (size_t i = 0; i < t->version_count; i++)
        free(t->versions[i].name);
    for (size_t i = 0; i < t->resource_count; i++) {
        free(t->resources[i].api_version);
        free(t->resources[i].kind);
        free(t->resources[i].resource);
        free(t->resources[i].other_names);
    }
    free(t->versions);
    free(t->resources);
    *t = (struct api_table){0};
}

const struct api_resource *api_table_find(const struct api_table *t, const char *api_version,
                                          const char *kind)
{
    const struct api_resource *found = NULL;

    for (size_t i = 0; i < t->resource_count; i++) {
        const struct api_resource *r = &t->resources[i];

        if (strcmp(r->kind, kind) == 0 && strcmp(r->api_version, api_version) == 0 &&
            (!found || (r->watchable && !found->watchable)))
            found = r;
    }
    return found;
}

static bool same_group(const char *a, const char *b)
{
    size_t len = api_group_len(a);

    return len == api_group_len(b) && strncmp(a, b, len) == 0;
}

const struct api_resource *api_table_find_preferred(const struct api_table *t,
                                                    const char *api_version, const char *kind)
{
    const struct api_resource *found = NULL;

    for (size_t i = 0; i < t->resource_count; i++) {
        const struct api_resource *r = &t->resources[i];

        if (strcmp(r->kind, kind) == 0 && r->watchable && same_group(r->api_version, api_version) &&
            (!found || (r->preferred && !found->preferred)))
            found = r;
    }
    return found;
}

static bool has_name(const struct api_resource *r, const char *typed)
{
    size_t len = strlen(typed);

    if (strcasecmp(r->kind, typed) == 0 || strcasecmp(r->resource, typed) == 0)
        return true;
    for (const char *name = r->other_names; len > 0 && *name; name += strcspn(name, " ") + 1) {
        if (strcspn(name, " ") == len && strncasecmp(name, typed, len) == 0)
            return true;
    }
    return false;
}

const struct api_resource *api_table_find_by_name(const struct api_table *t, const char *typed,
                                                  const char *group)
{
    const struct api_resource *found = NULL;

    for (size_t i = 0; i < t->resource_count; i++) {
        const struct api_resource *r = &t->resources[i];
        size_t len = api_group_len(r->api_version);
        bool fits = !group || (strlen(group) == len && strncmp(group, r->api_version, len) == 0);

        if (fits && has_name(r, typed) &&
            (!found || (len == 0 && api_group_len(found->api_version) > 0)))
            found = r;
    }
    return found ? api_table_find_preferred(t, found->api_version, found->kind) : NULL;
}

struct api_version *api_table_find_version(const struct api_table *t, const char *name)
{
    for (size_t i = 0; i < t->version_count; i++) {
        if (strcmp(t->versions[i].name, name) == 0)
            return &t->versions[i];
    }
    return NULL;
}

/* Takes over the name. Drops a version that is known or beyond VERSIONS_MAX. */
static void add_version(struct api_table *t, struct api_version version)
{
    if (t->version_count == VERSIONS_MAX || api_table_find_version(t, version.name)) {
        free(version.name);
        return;
    }
    t->versions = xreallocarray(t->versions, t->version_count + 1, sizeof(*t->versions));
    t->versions[t->version_count++] = version;
}

/* Copies the texts. Drops a resource beyond RESOURCES_MAX. */
static void add_resource(struct api_table *t, const struct api_resource *r)
{
    if (t->resource_count == RESOURCES_MAX)
        return;
    if (t->resource_count % 64 == 0)
        t->resources = xreallocarray(t->resources, t->resource_count + 64, sizeof(*t->resources));

    struct api_resource *copy = &t->resources[t->resource_count++];
    *copy = *r;
    copy->api_version = xstrdup(r->api_version);
    copy->kind = xstrdup(r->kind);
    copy->resource = xstrdup(r->resource);
    copy->other_names = xstrdup(r->other_names ? r->other_names : "");
}

static bool is_watchable(const cJSON *verbs)
{
    static const char *const needed[] = {"list", "watch", "delete"};
    unsigned found = 0;
    const cJSON *verb;

    cJSON_ArrayForEach (verb, verbs) {
        for (size_t i = 0; i < ARRAY_LEN(needed); i++)
            found |= (unsigned)(cJSON_IsString(verb) && strcmp(verb->valuestring, needed[i]) == 0)
                     << i;
    }
    return found == (1U << ARRAY_LEN(needed)) - 1;
}

/* Returns a borrowed text, or NULL. */
static char *get_text(const cJSON *json, const char *key)
{
    const cJSON *item = json_get(json, key);

    return cJSON_IsString(item) ? item->valuestring : NULL;
}

/* Adds a resource with the names in `json`, if its kind and plural are set. */
static void add_resource_with_names(struct api_table *t, struct api_resource *r, const cJSON *json)
{
    static const char *const keys[] = {"singularResource", "singularName"};
    CLEANUP(strbuf_release) struct strbuf names = STRBUF_INIT(NAMES_MAX_BYTES);
    const cJSON *name;

    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        if (*json_str(json, keys[i], ""))
            strbuf_addf(&names, "%s ", json_str(json, keys[i], ""));
    }
    cJSON_ArrayForEach (name, json_get(json, "shortNames")) {
        if (cJSON_IsString(name))
            strbuf_addf(&names, "%s ", name->valuestring);
    }
    r->other_names = names.data;
    if (r->kind && r->resource)
        add_resource(t, r);
}

static void add_aggregated_resource(struct api_table *t, const struct api_version *version,
                                    const cJSON *json)
{
    add_resource_with_names(
        t,
        &(struct api_resource){
            .api_version = version->name,
            .kind = get_text(json_get(json, "responseKind"), "kind"),
            .resource = get_text(json, "resource"),
            .namespaced = strcmp(json_str(json, "scope", ""), "Namespaced") == 0,
            .watchable = is_watchable(json_get(json, "verbs")),
            .preferred = version->preferred,
        },
        json);
}

static void add_aggregated_group(struct api_table *t, const cJSON *group)
{
    const char *name = json_str(json_get(group, "metadata"), "name", "");
    bool preferred_known = false;
    const cJSON *item, *resource;

    cJSON_ArrayForEach (item, json_get(group, "versions")) {
        bool stale = strcmp(json_str(item, "freshness", ""), "Stale") == 0;
        const char *number = json_str(item, "version", "");
        struct api_version version = {
            .state = stale ? API_FAILED : API_READ,
            .preferred = !stale && !preferred_known,
        };

        if (!*number)
            continue;
        preferred_known = preferred_known || version.preferred;
        if (asprintf(&version.name, "%s%s%s", name, *name ? "/" : "", number) < 0)
            memory_exhausted(0);
        cJSON_ArrayForEach (resource, json_get(item, "resources"))
            add_aggregated_resource(t, &version, resource);
        add_version(t, version);
    }
}

bool api_table_add_aggregated(struct api_table *t, const cJSON *json, struct error *err)
{
    const cJSON *items = json_get(json, "items");
    const cJSON *group;

    if (strcmp(json_str(json, "kind", ""), "APIGroupDiscoveryList") != 0 ||
        (items && !cJSON_IsArray(items)))
        return fail(err, "the response is not an APIGroupDiscoveryList");
    cJSON_ArrayForEach (group, items)
        add_aggregated_group(t, group);
    return true;
}

static void add_unread_version(struct api_table *t, const char *name, bool preferred)
{
    if (*name)
        add_version(t, (struct api_version){
                           .name = xstrdup(name), .state = API_FAILED, .preferred = preferred});
}

bool api_table_add_versions(struct api_table *t, const cJSON *json, struct error *err)
{
    const char *kind = json_str(json, "kind", "");
    const cJSON *group, *version;

    if (strcmp(kind, "APIVersions") == 0) {
        cJSON_ArrayForEach (version, json_get(json, "versions")) {
            if (cJSON_IsString(version))
                add_unread_version(t, version->valuestring, true);
        }
        return true;
    }
    if (strcmp(kind, "APIGroupList") != 0)
        return fail(err, "the response is not an APIGroupList");
    cJSON_ArrayForEach (group, json_get(json, "groups")) {
        const char *preferred = json_str(json_get(group, "preferredVersion"), "groupVersion", "");

        cJSON_ArrayForEach (version, json_get(group, "versions")) {
            const char *name = json_str(version, "groupVersion", "");

            add_unread_version(t, name, strcmp(name, preferred) == 0);
        }
    }
    return true;
}

bool api_table_add_resources(struct api_table *t, const char *api_version, const cJSON *json,
                             struct error *err)
{
    struct api_version *version = api_table_find_version(t, api_version);
    const cJSON *item;

    if (strcmp(json_str(json, "kind", ""), "APIResourceList") != 0)
        return fail(err, "the response is not an APIResourceList");
    if (!version)
        return fail(err, "the list of APIs does not contain '%s'", api_version);
    cJSON_ArrayForEach (item, json_get(json, "resources")) {
        struct api_resource r = {
            .api_version = version->name,
            .kind = get_text(item, "kind"),
            .resource = get_text(item, "name"),
            .namespaced = json_bool(item, "namespaced", false),
            .watchable = is_watchable(json_get(item, "verbs")),
            .preferred = version->preferred,
        };

        /* Not subresources such as "pods/log". */
        if (r.resource && !strchr(r.resource, '/'))
            add_resource_with_names(t, &r, item);
    }
    version->state = API_READ;
    return true;
}

/* Returns true if it is unknown which resources the version has. */
static bool is_version_unknown(const struct api_table *t, const char *api_version)
{
    const struct api_version *version = api_table_find_version(t, api_version);

    if (version)
        return version->state == API_FAILED;
    return strchr(api_version, '/') ? !t->groups_known : !t->core_known;
}

void api_table_inherit(struct api_table *t, const struct api_table *earlier)
{
    for (size_t i = 0; i < earlier->resource_count; i++) {
        const struct api_resource *r = &earlier->resources[i];

        if (is_version_unknown(t, r->api_version) && !api_table_find(t, r->api_version, r->kind))
            add_resource(t, r);
    }
    for (size_t i = 0; i < earlier->version_count; i++) {
        const struct api_version *v = &earlier->versions[i];

        if (is_version_unknown(t, v->name) && !api_table_find_version(t, v->name))
            add_version(t, (struct api_version){.name = xstrdup(v->name),
                                                .state = API_FAILED,
                                                .preferred = v->preferred});
    }
}

static bool contains_resources(const struct api_table *a, const struct api_table *b)
{
    for (size_t i = 0; i < b->resource_count; i++) {
        const struct api_resource *r = &b->resources[i];
        const struct api_resource *expected = api_table_find(b, r->api_version, r->kind);
        const struct api_resource *found = api_table_find(a, r->api_version, r->kind);

        if (!found || strcmp(found->resource, expected->resource) != 0 ||
            found->namespaced != expected->namespaced || found->watchable != expected->watchable ||
            found->preferred != expected->preferred)
            return false;
    }
    return true;
}

static bool contains_versions(const struct api_table *a, const struct api_table *b)
{
    for (size_t i = 0; i < b->version_count; i++) {
        const struct api_version *found = api_table_find_version(a, b->versions[i].name);

        if (!found || found->state != b->versions[i].state)
            return false;
    }
    return true;
}

bool api_table_equal(const struct api_table *a, const struct api_table *b)
{
    return a->resource_count == b->resource_count && a->version_count == b->version_count &&
           a->core_known == b->core_known && a->groups_known == b->groups_known &&
           contains_resources(a, b) && contains_resources(b, a) && contains_versions(a, b) &&
           contains_versions(b, a);
}

void append_resource_name(struct strbuf *out, const char *kind, const char *group)
{
    for (const char *c = kind; *c != '\0'; c++)
        strbuf_addc(out, (char)tolower((unsigned char)*c));
    if (*group != '\0')
        strbuf_addf(out, ".%s", group);
}

void append_resource_name_of(struct strbuf *out, const char *api_version, const char *kind)
{
    CLEANUP(free_cleanup) char *group = xmemdup0(api_version, api_group_len(api_version));

    append_resource_name(out, kind, group);
}
