/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/grace.h"

enum {
    FRESH_MS = 10 * 1000,
    MOMENT_MS = 5 * 1000,
    GIVE_UP_MS = 15 * 1000, /* Upper bound of the exporter's wait for the end of initial events. */
    LASTED_MS = 10 * 1000,  /* A stream of this duration resets the retry delay. */
    /* Longest delay before a request is repeated, and the time of the second request. */
    RETRY_MS = 65 * 1000,
    /* Longest wait for a response that never comes, then RETRY_MS. */
    HANG_MS = 60 * 1000 + RETRY_MS,
    /* Longest life of a stream that stays silent and open, then HANG_MS. */
    STREAM_MS = (600 + 30) * 1000 + HANG_MS,
    /* Interval of audits, then the audits of other kinds, and 2 minutes to confirm a difference. */
    AUDIT_MS = RUN_AUDIT_INTERVAL_MS + 5 * 60 * 1000,
};

/* Time for which the effects of a fault may last after its end, by type. */
static const int64_t grace_ms[FAULT_COUNT] = {
    [FAULT_HANG] = HANG_MS,      [FAULT_SILENT] = STREAM_MS, [FAULT_DRIP] = RETRY_MS,
    [FAULT_CUT] = RETRY_MS,      [FAULT_RESET] = RETRY_MS,   [FAULT_REFUSE] = RETRY_MS,
    [FAULT_EVENT] = RETRY_MS,    [FAULT_REPLAY] = RETRY_MS,  [FAULT_ENDLESS] = RETRY_MS,
    [FAULT_GARBAGE] = RETRY_MS,  [FAULT_DEAF] = STREAM_MS,   [FAULT_FORBIDDEN] = RETRY_MS,
    [FAULT_UNSERVED] = RETRY_MS, [FAULT_STALE] = RETRY_MS,   [FAULT_OVERSIZE] = RETRY_MS,
    [FAULT_LOSS] = MOMENT_MS,    [FAULT_GOAWAY] = MOMENT_MS, [FAULT_UNREACHABLE] = RETRY_MS,
    [FAULT_BLACKHOLE] = HANG_MS, [FAULT_LAG] = RETRY_MS,     [FAULT_COMPACT] = 0,
    [FAULT_RESTORE] = MOMENT_MS, [FAULT_PAGES] = RETRY_MS,
};

/* Returns true if the exporter requests initial events of the kind, and they never end. */
static bool never_ends_initial_events(const struct run *r, unsigned target)
{
    return target < SIM_KIND_COUNT && r->plan->streaming_lists &&
           r->plan->initial[target] == INITIAL_WITHOUT_END;
}

static bool strikes_target(const struct run *r, size_t at, unsigned target)
{
    const struct fault *f = &r->plan->faults[at];

    return !r->plan->dropped[PLAN_WRITES_MAX + at] && f->from_ms < r->plan->storm_ms &&
           (f->targets >> target & 1);
}

static int64_t fault_end_ms(const struct run *r, size_t at)
{
    const struct fault *f = &r->plan->faults[at];

    return f->until_ms < r->plan->storm_ms ? f->until_ms : r->plan->storm_ms;
}

/*
 * Raises the grace of each fault that begins before or soon after the grace of an earlier fault has
 * ended to the grace of the earlier one: the retry delay grows with consecutive failures.
 */
static void extend_grace(struct run *r, unsigned target, int64_t grace[static PLAN_FAULTS_MAX])
{
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < r->plan->fault_count; i++) {
            for (size_t j = 0; j < r->plan->fault_count; j++) {
                if (strikes_target(r, i, target) && strikes_target(r, j, target) &&
                    grace[i] < grace[j] &&
                    r->plan->faults[i].from_ms >= r->plan->faults[j].from_ms &&
                    r->plan->faults[i].from_ms <= fault_end_ms(r, j) + grace[j] + LASTED_MS) {
                    grace[i] = grace[j];
                    more = true;
                }
            }
        }
    }
}

void grace_init(struct run *r)
{
    for (unsigned target = 0; target < SIM_TARGET_COUNT; target++) {
        /* Initial events without an end cost one more attempt. */
        int64_t extra = never_ends_initial_events(r, target) ? GIVE_UP_MS : 0;
        int64_t grace[PLAN_FAULTS_MAX];

        for (size_t i = 0; i < r->plan->fault_count; i++)
            grace[i] = grace_ms[r->plan->faults[i].type];
        extend_grace(r, target, grace);
        for (size_t i = 0; i < r->plan->fault_count; i++)
            r->sick_ms[target][i] =
                strikes_target(r, i, target) ? fault_end_ms(r, i) + grace[i] + extra : 0;
    }
}

/* Returns until when grace_is_sick() is true, as far as is known now; 0 if it never was. */
static int64_t sick_until_ms(const struct run *r, unsigned target)
{
    int64_t until = never_ends_initial_events(r, target) ? PLAN_START_MS + GIVE_UP_MS : 0;

    for (size_t i = 0; i < r->plan->fault_count; i++) {
        if (r->plan->faults[i].from_ms <= r->now_ms && r->sick_ms[target][i] > until)
            until = r->sick_ms[target][i];
    }
    if (r->silent_ms > 0 && r->silent_ms + AUDIT_MS > until)
        until = r->silent_ms + AUDIT_MS;
    return until;
}

bool grace_is_sick(const struct run *r, unsigned target)
{
    return r->now_ms <= sick_until_ms(r, target);
}

bool grace_was_struck(const struct run *r, unsigned target)
{
    return sick_until_ms(r, target) > 0;
}

int64_t grace_of_calm(const struct run *r)
{
    int64_t longest = 0;

    for (unsigned target = 0; target < SIM_TARGET_COUNT; target++) {
        int64_t until = sick_until_ms(r, target) - r->plan->storm_ms;

        longest = until > longest ? until : longest;
    }
    return longest + FRESH_MS;
}
