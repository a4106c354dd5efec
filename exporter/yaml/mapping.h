/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/json.h"
#include "metrics/base/map.h"

/*
 * A mapping of YAML while it is read. It answers in constant time which keys it
 * has, and keeps the values of `<<` until all of its own keys, which win, are read.
 */
struct mapping {
    cJSON *object;
    cJSON *merged; /* An array: the values of `<<`, borrowed, in the order of the text. */
    struct map seen;
    size_t count;
    uint64_t seed;
};

/* `seed` is one that the author of the text cannot guess (platform_seed). */
void mapping_init(struct mapping *m, uint64_t seed);
/* Takes one that is filled with zeros. */
void mapping_release(struct mapping *m);

bool mapping_has(const struct mapping *m, const char *key);
/* The mapping owns the item from now on. The key must be new. */
void mapping_put(struct mapping *m, const char *key, cJSON *item);

/* A value of `<<`, borrowed until mapping_take. False unless it is one mapping or a list of them.
 */
bool mapping_merge(struct mapping *m, cJSON *value) MUST_USE;

/* Merge the values of `<<`, the earlier one wins, and hand the object to the caller. */
cJSON *mapping_take(struct mapping *m) MUST_USE;
