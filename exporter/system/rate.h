/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * A token bucket: one request an interval, and up to `burst` at once after a rest, as the exporter
 * toolkit limits requests. It keeps one time only: when the bucket would be full again. Times are
 * steady nanoseconds; who calls it from several threads holds a lock.
 */
struct rate {
    int64_t interval_ns; /* 0: no limit. */
    uint32_t burst;
    int64_t full_ns; /* When all tokens are there again; in the past: they are. */
};

/* Take a token. False if there is none. */
bool rate_allow(struct rate *r, int64_t now_ns) MUST_USE;
