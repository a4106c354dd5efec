/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

struct series;

/* One number that an entry gives, and to what. */
struct sample {
    struct series *series;
    int64_t value;
};

/*
 * What one entry gives, packed: most of it is a 1, which costs no more than the
 * pointer to its series. There is one for each object of a control plane.
 */
struct contribution;

/* NULL for no samples. The caller frees it with free(). */
struct contribution *contribution_pack(const struct sample *samples, size_t count) MUST_USE;

/* Walk over the samples: start with *at = 0; false at the end. NULL has none. */
bool contribution_next(const struct contribution *c, size_t *at, struct sample *out);

bool contribution_equal(const struct contribution *c, const struct sample *samples, size_t count);
bool contribution_has(const struct contribution *c, const struct series *series);
/* What is given to the series; 0 if nothing is. */
int64_t contribution_value(const struct contribution *c, const struct series *series);
