/* SPDX-License-Identifier: Apache-2.0 */

/* The simulation of tests/sim, with as many seeds as the quick loop has time for. */
#include "tests/sim/shrink.h"

#include "tests/unit/suite.h"

/*
 * Under a sanitizer a seed takes several times as long, and nothing of it has threads; `make
 * faults` plays ten thousand.
 */
#if defined(__SANITIZE_THREAD__)
enum { SEEDS = 20 };
#elif defined(__SANITIZE_ADDRESS__)
enum { SEEDS = 100 };
#else
enum { SEEDS = 500 };
#endif

static void overlay(const struct plan *plan, struct verdict *out)
{
    run_play(plan, false, out);
}

static void assert_holds(uint64_t seed)
{
    CLEANUP(strbuf_release) struct strbuf options = STRBUF_INIT(1 << 16);
    struct plan plan;
    struct verdict verdict;

    plan_init(&plan, seed);
    run_play(&plan, false, &verdict);
    if (!verdict.invariant)
        return;
    shrink_plan(&plan, &verdict, overlay);
    plan_write_options(&plan, &options);
    plan_describe(&plan, &options);
    fail_msg("at %.3f s: %s: %s\n  make sim && build/plain-gcc/tests/sim/sim %s",
             (double)verdict.at_ms / 1000, verdict.invariant, verdict.text, options.data);
}

TEST(every_invariant_holds_whatever_the_servers_do)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        assert_holds(seed);
}

TEST(a_seed_replays_bit_for_bit)
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

/* The invariants can fail: deletions that no server speaks of are found out by nobody. */
TEST(servers_that_lie_are_noticed)
{
    unsigned noticed = 0;

    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct plan plan;
        struct verdict verdict;

        plan_init(&plan, seed);
        plan.liars = true;
        run_play(&plan, false, &verdict);
        noticed += verdict.invariant != NULL;
    }
    assert_in_range(noticed, 15, 20);
}

/* Fails while both items are in it, as a bug does that takes a write and a fault. */
static void overlay_pretended(const struct plan *plan, struct verdict *out)
{
    bool fails = !plan->dropped[17] && !plan->dropped[PLAN_WRITES_MAX] && plan->storm_ms > 9000;

    *out = (struct verdict){.invariant = fails ? "pretended" : NULL};
}

TEST(a_plan_that_fails_is_shrunk_to_what_it_takes)
{
    CLEANUP(strbuf_release) struct strbuf options = STRBUF_INIT(1 << 10);
    struct plan plan, again;
    struct verdict verdict;

    plan_init(&plan, 3);
    overlay_pretended(&plan, &verdict);
    shrink_plan(&plan, &verdict, overlay_pretended);
    plan_write_options(&plan, &options);
    assert_string_equal(verdict.invariant, "pretended");
    assert_in_range(plan.storm_ms, 9001, 9600);
    assert_int_equal(plan.template_kinds, 1);

    char expected[128];
    snprintf(expected, sizeof(expected), "--seed=3 --kinds=1 --storm-ms=%" PRId64 " --keep=17,%d",
             plan.storm_ms, PLAN_WRITES_MAX);
    assert_string_equal(options.data, expected);

    /* What the command says is that plan. */
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
