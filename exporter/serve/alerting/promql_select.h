/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/serve/alerting/promql.h"

/* What a selector finds at a moment. */

/* The last number of each series, unless that has ended or is older than five minutes. */
struct vector select_instant(const struct promql *p, const struct series_store *store,
                             int64_t now_ms) MUST_USE;

/* What a function over time makes of the window of each series that has enough in it. */
struct vector select_range(enum promql_op op, const struct promql *p,
                           const struct series_store *store, int64_t now_ms) MUST_USE;

/* 1, with the labels that the selector asks for, where it finds nothing in its window. */
struct vector select_absent(const struct promql *p, const struct series_store *store,
                            int64_t now_ms) MUST_USE;
