/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * A token bucket: one request an interval, and up to `burst` at once after a rest, as the exporter
 * toolkit limits requests. It keeps one time only: when the bucket would be full again. Times are
 * steady nanoseconds; who calls it from several threads holds a lock.
 */
struct rate_limit {
    int64_t interval_ns; /* 0: no limit. */
    uint32_t burst;
    int64_t full_ns; /* When all tokens are there again; in the past: they are. */
};

/* Take a token. False if there is none. */
bool rate_limit_allow(struct rate_limit *r, int64_t now_ns) MUST_USE;

/*
 * What is done at once, but must not be done at once for ever: four times in a row, and then once
 * in so many milliseconds (`cost_ms`), the same in all calls. Times are steady; zeroed at first.
 */
struct burst_limit {
    int64_t spent_ms; /* Until when what was done is paid for. */
};

/* When it may be done next: `now_ms`, or later. */
int64_t burst_limit_due(const struct burst_limit *h, int64_t cost_ms, int64_t now_ms);

/* It is done, then. */
void burst_limit_record(struct burst_limit *h, int64_t cost_ms, int64_t now_ms);

/* True if it may be done now; then it is. */
bool burst_limit_take(struct burst_limit *h, int64_t cost_ms, int64_t now_ms) MUST_USE;
