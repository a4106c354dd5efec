/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

struct cell;

/* One number that an entry gives, and to what. */
struct item {
    struct cell *cell;
    int64_t value;
};

/*
 * What one entry gives, packed: most of it is a 1, which costs no more than the
 * pointer to its cell. There is one for each object of a control plane.
 */
struct contribution;

/* NULL for no items. The caller frees it with free(). */
struct contribution *contribution_pack(const struct item *items, size_t count) MUST_USE;

/* Walk over the items: start with *at = 0; false at the end. NULL has none. */
bool contribution_next(const struct contribution *c, size_t *at, struct item *out);

bool contribution_equal(const struct contribution *c, const struct item *items, size_t count);
bool contribution_has(const struct contribution *c, const struct cell *cell);
/* What is given to the cell; 0 if nothing is. */
int64_t contribution_value(const struct contribution *c, const struct cell *cell);
