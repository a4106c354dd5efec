/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/grace.h"

enum {
    FRESH_MS = 10 * 1000,
    MOMENT_MS = 5 * 1000,
    GIVE_UP_MS = 15 * 1000, /* What brings nothing is tried in another way. */
    LASTED_MS = 10 * 1000,  /* A stream that lasts ends a row of failures. */
    /* A wait between two tries, and the try; and before that one that is never answered. */
    RETRY_MS = 65 * 1000,
    HANG_MS = 60 * 1000 + RETRY_MS,
    /* A stream that says nothing more, and its server thinks it is open. */
    STREAM_MS = (600 + 30) * 1000 + HANG_MS,
    /* An audit is due, and others are before it; what differs is asked about for two minutes. */
    AUDIT_MS = RUN_AUDIT_INTERVAL_MS + 5 * 60 * 1000,
};

/* How long a fault of each type may be felt when it is over. */
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

/* True if the kind's streams, where they are to begin with all objects, never say that they have.
 */
static bool never_begins(const struct run *r, unsigned target)
{
    return target < SIM_KIND_COUNT && r->plan->streaming_lists &&
           r->plan->initial[target] == INITIAL_WITHOUT_END;
}

static bool strikes(const struct run *r, size_t at, unsigned target)
{
    const struct fault *f = &r->plan->faults[at];

    return !r->plan->dropped[PLAN_WRITES_MAX + at] && f->from_ms < r->plan->storm_ms &&
           (f->targets >> target & 1);
}

static int64_t last_ms(const struct run *r, size_t at)
{
    const struct fault *f = &r->plan->faults[at];

    return f->until_ms < r->plan->storm_ms ? f->until_ms : r->plan->storm_ms;
}

/* Waits grow with failures in a row: one that comes soon after another is felt for as long. */
static void compound(struct run *r, unsigned target, int64_t grace[static PLAN_FAULTS_MAX])
{
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < r->plan->fault_count; i++) {
            for (size_t j = 0; j < r->plan->fault_count; j++) {
                if (strikes(r, i, target) && strikes(r, j, target) && grace[i] < grace[j] &&
                    r->plan->faults[i].from_ms >= r->plan->faults[j].from_ms &&
                    r->plan->faults[i].from_ms <= last_ms(r, j) + grace[j] + LASTED_MS) {
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
        /* What turns out to be no way to read a kind was one try more. */
        int64_t extra = never_begins(r, target) ? GIVE_UP_MS : 0;
        int64_t grace[PLAN_FAULTS_MAX];

        for (size_t i = 0; i < r->plan->fault_count; i++)
            grace[i] = grace_ms[r->plan->faults[i].type];
        compound(r, target, grace);
        for (size_t i = 0; i < r->plan->fault_count; i++)
            r->sick_ms[target][i] = strikes(r, i, target) ? last_ms(r, i) + grace[i] + extra : 0;
    }
}

/* 0: it was never struck. */
static int64_t sick_until_ms(const struct run *r, unsigned target)
{
    int64_t until = never_begins(r, target) ? PLAN_START_MS + GIVE_UP_MS : 0;

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
