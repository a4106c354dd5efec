/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/handle_map.h"

enum {
    FIRST_CAPACITY = 8,
    DOUBLED_CAPACITY = 64, /* A smaller part doubles its capacity. */
    ONE_PART_ITEMS = 2048, /* A table with more items has HANDLE_MAP_PARTS parts. */
};

void handle_map_release(struct handle_map *m)
{
    for (size_t i = 0; m->parts && i < (size_t)1 << m->part_bits; i++)
        free(m->parts[i].slots);
    free(m->parts);
    *m = HANDLE_MAP_INIT(m->pool, m->equal);
}

/* Returns the part of a hash. The map must have a part. */
static struct handle_part *part_of(const struct handle_map *m, uint32_t hash)
{
    return &m->parts[(uint64_t)hash << m->part_bits >> 32];
}

/*
 * Returns the index where the probe for a hash begins. It grows with the hash within a part, so
 * an insertion of all slots into a larger part reads and writes memory in sequence.
 */
static uint32_t home_of(const struct handle_map *m, const struct handle_part *part, uint32_t hash)
{
    return (uint32_t)((uint64_t)(hash << m->part_bits) * part->capacity >> 32);
}

static uint32_t next_index(const struct handle_part *part, uint32_t at)
{
    return at + 1 < part->capacity ? at + 1 : 0;
}

/* Returns the number of steps from the slot `from` to the slot `to`. */
static uint32_t distance(const struct handle_part *part, uint32_t from, uint32_t to)
{
    return to >= from ? to - from : to + part->capacity - from;
}

/*
 * Returns the index of the item with this key, or of the empty slot where the probe ends. The part
 * must have slots.
 */
static uint32_t find_slot(const struct handle_map *m, const struct handle_part *part, uint32_t hash,
                          const void *key)
{
    uint32_t at = home_of(m, part, hash);

    for (; part->slots[at].item; at = next_index(part, at)) {
        if (part->slots[at].hash == hash && m->equal(pool_at(m->pool, part->slots[at].item), key))
            break;
    }
    return at;
}

void *handle_map_get(const struct handle_map *m, uint64_t hash, const void *key)
{
    const struct handle_part *part = m->parts ? part_of(m, (uint32_t)hash) : NULL;

    if (!part || part->count == 0)
        return NULL;
    return pool_at(m->pool, part->slots[find_slot(m, part, (uint32_t)hash, key)].item);
}

static void insert_slot(const struct handle_map *m, struct handle_part *part,
                        struct handle_slot slot)
{
    uint32_t at = home_of(m, part, slot.hash);

    while (part->slots[at].item)
        at = next_index(part, at);
    part->slots[at] = slot;
    part->count++;
}

/* Adds a slot to its part. A part is at most 4/5 full, so probes are short and end. */
static void add_slot(const struct handle_map *m, struct handle_slot slot)
{
    struct handle_part *part = part_of(m, slot.hash);
    struct handle_part old = *part;

    if (old.count >= old.capacity / 5 * 4) {
        size_t capacity = old.capacity < FIRST_CAPACITY     ? FIRST_CAPACITY
                          : old.capacity < DOUBLED_CAPACITY ? 2 * (size_t)old.capacity
                                                            : old.capacity + old.capacity / 8;
        if (capacity > UINT32_MAX)
            memory_exhausted(capacity);
        *part = (struct handle_part){.slots = xcalloc(capacity, sizeof(*part->slots)),
                                     .capacity = (uint32_t)capacity};
        for (uint32_t i = 0; i < old.capacity; i++) {
            if (old.slots[i].item)
                insert_slot(m, part, old.slots[i]);
        }
        free(old.slots);
    }
    insert_slot(m, part, slot);
}

/* Divides the only part. */
static void divide(struct handle_map *m)
{
    struct handle_part *old = m->parts;

    m->parts = xcalloc(HANDLE_MAP_PARTS, sizeof(*m->parts));
    m->part_bits = HANDLE_MAP_PART_BITS;
    for (uint32_t i = 0; i < old->capacity; i++) {
        if (old->slots[i].item)
            add_slot(m, old->slots[i]);
    }
    free(old->slots);
    free(old);
}

void handle_map_add(struct handle_map *m, uint64_t hash, const void *item)
{
    assert(item);
    if (!m->parts)
        m->parts = xcalloc(1, sizeof(*m->parts));
    if (m->part_bits == 0 && m->count >= ONE_PART_ITEMS)
        divide(m);
    add_slot(m, (struct handle_slot){.hash = (uint32_t)hash, .item = pool_handle_of(item)});
    m->count++;
}

/* Empties the slot `gap`. Moves back later items that probes would not reach across the gap. */
static void shift_back(const struct handle_map *m, const struct handle_part *part, uint32_t gap)
{
    for (uint32_t at = next_index(part, gap); part->slots[at].item; at = next_index(part, at)) {
        uint32_t home = home_of(m, part, part->slots[at].hash);

        if (distance(part, home, at) < distance(part, gap, at))
            continue;
        part->slots[gap] = part->slots[at];
        gap = at;
    }
    part->slots[gap] = (struct handle_slot){0};
}

void *handle_map_take(struct handle_map *m, uint64_t hash, const void *key)
{
    struct handle_part *part = m->parts ? part_of(m, (uint32_t)hash) : NULL;

    if (!part || part->count == 0)
        return NULL;

    uint32_t at = find_slot(m, part, (uint32_t)hash, key);
    void *item = pool_at(m->pool, part->slots[at].item);

    if (!item)
        return NULL;
    shift_back(m, part, at);
    m->count--;
    if (--part->count == 0) {
        /* Many items that go together leave no memory. */
        free(part->slots);
        *part = (struct handle_part){0};
    }
    return item;
}

void *handle_map_next(const struct handle_map *m, uint64_t *at)
{
    size_t parts = m->parts ? (size_t)1 << m->part_bits : 0;

    /* The upper half of *at is the number of the part. */
    for (size_t i = *at >> 32; i < parts; *at = (uint64_t)++i << 32) {
        const struct handle_part *part = &m->parts[i];

        while ((uint32_t)*at < part->capacity) {
            pool_handle item = part->slots[(uint32_t)(*at)++].item;

            if (item)
                return pool_at(m->pool, item);
        }
    }
    return NULL;
}
