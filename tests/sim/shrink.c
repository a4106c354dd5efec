/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/shrink.h"

enum { TRIES_MAX = 600 };

struct shrinker {
    struct plan *plan;
    struct verdict *verdict;
    shrink_play_fn *play;
    unsigned tries;
};

/* Returns true and adopts the smaller plan if the same invariant fails; false after TRIES_MAX. */
static bool adopt_if_failing(struct shrinker *s, const struct plan *smaller)
{
    struct verdict verdict;

    if (s->tries++ >= TRIES_MAX)
        return false;
    s->play(smaller, &verdict);
    if (!verdict.invariant || strcmp(verdict.invariant, s->verdict->invariant) != 0)
        return false;
    *s->plan = *smaller;
    *s->verdict = verdict;
    return true;
}

/* Tries to drop `count` items from `from` on. Returns true if the plan without them fails, too. */
static bool drop_items(struct shrinker *s, size_t from, size_t count)
{
    struct plan smaller = *s->plan;
    bool any = false;

    for (size_t i = from; i < from + count && i < ARRAY_LEN(smaller.dropped); i++) {
        any = any || !smaller.dropped[i];
        smaller.dropped[i] = true;
    }
    return any && adopt_if_failing(s, &smaller);
}

/* Marks the positions of `dropped` without an item, so that drop_items() plays no run for them. */
static void drop_unused(struct plan *plan)
{
    for (size_t i = plan->write_count; i < PLAN_WRITES_MAX; i++)
        plan->dropped[i] = true;
    for (size_t i = plan->fault_count; i < PLAN_FAULTS_MAX; i++)
        plan->dropped[PLAN_WRITES_MAX + i] = true;
}

static bool shrink_items(struct shrinker *s)
{
    bool any = false;

    for (size_t i = 0; i < PLAN_FAULTS_MAX; i++)
        any = drop_items(s, PLAN_WRITES_MAX + i, 1) || any;
    for (size_t size = PLAN_WRITES_MAX / 2; size > 0; size /= 2) {
        for (size_t from = 0; from < PLAN_WRITES_MAX; from += size)
            any = drop_items(s, from, size) || any;
    }
    return any;
}

static bool shrink_size(struct shrinker *s)
{
    bool any = false;

    for (bool more = s->plan->template_kinds > 1; more;) {
        struct plan smaller = *s->plan;

        smaller.template_kinds--;
        more = adopt_if_failing(s, &smaller) && s->plan->template_kinds > 1;
        any = any || more;
    }
    for (int64_t step_ms = s->plan->storm_ms / 2; step_ms >= 500; step_ms /= 2) {
        struct plan smaller = *s->plan;

        smaller.storm_ms -= step_ms;
        any = (smaller.storm_ms > PLAN_START_MS && adopt_if_failing(s, &smaller)) || any;
    }
    return any;
}

void shrink_plan(struct plan *plan, struct verdict *verdict, shrink_play_fn *play)
{
    struct shrinker s = {.plan = plan, .verdict = verdict, .play = play};

    drop_unused(plan);
    for (bool more = true; more && s.tries < TRIES_MAX;) {
        more = shrink_items(&s);
        more = shrink_size(&s) || more;
    }
}
