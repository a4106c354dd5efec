/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/problems/template_conditions.h"

#include "metrics/base/timestamp.h"
#include "metrics/rules/engine.h"
#include "metrics/rules/problems/problem_conditions.h"
#include "metrics/rules/rule.h"
#include "tests/unit/reading.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

enum { TEXT_MAX = 1 << 16 };

/* 2026-01-10T00:00:00Z */
static const int64_t NOW_MS = INT64_C(1768003200000);

#define DAY(day) "'2026-01-" day "T00:00:00Z'"
#define AT(time) "'2026-01-09T" time "Z'"
#define ID       "'propagationpolicy.karmada.io/permanent-id':'id'"
#define CLAIM_ANNOTATIONS                                                                          \
    "'annotations':{'propagationpolicy.karmada.io/namespace':'a',"                                 \
    "'propagationpolicy.karmada.io/name':'p'}"
#define CLAIM "'labels':{" ID "}," CLAIM_ANNOTATIONS
/* Metadata of an object that its creation, or a user, last changed at the given times. */
#define CREATED(time) ",'creationTimestamp':" time
#define WRITTEN(time)                                                                              \
    ",'managedFields':[{'manager':'kubectl','operation':'Update','time':" time                     \
    ",'fieldsType':'FieldsV1','fieldsV1':{'f:spec':{'f:x':{}}}}]"

#define POLICY(meta, more)                                                                         \
    "{'apiVersion':'policy.karmada.io/v1alpha1','kind':'PropagationPolicy','metadata':{"           \
    "'name':'p','namespace':'a','labels':{" ID "}" meta "},'spec':{'resourceSelectors':[{"         \
    "'apiVersion':'apps/v1','kind':'Deployment','name':'web'}]" more "}}"
#define PLACED_POLICY POLICY(CREATED(DAY("02")) WRITTEN(DAY("03")), ",'placement':{}")
#define LAZY          ",'placement':{},'activationPreference':'Lazy'"
#define WEB(meta)                                                                                  \
    "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'web','namespace':'a',"        \
    "'uid':'u-web','resourceVersion':'7'" meta "},'spec':{'replicas':2}}"
#define CLAIMED_WEB WEB("," CLAIM CREATED(DAY("01")) WRITTEN(DAY("01")))
#define BINDING(meta, placement, spec, status)                                                     \
    "{'apiVersion':'work.karmada.io/v1alpha2','kind':'ResourceBinding','metadata':{"               \
    "'name':'web-deployment','namespace':'a','uid':'u-b'" meta "},'spec':{'resource':{"            \
    "'apiVersion':'apps/v1','kind':'Deployment','namespace':'a','name':'web','uid':'u-web',"       \
    "'resourceVersion':'7'},'replicas':2,'placement':" placement spec "},'status':{" status "}}"
#define CLAIMED(spec, status) BINDING("," CLAIM, "{}", spec, status)
#define ON_M1                 ",'clusters':[{'name':'m1','replicas':2}]"
#define ON_BOTH               ",'clusters':[{'name':'m1','replicas':2},{'name':'m2','replicas':2}]"
#define CONDITION(status, reason, time)                                                            \
    "'conditions':[{'type':'Scheduled','status':'" status "','reason':'" reason                    \
    "','lastTransitionTime':" time "}]"
#define SCHEDULED        CONDITION("True", "Success", DAY("05"))
#define NO_FIT           CONDITION("False", "NoClusterFit", DAY("06"))
#define ITEM(more)       "{'clusterName':" more "}"
#define HEALTHY(cluster) ITEM("'" cluster "','applied':true,'health':'Healthy'")
#define ITEMS(items)     SCHEDULED ",'aggregatedStatus':[" items "]"
#define GOOD             ITEMS(HEALTHY("m1"))
#define TASK(more)       ",'gracefulEvictionTasks':[{'fromCluster':'m2'" more "}]"
#define CLUSTER(name, ready, more)                                                                 \
    "{'apiVersion':'cluster.karmada.io/v1alpha1','kind':'Cluster','metadata':{'name':'" name       \
    "'" more "},'status':{'conditions':[{'type':'Ready','status':'" ready "'}]}}"

/* A world, and the Deployment a/web or another template in it. */
struct scene {
    struct world world;
    int64_t now_ms;
};

static void scene_init(struct scene *s, const char *objects)
{
    CLEANUP(json_cleanup) cJSON *all = json_of(objects);

    s->now_ms = NOW_MS;
    world_init(&s->world, &rules_options_default, 1);
    world_put_all(&s->world, all);
    world_run(&s->world, s->now_ms);
}

static void put(struct scene *s, const char *object)
{
    CLEANUP(json_cleanup) cJSON *json = json_of(object);

    world_put(&s->world, json);
    world_run(&s->world, s->now_ms);
}

/* Appends "problem/reason[@since][?] " for each condition; "?" means unknown. */
static int64_t describe(const struct scene *s, const struct entry *entry, struct strbuf *out)
{
    CLEANUP(condition_list_release) struct condition_list list = {0};
    int64_t due_ms = INT64_MAX;

    assert_non_null(entry);
    problem_conditions(engine_context(s->world.engine), entry, &list, &due_ms);
    for (size_t i = 0; i < list.count; i++) {
        const struct condition *c = &list.items[i];
        const struct problem_reason_row *row = &problem_reasons[c->reason];
        char time[32] = "";

        if (c->since_ms)
            format_timestamp(c->since_ms, time);
        strbuf_addf(out, "%s%s%s%s%s%s", i ? " " : "", problem_names[row->problem],
                    *row->name ? "/" : "", row->name, *time ? "@" : "", time);
        strbuf_adds(out, c->unknown ? "?" : "");
    }
    return due_ms;
}

static void check_entry(const struct scene *s, const struct entry *entry, const char *expected)
{
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(TEXT_MAX);

    describe(s, entry, &out);
    assert_text(out.data, expected);
}

static void check(const struct scene *s, const char *expected)
{
    check_entry(s, world_find(&s->world, "apps/v1", "Deployment", "a", "web"), expected);
}

/* Objects, and the conditions of the Deployment a/web. */
static const struct condition_case {
    const char *name;
    const char *objects;
    const char *expected;
} cases[] = {
    {"a current and healthy template", CLAIMED_WEB "," PLACED_POLICY "," CLAIMED(ON_M1, GOOD), ""},

    /* not_propagated */
    {"claimed, and no binding: since the last change of the policy", CLAIMED_WEB "," PLACED_POLICY,
     "not_propagated/stuck@2026-01-03T00:00:00Z"},
    {"no binding since the template's creation",
     WEB("," CLAIM CREATED(DAY("04")) WRITTEN(DAY("01"))) "," PLACED_POLICY,
     "not_propagated/stuck@2026-01-04T00:00:00Z"},
    {"no binding since a user changed the template",
     WEB("," CLAIM CREATED(DAY("01")) WRITTEN(DAY("05"))) "," PLACED_POLICY,
     "not_propagated/stuck@2026-01-05T00:00:00Z"},
    {"no binding, and a change of the template without a time",
     WEB("," CLAIM ",'generation':2" CREATED(DAY("01"))) "," PLACED_POLICY, "not_propagated/stuck"},
    {"not claimed in time", WEB(CREATED(DAY("01")) WRITTEN(DAY("01"))) "," PLACED_POLICY,
     "not_propagated/not_claimed@2026-01-03T00:00:00Z"},
    {"waiting for a claim in the grace period",
     WEB(CREATED(AT("23:59:30")) WRITTEN(AT("23:59:30"))) "," PLACED_POLICY,
     "not_propagated/waiting@2026-01-09T23:59:30Z"},
    {"waiting, and in deletion",
     WEB(",'deletionTimestamp':" DAY("09") CREATED(DAY("01"))) "," PLACED_POLICY, ""},
    {"in a file: no client has applied it",
     "{'apiVersion':'apps/"
     "v1','kind':'Deployment','metadata':{'name':'web','namespace':'a'}}," POLICY("", ""),
     ""},
    {"the override policy is missing",
     WEB(CREATED(DAY("01")) WRITTEN(DAY("01"))) "," POLICY(CREATED(DAY("02")) WRITTEN(DAY("03")),
                                                           ",'dependentOverrides':['gone']"),
     "not_propagated/override_missing@2026-01-03T00:00:00Z"},
    {"the policy is in deletion",
     WEB(CREATED(DAY("01"))) "," POLICY(",'deletionTimestamp':" DAY("09"), ""),
     "not_propagated/policy_deleting"},
    {"the kind is not selected", WEB(""), ""},
    {"excluded, by a later change of the policy",
     WEB(CREATED(DAY("01")) WRITTEN(DAY("01"))) "," POLICY(CREATED(DAY("02")) WRITTEN(DAY("04")),
                                                           ",'excludedResources':[{'name':'web'}]"),
     "excluded@2026-01-04T00:00:00Z"},

    /* Stale. */
    {"the claimed policy does not exist", CLAIMED_WEB "," CLAIMED(ON_M1, GOOD),
     "template_frozen/policy_gone reference_broken/claim_missing"},
    {"the labels no longer match: since the user's change",
     WEB("," CLAIM CREATED(DAY("01")) WRITTEN(DAY("06"))) "," CLAIMED(
         ON_M1, GOOD) ","
                      "{'apiVersion':'policy.karmada.io/v1alpha1','kind':'PropagationPolicy',"
                      "'metadata':{'name':'p','namespace':'a','labels':{" ID "}" CREATED(DAY("02"))
                          WRITTEN(DAY("03")) "},'spec':{'resourceSelectors':[{"
                                             "'apiVersion':'apps/v1','kind':"
                                             "'Deployment','name':'x'}],"
                                             "'placement':{}}}",
     "template_frozen/selector_mismatch@2026-01-06T00:00:00Z"},
    {"the policy's values are not in the binding",
     CLAIMED_WEB
     "," POLICY(CREATED(DAY("02")) WRITTEN(DAY("04")), ",'placement':{},'conflictResolution':"
                                                       "'Overwrite'") "," CLAIMED(ON_M1, GOOD),
     "policy_not_in_force/policy_updated@2026-01-04T00:00:00Z"},
    {"a missing PriorityClass keeps the policy out of force",
     CLAIMED_WEB
     "," POLICY(CREATED(DAY("02")) WRITTEN(DAY("04")),
                ",'placement':{},'conflictResolution':'Overwrite','"
                "schedulePriority':{"
                "'priorityClassSource':'KubePriorityClass','priorityClassName':'"
                "gone'}") "," CLAIMED(ON_M1, GOOD) ","
                                                   "{'apiVersion':'scheduling.k8s.io/"
                                                   "v1','kind':'PriorityClass','metadata':"
                                                   "{'name':'x'},"
                                                   "'value':1}",
     "policy_not_in_force/priority_class_missing@2026-01-04T00:00:00Z"},
    {"a lazy policy defers its change",
     CLAIMED_WEB "," POLICY(CREATED(DAY("02")) WRITTEN(DAY("04")),
                            LAZY ",'conflictResolution':'Overwrite'") "," CLAIMED(ON_M1, GOOD),
     "deferred_too_long/policy_updated@2026-01-04T00:00:00Z"},
    {"a lazy policy is overdue after the user's change",
     WEB("," CLAIM CREATED(DAY("01")) WRITTEN(DAY("05"))) "," POLICY(
         CREATED(DAY("02")) WRITTEN(DAY("04")),
         LAZY ",'conflictResolution':'Overwrite'") "," CLAIMED(ON_M1, GOOD),
     "policy_not_in_force/policy_updated@2026-01-05T00:00:00Z"},
    {"a lazy policy never made a binding",
     CLAIMED_WEB "," POLICY(CREATED(DAY("02")) WRITTEN(DAY("04")), LAZY),
     "deferred_too_long/never_bound@2026-01-04T00:00:00Z"},
    {"no policy governs what runs", WEB(CREATED(DAY("01"))) "," BINDING("", "{}", ON_M1, GOOD),
     "orphaned"},

    /* Delivery. */
    {"the last copy, in a cluster that is ready",
     CLAIMED_WEB "," PLACED_POLICY "," CLAIMED(TASK(",'creationTimestamp':" DAY("07")),
                                               NO_FIT) "," CLUSTER("m2", "True", ""),
     "last_copy_at_risk/cluster_ready@2026-01-07T00:00:00Z"},
    {"the last copy, in a cluster that is not ready",
     CLAIMED_WEB "," PLACED_POLICY "," CLAIMED(TASK(",'creationTimestamp':" DAY("05")),
                                               NO_FIT) "," CLUSTER("m2", "False", ""),
     "last_copy_at_risk/cluster_not_ready@2026-01-06T00:00:00Z"},
    {"placed before, and now nowhere",
     CLAIMED_WEB "," PLACED_POLICY "," CLAIMED("", "'lastScheduledTime':" DAY("02") "," NO_FIT),
     "placement_lost/no_cluster_fit@2026-01-06T00:00:00Z"},
    {"placed before, and the named cluster is gone",
     CLAIMED_WEB "," POLICY(
         CREATED(DAY("02")),
         ",'placement':{'clusterAffinity':{'"
         "clusterNames':['m1']}}") "," BINDING("," CLAIM,
                                               "{'clusterAffinity':{'clusterNames':['m1']}}", "",
                                               "'lastScheduledTime':" DAY(
                                                   "02") "," NO_FIT) "," CLUSTER("m2", "True", ""),
     "placement_lost/cluster_gone@2026-01-06T00:00:00Z"},
    {"never placed", CLAIMED_WEB "," PLACED_POLICY "," CLAIMED("", NO_FIT),
     "not_scheduled/no_cluster_fit@2026-01-06T00:00:00Z"},
    {"no cluster fits, but copies still run",
     CLAIMED_WEB "," PLACED_POLICY "," CLAIMED(ON_M1, "'lastScheduledTime':" DAY("02") "," NO_FIT),
     "not_scheduled/no_cluster_fit@2026-01-06T00:00:00Z"},
    {"an unknown reason is a scheduler error",
     CLAIMED_WEB "," PLACED_POLICY "," CLAIMED("", CONDITION("False", "Odd", DAY("06"))),
     "not_scheduled/scheduler_error@2026-01-06T00:00:00Z"},
    {"scheduling is suspended",
     CLAIMED_WEB "," PLACED_POLICY "," CLAIMED(",'suspension':{'scheduling':true}", NO_FIT),
     "change_suspended@2026-01-06T00:00:00Z"},
    {"an eviction task has used half of its time",
     CLAIMED_WEB "," PLACED_POLICY "," CLAIMED(
         ON_M1 TASK(",'gracePeriodSeconds':600,'creationTimestamp':" AT("23:54:59")), GOOD),
     "eviction_stuck/replacing@2026-01-09T23:59:59Z"},
    {"an eviction task is in the first half of its time",
     CLAIMED_WEB "," PLACED_POLICY "," CLAIMED(
         ON_M1 TASK(",'gracePeriodSeconds':600,'creationTimestamp':" AT("23:55:01")), GOOD),
     ""},
    {"an eviction task without a creation time",
     CLAIMED_WEB "," PLACED_POLICY "," CLAIMED(ON_M1 TASK(""), GOOD), ""},
    {"a copy is held beside its replacement",
     CLAIMED_WEB "," PLACED_POLICY "," CLAIMED(
         ON_M1 TASK(",'suppressDeletion':true,'creationTimestamp':" DAY("07")), GOOD),
     "two_copies_held@2026-01-07T00:00:00Z"},
    {"a target without a status", CLAIMED_WEB "," PLACED_POLICY "," CLAIMED(ON_M1, SCHEDULED),
     "not_delivered/waiting@2026-01-05T00:00:00Z"},
    {"a target without a status, on a cluster that is not ready",
     CLAIMED_WEB "," PLACED_POLICY "," CLAIMED(ON_M1, SCHEDULED) "," CLUSTER("m1", "False", ""),
     ""},
    {"the first reason of the targets on ready clusters",
     CLAIMED_WEB "," PLACED_POLICY "," CLAIMED(
         ON_BOTH, ITEMS(ITEM("'m2','applied':false,'appliedMessage':'"
                             "denied'"))) "," CLUSTER("m1", "False", "") "," CLUSTER("m2", "True",
                                                                                     ""),
     "not_delivered/refused"},
    {"dispatching is suspended",
     CLAIMED_WEB
     "," POLICY(CREATED(DAY("02")),
                ",'placement':{},'suspension':{'dispatching':"
                "true}") "," CLAIMED(",'suspension':{'dispatching':true}" ON_M1, SCHEDULED),
     "change_suspended@2026-01-05T00:00:00Z"},
    {"unhealthy on a reachable cluster",
     CLAIMED_WEB "," PLACED_POLICY
                 "," CLAIMED(ON_M1, ITEMS(ITEM("'m1','applied':true,'health':'Unhealthy'"))),
     "unhealthy/unavailable"},
    {"unhealthy on a cluster that is not ready",
     CLAIMED_WEB "," PLACED_POLICY "," CLAIMED(
         ON_M1, ITEMS(ITEM("'m1','applied':true,'health':'Unhealthy'"))) "," CLUSTER("m1", "False",
                                                                                     ""),
     ""},
};

TEST_ROWS(conditions_follow_from_the_decision, cases, name)
{
    const struct condition_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf objects = STRBUF_INIT(TEXT_MAX);
    struct scene s;

    strbuf_addf(&objects, "[%s]", c->objects);
    scene_init(&s, objects.data);
    check(&s, c->expected);
    world_release(&s.world);
}

/* ---- not_propagated `no_match` ---- */

#define SECRET(meta)                                                                               \
    "{'apiVersion':'v1','kind':'Secret','metadata':{'name':'s','namespace':'a'" meta "}}"
#define SELECTING(name, meta, selector)                                                            \
    "{'apiVersion':'policy.karmada.io/v1alpha1','kind':'PropagationPolicy','metadata':{"           \
    "'name':'" name "','namespace':'a'" meta "},'spec':{'resourceSelectors':[{" selector "}]}}"
#define CLUSTER_WIDE(selector)                                                                     \
    "{'apiVersion':'policy.karmada.io/v1alpha1','kind':'ClusterPropagationPolicy','metadata':{"    \
    "'name':'all'},'spec':{'resourceSelectors':[{" selector "}]}}"
#define SECRETS          "'apiVersion':'v1','kind':'Secret'"
#define OTHER_SECRET     SECRETS ",'name':'other'"
#define LABELLED_SECRETS SECRETS ",'labelSelector':{'matchLabels':{'x':'y'}}"
#define OTHER_DEPLOYMENT "'apiVersion':'apps/v1','kind':'Deployment','name':'other'"
#define OWNER(more)      ",'ownerReferences':[{'kind':'X','name':'x'" more "}]"
#define OLD              CREATED(DAY("01")) WRITTEN(DAY("01"))

/* Objects, and the conditions of the first one. */
static const struct condition_case no_match_cases[] = {
    {"a Deployment that no policy selects", WEB(OLD) "," SELECTING("q", "", OTHER_DEPLOYMENT),
     "not_propagated/no_match@2026-01-01T00:00:00Z"},
    {"a Deployment that a user has changed",
     WEB(CREATED(DAY("01")) WRITTEN(DAY("04"))) "," SELECTING("q", "", OTHER_DEPLOYMENT),
     "not_propagated/no_match@2026-01-04T00:00:00Z"},
    {"a Deployment with a change without a time",
     WEB(",'generation':3" CREATED(DAY("01"))) "," SELECTING("q", "", OTHER_DEPLOYMENT),
     "not_propagated/no_match"},
    {"an owner that is a controller",
     WEB(OLD OWNER(",'controller':true")) "," SELECTING("q", "", OTHER_DEPLOYMENT), ""},
    {"an owner that is no controller", WEB(OLD OWNER("")) "," SELECTING("q", "", OTHER_DEPLOYMENT),
     "not_propagated/no_match@2026-01-01T00:00:00Z"},
    {"invalid owners",
     WEB(OLD ",'ownerReferences':{'controller':true}") "," SELECTING("q", "", OTHER_DEPLOYMENT),
     "not_propagated/no_match@2026-01-01T00:00:00Z"},
    {"a Secret beside one that a policy names", SECRET(OLD) "," SELECTING("q", "", OTHER_SECRET),
     ""},
    {"a Secret without the labels: since the policy's change",
     SECRET(OLD) "," SELECTING("q", CREATED(DAY("02")) WRITTEN(DAY("03")), LABELLED_SECRETS),
     "not_propagated/no_match@2026-01-03T00:00:00Z"},
    {"a Secret that is younger than the policy",
     SECRET(CREATED(DAY("05")) WRITTEN(DAY("05"))) "," SELECTING(
         "q", CREATED(DAY("02")) WRITTEN(DAY("03")), LABELLED_SECRETS),
     "not_propagated/no_match@2026-01-05T00:00:00Z"},
    {"a policy of another namespace selects by labels",
     SECRET(OLD) "," CLUSTER_WIDE(LABELLED_SECRETS ",'namespace':'b'"), ""},
    {"a cluster-wide policy selects by labels in the namespace",
     SECRET(OLD) "," CLUSTER_WIDE(LABELLED_SECRETS ",'namespace':'a'"), "not_propagated/no_match"},
    {"a cluster-wide policy selects by labels everywhere",
     SECRET(OLD) "," CLUSTER_WIDE(LABELLED_SECRETS), "not_propagated/no_match"},
    {"a policy with an invalid labelSelector",
     SECRET(OLD) "," SELECTING("q", "", SECRETS ",'labelSelector':{'matchLabels':{'x':'-'}}"), ""},
    {"a policy in deletion",
     SECRET(OLD) "," SELECTING("q", ",'deletionTimestamp':" DAY("09"), LABELLED_SECRETS), ""},
};

TEST_ROWS(a_template_without_a_match_is_judged_if_it_is_meant_to_be_propagated, no_match_cases,
          name)
{
    const struct condition_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf objects = STRBUF_INIT(TEXT_MAX);
    struct entry *entry;
    struct scene s;

    strbuf_addf(&objects, "[%s]", c->objects);
    scene_init(&s, objects.data);
    entry = world_find(&s.world, "apps/v1", "Deployment", "a", "web");
    check_entry(&s, entry ? entry : world_find(&s.world, "v1", "Secret", "a", "s"), c->expected);
    world_release(&s.world);
}

static void judge(struct scene *s)
{
    struct problem_options options = {.history_limit = 10};

    problem_settings_reset(&options.settings);
    engine_judge_problems(s->world.engine, &options);
    world_run(&s->world, s->now_ms);
}

/* Lets enough time pass for a pending instance to end, and a resolving one. */
static void pass(struct scene *s)
{
    for (unsigned i = 0; i < 3; i++) {
        s->now_ms += INT64_C(11) * 60 * 1000;
        world_run(&s->world, s->now_ms);
    }
}

/* Asserts that an entry has one instance, of this problem; no instance for PROBLEM_COUNT. */
static void assert_only_problem(const struct scene *s, const struct entry *entry,
                                enum problem_id expected)
{
    const struct problem *p = problems_of(engine_problems(s->world.engine), entry);

    assert_int_equal(p ? problem_id(p) : PROBLEM_COUNT, expected);
    assert_true(!p || !problems_next_of(p));
}

static void remove_policy(struct scene *s, const char *name)
{
    store_remove(s->world.store, world_find(&s->world, "policy.karmada.io/v1alpha1",
                                            "PropagationPolicy", "a", name));
    world_run(&s->world, s->now_ms);
}

/* A policy that selects a kind by labels makes its templates problems only while it exists. */
TEST(templates_follow_the_policies_that_select_their_kind_broadly)
{
    const struct entry *secret;
    struct scene s;

    scene_init(&s, "[" SECRET(OLD) "," SELECTING("q", "", OTHER_SECRET) "]");
    judge(&s);
    secret = world_find(&s.world, "v1", "Secret", "a", "s");
    assert_only_problem(&s, secret, PROBLEM_COUNT);
    put(&s, SELECTING("r", "", LABELLED_SECRETS));
    assert_only_problem(&s, secret, PROBLEM_NOT_PROPAGATED);
    put(&s, SELECTING("t", "", LABELLED_SECRETS));
    remove_policy(&s, "r");
    pass(&s);
    assert_only_problem(&s, secret, PROBLEM_NOT_PROPAGATED);
    put(&s, SELECTING("t", ",'deletionTimestamp':" DAY("09"), LABELLED_SECRETS));
    pass(&s);
    assert_only_problem(&s, secret, PROBLEM_COUNT);
    put(&s, SELECTING("t", "", LABELLED_SECRETS));
    assert_only_problem(&s, secret, PROBLEM_NOT_PROPAGATED);
    put(&s, SELECTING("t", "", OTHER_SECRET));
    pass(&s);
    assert_only_problem(&s, secret, PROBLEM_COUNT);
    world_release(&s.world);
}

/* ---- placement_at_risk ---- */

#define SETUP         "{'clusterAffinity':{'labelSelector':{'matchLabels':{'phase':'setup'}}}}"
#define PHASE(phase)  ",'labels':{'phase':'" phase "'}"
#define MOVED         CLUSTER("m1", "True", PHASE("done"))
#define SETUP_POLICY  POLICY("", ",'placement':" SETUP)
#define SETUP_BINDING BINDING("," CLAIM, SETUP, ON_M1, GOOD)
#define TAINTED(name)                                                                              \
    "{'apiVersion':'cluster.karmada.io/v1alpha1','kind':'Cluster','metadata':{'name':'" name       \
    "'" PHASE("setup") "},'spec':{'taints':[{'key':'k','effect':'NoSchedule'}]}}"
#define AT_RISK "placement_at_risk/affinity forbidden_placement/binding"
#define LOST(name)                                                                                 \
    "{'apiVersion':'cluster.karmada.io/v1alpha1','kind':'Cluster','metadata':{'name':'" name       \
    "'" PHASE("setup") "},'status':{'apiEnablements':[],'conditions':[{'type':'Ready','status':"   \
                       "'True'},{'type':'CompleteAPIEnablements','status':'True'}]}}"
#define DELETING(name) CLUSTER(name, "True", PHASE("setup") ",'deletionTimestamp':" DAY("07"))
#define BY_REGION                                                                                  \
    "{'clusterAffinity':{'labelSelector':{'matchLabels':{'phase':'setup'}}},"                      \
    "'spreadConstraints':[{'spreadByField':'region','maxGroups':1}]}"

static const struct condition_case risk_cases[] = {
    {"the label of the only cluster moved",
     CLAIMED_WEB "," SETUP_POLICY "," SETUP_BINDING "," MOVED, AT_RISK},
    {"another cluster has the label",
     CLAIMED_WEB "," SETUP_POLICY "," SETUP_BINDING "," MOVED
                 "," CLUSTER("m2", "True", PHASE("setup")),
     "forbidden_placement/binding"},
    {"another cluster has the label and a taint",
     CLAIMED_WEB "," SETUP_POLICY "," SETUP_BINDING "," MOVED "," TAINTED("m2"), AT_RISK},
    {"more clusters have a taint than another label",
     CLAIMED_WEB "," SETUP_POLICY "," SETUP_BINDING "," MOVED "," TAINTED("m2") "," TAINTED("m3"),
     "placement_at_risk/taint forbidden_placement/binding"},
    {"the present cluster has a taint, which does not count",
     CLAIMED_WEB "," SETUP_POLICY "," SETUP_BINDING "," TAINTED("m1"), ""},
    {"no Clusters are known", CLAIMED_WEB "," SETUP_POLICY "," SETUP_BINDING, ""},
    {"another scheduler",
     CLAIMED_WEB "," POLICY("", ",'schedulerName':'x','placement':" SETUP) "," BINDING(
         "," CLAIM, SETUP, ",'schedulerName':'x'" ON_M1, GOOD) "," MOVED,
     "forbidden_placement/binding"},
    {"no copies run",
     CLAIMED_WEB "," SETUP_POLICY "," BINDING("," CLAIM, SETUP, "", NO_FIT) "," MOVED,
     "not_scheduled/no_cluster_fit@2026-01-06T00:00:00Z"},
    {"an orphan", WEB(OLD) "," BINDING("", SETUP, ON_M1, GOOD) "," MOVED, "orphaned " AT_RISK},
    {"the placement is unreadable",
     CLAIMED_WEB "," POLICY("", ",'placement':{'clusterAffinity':{'clusterNames':7}}") "," BINDING(
         "," CLAIM, "{'clusterAffinity':{'clusterNames':7}}", ON_M1, GOOD) "," MOVED,
     ""},
    {"the present cluster lost the API, which does not count",
     CLAIMED_WEB "," SETUP_POLICY "," SETUP_BINDING "," LOST("m1"), ""},
    {"other clusters do not serve the API",
     CLAIMED_WEB "," SETUP_POLICY "," SETUP_BINDING "," MOVED "," LOST("m2") "," LOST("m3"),
     "placement_at_risk/api_not_served forbidden_placement/binding"},
    {"the only cluster is in deletion",
     CLAIMED_WEB "," SETUP_POLICY "," SETUP_BINDING "," DELETING("m1"),
     "placement_at_risk/cluster_deleting"},
    {"one of two clusters is in deletion",
     CLAIMED_WEB "," SETUP_POLICY "," SETUP_BINDING
                 "," DELETING("m1") "," CLUSTER("m2", "True", PHASE("setup")),
     ""},
    {"one of two clusters is in deletion, the other has a taint",
     CLAIMED_WEB "," SETUP_POLICY "," SETUP_BINDING "," DELETING("m1") "," TAINTED("m2"),
     "placement_at_risk/cluster_deleting"},
    {"one of two clusters is in deletion, the other does not serve the API",
     CLAIMED_WEB "," SETUP_POLICY "," SETUP_BINDING "," DELETING("m1") "," LOST("m2"),
     "placement_at_risk/cluster_deleting"},
    {"the clusters have no region",
     CLAIMED_WEB "," POLICY("", ",'placement':" BY_REGION) "," BINDING(
         "," CLAIM, BY_REGION, ON_M1, GOOD) "," CLUSTER("m1", "True", PHASE("setup")),
     "placement_at_risk/spread_property"},
    {"the only other cluster has an eviction task",
     CLAIMED_WEB "," SETUP_POLICY "," BINDING("," CLAIM, SETUP, ON_M1 TASK(""),
                                              GOOD) "," CLUSTER("m2", "True", PHASE("setup")),
     "placement_at_risk/evicting"},
};

TEST_ROWS(a_placement_is_at_risk_if_no_cluster_passes_its_filters, risk_cases, name)
{
    conditions_follow_from_the_decision(state);
}

/* The label of a cluster that is no target decides about the problem. */
static void check_risk_follows_other_clusters(const char *objects)
{
    const struct entry *web;
    struct scene s;

    scene_init(&s, objects);
    judge(&s);
    web = world_find(&s.world, "apps/v1", "Deployment", "a", "web");
    assert_non_null(problems_of(engine_problems(s.world.engine), web));
    check(&s, strstr(objects, CLAIM_ANNOTATIONS) ? AT_RISK : "orphaned " AT_RISK);
    put(&s, CLUSTER("m2", "True", PHASE("setup")));
    pass(&s);
    for (const struct problem *p = problems_of(engine_problems(s.world.engine), web); p;
         p = problems_next_of(p))
        assert_true(problem_id(p) != PROBLEM_PLACEMENT_AT_RISK);
    put(&s, CLUSTER("m2", "True", PHASE("done")));
    bool found = false;
    for (const struct problem *p = problems_of(engine_problems(s.world.engine), web); p;
         p = problems_next_of(p))
        found |= problem_id(p) == PROBLEM_PLACEMENT_AT_RISK;
    assert_true(found);
    world_release(&s.world);
}

TEST(a_template_follows_the_labels_of_clusters_that_it_is_not_on)
{
    check_risk_follows_other_clusters("[" CLAIMED_WEB "," SETUP_POLICY "," SETUP_BINDING "," MOVED
                                      "]");
}

TEST(an_orphan_follows_the_labels_of_clusters_that_it_is_not_on)
{
    check_risk_follows_other_clusters("[" WEB(OLD) "," BINDING("", SETUP, ON_M1, GOOD) "," MOVED
                                                                                       "]");
}

/* ---- binding_name_collision ---- */

#define ROLE(name)                                                                                 \
    "{'apiVersion':'rbac.authorization.k8s.io/v1','kind':'Role','metadata':{'name':'" name         \
    "','namespace':'a'}}"
#define ROLES "'apiVersion':'rbac.authorization.k8s.io/v1','kind':'Role'"
#define TEN   "abcdefghij"
#define FIFTY TEN TEN TEN TEN TEN
#define LONG  FIFTY FIFTY FIFTY FIFTY /* 200 bytes. */

/* The name of a Role, and whether its binding has a valid name. */
static const struct name_case {
    const char *name;
    const char *expected;
} name_cases[] = {
    {"web", ""},
    {"acme:lock", ""},
    {"System:Web", ""},
    {"a--b", ""},
    {"acme::lock", "binding_name_collision/invalid_name"},
    {"a_b", "binding_name_collision/invalid_name"},
    {"a-.b", "binding_name_collision/invalid_name"},
    {"a.-b", "binding_name_collision/invalid_name"},
    {":a", "binding_name_collision/invalid_name"},
    {"-a", "binding_name_collision/invalid_name"},
    {"\303\244", "binding_name_collision/invalid_name"},
    {LONG FIFTY TEN, "binding_name_collision/invalid_name"},
    {LONG TEN TEN TEN TEN "12345678", ""},
    {LONG TEN TEN TEN TEN "123456789", "binding_name_collision/invalid_name"},
};

TEST_ROWS(a_binding_name_must_be_a_dns_subdomain, name_cases, name)
{
    const struct name_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf objects = STRBUF_INIT(TEXT_MAX);
    struct scene s;

    strbuf_addf(&objects, "[" ROLE("%s") "," SELECTING("q", "", ROLES) "]", c->name);
    scene_init(&s, objects.data);
    check_entry(&s, world_find(&s.world, "rbac.authorization.k8s.io/v1", "Role", "a", c->name),
                c->expected);
    world_release(&s.world);
}

#define THING(group)                                                                               \
    "{'apiVersion':'" group "/v1','kind':'Thing','metadata':{'name':'x','namespace':'a'," CLAIM "}}"
#define THINGS(group) "'apiVersion':'" group "/v1','kind':'Thing'"

TEST(two_templates_of_one_binding_name_collide)
{
    struct scene s;

    scene_init(&s, "[" THING("a.io") "," THING("b.io") "," SELECTING(
                       "p", ",'labels':{" ID "}", THINGS("a.io") "},{" THINGS("b.io")) "]");
    check_entry(&s, world_find(&s.world, "a.io/v1", "Thing", "a", "x"),
                "binding_name_collision/taken not_propagated/stuck");
    world_release(&s.world);
}

/* ---- Config Connector ---- */

#define TOPIC(ns, more)                                                                            \
    "{'apiVersion':'pubsub.cnrm.cloud.google.com/v1beta1','kind':'PubSubTopic','metadata':{"       \
    "'name':'t','namespace':'" ns "','annotations':{'cnrm.cloud.google.com/project-id':'x'}}" more \
    "}"
#define TOPICS "'apiVersion':'pubsub.cnrm.cloud.google.com/v1beta1','kind':'PubSubTopic'"
#define CONFLICT                                                                                   \
    ",'status':{'conditions':[{'type':'Ready','status':'False','reason':'ManagementConflict'}]}"

TEST(conflicts_of_cloud_resources_are_problems_of_their_objects)
{
    struct scene s;

    scene_init(&s, "[" TOPIC("a", CONFLICT) "," TOPIC("b", "") "]");
    check_entry(
        &s, world_find(&s.world, "pubsub.cnrm.cloud.google.com/v1beta1", "PubSubTopic", "a", "t"),
        "cloud_resource_conflict/duplicate_identity management_conflict/reported");
    world_release(&s.world);
}

/* ---- time, and data that is not readable ---- */

TEST(an_eviction_is_due_after_half_of_its_time)
{
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(TEXT_MAX);
    const struct entry *web;
    struct scene s;
    int64_t due_ms;

    scene_init(&s, "[" CLAIMED_WEB "," PLACED_POLICY
                   "," CLAIMED(ON_M1 TASK(",'creationTimestamp':" AT("23:59:00")), GOOD) "]");
    web = world_find(&s.world, "apps/v1", "Deployment", "a", "web");
    due_ms = describe(&s, web, &out);
    assert_text(out.data, "");
    assert_true(due_ms == NOW_MS - 60 * 1000 + 5 * 60 * 1000);
    s.now_ms = due_ms;
    world_run(&s.world, due_ms);
    check(&s, "eviction_stuck/replacing@2026-01-10T00:04:00Z");
    world_release(&s.world);
}

TEST(conditions_are_unknown_while_policies_or_clusters_are_not_read)
{
    struct scene s;

    scene_init(&s, "[" CLAIMED_WEB "," CLAIMED(ON_M1, GOOD) "]");
    engine_set_incomplete(s.world.engine, "policy.karmada.io/v1alpha1", "PropagationPolicy", true);
    world_run(&s.world, s.now_ms);
    check(&s, "template_frozen/policy_gone? reference_broken/claim_missing?");
    engine_set_incomplete(s.world.engine, "policy.karmada.io/v1alpha1", "PropagationPolicy", false);
    put(&s, MOVED);
    put(&s, SETUP_POLICY);
    put(&s, SETUP_BINDING);
    check(&s, AT_RISK);
    engine_set_incomplete(s.world.engine, "cluster.karmada.io/v1alpha1", "Cluster", true);
    world_run(&s.world, s.now_ms);
    check(&s, "placement_at_risk/affinity? forbidden_placement/binding?");
    world_release(&s.world);
}

/* An older Karmada sets no lastScheduledTime; the exporter has seen the clusters itself. */
TEST(a_placement_that_the_exporter_saw_can_be_lost)
{
    struct scene s;

    scene_init(&s, "[" CLAIMED_WEB "," PLACED_POLICY "," CLAIMED(ON_M1, GOOD) "]");
    put(&s, CLAIMED("", NO_FIT));
    check(&s, "placement_lost/no_cluster_fit@2026-01-06T00:00:00Z");
    put(&s,
        CLAIMED(",'gracefulEvictionTasks':[{'fromCluster':'m1','suppressDeletion':true}]", NO_FIT));
    check(&s, "not_scheduled/no_cluster_fit@2026-01-06T00:00:00Z two_copies_held");
    world_release(&s.world);
}
