/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/cluster.h"

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

    c->taints = decode_room(array, sizeof(*c->taints));
    cJSON_ArrayForEach (item, array) {
        decode_element(d, item, path);
        c->taints[c->taint_count++] = (struct taint){
            .key = decode_shared_or_empty(d, item, path, "key"),
            .value = decode_shared_or_empty(d, item, path, "value"),
            .effect = decode_shared_or_empty(d, item, path, "effect"),
        };
    }
}

static bool read_ready(struct decode *d, const cJSON *status)
{
    static const char path[] = "status.conditions[]";
    bool ready = false;
    const cJSON *item;

    cJSON_ArrayForEach (item, decode_array(d, status, "status", "conditions")) {
        const char *type = decode_text(d, item, path, "type");
        const char *value = decode_text(d, item, path, "status");

        decode_element(d, item, path);
        if (type && strcmp(type, "Ready") == 0)
            ready = value && strcmp(value, "True") == 0;
    }
    return ready;
}

static int compare_resources(const void *a, const void *b)
{
    const struct cluster_resource *x = a;
    const struct cluster_resource *y = b;

    return strcmp(x->resource, y->resource);
}

/* Both maps as one list: the members of both, sorted, and then those of equal names merged. */
static void read_resources(struct decode *d, const cJSON *status, struct cluster *c)
{
    static const char path[] = "status.resourceSummary";
    const cJSON *summary = decode_object(d, status, "status", "resourceSummary");
    const cJSON *allocatable = decode_object(d, summary, path, "allocatable");
    const cJSON *allocated = decode_object(d, summary, path, "allocated");
    size_t size = (size_t)cJSON_GetArraySize(allocatable) + (size_t)cJSON_GetArraySize(allocated);
    size_t count = 0;
    uint32_t kept = 0;
    const cJSON *item;

    if (size == 0)
        return;

    struct cluster_resource *list = xcalloc(size, sizeof(*list));
    cJSON_ArrayForEach (item, allocatable) {
        list[count].resource = intern_add(d->strings, item->string);
        list[count++].allocatable = decode_quantity(d, item, "status.resourceSummary.allocatable");
    }
    cJSON_ArrayForEach (item, allocated) {
        list[count].resource = intern_add(d->strings, item->string);
        list[count++].allocated = decode_quantity(d, item, "status.resourceSummary.allocated");
    }
    qsort(list, count, sizeof(*list), compare_resources);
    for (size_t i = 0; i < count; i++) {
        struct cluster_resource *last = kept > 0 ? &list[kept - 1] : NULL;

        if (!last || last->resource != list[i].resource) {
            list[kept++] = list[i];
            continue;
        }
        last->allocatable += list[i].allocatable;
        last->allocated += list[i].allocated;
        intern_drop(d->strings, list[i].resource);
    }
    c->resources = list;
    c->resource_count = kept;
}

void *cluster_decode(struct decode *d, const cJSON *json)
{
    const cJSON *metadata = decode_object(d, json, "", "metadata");
    const cJSON *spec = decode_object(d, json, "", "spec");
    const cJSON *status = decode_object(d, json, "", "status");
    struct cluster *c = xcalloc(1, sizeof(*c));

    labels_decode(d, metadata, "metadata", "labels", &c->labels);
    c->provider = decode_shared(d, spec, "spec", "provider");
    c->region = decode_shared(d, spec, "spec", "region");
    read_zones(d, spec, c);
    read_taints(d, spec, c);
    c->ready = read_ready(d, status);
    read_resources(d, status, c);
    c->deleting = decode_deleting(d, metadata);
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
    free(c);
}
