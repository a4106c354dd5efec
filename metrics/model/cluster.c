/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/cluster.h"

#include "metrics/base/map.h"
#include "metrics/base/timestamp.h"

static void read_zones(struct decode *d, const cJSON *spec, struct cluster *c)
{
    const char *zone = decode_text(d, spec, "spec", "zone");

    c->zones = decode_texts(d, spec, "spec", "zones", &c->zone_count);
    for (uint32_t i = 0; zone && i < c->zone_count; i++) {
        if (strcmp(c->zones[i], zone) == 0)
            return;
    }
    if (!zone)
        return;
    c->zones = xreallocarray(c->zones, c->zone_count + 1, sizeof(*c->zones));
    c->zones[c->zone_count++] = intern_add(d->strings, zone);
}

static void read_taints(struct decode *d, const cJSON *spec, struct cluster *c)
{
    static const char path[] = "spec.taints[]";
    const cJSON *array = decode_array(d, spec, "spec", "taints");
    const cJSON *item;

    c->taints = decode_alloc_array(array, sizeof(*c->taints));
    cJSON_ArrayForEach (item, array) {
        decode_check_element(d, item, path);
        c->taints[c->taint_count++] = (struct taint){
            .key = decode_interned_or_empty(d, item, path, "key"),
            .value = decode_interned_or_empty(d, item, path, "value"),
            .effect = decode_interned_or_empty(d, item, path, "effect"),
        };
    }
}

/*
 * Returns true if the condition is True. Stores its last transition in `since_ms`, unless NULL; 0
 * without a valid time.
 */
static bool read_condition(struct decode *d, const cJSON *status, const char *condition,
                           int64_t *since_ms)
{
    static const char path[] = "status.conditions[]";
    bool holds = false;
    int64_t ms = 0;
    const cJSON *item;

    cJSON_ArrayForEach (item, decode_array(d, status, "status", "conditions")) {
        const char *type = decode_text(d, item, path, "type");
        const char *value = decode_text(d, item, path, "status");

        decode_check_element(d, item, path);
        if (!type || strcmp(type, condition) != 0)
            continue;
        holds = value && strcmp(value, "True") == 0;
        if (!parse_timestamp(json_str(item, "lastTransitionTime", ""), &ms))
            ms = 0;
    }
    if (since_ms)
        *since_ms = ms;
    return holds;
}

/*
 * Karmada writes the condition CompleteAPIEnablements and the APIs together with Ready. A cluster
 * that is Ready and has neither is a shortened manifest.
 */
static bool are_apis_known(const cJSON *status, bool ready)
{
    bool has_condition = false, has_ready = false;
    const cJSON *item;

    cJSON_ArrayForEach (item, json_get(status, "conditions")) {
        has_condition |= strcmp(json_str(item, "type", ""), "CompleteAPIEnablements") == 0;
        has_ready |= strcmp(json_str(item, "type", ""), "Ready") == 0;
    }
    return json_get(status, "apiEnablements") || has_condition || (has_ready && !ready);
}

/* Returns the hash of a kind. A cluster serves hundreds of kinds: names need more memory. */
static uint64_t api_hash(const char *api_version, const char *kind)
{
    return map_hash(kind, strlen(kind), map_hash(api_version, strlen(api_version), 0));
}

static int compare_hashes(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void read_served_apis(struct decode *d, const cJSON *status, struct cluster *c)
{
    static const char path[] = "status.apiEnablements[]";
    const cJSON *group;

    cJSON_ArrayForEach (group, decode_array(d, status, "status", "apiEnablements")) {
        const char *api_version = decode_text(d, group, path, "groupVersion");
        const cJSON *resources = decode_array(d, group, path, "resources");
        size_t more = (size_t)cJSON_GetArraySize(resources);
        const cJSON *item;

        if (more > 0)
            c->apis = xreallocarray(c->apis, c->api_count + more, sizeof(*c->apis));
        cJSON_ArrayForEach (item, resources)
            c->apis[c->api_count++] =
                api_hash(api_version ? api_version : "", json_str(item, "kind", ""));
    }
    if (c->api_count > 1)
        qsort(c->apis, c->api_count, sizeof(*c->apis), compare_hashes);
}

bool cluster_serves(const struct cluster *c, const char *api_version, const char *kind)
{
    uint64_t hash;

    if (!c->apis_known)
        return true;
    hash = api_hash(api_version, kind);
    return c->api_count > 0 &&
           bsearch(&hash, c->apis, c->api_count, sizeof(*c->apis), compare_hashes);
}

static int compare_resources(const void *a, const void *b)
{
    const struct cluster_resource *x = a;
    const struct cluster_resource *y = b;

    return strcmp(x->resource, y->resource);
}

/* Maps in status.resourceSummary, each with the offset of its member in struct cluster_resource. */
static const struct {
    const char *key;
    size_t offset;
} resource_maps[] = {
    {"allocatable", offsetof(struct cluster_resource, allocatable)},
    {"allocated", offsetof(struct cluster_resource, allocated)},
    {"allocating", offsetof(struct cluster_resource, allocating)},
};

/*
 * Returns one element for each member of each map in resource_maps, so a resource can have several.
 * Adds their number to `count`. Returns NULL without members.
 */
static struct cluster_resource *read_resource_maps(struct decode *d, const cJSON *summary,
                                                   size_t *count)
{
    static const char path[] = "status.resourceSummary";
    struct cluster_resource *list = NULL;
    const cJSON *item;

    for (size_t i = 0; i < ARRAY_LEN(resource_maps); i++) {
        const cJSON *map = decode_object(d, summary, path, resource_maps[i].key);
        size_t more = (size_t)cJSON_GetArraySize(map);
        char where[64];

        snprintf(where, sizeof(where), "%s.%s", path, resource_maps[i].key);
        if (more == 0)
            continue;
        list = xreallocarray(list, *count + more, sizeof(*list));
        cJSON_ArrayForEach (item, map) {
            struct cluster_resource *r = &list[(*count)++];

            *r = (struct cluster_resource){.resource = intern_add(d->strings, item->string)};
            *(double *)(void *)((char *)r + resource_maps[i].offset) =
                decode_quantity(d, item, where);
        }
    }
    return list;
}

/* Sets c->resources from status.resourceSummary: one element for each resource, sorted by name. */
static void read_resources(struct decode *d, const cJSON *status, struct cluster *c)
{
    const cJSON *summary = decode_object(d, status, "status", "resourceSummary");
    size_t count = 0;
    struct cluster_resource *list = read_resource_maps(d, summary, &count);

    if (!list)
        return;
    qsort(list, count, sizeof(*list), compare_resources);
    c->resources = list;
    for (size_t i = 0; i < count; i++) {
        struct cluster_resource *last = c->resource_count > 0 ? &list[c->resource_count - 1] : NULL;

        if (!last || last->resource != list[i].resource) {
            list[c->resource_count++] = list[i];
            continue;
        }
        last->allocatable += list[i].allocatable;
        last->allocated += list[i].allocated;
        last->allocating += list[i].allocating;
        intern_drop(d->strings, list[i].resource);
    }
}

void *cluster_decode(struct decode *d, const cJSON *json)
{
    const cJSON *metadata = decode_object(d, json, "", "metadata");
    const cJSON *spec = decode_object(d, json, "", "spec");
    const cJSON *status = decode_object(d, json, "", "status");
    struct cluster *c = pool_alloc_zeroed(intern_memory(d->strings), sizeof(*c));

    labels_decode(d, metadata, "metadata", "labels", &c->labels);
    c->pulls = strcmp(json_str(spec, "syncMode", ""), "Pull") == 0;
    c->provider = decode_interned(d, spec, "spec", "provider");
    c->region = decode_interned(d, spec, "spec", "region");
    read_zones(d, spec, c);
    read_taints(d, spec, c);
    c->ready = read_condition(d, status, "Ready", &c->ready_since_ms);
    c->apis_complete = read_condition(d, status, "CompleteAPIEnablements", NULL);
    read_served_apis(d, status, c);
    c->apis_known = are_apis_known(status, c->ready);
    read_resources(d, status, c);
    c->deleting = decode_is_deleting(d, metadata);
    if (d->failed) {
        cluster_release(d->strings, c);
        return NULL;
    }
    return c;
}

void cluster_release(struct intern *strings, void *object)
{
    struct cluster *c = object;

    if (!c)
        return;
    labels_release(strings, &c->labels);
    intern_drop(strings, c->provider);
    intern_drop(strings, c->region);
    decode_texts_release(strings, c->zones, c->zone_count);
    for (uint32_t i = 0; i < c->taint_count; i++) {
        intern_drop(strings, c->taints[i].key);
        intern_drop(strings, c->taints[i].value);
        intern_drop(strings, c->taints[i].effect);
    }
    for (uint32_t i = 0; i < c->resource_count; i++)
        intern_drop(strings, c->resources[i].resource);
    free(c->taints);
    free(c->resources);
    free(c->apis);
    pool_free(c);
}

double cluster_free_amount(const struct cluster *c, const char *resource)
{
    for (uint32_t i = 0; i < c->resource_count; i++) {
        const struct cluster_resource *r = &c->resources[i];

        if (strcmp(r->resource, resource) == 0)
            return r->allocatable - r->allocated - r->allocating;
    }
    return 0;
}
