/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/expose/family_state.h"

/*
 * Where there are more policies than a page is to show, families with rows by policy show the
 * worst, all families the same, so that they join; the others are folded into rows without a
 * policy, so that sums stay whole. Where rows do not add up (`no_rest`) there are none. The same
 * for namespaces, where a family says so.
 *
 * Worst is what weighs most (`weigh`); of two that weigh the same the first in byte order.
 */

/*
 * Fold what is beyond the worst `limit` of each sort, and unfold what was. Each family is sorted,
 * or has no row (`def` is NULL).
 */
void fold_apply(struct family_state *families, size_t count, size_t limit);
