/* SPDX-License-Identifier: Apache-2.0 */
/* Stages of bindings with members of a wrong type, many clusters, or unusual times. */
#include "metrics/base/timestamp.h"
#include "metrics/expose/report.h"
#include "metrics/model/store.h"
#include "metrics/rules/delivery.h"
#include "tests/unit/page.h"
#include "tests/unit/reading.h"
#include "tests/unit/suite.h"

enum { CLUSTERS = 500, FAILED_CLUSTER = 250, TEXT_MAX = 4 << 20 };

#define NOW "2026-01-02T00:00:00Z"
#define ID  "'propagationpolicy.karmada.io/permanent-id':'id'"
#define CLAIM                                                                                      \
    "'labels':{" ID "},'annotations':{'propagationpolicy.karmada.io/namespace':'a',"               \
    "'propagationpolicy.karmada.io/name':'p'}"
#define POLICY                                                                                     \
    "{'apiVersion':'policy.karmada.io/v1alpha1','kind':'PropagationPolicy','metadata':{"           \
    "'name':'p','namespace':'a','labels':{" ID "}},'spec':{'resourceSelectors':[{"                 \
    "'apiVersion':'apps/v1','kind':'Deployment'}],'placement':{}}}"
#define TEMPLATE(name, metadata)                                                                   \
    "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'namespace':'a','name':'" name        \
    "','generation':3" metadata "},'spec':{'replicas':2}}"
#define BINDING(name, spec, status)                                                                \
    "{'apiVersion':'work.karmada.io/v1alpha2','kind':'ResourceBinding','metadata':{"               \
    "'namespace':'a','name':'" name "-deployment','generation':7," CLAIM                           \
    "},'spec':{'resource':{'apiVersion':'apps/"                                                    \
    "v1','kind':'Deployment','namespace':'a','name':'" name "'},'replicas':2,'placement':{}" spec  \
    "},'status':{" status "}}"
#define OBSERVED "'schedulerObservedGeneration':7"
#define SCHEDULED(status, more)                                                                    \
    OBSERVED ",'conditions':[{'type':'Scheduled','status':'" status "'" more "}]"

static int64_t ms_of(const char *time)
{
    int64_t ms;

    assert_true(parse_timestamp(time, &ms));
    return ms;
}

static void put(struct world *w, const char *text)
{
    CLEANUP(json_cleanup) cJSON *json = json_of(text);

    world_put(w, json);
}

/* A world, and the registry of its series. */
struct lab {
    struct world world;
    struct registry *series;
};

static void lab_init(struct lab *lab)
{
    world_init(&lab->world, &rules_options_default, 1);
    lab->series = page_registry(&lab->world, &registry_options_default);
}

static void lab_release(struct lab *lab)
{
    registry_free(lab->series);
    world_release(&lab->world);
}

static void lab_run(struct lab *lab)
{
    world_run(&lab->world, ms_of(NOW));
}

static struct entry *find_web(const struct lab *lab)
{
    return world_find(&lab->world, "apps/v1", "Deployment", "a", "web");
}

static void add_stage_and_reason(struct strbuf *out, struct stage_and_reason at)
{
    strbuf_addf(out, "%s%s%s", stage_names[at.stage], at.reason != WHY_NONE ? " " : "",
                stage_reason_names[at.reason]);
}

/* Writes "delivery 'message' | target: stage 'message' | ..." of the template "web". */
static void write_stages(const struct lab *lab, struct strbuf *out)
{
    struct template_decision *d = entry_decision(find_web(lab));
    const struct binding *b = entry_binding(decision_binding(d));
    const char *message = engine_delivery_message(lab->world.engine, find_web(lab));

    add_stage_and_reason(out, d->stages.delivery);
    if (*message)
        strbuf_addf(out, " '%s'", message);
    for (uint32_t i = 0; i < d->target_count; i++) {
        strbuf_addf(out, " | %s: ", b->clusters[i].name);
        add_stage_and_reason(out, decision_targets(d)[i]);
        message = engine_target_message(lab->world.engine, find_web(lab), i);
        if (*message)
            strbuf_addf(out, " '%s'", message);
    }
}

static cJSON *report_of(const struct lab *lab)
{
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(TEXT_MAX);
    struct error err;
    cJSON *report;

    report_write(lab->world.engine, NULL, &out);
    assert_true(strbuf_ok(&out));
    report = json_parse(out.data, out.len, NULL, &err);
    assert_non_null(report);
    return report;
}

/* Returns the row of the template "web", which is the first in the report. */
static const cJSON *row_of_web(const cJSON *report)
{
    return json_get(report, "templates")->child;
}

/* ---- members of a wrong type ---- */

/* The cluster m1 is up to date and healthy; the cluster m2 still runs an older generation. */
static const char typed[] =
    BINDING("web", ",'clusters':[{'name':'m1','replicas':2},{'name':'m2','replicas':2}]",
            SCHEDULED("True", "") ",'aggregatedStatus':["
                                  "{'clusterName':'m1','applied':true,'health':'Healthy',"
                                  "'status':{'resourceTemplateGeneration':3}},"
                                  "{'clusterName':'m2','applied':true,'health':'Healthy',"
                                  "'status':{'resourceTemplateGeneration':2}}]");

#define UNCHANGED             "undelivered waiting | m1: healthy | m2: undelivered waiting"
#define NO_ITEMS              "undispatched waiting | m1: undispatched waiting | m2: undispatched waiting"
#define NO_ITEM_M2            "undispatched waiting | m1: healthy | m2: undispatched waiting"
#define NO_CONDITION          "unscheduled waiting | m1: healthy | m2: undelivered waiting"
#define NO_STATUS             "unscheduled waiting | m1: undispatched waiting | m2: undispatched waiting"
#define FALSE_CONDITION(rest) "[{'type':'Scheduled','status':'False'" rest "}]"

static const struct type_case {
    const char *name;
    const char *path;
    const char *value;
    const char *expected;
} type_cases[] = {
    {"all types are correct", "status.another", "7", UNCHANGED},
    {"a text for the status", "status", "'x'", NO_STATUS},
    {"a list for the status", "status", "[{'conditions':[]}]", NO_STATUS},
    {"an object for the conditions", "status.conditions",
     "{'a':{'type':'Scheduled','status':'True'}}", NO_CONDITION},
    {"conditions of all types", "status.conditions",
     "[7,'x',null,[],{'type':7},{'type':'Scheduled','status':'True'}]", UNCHANGED},
    {"a boolean for a condition's status", "status.conditions[0].status", "true",
     "unscheduled other | m1: healthy | m2: undelivered waiting"},
    {"a number for a reason", "status.conditions", FALSE_CONDITION(",'reason':7"),
     "unscheduled other | m1: healthy | m2: undelivered waiting"},
    {"an object for a message", "status.conditions",
     FALSE_CONDITION(",'reason':'NoClusterFit','message':{'a':'b'}"),
     "unscheduled no_cluster_fit | m1: healthy | m2: undelivered waiting"},
    {"a number for a time", "status.conditions[0].lastTransitionTime", "1767312000", UNCHANGED},
    {"a number for the last success", "status.lastScheduledTime", "1767312000", UNCHANGED},
    {"a number for a rebalance", "spec.rescheduleTriggeredAt", "1767312000", UNCHANGED},
    {"a text for a generation", "status.schedulerObservedGeneration", "'7'", UNCHANGED},
    {"an object for the items", "status.aggregatedStatus",
     "{'a':{'clusterName':'m1','applied':true,'health':'Healthy'}}", NO_ITEMS},
    {"a text for an item", "status.aggregatedStatus[1]", "'m2'", NO_ITEM_M2},
    {"a list for an item", "status.aggregatedStatus[1]", "['m2']", NO_ITEM_M2},
    {"a number for a cluster's name", "status.aggregatedStatus[1].clusterName", "2", NO_ITEM_M2},
    {"a text for applied", "status.aggregatedStatus[1].applied", "'true'", NO_ITEM_M2},
    {"a number for applied", "status.aggregatedStatus[1].applied", "1", NO_ITEM_M2},
    {"an object for appliedMessage", "status.aggregatedStatus[1]",
     "{'clusterName':'m2','appliedMessage':{'a':'b'}}", NO_ITEM_M2},
    {"a number for health", "status.aggregatedStatus[0].health", "1",
     "undelivered waiting | m1: unhealthy unknown | m2: undelivered waiting"},
    {"a string for the status of the cluster", "status.aggregatedStatus[1].status", "'x'",
     "healthy | m1: healthy | m2: healthy"},
    {"a text for the template's generation",
     "status.aggregatedStatus[1].status.resourceTemplateGeneration", "'2'",
     "healthy | m1: healthy | m2: healthy"},
    {"a fractional generation", "status.aggregatedStatus[1].status.resourceTemplateGeneration",
     "2.5", "healthy | m1: healthy | m2: healthy"},
    {"a negative generation", "status.aggregatedStatus[1].status.resourceTemplateGeneration", "-1",
     "healthy | m1: healthy | m2: healthy"},
    {"a generation of 1e300", "status.aggregatedStatus[1].status.resourceTemplateGeneration",
     "1e300", "healthy | m1: healthy | m2: healthy"},
    {"an object for the tasks", "spec.gracefulEvictionTasks", "{'a':{'fromCluster':'m3'}}",
     UNCHANGED},
    {"tasks that are no objects", "spec.gracefulEvictionTasks", "[7,'m3',null,['m3']]", UNCHANGED},
    {"a task of other types", "spec.gracefulEvictionTasks",
     "[7,{'fromCluster':3,'reason':{},'producer':[],'creationTimestamp':7,'purgeMode':1,"
     "'gracePeriodSeconds':'60','suppressDeletion':'true'}]",
     "evicting replacing | m1: healthy | m2: undelivered waiting"},
    {"an object for names", "spec.suspension",
     "{'dispatchingOnClusters':{'clusterNames':{'a':'m2'}}}", UNCHANGED},
    {"names of other types", "spec.suspension",
     "{'dispatchingOnClusters':{'clusterNames':[2,null,['m2'],{'m2':'m2'}]}}", UNCHANGED},
    {"an object for the clusters of a referrer", "spec.requiredBy",
     "[{'namespace':'a','name':'x','clusters':{'a':{'name':'m9'}}}]", UNCHANGED},
};

TEST_ROWS(member_of_a_wrong_type_counts_as_absent, type_cases, name)
{
    const struct type_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf stages = STRBUF_INIT(TEXT_MAX);
    CLEANUP(json_cleanup) cJSON *binding = json_of(typed);
    struct lab lab;

    lab_init(&lab);
    json_put(binding, c->path, json_of(c->value));
    put(&lab.world, POLICY);
    put(&lab.world, TEMPLATE("web", "," CLAIM));
    world_put(&lab.world, binding);
    lab_run(&lab);
    write_stages(&lab, &stages);
    assert_string_equal(stages.data, c->expected);
    lab_release(&lab);
}

/* ---- values that Karmada does not define ---- */

#define ONE_CLUSTER ",'clusters':[{'name':'m1','replicas':2}]"

static const struct word_case {
    const char *name;
    const char *binding;
    const char *series; /* Labels in the families by stage and reason. */
} word_cases[] = {
    {"an undefined reason",
     BINDING("web", "", SCHEDULED("False", ",'reason':'Tuesday','message':'it is Tuesday'")),
     "{stage=\"unscheduled\",reason=\"other\"}"},
    {"no reason", BINDING("web", "", SCHEDULED("False", "")),
     "{stage=\"unscheduled\",reason=\"other\"}"},
    {"an undefined health",
     BINDING("web", ONE_CLUSTER,
             SCHEDULED("True", "") ",'aggregatedStatus':[{'clusterName':'m1','applied':true,"
                                   "'health':'Splendid'}]"),
     "{stage=\"unhealthy\",reason=\"other\"}"},
    {"any message of a failed apply",
     BINDING("web", ONE_CLUSTER,
             SCHEDULED("True", "") ",'aggregatedStatus':[{'clusterName':'m1',"
                                   "'appliedMessage':'it is Tuesday'}]"),
     "{stage=\"unapplied\",reason=\"refused\"}"},
};

TEST_ROWS(undefined_value_is_counted, word_cases, name)
{
    static const char *const families[] = {"karmada_templates_stage", "karmada_templates_delivery"};
    const struct word_case *c = *state;
    struct lab lab;

    lab_init(&lab);
    put(&lab.world, POLICY);
    put(&lab.world, TEMPLATE("web", "," CLAIM));
    put(&lab.world, c->binding);
    lab_run(&lab);
    CLEANUP(free_cleanup) char *page = page_of(lab.series);
    for (size_t i = 0; i < ARRAY_LEN(families); i++) {
        char series[256];

        snprintf(series, sizeof(series), "%s%s", families[i], c->series);
        page_has(page, series, "1");
    }
    lab_release(&lab);
}

/* The series exist with the value 0, so that queries can detect an increase from 0. */
TEST(each_stage_with_reasons_has_the_reason_other)
{
    struct lab lab;

    lab_init(&lab);
    lab_run(&lab);
    CLEANUP(free_cleanup) char *page = page_of(lab.series);
    for (unsigned stage = 0; stage < STAGE_COUNT; stage++) {
        char series[256];

        if (stage == STAGE_HEALTHY)
            continue;
        snprintf(series, sizeof(series), "karmada_templates_stage{stage=\"%s\",reason=\"other\"}",
                 stage_names[stage]);
        page_has(page, series, "0");
    }
    lab_release(&lab);
}

/* ---- many clusters ---- */

/* Beginning of a binding; put_on_many() appends the clusters and the status. */
#define BEGUN(name) BINDING(name, ",'clusters':[", "")

/* Puts a binding with CLUSTERS clusters in descending order, and a status in ascending order. */
static void put_on_many(struct world *w, const char *begun, bool refused)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);

    strbuf_addf(&text, "%.*s", (int)(strlen(begun) - strlen("},'status':{}}")), begun);
    for (unsigned i = CLUSTERS; i-- > 0;)
        strbuf_addf(&text, "{'name':'c%03u','replicas':2}%s", i, i > 0 ? "," : "");
    strbuf_addf(&text, "]},'status':{" SCHEDULED("True", "") ",'aggregatedStatus':[");
    for (unsigned i = 0; i < CLUSTERS; i++) {
        strbuf_addf(&text, "%s{'clusterName':'c%03u',", i > 0 ? "," : "", i);
        strbuf_addf(&text,
                    refused && i == FAILED_CLUSTER
                        ? "'appliedMessage':'c%03u says no'}"
                        : "'applied':true,'health':'Healthy','status':{"
                          "'resourceTemplateGeneration':3,'of':'c%03u'}}",
                    i);
    }
    strbuf_adds(&text, "]}}");
    put(w, text.data);
}

static size_t count_lines(const char *page, const char *start)
{
    size_t count = 0;

    for (const char *at = page; (at = strstr(at, start)); at++)
        count += at == page || at[-1] == '\n';
    return count;
}

#define MEMBER "karmada_member_cluster_templates_stage{"

static void check_many(const struct lab *lab, bool refused)
{
    CLEANUP(free_cleanup) char *page = page_of(lab->series);
    CLEANUP(json_cleanup) cJSON *report = report_of(lab);
    const cJSON *row = row_of_web(report);
    const cJSON *target;
    unsigned i = 0;

    assert_string_equal(json_str(row, "stage", ""), refused ? "unapplied" : "healthy");
    assert_text(json_str(row, "message", NULL), refused ? "c250 says no" : NULL);
    cJSON_ArrayForEach (target, json_get(row, "targets")) {
        bool bad = refused && i == FAILED_CLUSTER;
        char name[8], series[256];

        snprintf(name, sizeof(name), "c%03u", i++);
        assert_string_equal(json_str(target, "cluster", ""), name);
        assert_string_equal(json_str(target, "stage", ""), bad ? "unapplied" : "healthy");
        assert_text(json_str(target, "reason", NULL), bad ? "refused" : NULL);
        assert_text(json_str(target, "message", NULL), bad ? "c250 says no" : NULL);
        snprintf(series, sizeof(series), MEMBER "member_cluster=\"%s\",stage=\"%s\"}", name,
                 bad ? "unapplied" : "healthy");
        page_has(page, series, "1");
    }
    assert_int_equal(i, CLUSTERS);
    assert_int_equal(count_lines(page, MEMBER), CLUSTERS);
    page_has(page, "karmada_templates_delivery{stage=\"unapplied\",reason=\"refused\"}",
             refused ? "1" : "0");
}

TEST(failure_in_one_of_500_clusters_is_reported)
{
    struct lab lab;

    lab_init(&lab);
    put(&lab.world, POLICY);
    put(&lab.world, TEMPLATE("web", "," CLAIM));
    put_on_many(&lab.world, BEGUN("web"), true);
    lab_run(&lab);
    check_many(&lab, true);
    put_on_many(&lab.world, BEGUN("web"), false);
    lab_run(&lab);
    check_many(&lab, false);
    put(&lab.world, BINDING("web", "", SCHEDULED("True", "")));
    lab_run(&lab);
    CLEANUP(free_cleanup) char *page = page_of(lab.series);
    page_lacks(page, MEMBER);
    lab_release(&lab);
}

#define ON_ONE "unapplied refused 'c250 says no' | m1: unapplied refused 'c250 says no'"

/* A binding with many clusters does not cause evaluations of other templates. */
TEST(binding_on_500_clusters_evaluates_only_its_template)
{
    CLEANUP(strbuf_release) struct strbuf stages = STRBUF_INIT(TEXT_MAX);
    uint64_t evaluations;
    struct lab lab;

    lab_init(&lab);
    put(&lab.world, POLICY);
    put(&lab.world, TEMPLATE("web", "," CLAIM));
    put(&lab.world, BINDING("web", ONE_CLUSTER,
                            SCHEDULED("True", "") ",'aggregatedStatus':[{'clusterName':'m1',"
                                                  "'appliedMessage':'c250 says no'}]"));
    put(&lab.world, TEMPLATE("db", "," CLAIM));
    lab_run(&lab);
    write_stages(&lab, &stages);
    assert_string_equal(stages.data, ON_ONE);
    for (unsigned refused = 0; refused < 2; refused++) {
        put_on_many(&lab.world, BEGUN("db"), !refused);
        evaluations = engine_evaluations(lab.world.engine);
        lab_run(&lab);
        /* These are the evaluations of the changed binding and of its template. */
        assert_int_equal(engine_evaluations(lab.world.engine) - evaluations, 2);
        strbuf_reset(&stages);
        write_stages(&lab, &stages);
        assert_string_equal(stages.data, ON_ONE);
    }
    lab_release(&lab);
}

/* ---- times ---- */

#define TASKS(tasks)        ",'gracefulEvictionTasks':[" tasks "]"
#define TASK(cluster, more) "{'fromCluster':'" cluster "'" more "}"
#define TRANSITION(time)    ",'reason':'NoClusterFit','lastTransitionTime':'" time "'"
#define CREATED(time)       ",'creationTimestamp':'" time "'"
#define CHANGED(time)                                                                              \
    "," CLAIM ",'creationTimestamp':'2026-01-01T00:00:00Z','managedFields':[{'manager':'kubectl'," \
    "'operation':'Update','time':'" time "','fieldsV1':{'f:spec':{}}}]"
#define ITEM(generation)                                                                           \
    ",'aggregatedStatus':[{'clusterName':'m1','applied':true,'health':'Healthy','status':{"        \
    "'resourceTemplateGeneration':" generation "}}]"
#define DELIVERED(generation) BINDING("web", ONE_CLUSTER, SCHEDULED("True", "") ITEM(generation))

/* Times between 1970 and 2106 are reported, also in the future. Other times count as unknown. */
static const struct time_case {
    const char *name;
    const char *objects;
    const char *stage;
    const char *since;  /* NULL if unknown. */
    const char *oldest; /* `since` in seconds since the epoch; NULL without series. */
} time_cases[] = {
    {"a condition of the past",
     POLICY "," TEMPLATE("web", "," CLAIM) "," BINDING(
         "web", "", SCHEDULED("False", TRANSITION("2026-01-01T00:00:00Z"))),
     "unscheduled", "2026-01-01T00:00:00Z", "1767225600"},
    {"a condition in the future",
     POLICY "," TEMPLATE("web", "," CLAIM) "," BINDING(
         "web", "", SCHEDULED("False", TRANSITION("2099-01-01T00:00:00Z"))),
     "unscheduled", "2099-01-01T00:00:00Z", "4070908800"},
    {"a condition after 2106",
     POLICY "," TEMPLATE("web", "," CLAIM) "," BINDING(
         "web", "", SCHEDULED("False", TRANSITION("2150-01-01T00:00:00Z"))),
     "unscheduled", NULL, NULL},
    {"a condition before 1970",
     POLICY "," TEMPLATE("web", "," CLAIM) "," BINDING(
         "web", "", SCHEDULED("False", TRANSITION("1901-01-01T00:00:00Z"))),
     "unscheduled", NULL, NULL},
    {"a condition with an invalid time",
     POLICY "," TEMPLATE("web", "," CLAIM) "," BINDING(
         "web", "", SCHEDULED("False", TRANSITION("2026-02-30T00:00:00Z"))),
     "unscheduled", NULL, NULL},
    {"a task without a time",
     POLICY "," TEMPLATE("web", "," CLAIM) "," BINDING("web", ONE_CLUSTER TASKS(TASK("m2", "")),
                                                       SCHEDULED("True", "") ITEM("3")),
     "evicting", NULL, NULL},
    {"two tasks, one without a time",
     POLICY "," TEMPLATE("web", "," CLAIM) "," BINDING(
         "web", ONE_CLUSTER TASKS(TASK("m2", "") "," TASK("m3", CREATED("2026-01-01T00:00:00Z"))),
         SCHEDULED("True", "") ITEM("3")),
     "evicting", "2026-01-01T00:00:00Z", "1767225600"},
    {"a task in the future",
     POLICY "," TEMPLATE("web", "," CLAIM) "," BINDING(
         "web", ONE_CLUSTER TASKS(TASK("m2", CREATED("2099-01-01T00:00:00Z"))),
         SCHEDULED("True", "") ITEM("3")),
     "evicting", "2099-01-01T00:00:00Z", "4070908800"},
    {"a task after 2106",
     POLICY "," TEMPLATE("web", "," CLAIM) "," BINDING(
         "web", ONE_CLUSTER TASKS(TASK("m2", CREATED("9999-12-31T23:59:59Z"))),
         SCHEDULED("True", "") ITEM("3")),
     "evicting", NULL, NULL},
    {"a change in the future",
     POLICY "," TEMPLATE("web", CHANGED("2099-01-01T00:00:00Z")) "," DELIVERED("2"), "undelivered",
     "2099-01-01T00:00:00Z", "4070908800"},
    {"a change after 2106",
     POLICY "," TEMPLATE("web", CHANGED("2150-01-01T00:00:00Z")) "," DELIVERED("2"), "undelivered",
     NULL, NULL},
    {"a template after 2106, without a policy", TEMPLATE("web", CREATED("2150-01-01T00:00:00Z")),
     "unmatched", NULL, NULL},
    {"a template before 1970, without a policy", TEMPLATE("web", CREATED("1960-01-01T00:00:00Z")),
     "unmatched", NULL, NULL},
    {"a template in the future, without a policy", TEMPLATE("web", CREATED("2099-01-01T00:00:00Z")),
     "unmatched", "2099-01-01T00:00:00Z", "4070908800"},
};

#define OLDEST "karmada_templates_stage_oldest_timestamp_seconds{stage=\"%s\"}"

TEST_ROWS(time_outside_1970_to_2106_is_unknown, time_cases, name)
{
    const struct time_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);
    char series[256];
    struct lab lab;

    strbuf_addf(&text, "[%s]", c->objects);
    CLEANUP(json_cleanup) cJSON *all = json_of(text.data);
    lab_init(&lab);
    world_put_all(&lab.world, all);
    lab_run(&lab);
    CLEANUP(json_cleanup) cJSON *report = report_of(&lab);
    CLEANUP(free_cleanup) char *page = page_of(lab.series);
    assert_string_equal(json_str(row_of_web(report), "stage", ""), c->stage);
    assert_text(json_str(row_of_web(report), "stageSince", NULL), c->since);
    snprintf(series, sizeof(series), OLDEST, c->stage);
    if (c->oldest)
        page_has(page, series, c->oldest);
    else
        page_lacks(page, series);
    lab_release(&lab);
}

TEST(future_time_does_not_hide_an_older_template)
{
    struct lab lab;

    lab_init(&lab);
    put(&lab.world, TEMPLATE("web", CREATED("2099-01-01T00:00:00Z")));
    put(&lab.world, TEMPLATE("db", CREATED("2026-01-01T00:00:00Z")));
    put(&lab.world, TEMPLATE("mail", CREATED("2150-01-01T00:00:00Z")));
    lab_run(&lab);
    CLEANUP(free_cleanup) char *page = page_of(lab.series);
    page_has(page, "karmada_templates_stage_oldest_timestamp_seconds{stage=\"unmatched\"}",
             "1767225600");
    lab_release(&lab);
}

static void check_delays(const struct lab *lab, const char *count, const char *sum)
{
    CLEANUP(free_cleanup) char *page = page_of(lab->series);

    page_has(page, "karmada_template_delivery_delay_seconds_count", count);
    page_has(page, "karmada_template_delivery_delay_seconds_sum", sum);
    page_has(page, "karmada_template_delivery_delay_seconds_bucket{le=\"0.5\"}", count);
}

TEST(future_change_has_a_delivery_delay_of_0)
{
    static const char *const changed[] = {TEMPLATE("web", CHANGED("2099-01-01T00:00:00Z")),
                                          TEMPLATE("web", CHANGED("9999-12-31T23:59:59Z"))};

    for (size_t i = 0; i < ARRAY_LEN(changed); i++) {
        struct lab lab;

        lab_init(&lab);
        put(&lab.world, POLICY);
        put(&lab.world, changed[i]);
        put(&lab.world, DELIVERED("2"));
        lab_run(&lab);
        check_delays(&lab, "0", "0");
        put(&lab.world, DELIVERED("3"));
        lab_run(&lab);
        check_delays(&lab, "1", "0");
        lab_release(&lab);
    }
}
