/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/grace.h"

enum {
    FRESH_MS = 10 * 1000,
    MOMENT_MS = 10 * 1000,
    GIVE_UP_MS = 15 * 1000, /* What brings nothing is tried in another way. */
    /* A wait between two tries, and the try; and before that one that is never answered. */
    RETRY_MS = 65 * 1000,
    HANG_MS = 60 * 1000 + RETRY_MS,
    /* A stream that says nothing more, and its server thinks it is open. */
    STREAM_MS = (600 + 30) * 1000 + HANG_MS,
};

/* How long a fault of each type may be felt when it is over. */
static const int64_t grace_ms[FAULT_COUNT] = {
    [FAULT_HANG] = HANG_MS,         [FAULT_SILENT] = STREAM_MS,
    [FAULT_DRIP] = RETRY_MS,        [FAULT_CUT] = RETRY_MS,
    [FAULT_RESET] = RETRY_MS,       [FAULT_REFUSE] = RETRY_MS,
    [FAULT_EVENT] = RETRY_MS,       [FAULT_REPLAY] = RETRY_MS,
    [FAULT_ENDLESS] = RETRY_MS,     [FAULT_GARBAGE] = RETRY_MS,
    [FAULT_DEAF] = STREAM_MS,       [FAULT_FORBIDDEN] = RETRY_MS,
    [FAULT_UNSERVED] = RETRY_MS,    [FAULT_OVERSIZE] = RETRY_MS,
    [FAULT_LOSS] = MOMENT_MS,       [FAULT_GOAWAY] = MOMENT_MS,
    [FAULT_UNREACHABLE] = RETRY_MS, [FAULT_BLACKHOLE] = RETRY_MS,
    [FAULT_LAG] = RETRY_MS,         [FAULT_COMPACT] = 0,
    [FAULT_RESTORE] = RETRY_MS,
};

/* True if the kind's streams, where they are to begin with all objects, never say that they have.
 */
static bool never_begins(const struct run *r, unsigned target)
{
    return target < SIM_KIND_COUNT && r->plan->streaming_lists &&
           r->plan->initial[target] == INITIAL_WITHOUT_END;
}

/* 0: it was never struck. */
static int64_t sick_until_ms(const struct run *r, unsigned target)
{
    /* What turns out to be no way to read a kind was one try more. */
    int64_t extra = never_begins(r, target) ? GIVE_UP_MS + RETRY_MS : 0;
    int64_t until = extra > 0 ? PLAN_START_MS + GIVE_UP_MS : 0;

    for (size_t i = 0; i < r->plan->fault_count; i++) {
        const struct fault *f = &r->plan->faults[i];
        int64_t last = f->until_ms < r->plan->storm_ms ? f->until_ms : r->plan->storm_ms;

        if (!r->plan->dropped[PLAN_WRITES_MAX + i] && f->from_ms <= r->now_ms &&
            f->from_ms < r->plan->storm_ms && (f->targets >> target & 1) &&
            last + grace_ms[f->type] + extra > until)
            until = last + grace_ms[f->type] + extra;
    }
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
