/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/expose/family_state.h"

/*
 * Limits of policies and namespaces on a page. Families by policy show the same policies, and
 * families by namespace the same namespaces, so that the families join. The numbers of the others
 * are added up in the rest, so that sums stay complete. Families whose rows do not add up
 * (`no_rest`) have no rest.
 *
 * The policies and namespaces with the highest weight (`weigh`) are shown; of equal ones, the
 * first in byte order.
 */

struct fold_limits {
    size_t policies;
    size_t namespaces;
    size_t details; /* Series of a family with one series per object. */
    /*
     * Size of a page. Fewer namespaces are shown if the page is larger with all of them; their
     * families keep an eighth of the size in any case.
     */
    size_t page_bytes;
};

/*
 * Folds the policies and namespaces beyond the limits and unfolds all others. Each family is
 * sorted, or its `def` is NULL.
 */
void fold_apply(struct family_state *families, size_t count, const struct fold_limits *limits);
