/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/problems/problems.h"

#include "metrics/rules/engine.h"
#include "metrics/rules/problems/problem_list.h"
#include "metrics/rules/rule.h"
#include "tests/unit/bound_objects.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

enum { SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE };

static const int64_t START_MS = INT64_C(1767225600000);

static const struct external_subject kind_of_pods = {"", "Source", "", "pods"};
static const struct external_subject controllers = {"", "ControlPlane", "", CONTROLLER_COMPONENT};

/* A world whose problems are judged from START_MS on. */
struct lab {
    struct world world;
    struct problem_options options;
    struct problems *problems;
    int64_t now_ms;
};

static void lab_init(struct lab *lab)
{
    *lab = (struct lab){.now_ms = START_MS};
    problem_settings_reset(&lab->options.settings);
    lab->options.history_limit = 10;
    world_init(&lab->world, &rules_options_default, 1);
}

/* Judges from now on; objects put before are found at the start. */
static void lab_judge(struct lab *lab)
{
    world_run(&lab->world, lab->now_ms);
    engine_judge_problems(lab->world.engine, &lab->options);
    lab->problems = engine_problems(lab->world.engine);
    world_run(&lab->world, lab->now_ms);
}

static void pass(struct lab *lab, int64_t ms)
{
    world_pass(&lab->world, &lab->now_ms, ms);
}

/* Returns the status of the only instance; PROBLEM_STATUS_COUNT without one. */
static enum problem_status status(const struct lab *lab)
{
    struct problem_walk walk = {0};
    const struct problem *p = problems_next(lab->problems, &walk);

    if (!p)
        return PROBLEM_STATUS_COUNT;
    assert_null(problems_next(lab->problems, &walk));
    return p->status;
}

static const struct problem *only(const struct lab *lab)
{
    struct problem_walk walk = {0};
    const struct problem *p = problems_next(lab->problems, &walk);

    assert_non_null(p);
    return p;
}

TEST(the_table_is_complete)
{
    for (unsigned i = 0; i < PROBLEM_COUNT; i++) {
        enum problem_id problem = (enum problem_id)i;

        assert_int_equal(problem_find(problem_names[i]), i);
        assert_true(problem_reason_count(problem) > 0);
        for (unsigned k = 0; k < problem_reason_count(problem); k++) {
            unsigned reason = problem_first_reason(problem) + k;

            assert_int_equal(problem_reasons[reason].problem, problem);
            assert_int_equal(problem_find_reason(problem, problem_reasons[reason].name), reason);
        }
    }
    assert_int_equal(problem_find("not_a_problem"), PROBLEM_COUNT);
    assert_int_equal(problem_find_reason(PROBLEM_ORPHANED, "stuck"), PROBLEM_REASON_COUNT);
}

TEST(a_problem_opens_after_its_patience_and_not_before)
{
    struct lab lab;

    lab_init(&lab);
    lab_judge(&lab);
    problems_report(lab.problems, &kind_of_pods, PROBLEM_REASON_DATA_INCOMPLETE_LATE, 0);
    pass(&lab, 0);
    assert_int_equal(status(&lab), PROBLEM_PENDING);
    pass(&lab, 10 * MINUTE - 1);
    assert_int_equal(status(&lab), PROBLEM_PENDING);
    pass(&lab, 1);
    assert_int_equal(status(&lab), PROBLEM_OPEN);
    assert_true(only(&lab)->since_ms == START_MS);
    assert_true(only(&lab)->opened_ms == START_MS + 10 * MINUTE);
    assert_int_equal(problems_opened_total(lab.problems, PROBLEM_DATA_INCOMPLETE), 1);
    world_release(&lab.world);
}

TEST(an_old_problem_opens_only_after_ten_minutes_of_observation)
{
    struct lab lab;

    lab_init(&lab);
    lab_judge(&lab);
    problems_report(lab.problems, &kind_of_pods, PROBLEM_REASON_DATA_INCOMPLETE_LATE,
                    START_MS - 100 * HOUR);
    pass(&lab, 10 * MINUTE - 1);
    assert_int_equal(status(&lab), PROBLEM_PENDING);
    pass(&lab, 1);
    assert_int_equal(status(&lab), PROBLEM_OPEN);
    assert_true(only(&lab)->since_ms == START_MS - 100 * HOUR);
    assert_false(only(&lab)->since_seen);
    world_release(&lab.world);
}

TEST(a_short_gap_does_not_end_an_open_problem)
{
    struct lab lab;

    lab_init(&lab);
    lab_judge(&lab);
    problems_report(lab.problems, &kind_of_pods, PROBLEM_REASON_DATA_INCOMPLETE_LATE, 0);
    pass(&lab, 10 * MINUTE);
    problems_withdraw(lab.problems, &kind_of_pods, PROBLEM_DATA_INCOMPLETE);
    pass(&lab, 5 * MINUTE - 1);
    assert_int_equal(status(&lab), PROBLEM_RESOLVING);
    problems_report(lab.problems, &kind_of_pods, PROBLEM_REASON_DATA_INCOMPLETE_LATE, 0);
    pass(&lab, 0);
    assert_int_equal(status(&lab), PROBLEM_OPEN);
    assert_true(only(&lab)->since_ms == START_MS);
    problems_withdraw(lab.problems, &kind_of_pods, PROBLEM_DATA_INCOMPLETE);
    pass(&lab, 5 * MINUTE);
    assert_int_equal(status(&lab), PROBLEM_STATUS_COUNT);
    assert_int_equal(problems_opened_total(lab.problems, PROBLEM_DATA_INCOMPLETE), 1);
    assert_int_equal(problems_resolved_total(lab.problems, PROBLEM_DATA_INCOMPLETE), 1);
    world_release(&lab.world);
}

TEST(a_gap_of_more_than_a_minute_ends_a_pending_problem)
{
    struct lab lab;

    lab_init(&lab);
    lab_judge(&lab);
    problems_report(lab.problems, &kind_of_pods, PROBLEM_REASON_DATA_INCOMPLETE_LATE, 0);
    pass(&lab, 9 * MINUTE);
    problems_withdraw(lab.problems, &kind_of_pods, PROBLEM_DATA_INCOMPLETE);
    pass(&lab, MINUTE);
    problems_report(lab.problems, &kind_of_pods, PROBLEM_REASON_DATA_INCOMPLETE_LATE, 0);
    pass(&lab, 0);
    assert_int_equal(status(&lab), PROBLEM_OPEN);
    problems_withdraw(lab.problems, &kind_of_pods, PROBLEM_DATA_INCOMPLETE);
    pass(&lab, 6 * MINUTE);
    problems_report(lab.problems, &kind_of_pods, PROBLEM_REASON_DATA_INCOMPLETE_LATE, 0);
    pass(&lab, 9 * MINUTE);
    problems_withdraw(lab.problems, &kind_of_pods, PROBLEM_DATA_INCOMPLETE);
    pass(&lab, MINUTE + 1);
    assert_int_equal(status(&lab), PROBLEM_STATUS_COUNT);
    assert_int_equal(problems_opened_total(lab.problems, PROBLEM_DATA_INCOMPLETE), 1);
    world_release(&lab.world);
}

TEST(a_changed_reason_does_not_restart_the_time)
{
    static const enum problem_reason reasons[] = {PROBLEM_REASON_DATA_INCOMPLETE_LATE,
                                                  PROBLEM_REASON_DATA_INCOMPLETE_FAILING};
    struct lab lab;

    lab_init(&lab);
    lab_judge(&lab);
    for (unsigned minute = 0; minute < 10; minute++) {
        problems_report(lab.problems, &kind_of_pods, reasons[minute % 2], 0);
        pass(&lab, MINUTE);
    }
    assert_int_equal(status(&lab), PROBLEM_OPEN);
    assert_int_equal(only(&lab)->reason, PROBLEM_REASON_DATA_INCOMPLETE_FAILING);
    world_release(&lab.world);
}

TEST(patience_and_severity_follow_the_settings)
{
    struct lab lab;

    lab_init(&lab);
    lab.options.settings.patience_ms[PROBLEM_DATA_INCOMPLETE] = 0;
    lab.options.settings.severity[PROBLEM_CONTROLLERS_STUCK] = SEVERITY_OFF;
    lab.options.settings.resolve_delay_ms = 0;
    lab_judge(&lab);
    problems_report(lab.problems, &kind_of_pods, PROBLEM_REASON_DATA_INCOMPLETE_LATE, 0);
    problems_report(lab.problems, &controllers, PROBLEM_REASON_CONTROLLERS_STUCK_NOT_RUNNING, 0);
    pass(&lab, 0);
    assert_int_equal(status(&lab), PROBLEM_OPEN);
    problems_withdraw(lab.problems, &kind_of_pods, PROBLEM_DATA_INCOMPLETE);
    pass(&lab, 0);
    assert_int_equal(status(&lab), PROBLEM_STATUS_COUNT);
    world_release(&lab.world);
}

TEST(a_patience_of_ten_years_and_odd_times_open_nothing)
{
    static const int64_t times[] = {INT64_MIN, -2177452800000, 0, 253402300799000, INT64_MAX};
    struct lab lab;

    lab_init(&lab);
    lab.options.settings.patience_ms[PROBLEM_DATA_INCOMPLETE] = INT64_C(3650) * 24 * HOUR;
    lab_judge(&lab);
    for (size_t i = 0; i < ARRAY_LEN(times); i++) {
        problems_report(lab.problems, &kind_of_pods, PROBLEM_REASON_DATA_INCOMPLETE_LATE, times[i]);
        pass(&lab, HOUR);
        assert_int_equal(status(&lab), PROBLEM_PENDING);
        assert_true(only(&lab)->since_ms == START_MS);
    }
    world_release(&lab.world);
}

#define ORPHAN "web"
static const char orphan_binding[] =
    "{\"apiVersion\":\"work.karmada.io/v1alpha2\",\"kind\":\"ResourceBinding\",\"metadata\":{"
    "\"name\":\"web-deployment\",\"namespace\":\"default\"},\"spec\":{\"resource\":{"
    "\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"namespace\":\"default\","
    "\"name\":\"web\",\"uid\":\"u-web\",\"resourceVersion\":\"10\"}," ON(
        "member1") ","
                   "\"clusters\":[{\"name\":\"member1\"}]},\"status\":{\"conditions\":[{\"type\":"
                   "\"Scheduled\","
                   "\"status\":\"True\"}],\"aggregatedStatus\":[{\"clusterName\":\"member1\","
                   "\"applied\":true,\"health\":\"Healthy\"}]}}";

TEST(a_deleted_subject_ends_its_problem_at_once)
{
    struct lab lab;
    struct entry *web;

    lab_init(&lab);
    world_put_text(&lab.world, TEMPLATE(ORPHAN, ""));
    world_put_text(&lab.world, orphan_binding);
    lab_judge(&lab);
    pass(&lab, 48 * HOUR);
    assert_int_equal(status(&lab), PROBLEM_OPEN);
    assert_int_equal(problem_id(only(&lab)), PROBLEM_ORPHANED);
    assert_true(only(&lab)->since_seen);
    assert_int_equal(problems_opened_total(lab.problems, PROBLEM_ORPHANED), 0);
    web = world_find(&lab.world, "apps/v1", "Deployment", "default", ORPHAN);
    store_remove(lab.world.store, web);
    pass(&lab, 0);
    assert_int_equal(status(&lab), PROBLEM_STATUS_COUNT);
    assert_int_equal(problems_resolved_total(lab.problems, PROBLEM_ORPHANED), 1);
    world_release(&lab.world);
}

TEST(another_object_of_the_same_name_is_another_subject)
{
    struct lab lab;

    lab_init(&lab);
    world_put_text(&lab.world, TEMPLATE(ORPHAN, ""));
    world_put_text(&lab.world, orphan_binding);
    lab_judge(&lab);
    pass(&lab, 48 * HOUR);
    world_put_text(&lab.world,
                   "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{"
                   "\"name\":\"web\",\"namespace\":\"default\",\"uid\":\"u-new\"},\"spec\":{}}");
    pass(&lab, 0);
    assert_int_equal(problems_resolved_total(lab.problems, PROBLEM_ORPHANED), 1);
    world_release(&lab.world);
}

TEST(a_snapshot_opens_what_is_not_proven_to_be_young)
{
    struct lab lab;

    lab_init(&lab);
    lab.options.snapshot = true;
    world_put_text(&lab.world, TEMPLATE(ORPHAN, ""));
    world_put_text(&lab.world, orphan_binding);
    lab_judge(&lab);
    assert_int_equal(status(&lab), PROBLEM_OPEN);
    problems_report(lab.problems, &kind_of_pods, PROBLEM_REASON_DATA_INCOMPLETE_LATE,
                    lab.now_ms - 9 * MINUTE);
    pass(&lab, 0);
    assert_non_null(problems_find_open(
        lab.problems, world_find(&lab.world, "apps/v1", "Deployment", "default", ORPHAN), NULL,
        PROBLEM_REASON_ORPHANED));
    problems_withdraw(lab.problems, &kind_of_pods, PROBLEM_DATA_INCOMPLETE);
    pass(&lab, 2 * MINUTE);
    assert_int_equal(problem_id(only(&lab)), PROBLEM_ORPHANED);
    world_release(&lab.world);
}

TEST(lists_have_the_order_of_the_contract)
{
    static const struct external_subject other = {"", "Source", "", "nodes"};
    const struct problem **list;
    struct lab lab;
    size_t count;

    lab_init(&lab);
    lab_judge(&lab);
    problems_report(lab.problems, &kind_of_pods, PROBLEM_REASON_DATA_INCOMPLETE_LATE,
                    START_MS - HOUR);
    problems_report(lab.problems, &other, PROBLEM_REASON_DATA_INCOMPLETE_FAILING,
                    START_MS - 2 * HOUR);
    problems_report(lab.problems, &controllers, PROBLEM_REASON_CONTROLLERS_STUCK_TOO_SLOW, 0);
    pass(&lab, HOUR);
    list = problems_list(lab.problems, 1U << PROBLEM_OPEN, &count);
    assert_int_equal(count, 3);
    assert_int_equal(problem_id(list[0]), PROBLEM_CONTROLLERS_STUCK);
    assert_string_equal(problem_name(list[1]), "nodes");
    assert_string_equal(problem_name(list[2]), "pods");
    free(list);
    list = problems_list(lab.problems, 1U << PROBLEM_HIDDEN, &count);
    assert_int_equal(count, 0);
    free(list);
    world_release(&lab.world);
}

TEST(a_restored_server_begins_the_observation_anew)
{
    struct lab lab;

    lab_init(&lab);
    lab_judge(&lab);
    problems_report(lab.problems, &kind_of_pods, PROBLEM_REASON_DATA_INCOMPLETE_LATE, 0);
    pass(&lab, 9 * MINUTE);
    problems_restart_observation(lab.problems, lab.now_ms);
    pass(&lab, 9 * MINUTE);
    assert_int_equal(status(&lab), PROBLEM_PENDING);
    pass(&lab, MINUTE);
    assert_int_equal(status(&lab), PROBLEM_OPEN);
    world_release(&lab.world);
}

TEST(a_clock_that_is_set_forwards_opens_no_problem)
{
    struct lab lab;
    int64_t steady_ms = 1000;

    lab_init(&lab);
    lab_judge(&lab);
    problems_report(lab.problems, &kind_of_pods, PROBLEM_REASON_DATA_INCOMPLETE_LATE, 0);
    engine_note_clock(lab.world.engine, lab.now_ms, steady_ms);
    pass(&lab, 9 * MINUTE);
    engine_note_clock(lab.world.engine, lab.now_ms, steady_ms += 9 * MINUTE);
    lab.now_ms += HOUR;
    engine_note_clock(lab.world.engine, lab.now_ms, steady_ms += 1000);
    pass(&lab, 10 * MINUTE - 1);
    assert_int_equal(status(&lab), PROBLEM_PENDING);
    engine_note_clock(lab.world.engine, lab.now_ms, steady_ms + 10 * MINUTE);
    pass(&lab, 1);
    assert_int_equal(status(&lab), PROBLEM_OPEN);
    world_release(&lab.world);
}

TEST(each_problem_opens_and_ends_by_its_row)
{
    for (unsigned i = 0; i < PROBLEM_COUNT; i++) {
        enum problem_id problem = (enum problem_id)i;
        enum problem_reason reason = problem_first_reason(problem);
        int64_t patience_ms = (int64_t)problem_table[i].patience_s * SECOND;
        struct lab lab;

        lab_init(&lab);
        lab_judge(&lab);
        problems_report(lab.problems, &kind_of_pods, reason, 0);
        pass(&lab, 0);
        if (patience_ms > 0) {
            pass(&lab, patience_ms - 1);
            assert_int_equal(status(&lab), PROBLEM_PENDING);
            pass(&lab, 1);
        }
        assert_int_equal(status(&lab), PROBLEM_OPEN);
        problems_withdraw(lab.problems, &kind_of_pods, problem);
        pass(&lab, 4 * MINUTE);
        problems_report(lab.problems, &kind_of_pods, reason, 0);
        pass(&lab, HOUR);
        assert_int_equal(status(&lab), PROBLEM_OPEN);
        assert_true(only(&lab)->since_ms == START_MS);
        problems_withdraw(lab.problems, &kind_of_pods, problem);
        pass(&lab, 5 * MINUTE - 1);
        assert_int_equal(status(&lab), PROBLEM_RESOLVING);
        pass(&lab, 1);
        assert_int_equal(status(&lab), PROBLEM_STATUS_COUNT);
        world_release(&lab.world);
    }
}

/* ---- stories ---- */

/* Reports a problem of another source, as a stream of short problems has it. */
static void report_number(struct lab *lab, unsigned number)
{
    char name[32];

    snprintf(name, sizeof(name), "kind-%u", number);
    problems_report(lab->problems, &(struct external_subject){"", "Source", "", name},
                    PROBLEM_REASON_DATA_INCOMPLETE_FAILING, 0);
}

static void withdraw_number(struct lab *lab, unsigned number)
{
    char name[32];

    snprintf(name, sizeof(name), "kind-%u", number);
    problems_withdraw(lab->problems, &(struct external_subject){"", "Source", "", name},
                      PROBLEM_DATA_INCOMPLETE);
}

TEST(a_stream_of_short_problems_opens_none_and_hides_no_old_one)
{
    const struct problem **list;
    struct lab lab;
    size_t count;

    lab_init(&lab);
    lab_judge(&lab);
    problems_report(lab.problems, &kind_of_pods, PROBLEM_REASON_DATA_INCOMPLETE_LATE, 0);
    /* For six hours, ten problems at a time, each of which lasts nine minutes. */
    for (unsigned i = 0; i < 400; i++) {
        report_number(&lab, i);
        if (i >= 10)
            withdraw_number(&lab, i - 10);
        pass(&lab, 54 * SECOND);
    }
    list = problems_list(lab.problems, 1U << PROBLEM_OPEN, &count);
    assert_int_equal(count, 1);
    assert_string_equal(problem_name(list[0]), "pods");
    assert_true(list[0]->since_ms == START_MS);
    assert_int_equal(problems_opened_total(lab.problems, PROBLEM_DATA_INCOMPLETE), 1);
    free(list);
    world_release(&lab.world);
}

TEST(a_subject_that_flaps_every_second_does_not_grow_and_opens_once)
{
    struct lab lab;

    lab_init(&lab);
    lab_judge(&lab);
    for (unsigned i = 0; i < 3600; i++) {
        if (i % 2)
            problems_withdraw(lab.problems, &kind_of_pods, PROBLEM_DATA_INCOMPLETE);
        else
            problems_report(lab.problems, &kind_of_pods, PROBLEM_REASON_DATA_INCOMPLETE_LATE, 0);
        pass(&lab, SECOND);
        assert_true(status(&lab) < PROBLEM_STATUS_COUNT);
    }
    assert_int_equal(problems_opened_total(lab.problems, PROBLEM_DATA_INCOMPLETE), 1);
    assert_int_equal(problems_resolved_total(lab.problems, PROBLEM_DATA_INCOMPLETE), 0);
    pass(&lab, HOUR);
    assert_int_equal(status(&lab), PROBLEM_STATUS_COUNT);
    world_release(&lab.world);
}

TEST(a_restart_makes_no_problem_younger_where_objects_tell)
{
    struct lab before, after;

    lab_init(&before);
    lab_judge(&before);
    problems_report(before.problems, &kind_of_pods, PROBLEM_REASON_DATA_INCOMPLETE_LATE,
                    START_MS - HOUR);
    pass(&before, HOUR);
    lab_init(&after);
    after.now_ms = before.now_ms;
    lab_judge(&after);
    problems_report(after.problems, &kind_of_pods, PROBLEM_REASON_DATA_INCOMPLETE_LATE,
                    START_MS - HOUR);
    pass(&after, 10 * MINUTE);
    assert_int_equal(status(&after), PROBLEM_OPEN);
    assert_true(only(&after)->since_ms == only(&before)->since_ms);
    world_release(&before.world);
    world_release(&after.world);
}

TEST(a_reload_takes_instances_over)
{
    struct lab before, after;

    lab_init(&before);
    lab_judge(&before);
    problems_report(before.problems, &kind_of_pods, PROBLEM_REASON_DATA_INCOMPLETE_LATE, 0);
    pass(&before, HOUR);
    lab_init(&after);
    after.now_ms = before.now_ms;
    world_run(&after.world, after.now_ms);
    engine_judge_problems(after.world.engine, &after.options);
    after.problems = engine_problems(after.world.engine);
    problems_inherit(after.problems, before.problems);
    problems_report(after.problems, &kind_of_pods, PROBLEM_REASON_DATA_INCOMPLETE_LATE, 0);
    pass(&after, 0);
    assert_int_equal(status(&after), PROBLEM_OPEN);
    assert_true(only(&after)->since_ms == START_MS);
    assert_int_equal(problems_opened_total(after.problems, PROBLEM_DATA_INCOMPLETE), 1);
    world_release(&before.world);
    world_release(&after.world);
}

/* ---- what is not readable, simulated or disabled ---- */

static bool is_unreadable(const void *context, const struct type *type)
{
    (void)type;
    return *(const bool *)context;
}

TEST(problems_that_begin_while_nothing_is_readable_are_judged_afterwards)
{
    bool unreadable = true;
    struct lab lab;

    lab_init(&lab);
    lab.options.is_unreadable = is_unreadable;
    lab.options.context = &unreadable;
    world_put_text(&lab.world, TEMPLATE(ORPHAN, ""));
    world_put_text(&lab.world, orphan_binding);
    lab_judge(&lab);
    pass(&lab, HOUR);
    assert_int_equal(status(&lab), PROBLEM_STATUS_COUNT);
    unreadable = false;
    problems_visit_skipped(lab.problems);
    pass(&lab, 0);
    assert_int_equal(status(&lab), PROBLEM_PENDING);
    /* It keeps its status while the objects are not readable. */
    unreadable = true;
    pass(&lab, 48 * HOUR);
    assert_int_equal(status(&lab), PROBLEM_PENDING);
    unreadable = false;
    pass(&lab, MINUTE);
    assert_int_equal(status(&lab), PROBLEM_OPEN);
    world_release(&lab.world);
}

TEST(a_simulation_does_not_stop_the_time_of_problems)
{
    struct lab lab;

    lab_init(&lab);
    world_put_text(&lab.world, TEMPLATE(ORPHAN, ""));
    world_put_text(&lab.world, orphan_binding);
    lab_judge(&lab);
    pass(&lab, HOUR);
    engine_context(lab.world.engine)->policy_versions.paused = true;
    world_put_text(&lab.world, TEMPLATE(ORPHAN, ""));
    world_run(&lab.world, lab.now_ms);
    engine_context(lab.world.engine)->policy_versions.paused = false;
    pass(&lab, 24 * HOUR);
    assert_int_equal(status(&lab), PROBLEM_OPEN);
    world_release(&lab.world);
}

TEST(a_reload_that_disables_a_problem_ends_it)
{
    struct lab before, after;

    lab_init(&before);
    lab_judge(&before);
    problems_report(before.problems, &kind_of_pods, PROBLEM_REASON_DATA_INCOMPLETE_LATE, 0);
    pass(&before, HOUR);
    lab_init(&after);
    after.now_ms = before.now_ms;
    after.options.settings.severity[PROBLEM_DATA_INCOMPLETE] = SEVERITY_OFF;
    world_run(&after.world, after.now_ms);
    engine_judge_problems(after.world.engine, &after.options);
    after.problems = engine_problems(after.world.engine);
    problems_inherit(after.problems, before.problems);
    assert_int_equal(status(&after), PROBLEM_STATUS_COUNT);
    pass(&after, 0);
    assert_int_equal(status(&after), PROBLEM_STATUS_COUNT);
    world_release(&before.world);
    world_release(&after.world);
}

/* `serve` on files: the time at which the exporter first saw a condition is its beginning. */
TEST(in_files_the_first_evaluation_dates_what_no_object_proves)
{
    struct lab lab;

    for (unsigned only_proven = 0; only_proven < 2; only_proven++) {
        lab_init(&lab);
        lab.options.snapshot = true;
        lab.options.only_proven_times = only_proven;
        world_put_text(&lab.world, TEMPLATE(ORPHAN, ""));
        world_put_text(&lab.world, orphan_binding);
        lab_judge(&lab);
        pass(&lab, HOUR);
        assert_true(only(&lab)->since_seen);
        assert_true(problem_since_ms(lab.problems, only(&lab)) == (only_proven ? 0 : START_MS));
        world_release(&lab.world);
    }
}

TEST(in_files_a_condition_that_begins_later_is_open_at_once)
{
    struct lab lab;

    lab_init(&lab);
    lab.options.snapshot = true;
    world_put_text(&lab.world, TEMPLATE(ORPHAN, ""));
    lab_judge(&lab);
    world_put_text(&lab.world, orphan_binding);
    pass(&lab, MINUTE);
    assert_non_null(problems_find_open(
        lab.problems, world_find(&lab.world, "apps/v1", "Deployment", "default", ORPHAN), NULL,
        PROBLEM_REASON_ORPHANED));
    world_release(&lab.world);
}

/* ---- shards ---- */

#define CLUSTER_POLICY(name, kind, more)                                                           \
    "{\"apiVersion\":\"policy.karmada.io/v1alpha1\",\"kind\":\"ClusterPropagationPolicy\","        \
    "\"metadata\":{\"name\":\"" name "\"},\"spec\":{\"resourceSelectors\":[{\"apiVersion\":"       \
    "\"apps/v1\",\"kind\":\"" kind "\"}]" more "," ON("member1") "}}"

static const struct shard_case {
    const char *name;
    enum problem_shard shard;
    const char *problems;
} shard_cases[] = {
    {"no shards", SHARD_NONE,
     "not_propagated override_missing hidden default/web\n"
     "policy_invalid override_missing open /all\n"
     "policy_unused  open /idle\n"
     "policy_unused  open default/idle\n"},
    {"the shard of the empty namespace", SHARD_WITH_EMPTY_NAMESPACE,
     "not_propagated override_missing hidden default/web\n"
     "policy_invalid override_missing open /all\n"
     "policy_unused  open default/idle\n"},
    {"another shard", SHARD_WITHOUT_EMPTY_NAMESPACE,
     "not_propagated override_missing hidden default/web\n"
     "policy_unused  open default/idle\n"},
};

/* Appends a line for each open or hidden instance, in the order of lists. */
static void dump_instances(const struct lab *lab, struct strbuf *out)
{
    const unsigned statuses = 1U << PROBLEM_OPEN | 1U << PROBLEM_HIDDEN;
    size_t count;
    const struct problem **list = problems_list(lab->problems, statuses, &count);

    for (size_t i = 0; i < count; i++)
        strbuf_addf(out, "%s %s %s %s/%s\n", problem_names[problem_id(list[i])],
                    problem_reasons[list[i]->reason].name, problem_status_names[list[i]->status],
                    problem_ns(list[i]), problem_name(list[i]));
    free(list);
}

/* Shards that do not report the problem of a policy still hide the problems that it explains. */
TEST_ROWS(one_shard_reports_the_problems_of_cluster_scoped_policies, shard_cases, name)
{
    const struct shard_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(1024);
    uint64_t invalid = c->shard != SHARD_WITHOUT_EMPTY_NAMESPACE;
    struct lab lab;

    lab_init(&lab);
    lab.options.shard = c->shard;
    lab_judge(&lab);
    world_put_text(&lab.world,
                   CLUSTER_POLICY("all", "Deployment", ",\"dependentOverrides\":[\"missing\"]"));
    world_put_text(&lab.world, CLUSTER_POLICY("idle", "StatefulSet", ""));
    world_put_text(&lab.world, POLICY("idle", SELECTS("missing") "," ON("member1")));
    world_put_text(&lab.world, TEMPLATE("web", ""));
    pass(&lab, 0);
    pass(&lab, 24 * HOUR);
    dump_instances(&lab, &text);
    assert_string_equal(text.data, c->problems);
    assert_int_equal(problems_opened_total(lab.problems, PROBLEM_POLICY_INVALID), invalid);
    store_remove(lab.world.store, world_find(&lab.world, "policy.karmada.io/v1alpha1",
                                             "ClusterPropagationPolicy", "", "all"));
    pass(&lab, 0);
    assert_int_equal(problems_resolved_total(lab.problems, PROBLEM_POLICY_INVALID), invalid);
    world_release(&lab.world);
}

/* ---- extreme settings and times ---- */

TEST(a_patience_of_0_opens_at_once)
{
    struct lab lab;

    lab_init(&lab);
    lab.options.settings.patience_ms[PROBLEM_DATA_INCOMPLETE] = 0;
    lab_judge(&lab);
    problems_report(lab.problems, &kind_of_pods, PROBLEM_REASON_DATA_INCOMPLETE_LATE, 0);
    pass(&lab, 0);
    assert_int_equal(status(&lab), PROBLEM_OPEN);
    problems_withdraw(lab.problems, &kind_of_pods, PROBLEM_DATA_INCOMPLETE);
    pass(&lab, 5 * MINUTE);
    assert_int_equal(status(&lab), PROBLEM_STATUS_COUNT);
    world_release(&lab.world);
}

/* Ten years are the maximum of --problems.patience and --problems.resolve-delay. */
TEST(a_patience_of_ten_years_opens_after_ten_years)
{
    const int64_t ten_years_ms = INT64_C(3650) * 24 * HOUR;
    struct lab lab;

    lab_init(&lab);
    lab.options.settings.patience_ms[PROBLEM_DATA_INCOMPLETE] = ten_years_ms;
    lab.options.settings.resolve_delay_ms = ten_years_ms;
    lab_judge(&lab);
    problems_report(lab.problems, &kind_of_pods, PROBLEM_REASON_DATA_INCOMPLETE_LATE, 0);
    pass(&lab, ten_years_ms - 1);
    assert_int_equal(status(&lab), PROBLEM_PENDING);
    pass(&lab, 1);
    assert_int_equal(status(&lab), PROBLEM_OPEN);
    problems_withdraw(lab.problems, &kind_of_pods, PROBLEM_DATA_INCOMPLETE);
    pass(&lab, ten_years_ms - 1);
    assert_int_equal(status(&lab), PROBLEM_RESOLVING);
    pass(&lab, 1);
    assert_int_equal(status(&lab), PROBLEM_STATUS_COUNT);
    world_release(&lab.world);
}

static const struct time_case {
    const char *name;
    int64_t since_ms; /* Time that an object has. */
    bool proven;      /* False: the time of the first evaluation counts instead. */
} time_cases[] = {
    {"1901", INT64_C(-2177452800000), false},
    {"the beginning of 1970", 1, true},
    {"the present", INT64_C(1767225600000), true},
    {"a millisecond ahead", INT64_C(1767225600001), false},
    {"an hour ahead", INT64_C(1767225600000) + HOUR, false},
    {"9999", INT64_C(253402300799000), false},
    {"the first time of all", INT64_MIN, false},
    {"the last time of all", INT64_MAX, false},
};

/* Such times neither open a problem early nor keep it from opening, in files and without. */
TEST_ROWS(times_that_prove_nothing_are_ignored, time_cases, name)
{
    const struct time_case *c = *state;

    for (unsigned snapshot = 0; snapshot < 2; snapshot++) {
        struct lab lab;

        lab_init(&lab);
        lab.options.snapshot = snapshot;
        lab_judge(&lab);
        problems_report(lab.problems, &kind_of_pods, PROBLEM_REASON_DATA_INCOMPLETE_LATE,
                        c->since_ms);
        pass(&lab, 0);
        assert_int_equal(only(&lab)->since_seen, !c->proven);
        assert_true(only(&lab)->since_ms == (c->proven ? c->since_ms : START_MS));
        pass(&lab, 10 * MINUTE);
        assert_int_equal(status(&lab), PROBLEM_OPEN);
        world_release(&lab.world);
    }
}
