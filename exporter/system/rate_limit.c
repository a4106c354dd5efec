/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/rate_limit.h"

bool rate_limit_allow(struct rate_limit *r, int64_t now_ns)
{
    int64_t from_ns = r->full_ns > now_ns ? r->full_ns : now_ns;

    if (r->interval_ns == 0)
        return true;
    /* Number of missing tokens, rounded up: each missing token delays `full_ns` by an interval. */
    if ((from_ns - now_ns + r->interval_ns - 1) / r->interval_ns >= r->burst)
        return false;
    r->full_ns = from_ns + r->interval_ns;
    return true;
}

enum { BURST_AFTER_FIRST = 3 };

int64_t burst_limit_due(const struct burst_limit *b, int64_t cost_ms, int64_t now_ms)
{
    int64_t due_ms = b->full_ms - BURST_AFTER_FIRST * cost_ms;

    return due_ms > now_ms ? due_ms : now_ms;
}

void burst_limit_record(struct burst_limit *b, int64_t cost_ms, int64_t now_ms)
{
    b->full_ms = cost_ms + (b->full_ms > now_ms ? b->full_ms : now_ms);
}

bool burst_limit_take(struct burst_limit *b, int64_t cost_ms, int64_t now_ms)
{
    if (burst_limit_due(b, cost_ms, now_ms) > now_ms)
        return false;
    burst_limit_record(b, cost_ms, now_ms);
    return true;
}
