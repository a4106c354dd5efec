/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/map.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { FIRST_CAPACITY = 8 };

void map_release(struct map *m)
{
    free(m->slots);
    *m = MAP_INIT(m->equal);
}

uint64_t map_hash(const void *bytes, size_t len, uint64_t seed)
{
    return XXH3_64bits_withSeed(bytes, len, seed);
}

uint64_t map_hash_address(const void *address)
{
    uintptr_t number = (uintptr_t)address;

    return map_hash(&number, sizeof(number), 0);
}

/*
 * Returns the index of the item with this key, or of the empty slot where the probe ends. The
 * capacity must not be 0.
 */
static size_t find_slot(const struct map *m, uint64_t hash, const void *key)
{
    size_t mask = m->capacity - 1;
    size_t at = (size_t)hash & mask;

    for (; m->slots[at].item; at = (at + 1) & mask) {
        if (m->slots[at].hash == hash && m->equal(m->slots[at].item, key))
            break;
    }
    return at;
}

void *map_get(const struct map *m, uint64_t hash, const void *key)
{
    return m->capacity > 0 ? m->slots[find_slot(m, hash, key)].item : NULL;
}

static void insert_slot(struct map *m, struct map_slot slot)
{
    size_t mask = m->capacity - 1;
    size_t at = (size_t)slot.hash & mask;

    while (m->slots[at].item)
        at = (at + 1) & mask;
    m->slots[at] = slot;
}

void map_add(struct map *m, uint64_t hash, void *item)
{
    assert(item);
    /* The table is at most 7/8 full, so probes are short and end at an empty slot. */
    if (m->count >= m->capacity / 8 * 7) {
        struct map old = *m;

        m->capacity = old.capacity > 0 ? old.capacity * 2 : FIRST_CAPACITY;
        m->slots = xcalloc(m->capacity, sizeof(*m->slots));
        for (size_t i = 0; i < old.capacity; i++) {
            if (old.slots[i].item)
                insert_slot(m, old.slots[i]);
        }
        free(old.slots);
    }
    insert_slot(m, (struct map_slot){.hash = hash, .item = item});
    m->count++;
}

/* Empties the slot `gap`. Moves back later items that probes would not reach across the gap. */
static void shift_back(struct map *m, size_t gap)
{
    size_t mask = m->capacity - 1;

    for (size_t at = (gap + 1) & mask; m->slots[at].item; at = (at + 1) & mask) {
        size_t home = (size_t)m->slots[at].hash & mask;

        /* The mask makes the distances wrap around at the end of the table. */
        if (((at - home) & mask) < ((at - gap) & mask))
            continue;
        m->slots[gap] = m->slots[at];
        gap = at;
    }
    m->slots[gap] = (struct map_slot){0};
}

void *map_take(struct map *m, uint64_t hash, const void *key)
{
    if (m->capacity == 0)
        return NULL;

    size_t at = find_slot(m, hash, key);
    void *item = m->slots[at].item;

    if (!item)
        return NULL;
    shift_back(m, at);
    m->count--;
    return item;
}

void *map_next(const struct map *m, size_t *at)
{
    while (*at < m->capacity) {
        void *item = m->slots[(*at)++].item;

        if (item)
            return item;
    }
    return NULL;
}
