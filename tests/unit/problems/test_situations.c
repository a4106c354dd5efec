/* SPDX-License-Identifier: Apache-2.0 */
/* Stories of tests/alerts/SITUATIONS.md: templates over hours, and the problems that open. */
#include "metrics/base/timestamp.h"
#include "metrics/rules/engine.h"
#include "metrics/rules/problems/problem_list.h"
#include "tests/unit/reading.h"
#include "tests/unit/suite.h"
#include "tests/unit/world_format.h"

enum { SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, DAY = 24 * HOUR };
enum { TEXT_MAX = 1 << 16 };

/* 2026-01-10T00:00:00Z */
static const int64_t START_MS = INT64_C(1768003200000);

#define ID "'propagationpolicy.karmada.io/permanent-id':'id'"
#define CLAIM                                                                                      \
    "'labels':{" ID "},'annotations':{'propagationpolicy.karmada.io/namespace':'a',"               \
    "'propagationpolicy.karmada.io/name':'p'}"
#define CREATED "'creationTimestamp':'2026-01-01T00:00:00Z'"

/* A policy p that selects all Deployments of the namespace a, judged from START_MS on. */
struct lab {
    struct world world;
    struct problems *problems;
    int64_t now_ms;
};

/* Writes the policy now, with a placement and other fields. */
static void put_policy(struct lab *lab, const char *placement, const char *more)
{
    char time[32];

    format_timestamp(lab->now_ms, time);
    world_put_format(
        &lab->world,
        "{'apiVersion':'policy.karmada.io/v1alpha1','kind':'PropagationPolicy','metadata':{"
        "'name':'p','namespace':'a','labels':{" ID "}," CREATED ",'managedFields':[{"
        "'manager':'kubectl','operation':'Update','time':'%s','fieldsType':'FieldsV1',"
        "'fieldsV1':{'f:spec':{'f:x':{}}}}]},'spec':{'resourceSelectors':[{'apiVersion':'apps/v1',"
        "'kind':'Deployment'}],'placement':%s%s}}",
        time, placement, more);
}

static void put_template(struct lab *lab, unsigned number)
{
    world_put_format(
        &lab->world,
        "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'web-%u','namespace':'a',"
        "'uid':'u-%u','resourceVersion':'7'," CREATED "," CLAIM "},'spec':{'replicas':2}}",
        number, number);
}

/* Writes the binding of a template; spec and status are members. */
static void put_binding(struct lab *lab, unsigned number, const char *spec, const char *status)
{
    world_put_format(
        &lab->world,
        "{'apiVersion':'work.karmada.io/v1alpha2','kind':'ResourceBinding','metadata':{"
        "'name':'web-%u-deployment','namespace':'a','uid':'b-%u'," CLAIM
        "},'spec':{'resource':{'apiVersion':'apps/v1','kind':'Deployment','namespace':'a',"
        "'name':'web-%u','uid':'u-%u','resourceVersion':'7'},'replicas':2%s},'status':{%s}}",
        number, number, number, number, spec, status);
}

#define ANYWHERE ",'placement':{}"
#define ON_M1    ",'clusters':[{'name':'m1','replicas':2}]"
#define PLACED                                                                                     \
    "'lastScheduledTime':'2026-01-05T00:00:00Z','conditions':[{'type':'Scheduled','status':"       \
    "'True','reason':'Success'}]"
#define GOOD PLACED ",'aggregatedStatus':[{'clusterName':'m1','applied':true,'health':'Healthy'}]"
#define UNHEALTHY                                                                                  \
    PLACED ",'aggregatedStatus':[{'clusterName':'m1','applied':true,'health':'Unhealthy'}]"
#define REFUSED                                                                                    \
    PLACED ",'aggregatedStatus':[{'clusterName':'m1','applied':false,'appliedMessage':'denied'}]"
#define NO_FIT "'conditions':[{'type':'Scheduled','status':'False','reason':'NoClusterFit'}]"

static void put_good_binding(struct lab *lab, unsigned number)
{
    put_binding(lab, number, ANYWHERE ON_M1, GOOD);
}

/* Fits no member cluster and never did. */
static void put_unfit_binding(struct lab *lab, unsigned number)
{
    put_binding(lab, number, ANYWHERE, NO_FIT);
}

/* Fitted before. */
static void put_lost_binding(struct lab *lab, unsigned number)
{
    put_binding(lab, number, ANYWHERE, "'lastScheduledTime':'2026-01-05T00:00:00Z'," NO_FIT);
}

static void put_refused_binding(struct lab *lab, unsigned number)
{
    put_binding(lab, number, ANYWHERE ON_M1, REFUSED);
}

/* The target waits for Karmada. */
static void put_undelivered_binding(struct lab *lab, unsigned number)
{
    put_binding(lab, number, ANYWHERE ON_M1, PLACED);
}

/*
 * Evicts the copy on m2, which is the last one unless `spec` has a target; the task begins now and
 * may take `grace_s` seconds.
 */
static void put_eviction(struct lab *lab, unsigned number, unsigned grace_s, const char *spec,
                         const char *status)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);
    char time[32];

    format_timestamp(lab->now_ms, time);
    strbuf_addf(&text,
                ANYWHERE "%s,'gracefulEvictionTasks':[{'fromCluster':'m2','gracePeriodSeconds':%u,"
                         "'creationTimestamp':'%s'}]",
                spec, grace_s, time);
    put_binding(lab, number, text.data, status);
}

static void pass(struct lab *lab, int64_t ms)
{
    world_pass(&lab->world, &lab->now_ms, ms);
}

/* Templates that the policy governs, delivered to m1. */
static struct lab lab_with(unsigned templates)
{
    struct problem_options options = {.history_limit = 10};
    struct lab lab = {.now_ms = START_MS};

    problem_settings_reset(&options.settings);
    world_init(&lab.world, &rules_options_default, 1);
    put_policy(&lab, "{}", "");
    world_put_cluster(&lab.world, "m1", true, lab.now_ms);
    world_put_cluster(&lab.world, "m2", true, lab.now_ms);
    for (unsigned i = 0; i < templates; i++) {
        put_template(&lab, i);
        put_good_binding(&lab, i);
    }
    world_run(&lab.world, lab.now_ms);
    engine_judge_problems(lab.world.engine, &options);
    lab.problems = engine_problems(lab.world.engine);
    pass(&lab, HOUR);
    return lab;
}

/* Fails unless these problems are open: "problem/reason name" joined by ", ". */
static void assert_open(const struct lab *lab, const char *expected)
{
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(TEXT_MAX);
    const struct problem **list;
    size_t count;

    list = problems_list(lab->problems, 1U << PROBLEM_OPEN, &count);
    for (size_t i = 0; i < count; i++)
        strbuf_addf(&out, "%s%s/%s %s", i ? ", " : "", problem_names[problem_id(list[i])],
                    problem_reasons[list[i]->reason].name, problem_name(list[i]));
    free(list);
    assert_text(out.data ? out.data : "", expected);
}

/* Openings of all problems. */
static unsigned openings(const struct lab *lab)
{
    uint64_t count = 0;

    for (unsigned i = 0; i < PROBLEM_COUNT; i++)
        count += problems_opened_total(lab->problems, (enum problem_id)i);
    return (unsigned)count;
}

/* ---- placements ---- */

TEST(a_typo_in_a_cluster_name_is_a_warning_after_ten_minutes)
{
    static const char typo[] = "{'clusterAffinity':{'clusterNames':['menber1']}}";
    struct lab lab = lab_with(0);

    put_policy(&lab, typo, "");
    put_template(&lab, 0);
    put_binding(&lab, 0, ",'placement':{'clusterAffinity':{'clusterNames':['menber1']}}", NO_FIT);
    pass(&lab, 10 * MINUTE - 1);
    assert_open(&lab, "");
    pass(&lab, 1);
    assert_open(&lab, "not_scheduled/no_cluster_fit web-0");
    assert_int_equal(problem_severity(lab.problems, PROBLEM_NOT_SCHEDULED), SEVERITY_WARNING);
    pass(&lab, DAY);
    assert_int_equal(problems_opened_total(lab.problems, PROBLEM_PLACEMENT_LOST), 0);
    world_release(&lab.world);
}

/*
 * For four hours ten new templates at a time are in a state that `begin` writes, each for eight
 * minutes, beside web-60, which stays in it. Only its problem opens, after ten minutes.
 */
static void check_flow(void (*begin)(struct lab *lab, unsigned number), const char *problem)
{
    struct lab lab = lab_with(60);

    for (unsigned i = 0; i < 300; i++) {
        put_template(&lab, 60 + i);
        begin(&lab, 60 + i);
        if (i > 10)
            put_good_binding(&lab, 60 + i - 10);
        pass(&lab, 48 * SECOND);
        assert_open(&lab, (i + 1) * 48 < 600 ? "" : problem);
    }
    assert_int_equal(openings(&lab), 1);
    world_release(&lab.world);
}

TEST(a_flow_of_templates_that_fit_nowhere_opens_only_what_stays)
{
    check_flow(put_unfit_binding, "not_scheduled/no_cluster_fit web-60");
}

TEST(a_flow_of_templates_that_are_not_applied_opens_only_what_stays)
{
    check_flow(put_refused_binding, "not_delivered/refused web-60");
}

TEST(a_flow_of_deliveries_does_not_hide_a_stuck_one)
{
    check_flow(put_undelivered_binding, "not_delivered/waiting web-60");
}

/*
 * For two hours, `begin` makes the condition of the problem hold for three minutes, and not for
 * two. Asserts that the problem opens once, and ends after the resolve delay.
 */
static void check_flapping(void (*begin)(struct lab *lab, unsigned number), enum problem_id problem)
{
    struct lab lab = lab_with(1);

    for (unsigned i = 0; i < 24; i++) {
        begin(&lab, 0);
        pass(&lab, 3 * MINUTE);
        put_good_binding(&lab, 0);
        pass(&lab, 2 * MINUTE);
    }
    assert_int_equal(problems_opened_total(lab.problems, problem), 1);
    assert_int_equal(openings(&lab), 1);
    assert_int_equal(problems_resolved_total(lab.problems, problem), 0);
    pass(&lab, 3 * MINUTE);
    assert_int_equal(problems_resolved_total(lab.problems, problem), 1);
    world_release(&lab.world);
}

static void evict_last_copy(struct lab *lab, unsigned number)
{
    put_eviction(lab, number, 600, "", NO_FIT);
}

TEST(a_placement_that_flaps_is_lost_once)
{
    check_flapping(put_lost_binding, PROBLEM_PLACEMENT_LOST);
}

TEST(a_last_copy_that_flaps_is_one_problem)
{
    check_flapping(evict_last_copy, PROBLEM_LAST_COPY_AT_RISK);
}

TEST(a_suspended_template_does_not_hide_one_that_waits)
{
    struct lab lab = lab_with(0);

    put_template(&lab, 0);
    put_binding(&lab, 0, ANYWHERE ",'suspension':{'scheduling':true}", NO_FIT);
    pass(&lab, DAY - 10 * MINUTE);
    put_template(&lab, 1);
    put_binding(&lab, 1, ANYWHERE, "'conditions':[]");
    pass(&lab, 10 * MINUTE - 1);
    assert_open(&lab, "");
    pass(&lab, 1);
    assert_open(&lab, "not_scheduled/waiting web-1, change_suspended/ web-0");
    world_release(&lab.world);
}

/* ---- policies ---- */

TEST(a_lazy_fleet_is_an_item_of_the_review_after_seven_days)
{
    struct lab lab = lab_with(40);

    put_policy(&lab, "{}", ",'activationPreference':'Lazy','conflictResolution':'Overwrite'");
    pass(&lab, 7 * DAY - 1);
    assert_int_equal(openings(&lab), 0);
    pass(&lab, 1);
    assert_int_equal(problems_opened_total(lab.problems, PROBLEM_DEFERRED_TOO_LONG), 40);
    assert_int_equal(openings(&lab), 40);
    assert_int_equal(problem_severity(lab.problems, PROBLEM_DEFERRED_TOO_LONG), SEVERITY_INFO);
    world_release(&lab.world);
}

TEST(a_burst_of_deferred_changes_that_is_applied_in_time_opens_nothing)
{
    struct lab lab = lab_with(500);

    put_policy(&lab, "{}", ",'activationPreference':'Lazy','conflictResolution':'Overwrite'");
    pass(&lab, 6 * DAY);
    for (unsigned i = 0; i < 500; i++)
        put_binding(&lab, i, ANYWHERE ON_M1 ",'conflictResolution':'Overwrite'", GOOD);
    pass(&lab, 7 * DAY);
    assert_int_equal(openings(&lab), 0);
    world_release(&lab.world);
}

/* Ten templates a minute. If Karmada stops, its controllers are the problem, and hide the rest. */
TEST(a_long_rollout_opens_nothing_until_it_stands_still)
{
    struct lab lab = lab_with(600);

    put_policy(&lab, "{}", ",'conflictResolution':'Overwrite'");
    for (unsigned i = 0; i < 400; i++) {
        put_binding(&lab, i, ANYWHERE ON_M1 ",'conflictResolution':'Overwrite'", GOOD);
        pass(&lab, 6 * SECOND);
    }
    pass(&lab, 12 * MINUTE);
    assert_int_equal(openings(&lab), 0);
    pass(&lab, MINUTE);
    assert_open(&lab, "controllers_stuck/no_progress " CONTROLLER_COMPONENT);
    pass(&lab, HOUR);
    assert_int_equal(openings(&lab), 1);
    world_release(&lab.world);
}

TEST(nineteen_short_bursts_of_drift_in_an_hour_open_nothing)
{
    struct lab lab = lab_with(200);

    for (unsigned i = 0; i < 19; i++) {
        const char *resolution = i % 2 ? "'Abort'" : "'Overwrite'";
        char more[64];

        snprintf(more, sizeof(more), ",'conflictResolution':%s", resolution);
        put_policy(&lab, "{}", more);
        pass(&lab, 2 * MINUTE);
        for (unsigned k = 0; k < 200; k++) {
            char spec[128];

            snprintf(spec, sizeof(spec), ANYWHERE ON_M1 "%s", more);
            put_binding(&lab, k, spec, GOOD);
        }
        pass(&lab, 70 * SECOND);
    }
    assert_int_equal(openings(&lab), 0);
    /* One that stays is a problem of the controllers. */
    put_policy(&lab, "{}", ",'conflictResolution':'Abort'");
    pass(&lab, 13 * MINUTE - 1);
    assert_int_equal(openings(&lab), 0);
    pass(&lab, 1);
    assert_open(&lab, "controllers_stuck/no_progress " CONTROLLER_COMPONENT);
    world_release(&lab.world);
}

/* ---- capacity ---- */

/* A member cluster with 8 of 10 cores in use. */
static void put_full_cluster(struct lab *lab, const char *name)
{
    world_put_format(
        &lab->world,
        "{'apiVersion':'cluster.karmada.io/v1alpha1','kind':'Cluster','metadata':{'name':'%s'},"
        "'status':{'conditions':[{'type':'Ready','status':'True'}],'resourceSummary':{"
        "'allocatable':{'cpu':'10','pods':'100'},'allocated':{'cpu':'8','pods':'20'}}}}",
        name);
}

/* A Lazy policy and its template with 4 cores, which runs on `from`. */
static void put_move(struct lab *lab, const char *name, const char *from, const char *to)
{
    world_put_format(
        &lab->world,
        "{'apiVersion':'policy.karmada.io/v1alpha1','kind':'PropagationPolicy','metadata':{"
        "'name':'%s','namespace':'b','labels':{'propagationpolicy.karmada.io/"
        "permanent-id':'%s'}," CREATED
        "},'spec':{'resourceSelectors':[{'apiVersion':'apps/v1','kind':'Deployment',"
        "'name':'%s'}],'activationPreference':'Lazy','placement':{'clusterAffinity':{"
        "'clusterNames':['%s']}}}}",
        name, name, name, to);
    world_put_format(
        &lab->world,
        "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'%s','namespace':'b',"
        "'uid':'%s','resourceVersion':'7'," CREATED ",'labels':{"
        "'propagationpolicy.karmada.io/permanent-id':'%s'},'annotations':{"
        "'propagationpolicy.karmada.io/namespace':'b','propagationpolicy.karmada.io/name':'%s'}}}",
        name, name, name, name);
    world_put_format(
        &lab->world,
        "{'apiVersion':'work.karmada.io/v1alpha2','kind':'ResourceBinding','metadata':{'name':"
        "'%s-deployment','namespace':'b','labels':{'propagationpolicy.karmada.io/permanent-id':"
        "'%s'},'annotations':{'propagationpolicy.karmada.io/namespace':'b',"
        "'propagationpolicy.karmada.io/name':'%s'}},'spec':{'resource':{'apiVersion':'apps/v1',"
        "'kind':'Deployment','namespace':'b','name':'%s','uid':'%s','resourceVersion':'7'},"
        "'replicas':2,'placement':{'clusterAffinity':{'clusterNames':['%s']}},'clusters':[{"
        "'name':'%s','replicas':2}],'replicaRequirements':{'resourceRequest':{'cpu':'2'}}},"
        "'status':{" PLACED ",'aggregatedStatus':[{'clusterName':'%s','applied':true,"
        "'health':'Healthy'}]}}",
        name, name, name, name, name, from, from, from);
}

TEST(clusters_that_swap_templates_have_the_room)
{
    struct lab lab = lab_with(0);

    put_full_cluster(&lab, "m1");
    put_full_cluster(&lab, "m2");
    put_move(&lab, "one", "m1", "m2");
    put_move(&lab, "two", "m2", "m1");
    pass(&lab, DAY);
    assert_int_equal(problems_opened_total(lab.problems, PROBLEM_DRIFT_EXCEEDS_CAPACITY), 0);
    /* Without the other, 4 cores arrive at 2 that are free. */
    put_move(&lab, "two", "m2", "m2");
    pass(&lab, 30 * MINUTE - 1);
    assert_int_equal(problems_opened_total(lab.problems, PROBLEM_DRIFT_EXCEEDS_CAPACITY), 0);
    pass(&lab, 1);
    assert_int_equal(problems_opened_total(lab.problems, PROBLEM_DRIFT_EXCEEDS_CAPACITY), 1);
    world_release(&lab.world);
}

/* ---- delivery ---- */

TEST(a_member_cluster_that_is_down_is_one_problem)
{
    struct lab lab = lab_with(60);

    world_put_cluster(&lab.world, "m1", false, lab.now_ms);
    for (unsigned i = 0; i < 60; i++)
        put_binding(&lab, i, ANYWHERE ON_M1, i % 2 ? UNHEALTHY : PLACED);
    pass(&lab, 5 * MINUTE - 1);
    assert_open(&lab, "");
    pass(&lab, 1);
    assert_open(&lab, "member_cluster_unavailable/not_ready m1");
    pass(&lab, 6 * HOUR);
    assert_open(&lab, "member_cluster_unavailable/not_ready m1");
    assert_int_equal(openings(&lab), 1);
    world_release(&lab.world);
}

/* Each eviction ends after 14 of its 30 minutes, when its replacement is healthy. */
TEST(a_drain_opens_nothing_unless_evictions_last)
{
    struct lab lab = lab_with(400);

    for (unsigned i = 0; i < 400; i++) {
        put_eviction(&lab, i, 1800, ON_M1, GOOD);
        if (i >= 140)
            put_good_binding(&lab, i - 140);
        pass(&lab, 6 * SECOND);
    }
    assert_int_equal(openings(&lab), 0);
    /* The evictions that do not end open after half of their time. */
    pass(&lab, 30 * MINUTE);
    assert_int_equal(problems_opened_total(lab.problems, PROBLEM_EVICTION_STUCK), 140);
    world_release(&lab.world);
}

/* A task is due after five minutes, and has a patience of one. */
TEST(each_eviction_of_a_template_opens_if_it_lasts)
{
    struct lab lab = lab_with(1);

    for (unsigned i = 0; i < 10; i++) {
        put_eviction(&lab, 0, 600, ON_M1, GOOD);
        pass(&lab, 6 * MINUTE - 1);
        assert_int_equal(problems_opened_total(lab.problems, PROBLEM_EVICTION_STUCK), i);
        pass(&lab, 1);
        assert_int_equal(problems_opened_total(lab.problems, PROBLEM_EVICTION_STUCK), i + 1);
        assert_open(&lab, "eviction_stuck/replacing web-0");
        pass(&lab, 2 * MINUTE);
        put_good_binding(&lab, 0);
        pass(&lab, MINUTE);
    }
    assert_int_equal(openings(&lab), 10);
    world_release(&lab.world);
}

/* From one warning of delivery to the other every four minutes. */
TEST(a_template_that_moves_between_stages_opens_by_its_first_warning)
{
    struct lab lab = lab_with(1);
    int64_t begin_ms = lab.now_ms;

    put_refused_binding(&lab, 0);
    pass(&lab, 4 * MINUTE);
    put_binding(&lab, 0, ANYWHERE ON_M1, NO_FIT);
    pass(&lab, 4 * MINUTE);
    put_refused_binding(&lab, 0);
    pass(&lab, 2 * MINUTE - 1);
    assert_open(&lab, "");
    pass(&lab, 1);
    assert_open(&lab, "not_delivered/refused web-0");
    assert_int_equal(openings(&lab), 1);

    const struct problem *p =
        problems_of(lab.problems, world_find(&lab.world, "apps/v1", "Deployment", "a", "web-0"));
    assert_true(p->since_ms == begin_ms);
    world_release(&lab.world);
}
