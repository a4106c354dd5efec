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

/* Each change but the first is a return: three of them are two periods apart. */
TEST(slow_returns_are_no_problem)
{
    static const struct {
        int64_t period_ms;
        bool flaps;
    } rows[] = {{25 * MINUTE, true}, {30 * MINUTE - 1, true}, {30 * MINUTE, false}, {HOUR, false}};

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int64_t now_ms = START_MS;
        struct world w;

        world_with_two_policies(&w);
        change_claims(&w, &now_ms, 8, rows[i].period_ms);
        assert_int_equal(is_flapping(&w), rows[i].flaps);
        world_release(&w);
    }
}

TEST(a_return_to_a_policy_that_was_left_long_ago_counts)
{
    int64_t now_ms = START_MS;
    struct world w;

    world_with_two_policies(&w);
    change_claims(&w, &now_ms, 1, MINUTE);
    now_ms += 5 * HOUR;
    world_run(&w, now_ms);
    /* To a, which was left five hours ago (1), to b (2): not yet; to a (3). */
    world_put_text(&w, TEMPLATE("web", "," CLAIM("a")));
    world_run(&w, now_ms);
    world_put_text(&w, TEMPLATE("web", "," CLAIM("b")));
    world_run(&w, now_ms + MINUTE);
    assert_false(is_flapping(&w));
    world_put_text(&w, TEMPLATE("web", "," CLAIM("a")));
    world_run(&w, now_ms + 2 * MINUTE);
    assert_true(is_flapping(&w));
    /* The third last return is the first one, so the condition ends an hour after it. */
    world_run(&w, now_ms + HOUR - 1);
    assert_true(is_flapping(&w));
    world_run(&w, now_ms + HOUR);
    world_run(&w, now_ms + HOUR + 5 * MINUTE);
    assert_false(is_flapping(&w));
    world_release(&w);
}

TEST(new_policies_are_no_returns)
{
    static const char *const claims[] = {
        TEMPLATE("web", "," CLAIM("b")), TEMPLATE("web", "," CLAIM("c")),
        TEMPLATE("web", "," CLAIM("d")), TEMPLATE("web", "," CLAIM("e")),
        TEMPLATE("web", "," CLAIM("f")), TEMPLATE("web", "," CLAIM("g"))};
    int64_t now_ms = START_MS;
    struct world w;

    world_with_two_policies(&w);
    for (size_t i = 0; i < ARRAY_LEN(claims); i++) {
        world_put_text(&w, claims[i]);
        world_run(&w, now_ms += MINUTE);
    }
    assert_false(is_flapping(&w));
    world_release(&w);
}

/* Gives policy and binding the values of one cluster. */
static void set_version(struct world *w, bool second, int64_t now_ms)
{
    static const char *const policies[] = {POLICY("a", SELECTS("web") "," ON("member1")),
                                           POLICY("a", SELECTS("web") "," ON("member2"))};
    static const char *const bindings[] = {BINDING("web", "a", "member1"),
                                           BINDING("web", "a", "member2")};

    world_put_text(w, policies[second]);
    world_run(w, now_ms);
    world_put_text(w, bindings[second]);
    world_run(w, now_ms + 1000);
}

/* A version that becomes the newest again gets a new number, and is the earlier one. */
TEST(returns_to_a_version_count_although_its_number_changes)
{
    int64_t now_ms = START_MS;
    struct world w;

    world_with_two_policies(&w);
    set_version(&w, false, now_ms += MINUTE);
    set_version(&w, true, now_ms += MINUTE);
    set_version(&w, false, now_ms += MINUTE); /* First return. */
    set_version(&w, true, now_ms += MINUTE);
    assert_false(is_flapping(&w));
    set_version(&w, false, now_ms + MINUTE);
    assert_true(is_flapping(&w));
    world_release(&w);
}

/* Karmada claims the template first, and writes the binding later. */
TEST(one_return_of_claim_and_binding_counts_once)
{
    static const char *const claims[] = {TEMPLATE("web", "," CLAIM("a")),
                                         TEMPLATE("web", "," CLAIM("b"))};
    static const char *const bindings[] = {BINDING("web", "a", "member1"),
                                           BINDING("web", "b", "member2")};
    int64_t now_ms = START_MS;
    struct world w;

    world_with_two_policies(&w);
    world_put_text(&w, bindings[0]);
    world_run(&w, now_ms += MINUTE);
    for (unsigned i = 1; i <= 4; i++) {
        /* To b, to a (1), to b (2), to a (3). */
        assert_false(is_flapping(&w));
        world_put_text(&w, claims[i % 2]);
        world_run(&w, now_ms += MINUTE);
        assert_int_equal(is_flapping(&w), i == 4);
        world_put_text(&w, bindings[i % 2]);
        world_run(&w, now_ms += MINUTE);
    }
    assert_true(is_flapping(&w));
    world_release(&w);
}

TEST(times_without_a_policy_are_no_returns)
{
    int64_t now_ms = START_MS;
    struct world w;

    world_with_two_policies(&w);
    world_put_text(&w, POLICY("b", SELECTS("other") "," ON("member2")));
    for (unsigned i = 0; i < 2; i++) {
        /* No policy, and then a again. */
        world_put_text(&w, POLICY("a", SELECTS("other") "," ON("member1")));
        world_put_text(&w, TEMPLATE("web", ""));
        world_run(&w, now_ms += MINUTE);
        world_put_text(&w, POLICY("a", SELECTS("web") "," ON("member1")));
        world_put_text(&w, TEMPLATE("web", "," CLAIM("a")));
        world_run(&w, now_ms += MINUTE);
    }
    assert_false(is_flapping(&w));
    world_release(&w);
}

/* An object with another uid is another template. */
TEST(a_recreated_template_has_not_returned)
{
    int64_t now_ms = START_MS;
    struct world w;

    world_with_two_policies(&w);
    change_claims(&w, &now_ms, 3, MINUTE);
    store_remove(w.store, world_find(&w, "apps/v1", "Deployment", "default", "web"));
    world_run(&w, now_ms += MINUTE);
    world_put_text(&w, TEMPLATE("web", "," CLAIM("b")));
    world_run(&w, now_ms += MINUTE);
    world_put_text(&w, TEMPLATE("web", "," CLAIM("a")));
    world_run(&w, now_ms += MINUTE);
    assert_false(is_flapping(&w));
    world_release(&w);
}

/* Begins a world with the objects of `last` after its time, as a reload does. */
static void reload(struct world *fresh, const struct world *last, const char *template,
                   int64_t now_ms)
{
    struct problem_options options = {.history_limit = 10};

    problem_settings_reset(&options.settings);
    world_init(fresh, &rules_options_default, 2);
    world_put_text(fresh, POLICY("a", SELECTS("web") "," ON("member1")));
    world_put_text(fresh, POLICY("b", SELECTS("web") "," ON("member2")));
    world_put_text(fresh, template);
    world_run(fresh, now_ms);
    engine_keep_transitions(fresh->engine, 1000);
    engine_judge_problems(fresh->engine, &options);
    engine_inherit_problems(fresh->engine, last->engine);
    world_run(fresh, now_ms);
}

TEST(a_reload_between_returns_forgets_none)
{
    int64_t now_ms = START_MS;
    struct world worlds[3];

    world_with_two_policies(&worlds[0]);
    change_claims(&worlds[0], &now_ms, 2, MINUTE); /* To b, to a (1). */
    reload(&worlds[1], &worlds[0], TEMPLATE("web", "," CLAIM("a")), now_ms += MINUTE);
    world_release(&worlds[0]);
    assert_false(is_flapping(&worlds[1]));
    world_put_text(&worlds[1], TEMPLATE("web", "," CLAIM("b"))); /* (2) */
    world_run(&worlds[1], now_ms += MINUTE);
    assert_false(is_flapping(&worlds[1]));
    reload(&worlds[2], &worlds[1], TEMPLATE("web", "," CLAIM("b")), now_ms += MINUTE);
    world_release(&worlds[1]);
    world_put_text(&worlds[2], TEMPLATE("web", "," CLAIM("a"))); /* (3) */
    world_run(&worlds[2], now_ms += MINUTE);
    assert_true(is_flapping(&worlds[2]));
    world_release(&worlds[2]);
}

TEST(a_reload_keeps_the_newest_of_many_changes)
{
    int64_t now_ms = START_MS;
    struct world first, second;

    world_with_two_policies(&first);
    change_claims(&first, &now_ms, 900, 1000);
    reload(&second, &first, TEMPLATE("web", "," CLAIM("a")), now_ms += MINUTE);
    world_release(&first);
    assert_true(is_flapping(&second));
    world_release(&second);
}

/* A single change of the last hour keeps the older changes over a reload. */
TEST(a_reload_keeps_what_was_left_long_ago)
{
    int64_t now_ms = START_MS;
    struct world first, second;

    world_with_two_policies(&first);
    change_claims(&first, &now_ms, 1, MINUTE);
    now_ms += 5 * HOUR;
    world_put_text(&first, TEMPLATE("web", "," CLAIM("a"))); /* (1) */
    world_run(&first, now_ms);
    reload(&second, &first, TEMPLATE("web", "," CLAIM("a")), now_ms += MINUTE);
    world_release(&first);
    world_put_text(&second, TEMPLATE("web", "," CLAIM("b"))); /* (2) */
    world_run(&second, now_ms += MINUTE);
    assert_false(is_flapping(&second));
    world_put_text(&second, TEMPLATE("web", "," CLAIM("a"))); /* (3) */
    world_run(&second, now_ms += MINUTE);
    assert_true(is_flapping(&second));
    world_release(&second);
}

TEST(a_reload_does_not_end_the_problem)
{
    int64_t now_ms = START_MS;
    struct world first, second;

    world_with_two_policies(&first);
    change_claims(&first, &now_ms, 4, MINUTE);
    assert_true(is_flapping(&first));
    reload(&second, &first, TEMPLATE("web", "," CLAIM("a")), now_ms += MINUTE);
    world_release(&first);
    assert_true(is_flapping(&second));
    world_run(&second, now_ms + 30 * MINUTE);
    assert_true(is_flapping(&second));
    world_run(&second, now_ms + HOUR);
    world_run(&second, now_ms + HOUR + 5 * MINUTE);
    assert_false(is_flapping(&second));
    world_release(&second);
}

#define RECREATED(policy)                                                                          \
    "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"web\","          \
    "\"namespace\":\"default\",\"uid\":\"other\",\"resourceVersion\":\"20\"," CLAIM(policy) "}}"

/* The new object has the name of the deleted one, and the same run of the engine handles both. */
TEST(a_template_recreated_after_a_reload_has_not_returned)
{
    int64_t now_ms = START_MS;
    struct world first, second;

    world_with_two_policies(&first);
    change_claims(&first, &now_ms, 3, MINUTE); /* To b, to a (1), to b (2). */
    reload(&second, &first, TEMPLATE("web", "," CLAIM("b")), now_ms += MINUTE);
    world_release(&first);
    world_put_text(&second, RECREATED("b"));
    world_run(&second, now_ms += MINUTE);
    world_put_text(&second, RECREATED("a"));
    world_run(&second, now_ms += MINUTE);
    assert_false(is_flapping(&second));
    world_release(&second);
}

/* An object that flaps every second needs no more time and memory than its newest changes. */
TEST(a_template_that_returns_every_second_is_one_problem)
{
    int64_t now_ms = START_MS;
    struct world w;

    world_with_two_policies(&w);
    change_claims(&w, &now_ms, 5000, 1000);
    assert_true(is_flapping(&w));
    assert_int_equal(problems_opened_total(engine_problems(w.engine), PROBLEM_DECISION_FLAPPING),
                     1);
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
