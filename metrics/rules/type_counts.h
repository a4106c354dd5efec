/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/map.h"

/*
 * How often each apiVersion and kind is referred to: which kinds are, and whether that set has
 * changed. All texts are shared, and borrowed for as long as their count is not 0.
 */
struct type_counts {
    struct map types;
    struct type_count **order; /* The same, as they came. */
    size_t count;
    uint64_t seed;
    uint64_t version; /* Changes whenever a type comes or goes. */
};

void type_counts_init(struct type_counts *c, uint64_t seed);
void type_counts_release(struct type_counts *c);

/* One reference more, or one less. */
void type_counts_add(struct type_counts *c, const char *api_version, const char *kind);
void type_counts_remove(struct type_counts *c, const char *api_version, const char *kind);

/* How many references there are. */
size_t type_counts_get(const struct type_counts *c, const char *api_version, const char *kind);

/*
 * Walk over every type that is referred to, in the order in which they came to be: the same
 * history asks a server the same questions in the same order. Start with *at = 0; false at the
 * end. No count may change during the walk.
 */
bool type_counts_next(const struct type_counts *c, size_t *at, const char **api_version,
                      const char **kind);
