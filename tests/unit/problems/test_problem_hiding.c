/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/problems/problem_hiding.h"

#include "metrics/rules/engine.h"
#include "tests/unit/bound_objects.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

enum { MINUTE = 60 * 1000, HOUR = 60 * MINUTE };

static const int64_t START_MS = INT64_C(1767225600000);

static const struct external_subject controllers = {"", "ControlPlane", "", CONTROLLER_COMPONENT};

/* A policy, a Deployment that it claims, and a member cluster, judged from START_MS on. */
struct lab {
    struct world world;
    struct problems *problems;
    int64_t now_ms;
};

static void lab_init(struct lab *lab, const char *const *objects)
{
    struct problem_options options = {.history_limit = 10};

    *lab = (struct lab){.now_ms = START_MS};
    problem_settings_reset(&options.settings);
    world_init(&lab->world, &rules_options_default, 1);
    for (size_t i = 0; objects[i]; i++)
        world_put_text(&lab->world, objects[i]);
    world_run(&lab->world, lab->now_ms);
    engine_judge_problems(lab->world.engine, &options);
    lab->problems = engine_problems(lab->world.engine);
    world_run(&lab->world, lab->now_ms);
}

static void pass(struct lab *lab, int64_t ms)
{
    world_pass(&lab->world, &lab->now_ms, ms);
}

/* Returns the instance of a problem about the Deployment; NULL without one. */
static const struct problem *find(const struct lab *lab, enum problem_id problem)
{
    const struct entry *web = world_find(&lab->world, "apps/v1", "Deployment", "default", "web");
    const struct problem *p = problems_of(lab->problems, web);

    while (p && problem_id(p) != problem)
        p = problems_next_of(p);
    return p;
}

TEST(controllers_that_do_not_run_hide_what_waits_for_them)
{
    static const char *const objects[] = {POLICY("p", SELECTS("web") "," ON("member1")),
                                          TEMPLATE("web", ",\"labels\":{\"a\":\"b\"}"), NULL};
    const struct problem *waits;
    struct lab lab;

    lab_init(&lab, objects);
    problems_report(lab.problems, &controllers, PROBLEM_REASON_CONTROLLERS_STUCK_NOT_RUNNING, 0);
    pass(&lab, HOUR);
    waits = find(&lab, PROBLEM_NOT_PROPAGATED);
    assert_non_null(waits);
    assert_int_equal(waits->status, PROBLEM_HIDDEN);
    assert_int_equal(problem_id(waits->cause), PROBLEM_CONTROLLERS_STUCK);
    /* Resolving still hides; once the cause is resolved, the patience begins anew. */
    problems_withdraw(lab.problems, &controllers, PROBLEM_CONTROLLERS_STUCK);
    pass(&lab, 4 * MINUTE);
    assert_int_equal(find(&lab, PROBLEM_NOT_PROPAGATED)->status, PROBLEM_HIDDEN);
    pass(&lab, MINUTE);
    assert_int_equal(find(&lab, PROBLEM_NOT_PROPAGATED)->status, PROBLEM_PENDING);
    pass(&lab, 15 * MINUTE - 1);
    assert_int_equal(find(&lab, PROBLEM_NOT_PROPAGATED)->status, PROBLEM_PENDING);
    pass(&lab, 1);
    assert_int_equal(find(&lab, PROBLEM_NOT_PROPAGATED)->status, PROBLEM_OPEN);
    world_release(&lab.world);
}

TEST(a_pending_cause_hides_nothing)
{
    static const char *const objects[] = {POLICY("p", SELECTS("web") "," ON("member1")),
                                          TEMPLATE("web", ",\"labels\":{\"a\":\"b\"}"), NULL};
    struct lab lab;

    lab_init(&lab, objects);
    problems_report(lab.problems, &controllers, PROBLEM_REASON_CONTROLLERS_STUCK_NOT_RUNNING, 0);
    pass(&lab, 2 * MINUTE);
    assert_int_equal(find(&lab, PROBLEM_NOT_PROPAGATED)->status, PROBLEM_PENDING);
    world_release(&lab.world);
}

TEST(a_policy_without_effect_is_not_reported_as_unused)
{
    static const char *const objects[] = {POLICY("p", "\"resourceSelectors\":[]," ON("member1")),
                                          NULL};
    const struct problem *p;
    struct lab lab;

    lab_init(&lab, objects);
    pass(&lab, 48 * HOUR);
    for (p = problems_of(lab.problems, world_find(&lab.world, "policy.karmada.io/v1alpha1",
                                                  "PropagationPolicy", "default", "p"));
         p; p = problems_next_of(p))
        assert_int_equal(p->status,
                         problem_id(p) == PROBLEM_POLICY_INVALID ? PROBLEM_OPEN : PROBLEM_HIDDEN);
    world_release(&lab.world);
}

TEST(the_problems_that_can_hide_others_are_those_of_the_contract)
{
    static const enum problem_id causes[] = {PROBLEM_CONTROLLERS_STUCK,
                                             PROBLEM_SCHEDULER_STUCK,
                                             PROBLEM_MEMBER_CLUSTER_UNAVAILABLE,
                                             PROBLEM_POLICY_INVALID,
                                             PROBLEM_NOT_PROPAGATED,
                                             PROBLEM_TEMPLATE_FROZEN,
                                             PROBLEM_POLICY_NOT_IN_FORCE,
                                             PROBLEM_DEPENDENCY_NOT_RESOLVED,
                                             PROBLEM_CLOUD_RESOURCE_CONFLICT};
    unsigned count = 0;

    for (unsigned i = 0; i < PROBLEM_COUNT; i++)
        count += problem_can_hide((enum problem_id)i);
    assert_int_equal(count, ARRAY_LEN(causes));
    for (size_t i = 0; i < ARRAY_LEN(causes); i++)
        assert_true(problem_can_hide(causes[i]));
}
