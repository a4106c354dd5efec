/* SPDX-License-Identifier: Apache-2.0 */

/* Runs the simulation of tests/sim for the seeds 1 to SEEDS. */
#include "tests/sim/shrink.h"

#include "tests/unit/suite.h"

/*
 * Sanitizers slow the simulation down several times, so they run fewer seeds; the simulation has no
 * threads. `make faults` runs 10,000 seeds.
 */
#if defined(__SANITIZE_THREAD__)
enum { SEEDS = 20 };
#elif defined(__SANITIZE_ADDRESS__)
enum { SEEDS = 100 };
#else
enum { SEEDS = 500 };
#endif

static void run_quietly(const struct plan *plan, struct verdict *out)
{
    run_play(plan, false, out);
}

static void assert_invariants_hold(uint64_t seed)
{
    CLEANUP(strbuf_release) struct strbuf options = STRBUF_INIT(1 << 16);
    struct plan plan;
    struct verdict verdict;

    plan_init(&plan, seed);
    run_play(&plan, false, &verdict);
    if (!verdict.invariant)
        return;
    shrink_plan(&plan, &verdict, run_quietly);
    plan_write_options(&plan, &options);
    plan_describe(&plan, &options);
    fail_msg("at %.3f s: %s: %s\n  make sim && build/plain-gcc/tests/sim/sim %s",
             (double)verdict.at_ms / 1000, verdict.invariant, verdict.text, options.data);
}

TEST(invariants_hold_for_every_seed)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        assert_invariants_hold(seed);
}

TEST(seed_determines_the_whole_run)
{
    uint64_t last = 0;

    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct plan plan;
        struct verdict first, second;

        plan_init(&plan, seed);
        run_play(&plan, false, &first);
        plan_init(&plan, seed);
        run_play(&plan, false, &second);
        assert_int_equal(first.hash, second.hash);
        assert_int_equal(first.steps, second.steps);
        assert_int_not_equal(first.hash, last);
        last = first.hash;
    }
}

/* Proves that invariants can fail: these servers omit DELETED events (plan.liars). */
TEST(omitted_deletions_violate_an_invariant)
{
    unsigned violations = 0;

    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct plan plan;
        struct verdict verdict;

        plan_init(&plan, seed);
        plan.liars = true;
        run_play(&plan, false, &verdict);
        violations += verdict.invariant != NULL;
    }
    assert_in_range(violations, 15, 20);
}

/* Fails if two items are in the plan and the storm is long, like a bug that needs both items. */
static void fail_with_two_items(const struct plan *plan, struct verdict *out)
{
    bool fails = !plan->dropped[17] && !plan->dropped[PLAN_WRITES_MAX] && plan->storm_ms > 9000;

    *out = (struct verdict){.invariant = fails ? "pretended" : NULL};
}

TEST(failing_plan_is_reduced_to_the_required_items)
{
    CLEANUP(strbuf_release) struct strbuf options = STRBUF_INIT(1 << 10);
    struct plan plan, again;
    struct verdict verdict;

    plan_init(&plan, 3);
    fail_with_two_items(&plan, &verdict);
    shrink_plan(&plan, &verdict, fail_with_two_items);
    plan_write_options(&plan, &options);
    assert_string_equal(verdict.invariant, "pretended");
    assert_in_range(plan.storm_ms, 9001, 9600);
    assert_int_equal(plan.template_kinds, 1);

    char expected[128];
    snprintf(expected, sizeof(expected), "--seed=3 --kinds=1 --storm-ms=%" PRId64 " --keep=17,%d",
             plan.storm_ms, PLAN_WRITES_MAX);
    assert_string_equal(options.data, expected);

    /* --keep restores the same plan from the printed numbers. */
    plan_init(&again, 3);
    assert_true(plan_keep(&again, "17,256"));
    assert_memory_equal(again.dropped, plan.dropped, sizeof(plan.dropped));
    assert_true(plan_keep(&again, "0-3,7"));
    assert_false(again.dropped[3]);
    assert_true(again.dropped[4]);
    assert_false(plan_keep(&again, "3-1"));
    assert_false(plan_keep(&again, "5000"));
    assert_false(plan_keep(&again, "abc"));
}
