/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/listing.h"

static int by_identity(const void *a, const void *b)
{
    return entry_compare(*(const struct entry *const *)a, *(const struct entry *const *)b);
}

struct listing listing_make(const struct store *store, enum object_class class)
{
    struct listing listing = {0};
    size_t count = store_count(store, class);

    if (count == 0)
        return listing;
    listing.entries = xreallocarray(NULL, count, sizeof(const struct entry *));
    for (const struct type *type = store_types(store); type; type = type->next) {
        if (type->def->class != class)
            continue;
        for (const struct partition *p = type->partitions; p; p = p->next_of_type) {
            for (size_t i = 0; i < p->count; i++) {
                if (entry_exists(p->entries[i]))
                    listing.entries[listing.count++] = p->entries[i];
            }
        }
    }
    assert(listing.count == count);
    qsort(listing.entries, count, sizeof(const struct entry *), by_identity);
    return listing;
}

void listing_release(struct listing *listing)
{
    free(listing->entries);
    *listing = (struct listing){0};
}
