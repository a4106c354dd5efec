/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * A hash table of pointers: open addressing, linear probing, deletion by
 * shifting back, so that no tombstones pile up.
 *
 * The table owns the slots, never what they point at. An item must answer the
 * same hash and equality for as long as it is inside. The hash comes from the
 * caller (map_hash) because keys are chosen by the users of a cluster: with a
 * random seed nobody can aim at one bucket. No order is promised: whatever is
 * printed is sorted first.
 */
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

/* Free the slots, not the items; the map is empty and usable again. */
void map_release(struct map *m);

/* The hash of `len` bytes under `seed`. */
uint64_t map_hash(const void *bytes, size_t len, uint64_t seed);

/* The hash of an address. It needs no seed: nobody outside chooses addresses. */
uint64_t map_hash_address(const void *address);

/* The item equal to `key`, or NULL. */
void *map_get(const struct map *m, uint64_t hash, const void *key);

/* Add an item that is not inside yet. */
void map_add(struct map *m, uint64_t hash, void *item);

/* Remove the item equal to `key` and return it; NULL if there is none. */
void *map_take(struct map *m, uint64_t hash, const void *key);

/*
 * Walk over all items: start with *at = 0; NULL at the end. The map may not
 * change during the walk.
 */
void *map_next(const struct map *m, size_t *at);
