/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/map.h"
#include "metrics/base/pool.h"

/*
 * Hash table of cells of a pool: like struct map, with handles and 32 bits of the hash, so a slot
 * has 8 bytes. A large table has HANDLE_MAP_PARTS parts, selected by the first bits of the hash.
 * Each part grows by an eighth, at another moment: a table of many items is 71 to 80 percent full,
 * never exists twice, and no call takes long. A part without items has no slots.
 */
struct handle_slot {
    uint32_t hash;
    pool_handle item;
};

struct handle_part {
    struct handle_slot *slots;
    uint32_t count;
    uint32_t capacity;
};

enum { HANDLE_MAP_PART_BITS = 8, HANDLE_MAP_PARTS = 1 << HANDLE_MAP_PART_BITS };

struct handle_map {
    const struct pool *pool;
    map_equal_fn *equal;
    struct handle_part *parts; /* One or HANDLE_MAP_PARTS parts; NULL before the first item. */
    unsigned part_bits;        /* Number of bits of the hash that select a part. */
    size_t count;
};

#define HANDLE_MAP_INIT(its_pool, equal_fn)                                                        \
    ((struct handle_map){.pool = (its_pool), .equal = (equal_fn)})

/* Frees the slots, not the items. Afterwards the map is empty and can be used again. */
void handle_map_release(struct handle_map *m);

/* Returns the item with this key, or NULL. The hash is that of map_hash(). */
void *handle_map_get(const struct handle_map *m, uint64_t hash, const void *key);

/* Adds an item, a cell of the pool. The map must not contain an item with the same key. */
void handle_map_add(struct handle_map *m, uint64_t hash, const void *item);

/* Removes the item with this key and returns it; NULL if there is no such item. */
void *handle_map_take(struct handle_map *m, uint64_t hash, const void *key);

/*
 * Returns the next item, NULL at the end; *at must be 0 before the first call. The map must not
 * change during the iteration.
 */
void *handle_map_next(const struct handle_map *m, uint64_t *at);
