/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/lease.h"

const char *const lease_state_names[LEASE_STATE_COUNT] = {
    [LEASE_HELD] = "held",     [LEASE_EXPIRING] = "expiring", [LEASE_EXPIRED] = "expired",
    [LEASE_ABSENT] = "absent", [LEASE_UNKNOWN] = "unknown",
};

const char *const lease_verdict_names[VERDICT_REFUSED + 1] = {
    [VERDICT_UNPROTECTED] = "unprotected",
    [VERDICT_OBTAINS] = "obtains",
    [VERDICT_KEEPS] = "keeps",
    [VERDICT_RENEWS] = "renews",
    [VERDICT_TAKES_OVER] = "takes over",
    [VERDICT_REFUSED] = "refused",
};

bool lease_is_past(int64_t expires_s, struct lease_clock clock)
{
    return clock.now_s - clock.skew_s > expires_s;
}

static int64_t snapshot_ends_s(const struct lease *l)
{
    return l->snapshot_ms / 1000 + LEASE_LIFE_S;
}

/* The time that the labels are from. A snapshot of the future is one of now. */
static struct lease_clock clock_of_snapshot(const struct lease *l, struct lease_clock clock)
{
    int64_t snapshot_s = l->snapshot_ms / 1000;

    return (struct lease_clock){snapshot_s < clock.now_s ? snapshot_s : clock.now_s, clock.skew_s};
}

enum lease_state lease_state(const struct lease *l, struct lease_clock clock)
{
    struct lease_clock then = clock_of_snapshot(l, clock);

    if (!l->holder)
        return LEASE_ABSENT;
    if (clock.now_s > snapshot_ends_s(l))
        return LEASE_UNKNOWN;
    if (lease_is_past(l->expires_s, then))
        return LEASE_EXPIRED;
    /* Its holder may have extended it since. */
    if (lease_is_past(l->expires_s, clock))
        return LEASE_UNKNOWN;
    /* By a clock that is behind ours, as the holder's may be, more time remains. */
    return l->expires_s - (then.now_s - then.skew_s) < LEASE_RENEWAL_S ? LEASE_EXPIRING
                                                                       : LEASE_HELD;
}

int64_t lease_state_ends_s(const struct lease *l, struct lease_clock clock)
{
    int64_t renewal_s = l->expires_s - LEASE_RENEWAL_S + clock.skew_s + 1;
    const int64_t ends_s[] = {
        /* Behind the snapshot, time alone makes no lease expire soon. */
        renewal_s <= l->snapshot_ms / 1000 ? renewal_s : INT64_MAX,
        l->expires_s + clock.skew_s + 1,
        snapshot_ends_s(l) + 1,
    };
    int64_t next_s = INT64_MAX;

    if (lease_state(l, clock) == LEASE_ABSENT || lease_state(l, clock) == LEASE_UNKNOWN)
        return INT64_MAX;
    for (size_t i = 0; i < ARRAY_LEN(ends_s); i++) {
        if (ends_s[i] > clock.now_s && ends_s[i] < next_s)
            next_s = ends_s[i];
    }
    return next_s;
}

enum lease_verdict lease_verdict(enum prevention prevention, const struct lease *l,
                                 const char *own_id, struct lease_clock clock)
{
    if (prevention != PREVENTION_RESOURCE)
        return VERDICT_UNPROTECTED;
    if (!l->holder)
        return VERDICT_OBTAINS;
    if (own_id && strcmp(l->holder, own_id) == 0)
        return l->expires_s - clock.now_s < LEASE_RENEWAL_S ? VERDICT_RENEWS : VERDICT_KEEPS;
    return lease_is_past(l->expires_s, clock) ? VERDICT_TAKES_OVER : VERDICT_REFUSED;
}
