/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/cloud_index.h"

#include "metrics/base/map.h"
#include "metrics/model/store.h"
#include "metrics/rules/cloud_name.h"

/* One of the entries of a hash: most are alone. */
struct cell {
    struct entry *entry;
    struct cell *next;
};

struct cloud_index {
    struct map leases; /* The first cells, by the hash of cloud_name.h. */
    struct map resources;
    uint64_t seed;
};

/* What has the same hash is in one list: whoever reads it compares the names. */
static bool is_same_hash(const void *item, const void *key)
{
    (void)item;
    (void)key;
    return true;
}

struct cloud_index *cloud_index_new(uint64_t seed)
{
    struct cloud_index *x = xcalloc(1, sizeof(*x));

    x->leases = x->resources = MAP_INIT(is_same_hash);
    x->seed = seed;
    return x;
}

static void release(struct map *m)
{
    struct cell *first;

    for (size_t at = 0; (first = map_next(m, &at)) != NULL;) {
        for (struct cell *cell = first, *next; cell; cell = next) {
            next = cell->next;
            free(cell);
        }
    }
    map_release(m);
}

void cloud_index_free(struct cloud_index *x)
{
    if (!x)
        return;
    release(&x->leases);
    release(&x->resources);
    free(x);
}

static void add(struct map *m, uint64_t hash, struct entry *entry)
{
    struct cell *first = map_get(m, hash, NULL);
    struct cell *cell = xmalloc(sizeof(*cell));

    *cell = (struct cell){entry, NULL};
    if (first) {
        cell->next = first->next;
        first->next = cell;
    } else {
        map_add(m, hash, cell);
    }
}

static void drop(struct map *m, uint64_t hash, const struct entry *entry)
{
    struct cell *first = map_take(m, hash, NULL);
    struct cell **at = &first;

    while (*at && (*at)->entry != entry)
        at = &(*at)->next;
    struct cell *found = *at;
    if (found)
        *at = found->next;
    free(found);
    if (first)
        map_add(m, hash, first);
}

void cloud_index_add_lease(struct cloud_index *x, struct entry *lease)
{
    add(&x->leases, cloud_name_hash(lease->name, x->seed), lease);
}

void cloud_index_remove_lease(struct cloud_index *x, struct entry *lease)
{
    drop(&x->leases, cloud_name_hash(lease->name, x->seed), lease);
}

void cloud_index_add_resource(struct cloud_index *x, struct entry *template,
                              const struct connector_identity *identity)
{
    add(&x->resources, cloud_name_hash_of(identity, x->seed), template);
}

void cloud_index_remove_resource(struct cloud_index *x, struct entry *template,
                                 const struct connector_identity *identity)
{
    drop(&x->resources, cloud_name_hash_of(identity, x->seed), template);
}

struct entry *cloud_index_lease(const struct cloud_index *x, const struct entry *template,
                                const struct connector_identity *identity)
{
    const struct cell *cell = map_get(&x->leases, cloud_name_hash_of(identity, x->seed), NULL);
    struct entry *first = NULL;

    for (; cell; cell = cell->next) {
        const struct lease *lease = entry_lease(cell->entry);

        if (lease && cloud_name_is(cell->entry->name, lease->asset_type, template, identity) &&
            (!first || strcmp(cell->entry->name, first->name) < 0))
            first = cell->entry;
    }
    return first;
}

void cloud_index_resources(const struct cloud_index *x, const struct entry *lease,
                           struct entry_list *out)
{
    const struct cell *cell = map_get(&x->resources, cloud_name_hash(lease->name, x->seed), NULL);

    for (; cell; cell = cell->next)
        entry_list_add(out, cell->entry);
}
