/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * Hash table of pointers: open addressing, linear probing, deletion by backward shift. The table
 * does not own the items. Hash and equality of an item must not change while the table has the
 * item. Users of the cluster choose many of the keys, so callers hash these with a random seed
 * (map_hash) against collision attacks. The order of items is undefined.
 */

/* Returns true if the item has this key. */
typedef bool map_equal_fn(const void *item, const void *key);

struct map_slot {
    uint64_t hash;
    void *item;
};

struct map {
    struct map_slot *slots;
    size_t count;
    size_t capacity; /* Zero or a power of two. */
    map_equal_fn *equal;
};

#define MAP_INIT(equal_fn) ((struct map){.equal = (equal_fn)})

/* Frees the slots, not the items. Afterwards the map is empty and can be used again. */
void map_release(struct map *m);

/* Returns the 64-bit hash of `len` bytes. */
uint64_t map_hash(const void *bytes, size_t len, uint64_t seed);

/* Returns the hash of an address. No seed is necessary, because users cannot choose addresses. */
uint64_t map_hash_address(const void *address);

/* Returns the item with this key, or NULL. */
void *map_get(const struct map *m, uint64_t hash, const void *key);

/* Adds an item, not NULL. The map must not contain an item with the same key. */
void map_add(struct map *m, uint64_t hash, void *item);

/* Removes the item with this key and returns it; NULL if there is no such item. */
void *map_take(struct map *m, uint64_t hash, const void *key);

/*
 * Returns the next item, NULL at the end; *at must be 0 before the first call. The map must not
 * change during the iteration.
 */
void *map_next(const struct map *m, size_t *at);
