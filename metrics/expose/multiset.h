/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * Numbers that come and go, of which only the smallest is ever asked for.
 *
 * Two heaps: the numbers, and those of them that were removed while they were
 * not the smallest. The two tops never agree, so the first heap's top is the
 * answer, and the second heap never outgrows half of the first for long.
 * All zeros is an empty multiset.
 */
struct heap {
    int64_t *values;
    size_t count;
    size_t capacity;
};

struct multiset {
    struct heap present;
    struct heap removed;
};

/* Free the numbers; the multiset is empty and usable again. */
void multiset_release(struct multiset *m);

void multiset_add(struct multiset *m, int64_t value);

/* Remove one `value`, which must be there. */
void multiset_remove(struct multiset *m, int64_t value);

/* The smallest number; false if there is none. */
bool multiset_min(const struct multiset *m, int64_t *out);
