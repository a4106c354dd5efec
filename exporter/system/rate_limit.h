/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * Token bucket with one new token each interval, at most `burst` tokens, and full at the start; the
 * exporter-toolkit of Prometheus limits requests in the same way. Times are steady nanoseconds.
 * Threads that share a bucket need a lock.
 */
struct rate_limit {
    int64_t interval_ns; /* 0: no limit. */
    uint32_t burst;
    int64_t full_ns; /* Time at which the bucket is full again; in the past if it is full. */
};

/* Takes a token. Returns false if the bucket is empty; always true without a limit. */
bool rate_limit_allow(struct rate_limit *r, int64_t now_ns) MUST_USE;

/*
 * Rate limit for an action: a burst of four, then one action each `cost_ms` milliseconds, which
 * must be the same in all calls. Times are steady milliseconds. The initial state is all zero.
 */
struct burst_limit {
    int64_t full_ms; /* Time from which a burst of four is possible again. */
};

/* Returns the earliest time for the next action, at least `now_ms`. */
int64_t burst_limit_due(const struct burst_limit *b, int64_t cost_ms, int64_t now_ms);

/* Counts an action at `now_ms`, even if it exceeds the limit. */
void burst_limit_record(struct burst_limit *b, int64_t cost_ms, int64_t now_ms);

/* Returns true, and counts an action, if the limit allows one at `now_ms`. */
bool burst_limit_take(struct burst_limit *b, int64_t cost_ms, int64_t now_ms) MUST_USE;
