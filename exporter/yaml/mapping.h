/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/json.h"
#include "metrics/base/map.h"

/*
 * A mapping of YAML while it is read: knows in constant time which keys it has,
 * and holds what `<<` names until its own keys, which win, are all there.
 */
struct mapping {
    cJSON *object;
    cJSON *merged; /* An array: the values of `<<`, borrowed, in the order of the text. */
    struct map seen;
    size_t count;
};

void mapping_init(struct mapping *m);
void mapping_release(struct mapping *m);

bool mapping_has(const struct mapping *m, const char *key);
/* Takes the item. The key must not be there yet. */
void mapping_put(struct mapping *m, const char *key, cJSON *item);

/* False unless it is a mapping or a list of mappings; borrowed until mapping_take. */
bool mapping_merge(struct mapping *m, cJSON *value) MUST_USE;

/* The object, with what was merged, to the caller. The earlier of two merged mappings wins. */
cJSON *mapping_take(struct mapping *m) MUST_USE;
