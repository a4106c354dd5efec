/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/problems/decision_flapping.h"

#include "metrics/rules/engine.h"
#include "metrics/rules/problems/problems.h"
#include "tests/unit/bound_objects.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

enum { MINUTE = 60 * 1000, HOUR = 60 * MINUTE };

static const int64_t START_MS = INT64_C(1767225600000);

/* Returns whether decision_flapping of the Deployment is open. */
static bool is_flapping(const struct world *w)
{
    return problems_find_open(engine_problems(w->engine),
                              world_find(w, "apps/v1", "Deployment", "default", "web"), NULL,
                              PROBLEM_REASON_DECISION_FLAPPING_STATE) != NULL;
}

/* Gives the Deployment to another policy and back, once every `period_ms`. */
static void change_claims(struct world *w, int64_t *now_ms, unsigned times, int64_t period_ms)
{
    static const char *const claims[] = {TEMPLATE("web", "," CLAIM("a")),
                                         TEMPLATE("web", "," CLAIM("b"))};

    for (unsigned i = 0; i < times; i++) {
        world_put_text(w, claims[(i + 1) % 2]);
        *now_ms += period_ms;
        world_run(w, *now_ms);
    }
}

static void world_with_two_policies(struct world *w)
{
    struct problem_options options = {.history_limit = 10};

    problem_settings_reset(&options.settings);
    world_init(w, &rules_options_default, 1);
    world_put_text(w, POLICY("a", SELECTS("web") "," ON("member1")));
    world_put_text(w, POLICY("b", SELECTS("web") "," ON("member2")));
    world_put_text(w, TEMPLATE("web", "," CLAIM("a")));
    world_run(w, START_MS);
    engine_keep_transitions(w->engine, 1000);
    engine_judge_problems(w->engine, &options);
    world_run(w, START_MS);
}

TEST(three_returns_within_an_hour_are_a_problem)
{
    int64_t now_ms = START_MS;
    struct world w;

    world_with_two_policies(&w);
    /* a to b, back to a (1), to b (2): not yet; to a (3). */
    change_claims(&w, &now_ms, 3, MINUTE);
    assert_false(is_flapping(&w));
    world_put_text(&w, TEMPLATE("web", "," CLAIM("a")));
    now_ms += MINUTE;
    world_run(&w, now_ms);
    assert_true(is_flapping(&w));
    now_ms += HOUR + 10 * MINUTE;
    world_run(&w, now_ms);
    now_ms += 6 * MINUTE;
    world_run(&w, now_ms);
    assert_false(is_flapping(&w));
    world_release(&w);
}

TEST(slow_returns_are_no_problem)
{
    int64_t now_ms = START_MS;
    struct world w;

    world_with_two_policies(&w);
    change_claims(&w, &now_ms, 8, 25 * MINUTE);
    assert_false(is_flapping(&w));
    world_release(&w);
}

TEST(conflicts_flap_if_they_begin_four_times_within_an_hour)
{
    CLEANUP(condition_list_release) struct condition_list list = {0};
    struct conflict_begins begins = {{0}};
    int64_t due_ms = INT64_MAX;

    assert_false(conflict_begins_matter(&begins, START_MS));
    for (unsigned i = 0; i < 4; i++) {
        conflict_flapping_condition(&begins, START_MS + i * MINUTE, &list, &due_ms);
        assert_int_equal(list.count, 0);
        conflict_begins_note(&begins, START_MS + i * MINUTE);
    }
    conflict_flapping_condition(&begins, START_MS + 4 * MINUTE, &list, &due_ms);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.items[0].reason, PROBLEM_REASON_DECISION_FLAPPING_CONFLICT);
    assert_true(due_ms == START_MS + HOUR);
    assert_true(conflict_begins_matter(&begins, START_MS + HOUR));
    conflict_flapping_condition(&begins, START_MS + HOUR, &list, &due_ms);
    assert_int_equal(list.count, 1);
    assert_false(conflict_begins_matter(&begins, START_MS + 2 * HOUR));
}
