/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/problems/controller_progress.h"

#include "metrics/base/timestamp.h"
#include "metrics/model/template.h"
#include "metrics/rules/engine.h"
#include "metrics/rules/object_index.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

enum { SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, TEMPLATES_MAX = 30000 };

static const int64_t START_MS = INT64_C(1767225600000);

/* A Lease that a component of Karmada renews. */
struct plane_lease {
    bool exists;
    bool renewed;
    unsigned holder; /* Number of the present holder. */
    int64_t acquired_ms;
    int64_t renewed_ms;
};

/*
 * A control plane in virtual time, with decisions that the test makes: templates, bindings and
 * Leases, and the judge. A second world, without objects, follows the reported problems.
 */
struct plane {
    struct store *store;
    struct rules_options rules;
    struct refusals refusals;
    struct world judge;
    struct controller_progress *progress;
    struct entry *templates[TEMPLATES_MAX];
    size_t count;
    struct plane_lease leases[CONTROL_COUNT];
    enum control_component component; /* Component that the story is about. */
    bool some_namespaces;
    int64_t now_ms;
    int64_t due_ms;
    int64_t lease_due_ms;
    int64_t restart_ms; /* The exporter restarts at this time; 0: never. */
    uint64_t opened;    /* Problems that opened before the last restart. */
};

/* ---- the exporter ---- */

static void on_change(void *context, struct entry *entry, const void *old)
{
    struct plane *plane = context;

    if (entry_class(entry) == CLASS_BINDING)
        controller_progress_binding_changed(plane->progress, entry, old);
    if (entry_class(entry) == CLASS_EVENT)
        refusals_update(&plane->refusals, entry, old);
}

static const char *component_name(enum control_component component)
{
    return component == CONTROL_SCHEDULER ? SCHEDULER_COMPONENT : CONTROLLER_COMPONENT;
}

static enum problem_id problem_of(enum control_component component)
{
    return component == CONTROL_SCHEDULER ? PROBLEM_SCHEDULER_STUCK : PROBLEM_CONTROLLERS_STUCK;
}

static void start_exporter(struct plane *plane)
{
    struct controller_progress_options options = {&plane->rules, &plane->refusals,
                                                  plane->some_namespaces};
    struct problem_options problem_options = {.history_limit = 0};

    problem_settings_reset(&problem_options.settings);
    world_init(&plane->judge, &rules_options_default, 1);
    world_run(&plane->judge, plane->now_ms);
    engine_judge_problems(plane->judge.engine, &problem_options);
    world_run(&plane->judge, plane->now_ms);
    plane->progress = controller_progress_new(plane->store, engine_problems(plane->judge.engine),
                                              &options, plane->now_ms);
    plane->due_ms = plane->lease_due_ms = plane->now_ms;
}

static uint64_t opened(const struct plane *plane)
{
    const struct problems *problems = engine_problems(plane->judge.engine);

    return plane->opened + problems_opened_total(problems, PROBLEM_CONTROLLERS_STUCK) +
           problems_opened_total(problems, PROBLEM_SCHEDULER_STUCK);
}

static void stop_exporter(struct plane *plane)
{
    plane->opened = opened(plane);
    controller_progress_free(plane->progress);
    plane->progress = NULL;
    world_release(&plane->judge);
}

static void read_leases(struct plane *plane)
{
    for (unsigned i = 0; i < CONTROL_COUNT; i++) {
        struct plane_lease *l = &plane->leases[i];
        char holder[32];

        if (!l->exists) {
            controller_progress_lease_absent(plane->progress, (enum control_component)i);
            continue;
        }
        if (l->renewed)
            l->renewed_ms = plane->now_ms;
        snprintf(holder, sizeof(holder), "pod_%u", l->holder);
        controller_progress_lease(plane->progress, (enum control_component)i, holder, l->renewed_ms,
                                  l->acquired_ms, plane->now_ms);
    }
    plane->lease_due_ms = plane->now_ms + 30 * SECOND;
}

/* One run of the event loop. */
static void run(struct plane *plane)
{
    if (plane->restart_ms && plane->now_ms >= plane->restart_ms) {
        plane->restart_ms = 0;
        stop_exporter(plane);
        start_exporter(plane);
    }
    if (plane->now_ms >= plane->lease_due_ms)
        read_leases(plane);
    do {
        plane->due_ms = INT64_MAX;
        controller_progress_evaluate(plane->progress, plane->now_ms, &plane->due_ms);
    } while (plane->due_ms <= plane->now_ms);
    world_run(&plane->judge, plane->now_ms);
}

/* Lets time pass: the loop runs whenever a part of the exporter is due. */
static void pass(struct plane *plane, int64_t ms)
{
    int64_t end_ms = plane->now_ms + ms;

    for (;;) {
        int64_t due_ms = earlier_of(earlier_of(plane->due_ms, plane->lease_due_ms),
                                    engine_deadline(plane->judge.engine));

        if (plane->restart_ms)
            due_ms = earlier_of(due_ms, plane->restart_ms);
        if (due_ms >= end_ms)
            break;
        plane->now_ms = due_ms > plane->now_ms ? due_ms : plane->now_ms + 1;
        run(plane);
    }
    plane->now_ms = end_ms;
    run(plane);
}

static void plane_init(struct plane *plane, enum control_component component)
{
    memset(plane, 0, sizeof(*plane));
    plane->store = store_new(1);
    plane->rules = rules_options_default;
    refusals_init(&plane->refusals, plane->store, 1);
    plane->component = component;
    plane->now_ms = START_MS;
    for (unsigned i = 0; i < CONTROL_COUNT; i++)
        plane->leases[i] = (struct plane_lease){true, true, 1, START_MS - 24 * HOUR, START_MS};
    store_set_listener(plane->store, (struct store_listener){on_change, plane});
    start_exporter(plane);
    run(plane);
}

static void plane_release(struct plane *plane)
{
    stop_exporter(plane);
    store_set_listener(plane->store, (struct store_listener){0});
    for (size_t i = 0; i < plane->count; i++) {
        pool_free(entry_decision(plane->templates[i]));
        entry_set_decision(plane->templates[i], NULL);
    }
    refusals_release(&plane->refusals);
    store_free(plane->store);
    free(plane);
}

static struct plane *new_plane(enum control_component component)
{
    struct plane *plane = xmalloc(sizeof(*plane));

    plane_init(plane, component);
    return plane;
}

/* Returns the reason of the open problem of the story's component; "" without one. */
static const char *open_reason(const struct plane *plane)
{
    enum problem_id problem = problem_of(plane->component);
    const struct problem *p =
        problems_find_open(engine_problems(plane->judge.engine), NULL,
                           component_name(plane->component), problem_first_reason(problem));

    return p && p->status == PROBLEM_OPEN ? problem_reasons[p->reason].name : "";
}

/* ---- objects ---- */

static void put(struct plane *plane, const char *json)
{
    struct error err = {""};
    cJSON *tree = cJSON_Parse(json);

    assert_non_null(tree);
    if (store_put(plane->store, tree, (struct origin){1, 1}, &err) == STORE_REJECTED)
        fail_msg("rejected: %s", err.text);
    cJSON_Delete(tree);
}

static struct entry *policy_of(struct plane *plane, unsigned number)
{
    char name[32], json[512];
    struct identity id = {"policy.karmada.io/v1alpha1", "PropagationPolicy", "default", name};
    struct entry *entry;

    snprintf(name, sizeof(name), "p%u", number);
    entry = store_find(plane->store, &id);
    if (entry)
        return entry;
    snprintf(json, sizeof(json),
             "{\"apiVersion\":\"policy.karmada.io/v1alpha1\",\"kind\":\"PropagationPolicy\","
             "\"metadata\":{\"name\":\"p%u\",\"namespace\":\"default\"},\"spec\":{"
             "\"resourceSelectors\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\"}]}}",
             number);
    put(plane, json);
    return store_find(plane->store, &id);
}

/* Replaces the decision about a template, as the engine does. */
static void decide(struct plane *plane, size_t i, const struct template_decision *decision)
{
    struct entry *entry = plane->templates[i];
    struct template_decision *before = entry_decision(entry);
    struct template_decision *after =
        pool_alloc(intern_memory(store_string_pool(plane->store)), sizeof(*after));

    *after = *decision;
    entry_set_decision(entry, after);
    controller_progress_note(plane->progress, entry, before, after, plane->now_ms);
    pool_free(before);
}

/* Adds a template without work. Returns its number. */
static size_t add_template(struct plane *plane, unsigned ns, unsigned policy)
{
    size_t i = plane->count++;
    char name[32], space[32], json[512], created[32];
    struct template_decision current = {.state = STATE_CURRENT};

    assert_true(i < TEMPLATES_MAX);
    snprintf(name, sizeof(name), "t%zu", i);
    snprintf(space, sizeof(space), "n%u", ns);
    format_timestamp(plane->now_ms, created);
    snprintf(json, sizeof(json),
             "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"%s\","
             "\"namespace\":\"%s\",\"uid\":\"u%zu\",\"creationTimestamp\":\"%s\"},\"spec\":{}}",
             name, space, i, created);
    put(plane, json);
    plane->templates[i] =
        store_find(plane->store, &(struct identity){"apps/v1", "Deployment", space, name});
    current.claimed_handle = pool_handle_of(policy_of(plane, policy));
    current.governed_by = GOVERNED_BY_CLAIMED;
    decide(plane, i, &current);
    return i;
}

/* Makes work about a template: its policy changes, or its binding has to be scheduled. */
static void make_due(struct plane *plane, size_t i)
{
    struct template_decision d = *template_decision(plane->templates[i]);

    if (plane->component == CONTROL_SCHEDULER) {
        d.stages.delivery = (struct stage_and_reason){STAGE_UNSCHEDULED, WHY_WAITING};
        d.stages.delivery_since_s = (uint32_t)(plane->now_ms / SECOND);
    } else {
        d.state = STATE_STALE;
        d.reason = STALE_POLICY_UPDATED;
        d.phase = PHASE_DEFERRED;
        decision_set_since_ms(&d, plane->now_ms);
    }
    decide(plane, i, &d);
}

/* Makes work about a new template: Karmada has to create its binding. */
static void make_unbound(struct plane *plane, size_t i, enum unbound_reason reason)
{
    struct template_decision d = *template_decision(plane->templates[i]);

    d.state = STATE_UNBOUND;
    d.reason = reason;
    decision_set_since_ms(&d, plane->now_ms);
    decide(plane, i, &d);
}

/* Puts the binding of a template, written now. */
static void write_binding(struct plane *plane, size_t i)
{
    const struct entry *template = plane->templates[i];
    char json[1024], now[32];

    format_timestamp(plane->now_ms, now);
    snprintf(json, sizeof(json),
             "{\"apiVersion\":\"work.karmada.io/v1alpha2\",\"kind\":\"ResourceBinding\","
             "\"metadata\":{\"name\":\"%s-deployment\",\"namespace\":\"%s\",\"managedFields\":[{"
             "\"manager\":\"karmada-controller-manager\",\"time\":\"%s\",\"fieldsV1\":{\"f:spec\":{"
             "\"f:resource\":{}}}}]},\"spec\":{\"resource\":{\"apiVersion\":\"apps/v1\","
             "\"kind\":\"Deployment\",\"namespace\":\"%s\",\"name\":\"%s\",\"uid\":\"u%zu\"},"
             "\"placement\":{}},\"status\":{\"lastScheduledTime\":\"%s\",\"conditions\":[{"
             "\"type\":\"Scheduled\",\"status\":\"True\",\"reason\":\"Success\"}]}}",
             template->name, entry_ns(template), now, entry_ns(template), template->name, i, now);
    put(plane, json);
}

/* Karmada does the work about a template. */
static void process(struct plane *plane, size_t i)
{
    struct template_decision d = *template_decision(plane->templates[i]);

    write_binding(plane, i);
    d.state = STATE_CURRENT;
    d.stages.delivery = (struct stage_and_reason){STAGE_HEALTHY, WHY_NONE};
    decide(plane, i, &d);
}

/* Puts Karmada's Event about a template, as of a time of the control plane. */
static void put_refusal(struct plane *plane, size_t i, int64_t time_ms)
{
    struct entry *template = plane->templates[i];
    char json[512], time[32] = "";

    if (time_ms != 0)
        format_timestamp(time_ms, time);
    snprintf(json, sizeof(json),
             "{\"apiVersion\":\"v1\",\"kind\":\"Event\",\"metadata\":{\"name\":\"%s\","
             "\"namespace\":\"%s\"},\"reason\":\"ApplyPolicyFailed\",\"involvedObject\":{"
             "\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"namespace\":\"%s\","
             "\"name\":\"%s\",\"uid\":\"u%zu\"},\"lastTimestamp\":\"%s\"}",
             template->name, entry_ns(template), entry_ns(template), template->name, i, time);
    put(plane, json);
    controller_progress_note(plane->progress, template, entry_decision(template),
                             entry_decision(template), plane->now_ms);
}

/* Karmada refuses to apply the policy of a template. */
static void refuse(struct plane *plane, size_t i)
{
    put_refusal(plane, i, plane->now_ms);
}

/* The API server keeps Events for an hour. */
static void delete_events(struct plane *plane)
{
    for (size_t i = 0; i < plane->count; i++) {
        const struct entry *template = plane->templates[i];
        struct entry *event = store_find(
            plane->store, &(struct identity){"v1", "Event", entry_ns(template), template->name});

        if (event && entry_exists(event))
            store_remove(plane->store, event);
    }
}

static void add_templates(struct plane *plane, size_t count, unsigned policies)
{
    for (size_t i = 0; i < count; i++)
        add_template(plane, (unsigned)i % 5, (unsigned)i % policies);
}

static void make_all_due(struct plane *plane)
{
    for (size_t i = 0; i < plane->count; i++)
        make_due(plane, i);
    run(plane);
}

static void take_lease(struct plane *plane)
{
    struct plane_lease *l = &plane->leases[plane->component];

    l->holder++;
    l->acquired_ms = plane->now_ms;
    l->renewed = true;
}

/* ---- must open ---- */

/* Work that Karmada does not process. */
struct stand_still {
    const char *title;
    size_t templates;
    unsigned policies;
    enum control_component component;
};

static const struct stand_still stand_stills[] = {
    {"5,000 of 5,000 templates of one policy", 5000, 1, CONTROL_CONTROLLERS},
    {"9 of 9 templates of 9 policies", 9, 9, CONTROL_CONTROLLERS},
    {"a plane with 3 templates", 3, 1, CONTROL_CONTROLLERS},
    {"6 of 42 templates in one of 7 shards", 6, 6, CONTROL_CONTROLLERS},
    {"5,000 bindings", 5000, 1, CONTROL_SCHEDULER},
    {"9 bindings of 9 policies", 9, 9, CONTROL_SCHEDULER},
    {"6 of 42 bindings in one of 7 shards", 6, 6, CONTROL_SCHEDULER},
};

TEST_ROWS(work_that_stands_still_opens, stand_stills, title)
{
    const struct stand_still *row = *state;
    struct plane *plane = new_plane(row->component);

    add_templates(plane, row->templates, row->policies);
    pass(plane, 8 * HOUR);
    make_all_due(plane);
    /* 10 minutes without progress, and a patience of 3 minutes. */
    pass(plane, 13 * MINUTE - 1);
    assert_string_equal(open_reason(plane), "");
    assert_int_equal(controller_progress_backlog(plane->progress, row->component), row->templates);
    pass(plane, 1);
    assert_string_equal(open_reason(plane), "no_progress");
    pass(plane, 12 * HOUR);
    assert_string_equal(open_reason(plane), "no_progress");
    assert_int_equal(opened(plane), 1);

    /* Karmada comes back: no backlog, and the problem ends after the resolve delay. */
    for (size_t i = 0; i < plane->count; i++)
        process(plane, i);
    pass(plane, 5 * MINUTE);
    assert_string_equal(open_reason(plane), "");
    assert_int_equal(controller_progress_backlog(plane->progress, row->component), 0);
    plane_release(plane);
}

/* Rows for both components. */
struct component_row {
    const char *title;
    enum control_component component;
};

static const struct component_row component_rows[] = {
    {"controllers", CONTROL_CONTROLLERS},
    {"scheduler", CONTROL_SCHEDULER},
};

TEST_ROWS(seven_hundred_templates_on_a_quiet_day_stay_open, component_rows, title)
{
    const struct component_row *row = *state;
    struct plane *plane = new_plane(row->component);

    add_templates(plane, 700, 5);
    make_all_due(plane);
    pass(plane, 14 * MINUTE);
    for (unsigned hour = 0; hour < 72; hour++) {
        assert_string_equal(open_reason(plane), "no_progress");
        pass(plane, HOUR);
    }
    assert_int_equal(opened(plane), 1);

    /* The work says since when it is due, so that the problem is there again after a restart. */
    plane->restart_ms = plane->now_ms + 1;
    pass(plane, 14 * MINUTE);
    assert_string_equal(open_reason(plane), "no_progress");
    plane_release(plane);
}

/* 4,000 templates, of which Karmada processes one every 12 minutes. */
static void run_slow_story(struct plane *plane, bool new_holders)
{
    add_templates(plane, 4000, 10);
    pass(plane, HOUR);
    make_all_due(plane);
    for (size_t i = 0; i < 30; i++) {
        pass(plane, 12 * MINUTE);
        process(plane, i);
        if (new_holders)
            take_lease(plane);
    }
}

TEST(one_template_every_twelve_minutes_is_too_slow)
{
    struct plane *plane = new_plane(CONTROL_CONTROLLERS);

    run_slow_story(plane, false);
    /* Before each processed template, no template was processed for 12 minutes. */
    assert_string_equal(open_reason(plane), "no_progress");
    pass(plane, MINUTE);
    assert_string_equal(open_reason(plane), "too_slow");
    assert_int_equal(opened(plane), 1);
    plane_release(plane);
}

TEST(one_template_every_twelve_minutes_opens_after_thirty_minutes_of_backlog)
{
    struct plane *plane = new_plane(CONTROL_CONTROLLERS);

    add_templates(plane, 4000, 10);
    pass(plane, HOUR);
    make_all_due(plane);
    for (size_t i = 0; i < 4; i++) {
        pass(plane, 8 * MINUTE);
        process(plane, i);
    }
    /* The backlog began after 5 minutes. */
    pass(plane, 6 * MINUTE);
    assert_int_equal(opened(plane), 0);
    pass(plane, MINUTE);
    assert_string_equal(open_reason(plane), "too_slow");
    plane_release(plane);
}

TEST(one_template_for_each_new_holder_is_restarting)
{
    struct plane *plane = new_plane(CONTROL_CONTROLLERS);

    run_slow_story(plane, true);
    assert_string_equal(open_reason(plane), "restarting");
    assert_int_equal(opened(plane), 1);
    plane_release(plane);
}

TEST(a_queue_of_policies_that_hangs_opens_while_new_templates_are_bound)
{
    struct plane *plane = new_plane(CONTROL_CONTROLLERS);

    add_templates(plane, 40, 4);
    pass(plane, HOUR);
    make_all_due(plane);
    for (unsigned minute = 0; minute < 60; minute++) {
        size_t i = add_template(plane, 9, 9);

        make_unbound(plane, i, UNBOUND_WAITING);
        pass(plane, 10 * SECOND);
        process(plane, i);
        pass(plane, 50 * SECOND);
    }
    assert_string_equal(open_reason(plane), "no_progress");
    assert_int_equal(opened(plane), 1);
    plane_release(plane);
}

TEST(refused_templates_of_three_policies_in_three_namespaces_open)
{
    struct plane *plane = new_plane(CONTROL_CONTROLLERS);

    for (unsigned i = 0; i < 10; i++)
        add_template(plane, i % 3, i % 3);
    pass(plane, HOUR);
    make_all_due(plane);
    for (size_t i = 0; i < plane->count; i++)
        refuse(plane, i);
    pass(plane, 18 * MINUTE);
    assert_string_equal(open_reason(plane), "all_refused");
    /* Karmada refuses no new template: an hour later the reason does not hold. */
    pass(plane, 2 * HOUR);
    assert_string_equal(open_reason(plane), "");
    plane_release(plane);
}

/* A webhook refuses all bindings: Karmada claims new templates, and makes no binding. */
TEST(refused_new_templates_open_although_they_are_stuck)
{
    struct plane *plane = new_plane(CONTROL_CONTROLLERS);

    pass(plane, HOUR);
    for (unsigned i = 0; i < 12; i++) {
        add_template(plane, i % 3, i % 4);
        make_unbound(plane, i, UNBOUND_WAITING);
        refuse(plane, i);
        pass(plane, MINUTE);
        make_unbound(plane, i, UNBOUND_STUCK);
        assert_true(controller_progress_is_refused(plane->progress, plane->templates[i]));
    }
    pass(plane, 10 * MINUTE);
    assert_string_equal(open_reason(plane), "all_refused");
    plane_release(plane);
}

TEST_ROWS(a_lease_that_is_not_renewed_opens, component_rows, title)
{
    const struct component_row *row = *state;
    struct plane *plane = new_plane(row->component);

    pass(plane, HOUR);
    plane->leases[row->component].renewed = false;
    pass(plane, 5 * MINUTE - SECOND);
    assert_string_equal(open_reason(plane), "");
    pass(plane, MINUTE);
    assert_string_equal(open_reason(plane), "not_running");
    plane->leases[row->component].renewed = true;
    pass(plane, 6 * MINUTE);
    assert_string_equal(open_reason(plane), "");
    plane_release(plane);
}

TEST_ROWS(three_new_holders_open_only_with_a_backlog, component_rows, title)
{
    const struct component_row *row = *state;
    struct plane *plane = new_plane(row->component);

    add_templates(plane, 5, 1);
    pass(plane, HOUR);
    for (unsigned i = 0; i < 3; i++) {
        take_lease(plane);
        pass(plane, MINUTE);
    }
    pass(plane, 10 * MINUTE);
    assert_int_equal(opened(plane), 0);
    make_all_due(plane);
    pass(plane, 9 * MINUTE);
    assert_string_equal(open_reason(plane), "restarting");
    plane_release(plane);
}

/* ---- must not open ---- */

/* Processes work at a rate, until no work waits. */
static void process_all(struct plane *plane, unsigned each_step, int64_t step_ms)
{
    for (size_t i = 0; i < plane->count; i++) {
        process(plane, i);
        if (i % each_step == each_step - 1)
            pass(plane, step_ms);
    }
}

static void tell_policy_in_work(struct plane *plane)
{
    add_templates(plane, 5000, 1);
    make_all_due(plane);
    process_all(plane, 2, SECOND);
}

static void tell_long_work(struct plane *plane)
{
    add_templates(plane, 30000, 20);
    make_all_due(plane);
    process_all(plane, 20, 10 * SECOND);
}

/* Karmada tries the refused templates again every 17 minutes. */
static void tell_refused_night(struct plane *plane)
{
    add_templates(plane, 45, 9);
    for (size_t i = 0; i < plane->count; i++)
        write_binding(plane, i);
    pass(plane, HOUR);
    for (size_t i = 0; i < 10; i++)
        make_due(plane, i * 9 % 45 + i / 5);
    for (int64_t spent = 0; spent < 12 * HOUR; spent += 17 * MINUTE) {
        for (size_t i = 0; i < 10; i++)
            refuse(plane, i * 9 % 45 + i / 5);
        pass(plane, 17 * MINUTE);
    }
}

static void tell_third_refused_policy(struct plane *plane)
{
    add_templates(plane, 12, 3);
    pass(plane, HOUR);
    for (int64_t spent = 0; spent < 12 * HOUR; spent += 15 * MINUTE) {
        for (size_t i = 0; i < 12; i++) {
            int64_t since_ms = (int64_t)(i % 3) * 2 * HOUR;

            if (spent == since_ms)
                make_due(plane, i);
            if (spent >= since_ms)
                refuse(plane, i);
        }
        pass(plane, 15 * MINUTE);
    }
}

static void tell_stuck_template(struct plane *plane)
{
    size_t i = add_template(plane, 1, 1);

    make_unbound(plane, i, UNBOUND_WAITING);
    pass(plane, MINUTE);
    make_unbound(plane, i, UNBOUND_STUCK);
    pass(plane, 24 * HOUR);
}

/* A template that Karmada passed over, days ago, on a plane that is quiet since. */
static void tell_passed_over(struct plane *plane)
{
    add_templates(plane, 2, 1);
    make_due(plane, 0);
    pass(plane, 6 * MINUTE);
    make_due(plane, 1);
    pass(plane, MINUTE);
    process(plane, 1);
    pass(plane, 48 * HOUR);
}

/* Two new holders; no work is processed for 18 minutes. */
static void tell_upgrade(struct plane *plane)
{
    struct plane_lease *l = &plane->leases[plane->component];

    add_templates(plane, 500, 5);
    pass(plane, HOUR);
    make_all_due(plane);
    l->renewed = false;
    pass(plane, 100 * SECOND);
    take_lease(plane);
    pass(plane, 30 * SECOND);
    l->renewed = false;
    pass(plane, 40 * SECOND);
    take_lease(plane);
    pass(plane, 15 * MINUTE);
    process_all(plane, 2, SECOND);
}

/* etcd goes back; the operator repairs it within 20 minutes. */
static void tell_restore(struct plane *plane)
{
    add_templates(plane, 1000, 5);
    for (size_t i = 0; i < plane->count; i++)
        write_binding(plane, i);
    pass(plane, HOUR);
    controller_progress_restored(plane->progress, plane->now_ms);
    take_lease(plane);
    make_all_due(plane);
    pass(plane, 18 * MINUTE);
    process_all(plane, 20, 2 * SECOND);
}

static void tell_quiet_plane(struct plane *plane)
{
    add_templates(plane, 10, 2);
    pass(plane, 24 * HOUR);
}

struct quiet_story {
    const char *title;
    void (*tell)(struct plane *plane);
    enum control_component component;
    int64_t restart_minutes; /* The exporter restarts so many minutes after the start; 0: never. */
};

#define IN_BOTH(title, tell, component, early, late)                                               \
    {title, tell, component, 0}, {title ", early restart", tell, component, early},                \
    {                                                                                              \
        title ", late restart", tell, component, late                                              \
    }

static const struct quiet_story quiet_stories[] = {
    IN_BOTH("5,000 templates in work", tell_policy_in_work, CONTROL_CONTROLLERS, 1, 20),
    IN_BOTH("30,000 templates for hours", tell_long_work, CONTROL_CONTROLLERS, 7, 200),
    IN_BOTH("10 of 45 refused", tell_refused_night, CONTROL_CONTROLLERS, 62, 400),
    IN_BOTH("a third refused policy", tell_third_refused_policy, CONTROL_CONTROLLERS, 65, 305),
    IN_BOTH("a stuck template", tell_stuck_template, CONTROL_CONTROLLERS, 1, 30),
    IN_BOTH("a passed template", tell_passed_over, CONTROL_CONTROLLERS, 10, 2000),
    IN_BOTH("an upgrade", tell_upgrade, CONTROL_CONTROLLERS, 63, 70),
    IN_BOTH("a restore of etcd", tell_restore, CONTROL_CONTROLLERS, 62, 75),
    IN_BOTH("a quiet plane", tell_quiet_plane, CONTROL_CONTROLLERS, 10, 700),
    IN_BOTH("5,000 bindings in work", tell_policy_in_work, CONTROL_SCHEDULER, 1, 20),
    IN_BOTH("30,000 bindings for hours", tell_long_work, CONTROL_SCHEDULER, 7, 200),
    IN_BOTH("a passed binding", tell_passed_over, CONTROL_SCHEDULER, 10, 2000),
    IN_BOTH("an upgrade of the scheduler", tell_upgrade, CONTROL_SCHEDULER, 63, 70),
    IN_BOTH("bindings after a restore", tell_restore, CONTROL_SCHEDULER, 62, 75),
};

TEST_ROWS(does_not_open, quiet_stories, title)
{
    const struct quiet_story *row = *state;
    struct plane *plane = new_plane(row->component);

    if (row->restart_minutes)
        plane->restart_ms = START_MS + row->restart_minutes * MINUTE;
    row->tell(plane);
    assert_int_equal(opened(plane), 0);
    pass(plane, HOUR);
    assert_int_equal(opened(plane), 0);
    assert_int_equal(plane->restart_ms, 0);
    plane_release(plane);
}

/* ---- other inputs ---- */

TEST(writes_of_other_shards_are_progress)
{
    struct plane *plane = new_plane(CONTROL_CONTROLLERS);

    add_templates(plane, 6, 6);
    make_all_due(plane);
    for (unsigned i = 0; i < 12; i++) {
        pass(plane, 5 * MINUTE);
        controller_progress_other_shard(plane->progress, CONTROL_CONTROLLERS);
    }
    assert_int_equal(controller_progress_backlog(plane->progress, CONTROL_CONTROLLERS), 6);
    assert_int_equal(opened(plane), 0);
    /* Writes of the scheduler are no progress of the controllers. */
    for (unsigned i = 0; i < 3; i++) {
        pass(plane, 5 * MINUTE);
        controller_progress_other_shard(plane->progress, CONTROL_SCHEDULER);
    }
    assert_string_equal(open_reason(plane), "no_progress");
    plane_release(plane);
}

TEST(with_namespaces_only_leases_count)
{
    struct plane *plane = new_plane(CONTROL_CONTROLLERS);

    stop_exporter(plane);
    plane->some_namespaces = true;
    start_exporter(plane);
    add_templates(plane, 100, 6);
    make_all_due(plane);
    pass(plane, 4 * HOUR);
    assert_int_equal(opened(plane), 0);
    plane->leases[CONTROL_CONTROLLERS].renewed = false;
    pass(plane, 6 * MINUTE);
    assert_string_equal(open_reason(plane), "not_running");
    plane_release(plane);
}

TEST(a_problem_keeps_its_status_while_objects_are_not_readable)
{
    struct plane *plane = new_plane(CONTROL_CONTROLLERS);

    add_templates(plane, 10, 2);
    make_all_due(plane);
    pass(plane, 8 * MINUTE);
    controller_progress_set_readable(plane->progress, false, plane->now_ms);
    pass(plane, 10 * HOUR);
    assert_int_equal(opened(plane), 0);
    controller_progress_set_readable(plane->progress, true, plane->now_ms);
    pass(plane, 4 * MINUTE);
    assert_int_equal(opened(plane), 0);
    pass(plane, 2 * MINUTE);
    assert_string_equal(open_reason(plane), "no_progress");

    controller_progress_set_readable(plane->progress, false, plane->now_ms);
    for (size_t i = 0; i < plane->count; i++)
        process(plane, i);
    pass(plane, HOUR);
    assert_string_equal(open_reason(plane), "no_progress");
    controller_progress_set_readable(plane->progress, true, plane->now_ms);
    pass(plane, 6 * MINUTE);
    assert_string_equal(open_reason(plane), "");
    plane_release(plane);
}

TEST(a_clock_that_jumps_makes_no_work_older)
{
    struct plane *plane = new_plane(CONTROL_CONTROLLERS);

    add_templates(plane, 10, 2);
    pass(plane, 24 * HOUR);
    make_all_due(plane);
    pass(plane, 5 * MINUTE);
    /* Two jumps, of a day and of a year, as the event loop sees them. */
    plane->now_ms += 24 * HOUR;
    run(plane);
    plane->now_ms += INT64_C(366) * 24 * HOUR;
    run(plane);
    assert_int_equal(controller_progress_reason(plane->progress, CONTROL_CONTROLLERS),
                     PROBLEM_REASON_COUNT);
    plane->now_ms -= INT64_C(365) * 24 * HOUR;
    run(plane);
    for (size_t i = 0; i < plane->count; i++)
        process(plane, i);
    pass(plane, HOUR);
    assert_int_equal(opened(plane), 0);
    plane_release(plane);
}

TEST(work_is_seen_after_the_clock_went_back)
{
    struct plane *plane = new_plane(CONTROL_CONTROLLERS);

    add_templates(plane, 10, 2);
    pass(plane, 24 * HOUR);
    make_all_due(plane);
    plane->now_ms -= 12 * HOUR;
    plane->due_ms = plane->lease_due_ms = 0;
    pass(plane, 11 * MINUTE);
    assert_int_equal(controller_progress_reason(plane->progress, CONTROL_CONTROLLERS),
                     PROBLEM_REASON_CONTROLLERS_STUCK_NO_PROGRESS);
    plane_release(plane);
}

/* A time that an object has, in milliseconds; 0: no time. */
struct odd_time {
    const char *title;
    int64_t ms;
};

static const struct odd_time odd_times[] = {
    {"none", 0},
    {"1901", INT64_C(-2177452800000)},
    {"1970", 1},
    {"9999", INT64_C(253402300799000)},
    {"the least number", INT64_MIN},
    {"the greatest number", INT64_MAX},
};

/* Work that an exporter finds at its start is due since the start, if it has no usable time. */
TEST_ROWS(an_impossible_time_does_not_make_work_old, odd_times, title)
{
    const struct odd_time *row = *state;
    struct plane *plane = new_plane(CONTROL_CONTROLLERS);

    add_templates(plane, 20, 4);
    make_all_due(plane);
    for (size_t i = 0; i < plane->count; i++) {
        struct template_decision d = *template_decision(plane->templates[i]);

        decision_set_since_ms(&d, row->ms);
        decide(plane, i, &d);
    }
    stop_exporter(plane);
    start_exporter(plane);
    run(plane);
    pass(plane, 5 * MINUTE);
    assert_int_equal(controller_progress_backlog(plane->progress, CONTROL_CONTROLLERS), 0);
    /* No timestamp has the greatest or least number. */
    for (size_t i = 0; i < plane->count && row->ms != INT64_MIN && row->ms != INT64_MAX; i++)
        put_refusal(plane, i, row->ms);
    pass(plane, HOUR);
    assert_int_equal(opened(plane), 1);
    plane_release(plane);
}

TEST(an_undone_change_is_not_processed)
{
    struct plane *plane = new_plane(CONTROL_CONTROLLERS);
    struct template_decision current;

    add_templates(plane, 30, 3);
    current = *template_decision(plane->templates[0]);
    make_all_due(plane);
    for (size_t i = 0; i < 20; i++) {
        struct template_decision d = current;

        d.claimed_handle = template_decision(plane->templates[i])->claimed_handle;
        pass(plane, 30 * SECOND);
        decide(plane, i, &d);
    }
    pass(plane, 4 * MINUTE);
    assert_string_equal(open_reason(plane), "no_progress");
    plane_release(plane);
}

TEST(work_about_a_deleted_template_ends)
{
    struct plane *plane = new_plane(CONTROL_CONTROLLERS);
    struct entry *entry;

    add_template(plane, 0, 0);
    make_due(plane, 0);
    refuse(plane, 0);
    pass(plane, 20 * MINUTE);
    entry = plane->templates[0];
    assert_true(controller_progress_is_refused(plane->progress, entry));
    store_pin(entry);
    store_remove(plane->store, entry);
    pool_free(entry_decision(entry));
    entry_set_decision(entry, NULL);
    controller_progress_note(plane->progress, entry, NULL, NULL, plane->now_ms);
    assert_int_equal(entry->pins, 1);
    assert_false(controller_progress_is_refused(plane->progress, entry));
    plane->count = 0;
    store_unpin(plane->store, entry);
    pass(plane, HOUR);
    assert_int_equal(opened(plane), 0);
    plane_release(plane);
}

TEST(a_refusal_is_known_before_and_after_its_work)
{
    struct plane *plane = new_plane(CONTROL_CONTROLLERS);
    size_t i = add_template(plane, 1, 1);

    /* The Event arrives before the change of the policy. */
    refuse(plane, i);
    pass(plane, SECOND);
    make_due(plane, i);
    assert_true(controller_progress_is_refused(plane->progress, plane->templates[i]));
    process(plane, i);
    assert_false(controller_progress_is_refused(plane->progress, plane->templates[i]));

    /* An Event about an earlier change does not count. */
    refuse(plane, i);
    pass(plane, 10 * MINUTE);
    make_due(plane, i);
    pass(plane, SECOND);
    assert_false(controller_progress_is_refused(plane->progress, plane->templates[i]));
    plane_release(plane);
}

/* The Event is older than the write of the binding, however soon the next change follows. */
TEST(a_refusal_ends_with_the_write_of_the_binding)
{
    struct plane *plane = new_plane(CONTROL_CONTROLLERS);
    size_t i = add_template(plane, 1, 1);
    struct template_decision d;

    make_due(plane, i);
    refuse(plane, i);
    pass(plane, 10 * SECOND);
    assert_true(controller_progress_is_refused(plane->progress, plane->templates[i]));
    process(plane, i);
    d = *template_decision(plane->templates[i]);
    d.binding_handle = pool_handle_of(binding_referring_to(
        plane->store, &(struct identity){"apps/v1", "Deployment", entry_ns(plane->templates[i]),
                                         plane->templates[i]->name}));
    assert_int_not_equal(d.binding_handle, 0);
    decide(plane, i, &d);
    pass(plane, 10 * SECOND);
    make_due(plane, i);
    assert_false(controller_progress_is_refused(plane->progress, plane->templates[i]));
    pass(plane, SECOND);
    refuse(plane, i);
    assert_true(controller_progress_is_refused(plane->progress, plane->templates[i]));
    plane_release(plane);
}

/* An Event of 9999 counts once, not with each decision. */
TEST(a_refusal_in_the_future_is_no_progress_for_ever)
{
    struct plane *plane = new_plane(CONTROL_CONTROLLERS);

    add_templates(plane, 9, 3);
    make_all_due(plane);
    put_refusal(plane, 0, INT64_C(253402300799000));
    for (unsigned minute = 0; minute < 20; minute++) {
        struct template_decision d = *template_decision(plane->templates[0]);

        pass(plane, MINUTE);
        decide(plane, 0, &d);
    }
    assert_string_equal(open_reason(plane), "no_progress");
    plane_release(plane);
}

/* Without Events, templates that Karmada refuses look like templates that it does not process. */
TEST(without_events_no_progress_neither_opens_nor_resolves)
{
    struct plane *plane = new_plane(CONTROL_CONTROLLERS);

    controller_progress_set_refusals_known(plane->progress, false);
    add_templates(plane, 30, 3);
    pass(plane, HOUR);
    for (unsigned i = 0; i < 3; i++) {
        take_lease(plane);
        pass(plane, MINUTE);
    }
    make_all_due(plane);
    pass(plane, 4 * HOUR);
    assert_int_equal(controller_progress_backlog(plane->progress, CONTROL_CONTROLLERS), 30);
    assert_int_equal(opened(plane), 0);
    /* The Lease needs no Events. */
    plane->leases[CONTROL_CONTROLLERS].renewed = false;
    pass(plane, 6 * MINUTE);
    assert_string_equal(open_reason(plane), "not_running");
    /* It is renewed, but whether Karmada processes the work is not known: the status stays. */
    plane->leases[CONTROL_CONTROLLERS].renewed = true;
    pass(plane, HOUR);
    assert_string_equal(open_reason(plane), "not_running");
    assert_int_equal(opened(plane), 1);

    controller_progress_set_refusals_known(plane->progress, true);
    pass(plane, MINUTE);
    assert_string_equal(open_reason(plane), "no_progress");
    assert_int_equal(opened(plane), 1);
    /* The right is lost: the problem stays, until no work waits. */
    controller_progress_set_refusals_known(plane->progress, false);
    pass(plane, HOUR);
    assert_string_equal(open_reason(plane), "no_progress");
    for (size_t i = 0; i < plane->count; i++)
        process(plane, i);
    pass(plane, 6 * MINUTE);
    assert_string_equal(open_reason(plane), "");
    plane_release(plane);
}

/* Rule 7 of the life of a problem: a pending problem does not open meanwhile. */
TEST(without_events_a_short_gap_of_the_lease_opens_nothing)
{
    struct plane *plane = new_plane(CONTROL_CONTROLLERS);

    add_templates(plane, 30, 3);
    pass(plane, HOUR);
    make_all_due(plane);
    pass(plane, 6 * MINUTE);
    controller_progress_set_refusals_known(plane->progress, false);
    pass(plane, 6 * MINUTE);
    plane->leases[CONTROL_CONTROLLERS].renewed = false;
    pass(plane, 3 * MINUTE);
    assert_int_equal(opened(plane), 0);
    assert_int_equal(controller_progress_reason(plane->progress, CONTROL_CONTROLLERS),
                     PROBLEM_REASON_CONTROLLERS_STUCK_NOT_RUNNING);
    plane->leases[CONTROL_CONTROLLERS].renewed = true;
    pass(plane, HOUR);
    assert_int_equal(opened(plane), 0);
    /* Without work no reason holds, and the problem is over. */
    for (size_t i = 0; i < plane->count; i++)
        process(plane, i);
    pass(plane, MINUTE);
    assert_int_equal(controller_progress_reason(plane->progress, CONTROL_CONTROLLERS),
                     PROBLEM_REASON_COUNT);
    plane_release(plane);
}

TEST(without_events_the_scheduler_is_judged)
{
    struct plane *plane = new_plane(CONTROL_SCHEDULER);

    controller_progress_set_refusals_known(plane->progress, false);
    add_templates(plane, 9, 3);
    make_all_due(plane);
    pass(plane, 14 * MINUTE);
    assert_string_equal(open_reason(plane), "no_progress");
    plane_release(plane);
}

TEST(refused_work_is_no_backlog)
{
    struct plane *plane = new_plane(CONTROL_CONTROLLERS);

    add_templates(plane, 20, 1);
    make_all_due(plane);
    for (size_t i = 0; i < 15; i++)
        refuse(plane, i);
    pass(plane, 6 * MINUTE);
    assert_int_equal(controller_progress_backlog(plane->progress, CONTROL_CONTROLLERS), 5);
    /* An Event that the API server deletes is no attempt of Karmada. */
    delete_events(plane);
    make_all_due(plane);
    pass(plane, HOUR);
    assert_int_equal(controller_progress_backlog(plane->progress, CONTROL_CONTROLLERS), 5);
    plane_release(plane);
}

TEST(a_claim_processes_work)
{
    struct plane *plane = new_plane(CONTROL_CONTROLLERS);
    size_t i = add_template(plane, 1, 1);
    struct template_decision d;

    make_unbound(plane, i, UNBOUND_WAITING);
    pass(plane, 9 * MINUTE);
    assert_int_equal(controller_progress_backlog(plane->progress, CONTROL_CONTROLLERS), 1);
    d = *template_decision(plane->templates[i]);
    d.own_claim = true;
    decide(plane, i, &d);
    pass(plane, 9 * MINUTE);
    assert_int_equal(opened(plane), 0);
    /* The binding is work of its own. */
    assert_int_equal(controller_progress_backlog(plane->progress, CONTROL_CONTROLLERS), 1);
    plane_release(plane);
}

/* Replaces the judge as a reload does: another one takes over from it. */
static void reload(struct plane *plane)
{
    struct controller_progress_options options = {&plane->rules, &plane->refusals, false};
    struct controller_progress *fresh = controller_progress_new(
        plane->store, engine_problems(plane->judge.engine), &options, plane->now_ms);

    controller_progress_inherit(fresh, plane->progress);
    controller_progress_free(plane->progress);
    plane->progress = fresh;
    run(plane);
}

TEST(a_reload_takes_over_work_and_leases)
{
    struct plane *plane = new_plane(CONTROL_CONTROLLERS);

    add_templates(plane, 20, 2);
    make_all_due(plane);
    refuse(plane, 0);
    pass(plane, 20 * MINUTE);
    assert_string_equal(open_reason(plane), "no_progress");
    reload(plane);
    assert_int_equal(controller_progress_backlog(plane->progress, CONTROL_CONTROLLERS), 19);
    assert_true(controller_progress_is_refused(plane->progress, plane->templates[0]));
    pass(plane, HOUR);
    assert_string_equal(open_reason(plane), "no_progress");
    assert_int_equal(opened(plane), 1);
    plane->leases[CONTROL_CONTROLLERS].renewed = false;
    pass(plane, 3 * MINUTE);
    assert_string_equal(open_reason(plane), "not_running");
    plane_release(plane);
}

/* A write of a binding that was counted as work of one kind counts for no other after a reload. */
TEST(a_reload_counts_no_write_of_a_binding_again)
{
    struct plane *plane = new_plane(CONTROL_CONTROLLERS);

    add_templates(plane, 20, 2);
    make_all_due(plane);
    for (unsigned i = 0; i < 30; i++) {
        size_t added = add_template(plane, 1, 0);

        make_unbound(plane, added, UNBOUND_WAITING);
        pass(plane, MINUTE);
        process(plane, added);
    }
    assert_string_equal(open_reason(plane), "no_progress");
    for (unsigned i = 0; i < 3; i++) {
        reload(plane);
        assert_int_equal(controller_progress_backlog(plane->progress, CONTROL_CONTROLLERS), 20);
    }
    pass(plane, HOUR);
    assert_string_equal(open_reason(plane), "no_progress");
    assert_int_equal(opened(plane), 1);
    plane_release(plane);
}

/* ---- pairs: two exporters over the same objects ---- */

struct exporter_pair {
    struct plane *items[2];
};

static struct exporter_pair new_pair(size_t templates)
{
    struct exporter_pair pair = {{new_plane(CONTROL_CONTROLLERS), new_plane(CONTROL_CONTROLLERS)}};

    for (unsigned i = 0; i < ARRAY_LEN(pair.items); i++) {
        add_templates(pair.items[i], templates, 3);
        pass(pair.items[i], HOUR);
    }
    return pair;
}

static void release_pair(struct exporter_pair *pair)
{
    for (unsigned i = 0; i < ARRAY_LEN(pair->items); i++)
        plane_release(pair->items[i]);
}

/* The second exporter is suspended for 40 minutes; its loop then runs before it reads anything. */
static void resume_second(struct exporter_pair *pair)
{
    pair->items[1]->now_ms = pair->items[0]->now_ms;
    run(pair->items[1]);
}

TEST(an_exporter_that_hangs_while_karmada_works_opens_nothing)
{
    struct exporter_pair pair = new_pair(300);

    for (unsigned i = 0; i < 2; i++) {
        make_all_due(pair.items[i]);
        pass(pair.items[i], MINUTE);
    }
    /* Karmada processes all of it, and a new policy of which only one exporter hears at once. */
    for (size_t i = 0; i < 300; i++) {
        process(pair.items[0], i);
        pass(pair.items[0], 6 * SECOND);
    }
    make_due(pair.items[0], 0);
    pass(pair.items[0], 9 * MINUTE);
    resume_second(&pair);
    for (size_t i = 0; i < 300; i++)
        process(pair.items[1], i);
    make_due(pair.items[1], 0);
    for (unsigned i = 0; i < 2; i++) {
        pass(pair.items[i], 30 * SECOND);
        process(pair.items[i], 0);
        pass(pair.items[i], HOUR);
        assert_int_equal(opened(pair.items[i]), 0);
        assert_int_equal(controller_progress_backlog(pair.items[i]->progress, CONTROL_CONTROLLERS),
                         0);
    }
    release_pair(&pair);
}

TEST(an_exporter_that_hangs_while_karmada_hangs_agrees_after_its_observation)
{
    struct exporter_pair pair = new_pair(300);

    for (unsigned i = 0; i < 2; i++) {
        make_all_due(pair.items[i]);
        pass(pair.items[i], MINUTE);
    }
    pass(pair.items[0], 40 * MINUTE);
    assert_string_equal(open_reason(pair.items[0]), "no_progress");
    resume_second(&pair);
    /* It has observed only 3 minutes: for all it knows, Karmada worked meanwhile. */
    pass(pair.items[1], 6 * MINUTE);
    assert_string_equal(open_reason(pair.items[1]), "");
    pass(pair.items[1], 7 * MINUTE);
    pass(pair.items[0], 13 * MINUTE);
    for (unsigned i = 0; i < 2; i++)
        assert_string_equal(open_reason(pair.items[i]), "no_progress");

    /* Karmada comes back while the second exporter hangs again. */
    for (size_t i = 0; i < 300; i++)
        process(pair.items[0], i);
    pass(pair.items[0], 40 * MINUTE);
    resume_second(&pair);
    for (size_t i = 0; i < 300; i++)
        process(pair.items[1], i);
    pass(pair.items[1], 6 * MINUTE);
    pass(pair.items[0], 6 * MINUTE);
    for (unsigned i = 0; i < 2; i++) {
        assert_string_equal(open_reason(pair.items[i]), "");
        assert_int_equal(opened(pair.items[i]), 1);
    }
    release_pair(&pair);
}

TEST(an_exporter_that_hangs_sees_a_lease_that_is_renewed)
{
    struct exporter_pair pair = new_pair(3);

    pass(pair.items[0], 40 * MINUTE);
    take_lease(pair.items[1]);
    resume_second(&pair);
    pass(pair.items[1], HOUR);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(opened(pair.items[i]), 0);
    release_pair(&pair);
}

/* ---- pairs: two controller-managers of Karmada, of which one works ---- */

/* The holder hangs; the other one takes the Lease over `silent_ms` after the last renewal. */
static void hang_holder(struct plane *plane, int64_t silent_ms)
{
    plane->leases[plane->component].renewed = false;
    pass(plane, silent_ms);
    take_lease(plane);
    pass(plane, MINUTE);
}

TEST_ROWS(a_holder_that_hangs_and_is_replaced_does_not_open, component_rows, title)
{
    const struct component_row *row = *state;
    struct plane *plane = new_plane(row->component);

    add_templates(plane, 300, 3);
    pass(plane, HOUR);
    make_all_due(plane);
    hang_holder(plane, 4 * MINUTE);
    /* The other one reads everything, and begins after 15 minutes. */
    pass(plane, 15 * MINUTE);
    process_all(plane, 2, SECOND);
    pass(plane, HOUR);
    assert_int_equal(opened(plane), 0);
    plane_release(plane);
}

TEST_ROWS(a_holder_that_hangs_without_replacement_is_not_running, component_rows, title)
{
    const struct component_row *row = *state;
    struct plane *plane = new_plane(row->component);

    pass(plane, HOUR);
    plane->leases[row->component].renewed = false;
    pass(plane, 6 * MINUTE);
    assert_string_equal(open_reason(plane), "not_running");
    /* The other one has the Lease at last: the problem ends. */
    take_lease(plane);
    pass(plane, 6 * MINUTE);
    assert_string_equal(open_reason(plane), "");
    plane_release(plane);
}

/* Both hang in turn, soon after each begins. */
TEST_ROWS(a_pair_that_hangs_in_turn_is_restarting, component_rows, title)
{
    const struct component_row *row = *state;
    struct plane *plane = new_plane(row->component);

    add_templates(plane, 300, 3);
    pass(plane, HOUR);
    make_all_due(plane);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(opened(plane), 0);
        pass(plane, 10 * MINUTE);
        hang_holder(plane, MINUTE);
    }
    pass(plane, 3 * MINUTE);
    assert_string_equal(open_reason(plane), "restarting");
    assert_int_equal(opened(plane), 1);
    plane_release(plane);
}

/* The holder renews its Lease, and its queues hang: no other one takes over. */
TEST_ROWS(a_holder_that_renews_and_hangs_makes_no_progress, component_rows, title)
{
    const struct component_row *row = *state;
    struct plane *plane = new_plane(row->component);

    add_templates(plane, 300, 3);
    pass(plane, HOUR);
    hang_holder(plane, 30 * SECOND);
    make_all_due(plane);
    pass(plane, 20 * MINUTE);
    assert_int_equal(opened(plane), 0);
    pass(plane, 3 * MINUTE);
    assert_string_equal(open_reason(plane), "no_progress");
    plane_release(plane);
}

/* ---- Leases ---- */

TEST(without_a_lease_only_work_counts)
{
    struct plane *plane = new_plane(CONTROL_CONTROLLERS);

    for (unsigned i = 0; i < 4; i++) {
        take_lease(plane);
        pass(plane, MINUTE);
    }
    plane->leases[CONTROL_CONTROLLERS].exists = false;
    add_templates(plane, 3, 1);
    make_all_due(plane);
    /* The latest holder is new for 20 minutes. */
    pass(plane, 18 * MINUTE);
    assert_int_equal(opened(plane), 0);
    pass(plane, 5 * MINUTE);
    assert_string_equal(open_reason(plane), "no_progress");
    plane_release(plane);
}

TEST(a_lease_without_renewal_for_a_day_counts_as_absent)
{
    struct plane *plane = new_plane(CONTROL_SCHEDULER);
    struct plane_lease *l = &plane->leases[CONTROL_SCHEDULER];

    stop_exporter(plane);
    *l = (struct plane_lease){true, false, 1, START_MS - 48 * HOUR, START_MS - 25 * HOUR};
    start_exporter(plane);
    pass(plane, HOUR);
    assert_int_equal(opened(plane), 0);
    /* The component begins to renew it, and stops. */
    l->renewed = true;
    pass(plane, 10 * MINUTE);
    l->renewed = false;
    pass(plane, 6 * MINUTE);
    assert_string_equal(open_reason(plane), "not_running");
    plane_release(plane);
}

/* The exporter starts while Karmada reads everything again, or long after. */
TEST(the_first_read_tells_a_new_holder_by_its_acquire_time)
{
    static const int64_t ages_ms[] = {5 * MINUTE, HOUR};

    for (size_t i = 0; i < ARRAY_LEN(ages_ms); i++) {
        struct plane *plane = new_plane(CONTROL_CONTROLLERS);

        stop_exporter(plane);
        plane->leases[CONTROL_CONTROLLERS].acquired_ms = START_MS - ages_ms[i];
        start_exporter(plane);
        run(plane);
        add_templates(plane, 9, 3);
        make_all_due(plane);
        pass(plane, 14 * MINUTE);
        assert_string_equal(open_reason(plane), i == 0 ? "" : "no_progress");
        pass(plane, 5 * MINUTE);
        assert_string_equal(open_reason(plane), "no_progress");
        plane_release(plane);
    }
}

/* A component that restarts under its name, between two reads, is a new holder. */
TEST(a_lease_that_the_same_holder_acquires_again_has_a_new_holder)
{
    struct plane *plane = new_plane(CONTROL_CONTROLLERS);

    add_templates(plane, 9, 3);
    pass(plane, HOUR);
    make_all_due(plane);
    for (unsigned i = 0; i < 3; i++) {
        plane->leases[CONTROL_CONTROLLERS].acquired_ms = plane->now_ms;
        pass(plane, MINUTE);
    }
    pass(plane, 6 * MINUTE);
    assert_string_equal(open_reason(plane), "restarting");
    plane_release(plane);
}

/* The Lease could not be read for an hour, and its holder is new for 50 minutes. */
TEST(a_new_holder_is_new_since_its_acquire_time)
{
    struct plane *plane = new_plane(CONTROL_CONTROLLERS);

    add_templates(plane, 9, 3);
    pass(plane, HOUR);
    plane->leases[CONTROL_CONTROLLERS].exists = false;
    pass(plane, 10 * MINUTE);
    take_lease(plane);
    pass(plane, 50 * MINUTE);
    plane->leases[CONTROL_CONTROLLERS].exists = true;
    make_all_due(plane);
    pass(plane, 13 * MINUTE);
    assert_string_equal(open_reason(plane), "no_progress");
    plane_release(plane);
}

/* Its clock is behind: the Lease seems to be acquired before the read that showed another holder.
 */
TEST(a_new_holder_is_not_older_than_the_last_read)
{
    struct plane *plane = new_plane(CONTROL_CONTROLLERS);

    add_templates(plane, 9, 3);
    pass(plane, HOUR);
    make_all_due(plane);
    take_lease(plane);
    plane->leases[CONTROL_CONTROLLERS].acquired_ms -= 30 * MINUTE;
    pass(plane, 18 * MINUTE);
    assert_int_equal(opened(plane), 0);
    plane_release(plane);
}

TEST(a_gap_between_two_reads_of_a_lease_proves_nothing)
{
    struct plane *plane = new_plane(CONTROL_CONTROLLERS);

    plane->leases[CONTROL_CONTROLLERS].renewed = false;
    pass(plane, MINUTE);
    /* Neither the exporter nor Karmada reached the API server. */
    plane->leases[CONTROL_CONTROLLERS].exists = false;
    pass(plane, 10 * MINUTE);
    plane->leases[CONTROL_CONTROLLERS].exists = true;
    pass(plane, MINUTE);
    assert_int_equal(controller_progress_reason(plane->progress, CONTROL_CONTROLLERS),
                     PROBLEM_REASON_COUNT);
    pass(plane, 2 * MINUTE);
    assert_int_equal(controller_progress_reason(plane->progress, CONTROL_CONTROLLERS),
                     PROBLEM_REASON_CONTROLLERS_STUCK_NOT_RUNNING);
    plane_release(plane);
}

TEST(odd_values_of_a_lease_do_not_open)
{
    static const char *const holders[] = {"", "a", "b"};
    static const int64_t times[] = {0,         -1,        INT64_C(-2177452800000),
                                    INT64_MIN, INT64_MAX, INT64_C(1767225600000)};
    struct plane *plane = new_plane(CONTROL_CONTROLLERS);
    int64_t due_ms = INT64_MAX;

    for (unsigned i = 0; i < 108; i++) {
        plane->now_ms += SECOND;
        controller_progress_lease(plane->progress, CONTROL_CONTROLLERS, holders[i / 36],
                                  times[i % 6], times[i / 6 % 6], plane->now_ms);
        controller_progress_evaluate(plane->progress, plane->now_ms, &due_ms);
        assert_int_equal(controller_progress_reason(plane->progress, CONTROL_CONTROLLERS),
                         PROBLEM_REASON_COUNT);
    }
    plane_release(plane);
}

/* ---- cost ---- */

TEST(a_template_without_work_keeps_no_memory)
{
    struct plane *plane = new_plane(CONTROL_CONTROLLERS);

    add_templates(plane, 100, 1);
    make_all_due(plane);
    for (size_t i = 0; i < plane->count; i++)
        assert_int_equal(plane->templates[i]->pins, 1);
    for (size_t i = 0; i < plane->count; i++)
        process(plane, i);
    run(plane);
    for (size_t i = 0; i < plane->count; i++)
        assert_int_equal(plane->templates[i]->pins, 0);
    assert_true(plane->due_ms - plane->now_ms > 80 * SECOND);
    plane_release(plane);
}

TEST(an_event_about_a_template_without_work_keeps_no_memory)
{
    struct plane *plane = new_plane(CONTROL_CONTROLLERS);

    add_templates(plane, 100, 1);
    for (size_t i = 0; i < 50 * plane->count; i++)
        refuse(plane, i % plane->count);
    run(plane);
    assert_int_equal(plane->templates[7]->pins, 0);
    assert_false(controller_progress_is_refused(plane->progress, plane->templates[7]));
    assert_true(plane->due_ms - plane->now_ms > 80 * SECOND);
    plane_release(plane);
}
