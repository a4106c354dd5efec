/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/problems/problem_history.h"

#include "metrics/rules/engine.h"
#include "metrics/rules/problems/problems.h"
#include "tests/unit/bound_objects.h"
#include "tests/unit/random_object.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

enum { SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, INTERVAL = PROBLEM_INTERVAL_MS };

/* A multiple of INTERVAL. */
static const int64_t START_MS = INT64_C(1767225600000);

static const struct external_subject kind_of_pods = {"", "Source", "", "pods"};
static const struct external_subject controllers = {"", "ControlPlane", "", CONTROLLER_COMPONENT};

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

/* Shortens the patience, so that a waiting template is open before its controllers count as stuck.
 */
static void shorten_patience(struct lab *lab)
{
    for (size_t i = 0; i < PROBLEM_COUNT; i++)
        lab->options.settings.patience_ms[i] = MINUTE;
    lab->options.settings.resolve_delay_ms = MINUTE;
}

/* Makes the problems, without a first evaluation. */
static void lab_make_problems(struct lab *lab)
{
    world_run(&lab->world, lab->now_ms);
    engine_judge_problems(lab->world.engine, &lab->options);
    lab->problems = engine_problems(lab->world.engine);
}

static void lab_judge(struct lab *lab)
{
    lab_make_problems(lab);
    world_run(&lab->world, lab->now_ms);
}

/* Conditions open and end at once. */
static void judge_without_delays(struct lab *lab)
{
    memset(lab->options.settings.patience_ms, 0, sizeof(lab->options.settings.patience_ms));
    lab->options.settings.resolve_delay_ms = 0;
    lab_judge(lab);
}

static void pass(struct lab *lab, int64_t ms)
{
    world_pass(&lab->world, &lab->now_ms, ms);
}

static void open_one(struct lab *lab)
{
    problems_report(lab->problems, &kind_of_pods, PROBLEM_REASON_DATA_INCOMPLETE_LATE, 0);
    pass(lab, 0);
}

static void resolve_one(struct lab *lab)
{
    problems_withdraw(lab->problems, &kind_of_pods, PROBLEM_DATA_INCOMPLETE);
    pass(lab, 0);
}

/* Returns the number of open instances, resolving ones included. */
static unsigned count_open(const struct problems *ps)
{
    struct problem_walk walk = {0};
    const struct problem *p;
    unsigned count = 0;

    while ((p = problems_next(ps, &walk)) != NULL)
        count += problem_counts(p);
    return count;
}

/* Returns the sum of a change over all severities in one interval; -1 without data. */
static int count_in(const struct problem_history *h, int64_t now_ms, unsigned back,
                    enum problem_change change)
{
    struct problem_interval interval;
    int sum = 0;

    if (!problem_history_interval(h, now_ms, back, &interval))
        return -1;
    for (size_t i = 0; i < SEVERITY_COUNT; i++)
        sum += (int)interval.counts[change][i];
    return sum;
}

static int count_change(const struct lab *lab, unsigned back, enum problem_change change)
{
    return count_in(problems_history(lab->problems), lab->now_ms, back, change);
}

static int count_all(const struct problem_history *h, int64_t now_ms, enum problem_change change)
{
    int sum = 0;

    for (unsigned back = 0; back < PROBLEM_INTERVALS; back++) {
        int count = count_in(h, now_ms, back, change);

        sum += count > 0 ? count : 0;
    }
    return sum;
}

/* Returns the number of open instances by the balance of all changes. */
static int balance(const struct problem_history *h, int64_t now_ms)
{
    return count_all(h, now_ms, PROBLEM_CHANGE_FOUND) +
           count_all(h, now_ms, PROBLEM_CHANGE_OPENED) -
           count_all(h, now_ms, PROBLEM_CHANGE_RESOLVED) -
           count_all(h, now_ms, PROBLEM_CHANGE_WITHDRAWN);
}

static void assert_balance(const struct lab *lab)
{
    assert_int_equal(balance(problems_history(lab->problems), lab->now_ms),
                     count_open(lab->problems));
}

/* Returns the instance that was resolved last. */
static const struct resolved_problem *newest(const struct lab *lab)
{
    uint64_t below = UINT64_MAX;
    const struct resolved_problem *r =
        problem_history_next(problems_history(lab->problems), &below);

    assert_non_null(r);
    return r;
}

/* ---- intervals ---- */

TEST(before_the_observation_there_is_no_data)
{
    struct problem_interval interval;
    struct lab lab;

    lab_init(&lab);
    lab.now_ms = START_MS + 5 * MINUTE;
    lab_make_problems(&lab);
    assert_int_equal(problem_history_begin_ms(problems_history(lab.problems)), 0);
    assert_int_equal(count_change(&lab, 0, PROBLEM_CHANGE_OPENED), -1);
    world_run(&lab.world, lab.now_ms);
    assert_true(problem_history_begin_ms(problems_history(lab.problems)) == lab.now_ms);
    pass(&lab, INTERVAL);
    assert_int_equal(count_change(&lab, 0, PROBLEM_CHANGE_OPENED), 0);
    assert_int_equal(count_change(&lab, 1, PROBLEM_CHANGE_OPENED), 0);
    assert_int_equal(count_change(&lab, 2, PROBLEM_CHANGE_OPENED), -1);
    problem_history_interval(problems_history(lab.problems), lab.now_ms, 1, &interval);
    assert_true(interval.partial);
    assert_true(interval.begin_ms == START_MS);
    problem_history_interval(problems_history(lab.problems), lab.now_ms, 0, &interval);
    assert_false(interval.partial);
    assert_false(
        problem_history_interval(problems_history(lab.problems), lab.now_ms, 2, &interval));
    assert_true(interval.begin_ms == START_MS - INTERVAL);
    world_release(&lab.world);
}

TEST(changes_count_in_their_interval_by_severity)
{
    struct problem_interval interval;
    struct lab lab;

    lab_init(&lab);
    judge_without_delays(&lab);
    open_one(&lab);
    pass(&lab, INTERVAL);
    problem_history_interval(problems_history(lab.problems), lab.now_ms, 1, &interval);
    assert_int_equal(interval.counts[PROBLEM_CHANGE_OPENED]
                                    [problem_severity(lab.problems, PROBLEM_DATA_INCOMPLETE)],
                     1);
    resolve_one(&lab);
    assert_int_equal(count_change(&lab, 1, PROBLEM_CHANGE_OPENED), 1);
    assert_int_equal(count_change(&lab, 1, PROBLEM_CHANGE_RESOLVED), 0);
    assert_int_equal(count_change(&lab, 0, PROBLEM_CHANGE_OPENED), 0);
    assert_int_equal(count_change(&lab, 0, PROBLEM_CHANGE_RESOLVED), 1);
    world_release(&lab.world);
}

TEST(an_interval_is_dropped_after_a_day)
{
    struct problem_history *h = problem_history_new(0);

    problem_history_begin(h, START_MS);
    problem_history_count(h, START_MS, PROBLEM_CHANGE_OPENED, SEVERITY_INFO);
    for (unsigned i = 0; i < 95; i++) {
        assert_int_equal(count_in(h, START_MS + (int64_t)i * INTERVAL, i, PROBLEM_CHANGE_OPENED),
                         1);
        problem_history_count(h, START_MS + (int64_t)i * INTERVAL, PROBLEM_CHANGE_RESOLVED,
                              SEVERITY_INFO);
    }
    assert_int_equal(count_in(h, START_MS + 95 * INTERVAL, 95, PROBLEM_CHANGE_OPENED), 1);
    assert_int_equal(count_in(h, START_MS + 96 * INTERVAL, 96, PROBLEM_CHANGE_OPENED), -1);
    problem_history_count(h, START_MS + 96 * INTERVAL, PROBLEM_CHANGE_OPENED, SEVERITY_INFO);
    assert_int_equal(count_all(h, START_MS + 96 * INTERVAL, PROBLEM_CHANGE_OPENED), 1);
    assert_int_equal(count_all(h, START_MS + 96 * INTERVAL, PROBLEM_CHANGE_RESOLVED), 94);
    /* A pause of a week leaves no counts of before. */
    problem_history_count(h, START_MS + INT64_C(168) * HOUR, PROBLEM_CHANGE_OPENED, SEVERITY_INFO);
    assert_int_equal(count_all(h, START_MS + INT64_C(168) * HOUR, PROBLEM_CHANGE_OPENED), 1);
    assert_int_equal(count_in(h, START_MS + INT64_C(168) * HOUR, 95, PROBLEM_CHANGE_OPENED), 0);
    problem_history_free(h);
}

TEST(a_disabled_problem_does_not_count)
{
    struct problem_history *h = problem_history_new(0);

    problem_history_begin(h, START_MS);
    problem_history_count(h, START_MS, PROBLEM_CHANGE_OPENED, (enum problem_severity)SEVERITY_OFF);
    assert_int_equal(count_all(h, START_MS, PROBLEM_CHANGE_OPENED), 0);
    problem_history_free(h);
}

/* ---- the clock goes back ---- */

static const struct back_case {
    const char *name;
    int64_t ms; /* How far the clock goes back. */
} back_cases[] = {
    {"a second", SECOND},
    {"an interval", INTERVAL},
    {"an hour", HOUR},
    {"before the start", 3 * HOUR},
    {"a week", INT64_C(168) * HOUR},
    {"to 1970", INT64_C(1767225600000)},
};

TEST_ROWS(a_clock_that_goes_back_loses_no_change, back_cases, name)
{
    const struct back_case *c = *state;
    struct lab lab;

    lab_init(&lab);
    judge_without_delays(&lab);
    for (unsigned i = 0; i < 4; i++) {
        open_one(&lab);
        pass(&lab, 20 * MINUTE);
        resolve_one(&lab);
        pass(&lab, 20 * MINUTE);
    }
    lab.now_ms -= c->ms;
    open_one(&lab);
    assert_int_equal(count_all(problems_history(lab.problems), lab.now_ms, PROBLEM_CHANGE_OPENED),
                     5);
    assert_balance(&lab);
    assert_int_equal(count_change(&lab, 0, PROBLEM_CHANGE_OPENED), 1);
    pass(&lab, 2 * HOUR);
    resolve_one(&lab);
    assert_balance(&lab);
    world_release(&lab.world);
}

/* ---- problems that were open before the start ---- */

TEST(a_problem_from_before_the_start_is_found_not_opened)
{
    struct lab lab;

    lab_init(&lab);
    lab_make_problems(&lab);
    /* Begun long ago; begun at an unknown time; begun a minute ago. */
    problems_report(lab.problems, &kind_of_pods, PROBLEM_REASON_DATA_INCOMPLETE_LATE,
                    START_MS - HOUR);
    problems_report(lab.problems, &(struct external_subject){"", "Source", "", "nodes"},
                    PROBLEM_REASON_DATA_INCOMPLETE_LATE, 0);
    problems_report(lab.problems, &(struct external_subject){"", "Source", "", "secrets"},
                    PROBLEM_REASON_DATA_INCOMPLETE_LATE, START_MS - MINUTE);
    pass(&lab, 20 * MINUTE);
    assert_int_equal(count_open(lab.problems), 3);
    assert_int_equal(count_change(&lab, 1, PROBLEM_CHANGE_FOUND), 2);
    assert_int_equal(count_change(&lab, 1, PROBLEM_CHANGE_OPENED), 1);
    assert_balance(&lab);
    resolve_one(&lab);
    pass(&lab, 5 * MINUTE);
    assert_int_equal(newest(&lab)->opened_ms, 0);
    assert_true(newest(&lab)->since_ms == START_MS - HOUR);
    assert_false(newest(&lab)->since_seen);
    problems_withdraw(lab.problems, &(struct external_subject){"", "Source", "", "secrets"},
                      PROBLEM_DATA_INCOMPLETE);
    pass(&lab, 5 * MINUTE);
    assert_true(newest(&lab)->opened_ms == START_MS + 10 * MINUTE);
    assert_balance(&lab);
    world_release(&lab.world);
}

TEST(a_problem_that_begins_after_the_start_counts_when_it_opens)
{
    struct lab lab;

    lab_init(&lab);
    lab_judge(&lab);
    pass(&lab, 10 * MINUTE);
    open_one(&lab);
    pass(&lab, 10 * MINUTE);
    assert_int_equal(count_change(&lab, 1, PROBLEM_CHANGE_OPENED), 0);
    assert_int_equal(count_change(&lab, 0, PROBLEM_CHANGE_OPENED), 1);
    assert_int_equal(count_change(&lab, 0, PROBLEM_CHANGE_FOUND), 0);
    world_release(&lab.world);
}

/* ---- resolved instances ---- */

TEST(the_newest_resolved_instances_are_kept)
{
    uint64_t below = UINT64_MAX;
    const struct problem_history *h;
    struct lab lab;

    lab_init(&lab);
    lab.options.history_limit = 3;
    judge_without_delays(&lab);
    h = problems_history(lab.problems);
    assert_null(problem_history_next(h, &below));
    for (unsigned i = 0; i < 5; i++) {
        open_one(&lab);
        pass(&lab, SECOND);
        resolve_one(&lab);
    }
    for (unsigned i = 0; i < 3; i++) {
        const struct resolved_problem *r = problem_history_next(h, &below);

        assert_non_null(r);
        assert_true(r->resolved_ms == START_MS + (5 - i) * SECOND);
        assert_true(r->opened_ms == START_MS + (4 - i) * SECOND);
        assert_int_equal(r->reason, PROBLEM_REASON_DATA_INCOMPLETE_LATE);
        assert_int_equal(r->severity, problem_severity(lab.problems, PROBLEM_DATA_INCOMPLETE));
        assert_int_equal(r->class, CLASS_COUNT);
        assert_string_equal(r->kind, "Source");
        assert_string_equal(r->name, "pods");
        assert_null(r->names.policy_name);
        assert_null(r->names.owner);
        assert_false(r->deleted);
    }
    assert_null(problem_history_next(h, &below));
    assert_int_equal(problem_history_count_kept(h), 3);
    assert_int_equal(problem_history_count_dropped(h), 2);
    assert_int_equal(problem_history_limit(h), 3);
    world_release(&lab.world);
}

TEST(without_a_limit_only_counts_are_kept)
{
    uint64_t below = UINT64_MAX;
    struct lab lab;

    lab_init(&lab);
    lab.options.history_limit = 0;
    judge_without_delays(&lab);
    open_one(&lab);
    resolve_one(&lab);
    assert_null(problem_history_next(problems_history(lab.problems), &below));
    assert_int_equal(problem_history_count_dropped(problems_history(lab.problems)), 1);
    assert_int_equal(count_change(&lab, 0, PROBLEM_CHANGE_RESOLVED), 1);
    world_release(&lab.world);
}

/* Texts of any length stay within the limit of bytes. */
TEST(memory_is_bounded)
{
    enum { LENGTH = 100 * 1024 };
    struct problem_history *h = problem_history_new(SIZE_MAX);
    char *text = xmalloc(LENGTH + 1);
    struct external_subject subject = {"", "Source", "", text};
    struct problem p = {.external = &subject, .reason = PROBLEM_REASON_DATA_INCOMPLETE_LATE};
    uint64_t below = UINT64_MAX;
    size_t bytes = 0;

    memset(text, 'x', LENGTH);
    text[LENGTH] = '\0';
    assert_int_equal(problem_history_limit(h), PROBLEM_RESOLVED_MAX);
    for (unsigned i = 0; i < 50; i++)
        problem_history_add(h, START_MS, &(struct resolution){.problem = &p});
    assert_int_equal(problem_history_count_kept(h) + problem_history_count_dropped(h), 50);
    for (const struct resolved_problem *r; (r = problem_history_next(h, &below)) != NULL;)
        bytes += r->bytes;
    assert_in_range(bytes, PROBLEM_RESOLVED_MAX_BYTES - 2 * LENGTH, PROBLEM_RESOLVED_MAX_BYTES);
    subject.name = "short";
    for (unsigned i = 0; i < 2 * PROBLEM_RESOLVED_MAX; i++)
        problem_history_add(h, START_MS, &(struct resolution){.problem = &p});
    assert_int_equal(problem_history_count_kept(h), PROBLEM_RESOLVED_MAX);
    problem_history_free(h);
    free(text);
}

#define TEAM_LABEL "example.com/team"

/* A template that its policy selects and that stays without a binding. */
static void put_waiting_template(struct lab *lab)
{
    world_put_text(&lab->world, POLICY("p", SELECTS("web") "," ON("member1")));
    world_put_text(&lab->world, TEMPLATE("web", ",\"labels\":{\"" TEAM_LABEL "\":\"blue\"}"));
}

static void delete (struct lab *lab, const char *api_version, const char *kind, const char *name)
{
    store_remove(lab->world.store, world_find(&lab->world, api_version, kind, "default", name));
}

TEST(a_deleted_subject_keeps_its_names)
{
    const struct resolved_problem *r;
    struct lab lab;

    lab_init(&lab);
    put_waiting_template(&lab);
    judge_without_delays(&lab);
    assert_true(count_open(lab.problems) > 0);
    delete (&lab, "apps/v1", "Deployment", "web");
    delete (&lab, "policy.karmada.io/v1alpha1", "PropagationPolicy", "p");
    pass(&lab, 0);
    pass(&lab, HOUR);
    assert_null(world_find(&lab.world, "apps/v1", "Deployment", "default", "web"));
    r = newest(&lab);
    assert_string_equal(r->api_version, "apps/v1");
    assert_string_equal(r->kind, "Deployment");
    assert_string_equal(r->ns, "default");
    assert_string_equal(r->name, "web");
    assert_int_equal(r->class, CLASS_TEMPLATE);
    assert_true(r->deleted);
    assert_string_equal(r->names.policy_kind, "PropagationPolicy");
    assert_string_equal(r->names.policy_ns, "default");
    assert_string_equal(r->names.policy_name, "p");
    assert_balance(&lab);
    world_release(&lab.world);
}

TEST(a_replaced_subject_counts_as_deleted)
{
    struct lab lab;

    lab_init(&lab);
    put_waiting_template(&lab);
    judge_without_delays(&lab);
    world_put_text(&lab.world,
                   "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{"
                   "\"name\":\"web\",\"namespace\":\"default\",\"uid\":\"u-new\"},\"spec\":{}}");
    pass(&lab, 0);
    assert_true(newest(&lab)->deleted);
    assert_balance(&lab);
    world_release(&lab.world);
}

/* ---- hiding ---- */

TEST(a_hidden_problem_is_withdrawn_and_opens_again)
{
    struct lab lab;

    lab_init(&lab);
    shorten_patience(&lab);
    lab_judge(&lab);
    pass(&lab, MINUTE);
    put_waiting_template(&lab);
    pass(&lab, 2 * MINUTE);
    assert_int_equal(count_open(lab.problems), 1);
    problems_report(lab.problems, &controllers, PROBLEM_REASON_CONTROLLERS_STUCK_NOT_RUNNING, 0);
    pass(&lab, 2 * MINUTE);
    assert_int_equal(count_open(lab.problems), 1);
    assert_int_equal(
        count_all(problems_history(lab.problems), lab.now_ms, PROBLEM_CHANGE_WITHDRAWN), 1);
    assert_balance(&lab);
    problems_withdraw(lab.problems, &controllers, PROBLEM_CONTROLLERS_STUCK);
    pass(&lab, 2 * MINUTE);
    /* The template, its cause, and the template again. */
    assert_int_equal(count_all(problems_history(lab.problems), lab.now_ms, PROBLEM_CHANGE_OPENED),
                     3);
    assert_balance(&lab);
    world_release(&lab.world);
}

/* ---- reload ---- */

/* Takes over the problems, as at the end of a reload, without an evaluation. */
static void inherit(struct lab *after, const struct lab *before)
{
    after->now_ms = before->now_ms;
    world_run(&after->world, after->now_ms);
    engine_judge_problems(after->world.engine, &after->options);
    after->problems = engine_problems(after->world.engine);
    problems_inherit(after->problems, before->problems);
}

static void reload(struct lab *after, const struct lab *before)
{
    inherit(after, before);
    pass(after, 0);
}

static const struct new_shard {
    const char *name;
    enum problem_shard before;
    enum problem_shard after;
    bool off; /* The reload disables the problem. */
} new_shards[] = {
    {"disabled", SHARD_NONE, SHARD_NONE, true},
    {"left to another shard", SHARD_NONE, SHARD_WITHOUT_EMPTY_NAMESPACE, false},
    {"still left to another shard", SHARD_WITHOUT_EMPTY_NAMESPACE, SHARD_WITHOUT_EMPTY_NAMESPACE,
     false},
    {"disabled in another shard", SHARD_WITHOUT_EMPTY_NAMESPACE, SHARD_WITHOUT_EMPTY_NAMESPACE,
     true},
};

/* An invalid policy of the control plane, judged by a shard. */
static void judge_shard(struct lab *lab, enum problem_shard shard)
{
    lab->options.shard = shard;
    shorten_patience(lab);
    world_put_text(&lab->world,
                   "{\"apiVersion\":\"policy.karmada.io/v1alpha1\",\"kind\":"
                   "\"ClusterPropagationPolicy\",\"metadata\":{\"name\":\"all\"},\"spec\":{"
                   "\"dependentOverrides\":[\"missing\"],\"resourceSelectors\":[]}}");
}

TEST_ROWS(a_reload_keeps_the_balance_of_shards, new_shards, name)
{
    const struct new_shard *c = *state;
    struct lab before, after;

    lab_init(&before);
    judge_shard(&before, c->before);
    lab_judge(&before);
    pass(&before, HOUR);
    assert_int_equal(count_open(before.problems) > 0, c->before == SHARD_NONE);
    assert_balance(&before);
    lab_init(&after);
    judge_shard(&after, c->after);
    if (c->off)
        after.options.settings.severity[PROBLEM_POLICY_INVALID] = SEVERITY_OFF;
    reload(&after, &before);
    world_release(&before.world);
    assert_balance(&after);
    world_release(&after.world);
}

TEST(a_reload_keeps_the_history)
{
    struct lab before, after;

    lab_init(&before);
    shorten_patience(&before);
    lab_judge(&before);
    put_waiting_template(&before);
    open_one(&before);
    pass(&before, 2 * MINUTE);
    resolve_one(&before);
    pass(&before, 2 * MINUTE);
    assert_int_equal(count_open(before.problems), 1);
    lab_init(&after);
    shorten_patience(&after);
    put_waiting_template(&after);
    reload(&after, &before);
    world_release(&before.world);
    assert_string_equal(newest(&after)->name, "pods");
    assert_true(problem_history_begin_ms(problems_history(after.problems)) == START_MS);
    assert_balance(&after);
    delete (&after, "apps/v1", "Deployment", "web");
    pass(&after, MINUTE);
    assert_string_equal(newest(&after)->name, "web");
    assert_string_equal(newest(&after)->names.policy_name, "p");
    assert_balance(&after);
    world_release(&after.world);
}

/* No evaluation after the reload renews the names: the condition has ended by then. */
TEST(a_condition_that_a_reload_ends_keeps_its_names)
{
    struct lab before, after;

    lab_init(&before);
    shorten_patience(&before);
    lab_judge(&before);
    put_waiting_template(&before);
    pass(&before, 2 * MINUTE);
    assert_int_equal(count_open(before.problems), 1);
    lab_init(&after);
    shorten_patience(&after);
    world_put_text(&after.world, TEMPLATE("web", "," CLAIM("p")));
    world_put_text(&after.world, POLICY("p", SELECTS("web")));
    world_put_text(&after.world, BINDING("web", "p", "m1"));
    inherit(&after, &before);
    world_release(&before.world);
    pass(&after, 2 * MINUTE);
    assert_string_equal(newest(&after)->name, "web");
    assert_string_equal(newest(&after)->names.policy_kind, "PropagationPolicy");
    assert_string_equal(newest(&after)->names.policy_name, "p");
    world_release(&after.world);
}

/* A disabled problem, and a subject that is no longer read, are withdrawn. */
TEST(a_reload_withdraws_what_it_drops)
{
    struct lab before, after;

    lab_init(&before);
    shorten_patience(&before);
    lab_judge(&before);
    put_waiting_template(&before);
    open_one(&before);
    pass(&before, 2 * MINUTE);
    assert_int_equal(count_open(before.problems), 2);
    lab_init(&after);
    shorten_patience(&after);
    after.options.settings.severity[PROBLEM_DATA_INCOMPLETE] = SEVERITY_OFF;
    reload(&after, &before);
    assert_int_equal(count_open(after.problems), 0);
    assert_int_equal(count_change(&after, 0, PROBLEM_CHANGE_WITHDRAWN), 2);
    assert_int_equal(count_change(&after, 0, PROBLEM_CHANGE_RESOLVED), 0);
    assert_balance(&after);
    world_release(&before.world);
    world_release(&after.world);
}

TEST(a_change_has_the_severity_of_its_time)
{
    struct problem_interval interval;
    struct lab before, after;

    lab_init(&before);
    before.options.settings.severity[PROBLEM_DATA_INCOMPLETE] = SEVERITY_CRITICAL;
    lab_judge(&before);
    open_one(&before);
    pass(&before, 10 * MINUTE);
    lab_init(&after);
    after.options.settings.severity[PROBLEM_DATA_INCOMPLETE] = SEVERITY_INFO;
    after.options.settings.resolve_delay_ms = 0;
    reload(&after, &before);
    resolve_one(&after);
    problem_history_interval(problems_history(after.problems), after.now_ms, 0, &interval);
    assert_int_equal(interval.counts[PROBLEM_CHANGE_OPENED][SEVERITY_CRITICAL], 1);
    assert_int_equal(interval.counts[PROBLEM_CHANGE_OPENED][SEVERITY_INFO], 0);
    assert_int_equal(interval.counts[PROBLEM_CHANGE_RESOLVED][SEVERITY_INFO], 1);
    assert_int_equal(newest(&after)->severity, SEVERITY_INFO);
    world_release(&before.world);
    world_release(&after.world);
}

/* ---- property ---- */

/* Puts, replaces or removes an object, or changes the condition of the controllers. */
static void change_randomly(struct lab *lab)
{
    struct world *w = &lab->world;

    switch (world_random(w, 8)) {
    case 0:
        problems_report(lab->problems, &controllers, PROBLEM_REASON_CONTROLLERS_STUCK_NOT_RUNNING,
                        0);
        break;
    case 1:
        problems_withdraw(lab->problems, &controllers, PROBLEM_CONTROLLERS_STUCK);
        break;
    case 2:
    case 3: {
        struct entry *entry = world_pick(w);

        if (entry)
            store_remove(w->store, entry);
        break;
    }
    default:
        random_objects(w, 1 + world_random(w, 4));
    }
}

TEST(opened_minus_resolved_is_the_change_of_the_open_problems)
{
    enum { WORLDS = 40, STEPS = 60 };
    unsigned resolved = 0;

    for (uint32_t seed = 1; seed <= WORLDS; seed++) {
        struct lab lab;

        lab_init(&lab);
        lab.options.history_limit = SIZE_MAX;
        world_release(&lab.world);
        world_init(&lab.world, &rules_options_default, seed);
        random_objects(&lab.world, 20);
        lab_judge(&lab);
        for (unsigned i = 0; i < STEPS; i++) {
            change_randomly(&lab);
            if (world_random(&lab.world, 20) == 0)
                lab.now_ms -= world_random(&lab.world, 30) * MINUTE;
            pass(&lab, world_random(&lab.world, 20) * MINUTE);
            assert_balance(&lab);
        }
        resolved += (unsigned)problem_history_count_kept(problems_history(lab.problems));
        world_release(&lab.world);
    }
    assert_true(resolved > WORLDS);
}
