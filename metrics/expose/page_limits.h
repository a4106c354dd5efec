/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/expose/series.h"

/* Limits of a metrics page. */
struct page_limits {
    size_t policies;   /* Maximal number of policies. */
    size_t namespaces; /* Maximal number of namespaces. */
    size_t details;    /* Maximal number of label sets of a `detail` family. */
    /*
     * Size of a page above which fewer namespaces are shown. Families by namespace can have at
     * least 1/32 of the size, even if the other families need more than the rest.
     */
    size_t page_bytes;
};

/*
 * Folds the label sets of policies and namespaces beyond the limits, and unfolds all others. Each
 * family must be sorted, or its `def` NULL.
 *
 * Families by policy show the same policies, and families by namespace the same namespaces, so that
 * queries can join the families. Folded values are added up in rest sets, so that sums stay
 * complete; families with `no_rest` have no rest sets. The policies and namespaces with the highest
 * weights (`weigh`) are shown; with equal weights, the first in byte order.
 */
void page_limits_apply(struct family_state *families, size_t count,
                       const struct page_limits *limits);
