/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/expose/observe.h"
#include "metrics/rules/projection.h"

/*
 * What the enumerated labels of the table of families may be, where the rules
 * have no names for it already, and the bounds of its histograms.
 */
extern const char *const policy_kind_names[2];
extern const char *const relation_names[RELATION_EXCLUDED + 1];
extern const char *const decided_by_names[RANK_NAME]; /* By rank_step, from RANK_KIND on. */
extern const char *const scope_names[2];
extern const char *const origin_names[BINDING_ORIGIN_COUNT];
extern const char *const holder_names[HOLDER_BINDING + 1];

/* None of the bounds is whole: OpenMetrics would have "1.0" where the text format has "1". */
extern const double duration_buckets[10];
extern const double lag_buckets[10];
extern const double delay_buckets[14];
