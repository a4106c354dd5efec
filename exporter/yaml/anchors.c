/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/yaml/anchors.h"

void weight_add(struct weight *sum, struct weight part)
{
    sum->nodes += part.nodes;
    sum->bytes += part.bytes;
    if (part.height + 1 > sum->height)
        sum->height = part.height + 1;
}

static bool is_named(const void *item, const void *key)
{
    return strcmp(((const struct anchor *)item)->name, key) == 0;
}

static uint64_t hash_name(const char *name, uint64_t seed)
{
    return map_hash(name, strlen(name), seed);
}

void anchors_release(struct anchors *a)
{
    while (a->newest) {
        struct anchor *anchor = a->newest;

        a->newest = anchor->older;
        free(anchor);
    }
    map_release(&a->by_name);
    *a = (struct anchors){0};
}

struct anchor *anchors_open(struct anchors *a, uint64_t seed, const char *name)
{
    if (!name)
        return NULL;

    size_t size = strlen(name) + 1;
    struct anchor *anchor = xcalloc(1, sizeof(*anchor) + size);

    memcpy(anchor->name, name, size);
    anchor->older = a->newest;
    a->newest = anchor;
    a->by_name.equal = is_named;
    map_take(&a->by_name, hash_name(name, seed), name);
    map_add(&a->by_name, hash_name(name, seed), anchor);
    return anchor;
}

void anchor_close(struct anchor *anchor, const cJSON *node, struct weight weight)
{
    if (!anchor)
        return;
    anchor->node = node;
    anchor->weight = weight;
}

const struct anchor *anchors_find(const struct anchors *a, uint64_t seed, const char *name)
{
    return a->newest ? map_get(&a->by_name, hash_name(name, seed), name) : NULL;
}
