/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * What is done at once, but must not be done at once for ever: four times in a row, and then once
 * in so many milliseconds (`cost_ms`), the same in all calls. Times are steady; zeroed at first.
 */
struct haste {
    int64_t spent_ms; /* Until when what was done is paid for. */
};

/* When it may be done next: `now_ms`, or later. */
int64_t haste_due(const struct haste *h, int64_t cost_ms, int64_t now_ms);

/* It is done, then. */
void haste_spend(struct haste *h, int64_t cost_ms, int64_t now_ms);

/* True if it may be done now; then it is. */
bool haste_take(struct haste *h, int64_t cost_ms, int64_t now_ms) MUST_USE;
