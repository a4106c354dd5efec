/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/map.h"

struct series;

/* One number that an entry contributes, and the series that it counts in. */
struct sample {
    struct series *series;
    int64_t value;
};

/*
 * What one entry contributes, packed: most samples are a 1, which costs no more than the
 * pointer to its series. Each object of a control plane has a contribution, and those that
 * contribute the same have one together: the templates of a policy in a namespace mostly do.
 */
struct contribution;

/* The contributions there are. All must have been dropped before it is released. */
struct contributions {
    struct map map;
    uint64_t seed;
};
void contributions_init(struct contributions *all, uint64_t seed);
void contributions_release(struct contributions *all);

/* The contribution of these samples, one holder more; NULL for no samples. */
struct contribution *contribution_share(struct contributions *all, const struct sample *samples,
                                        size_t count) MUST_USE;
/* One holder less. Takes NULL. */
void contribution_drop(struct contributions *all, struct contribution *c);

/* Walk over the samples: start with *at = 0; false at the end. NULL has none. */
bool contribution_next(const struct contribution *c, size_t *at, struct sample *out);

bool contribution_equal(const struct contribution *c, const struct sample *samples, size_t count);
bool contribution_has(const struct contribution *c, const struct series *series);
/* The value for a series; 0 if there is none. */
int64_t contribution_value(const struct contribution *c, const struct series *series);
