/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/problems/replica_contest.h"

#include "metrics/base/timestamp.h"
#include "metrics/model/template.h"
#include "metrics/rules/engine.h"
#include "metrics/rules/problems/problem.h"
#include "metrics/rules/problems/problems.h"
#include "metrics/rules/rule.h"
#include "tests/unit/reading.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

enum { TEXT_MAX = 1 << 12 };

/* 2026-01-10T00:00:00Z */
static const int64_t NOW_MS = INT64_C(1768003200000);

#define POLICY(name, kind, api_version, placement)                                                 \
    "{'apiVersion':'policy.karmada.io/v1alpha1','kind':'PropagationPolicy','metadata':{"           \
    "'name':'" name "','namespace':'a'},'spec':{'resourceSelectors':[{'apiVersion':'" api_version  \
    "','kind':'" kind "'}],'placement':{" placement "}}}"
#define NAMES(names)    "'clusterAffinity':{'clusterNames':[" names "]}"
#define LABELLED(value) "'clusterAffinity':{'labelSelector':{'matchLabels':{'site':'" value "'}}}"
#define WEBS(placement) POLICY("webs", "Deployment", "apps/v1", placement)
#define HPAS(placement) POLICY("hpas", "HorizontalPodAutoscaler", "autoscaling/v2", placement)

#define OWNED(manager, more)                                                                       \
    ",'managedFields':[{'manager':'" manager "','operation':'Update'" more                         \
    ",'time':'2026-01-02T00:00:00Z','fieldsV1':{'f:spec':{'f:replicas':{}}}}]"
#define BY_USER      OWNED("kubectl", "")
#define BY_KARMADA   OWNED("karmada-controller-manager", ",'subresource':'scale'")
#define RETAIN(text) ",'labels':{'resourcetemplate.karmada.io/retain-replicas':'" text "'}"
#define WEB_OF(api_version, kind, meta, spec)                                                      \
    "{'apiVersion':'" api_version "','kind':'" kind                                                \
    "','metadata':{'name':'web','namespace':'a'" meta "}" spec "}"
#define WEB(meta)        WEB_OF("apps/v1", "Deployment", meta, ",'spec':{'replicas':2}")
#define STORED_WEB(meta) WEB_OF("apps/v1", "Deployment", ",'uid':'u'" meta, "")
#define SCALER(api_version, kind, meta, target)                                                    \
    "{'apiVersion':'" api_version "','kind':'" kind                                                \
    "','metadata':{'name':'scaler','namespace':'a'" meta "},'spec':{'scaleTargetRef':{" target     \
    "}}}"
#define OF_WEB        "'apiVersion':'apps/v1','kind':'Deployment','name':'web'"
#define HPA(meta)     SCALER("autoscaling/v2", "HorizontalPodAutoscaler", meta, OF_WEB)
#define HPA_OF(text)  SCALER("autoscaling/v2", "HorizontalPodAutoscaler", "", text)
#define FHPA_OF(text) SCALER("autoscaling.karmada.io/v1alpha1", "FederatedHPA", "", text)
#define FHPA          FHPA_OF(OF_WEB)
#define BOUND(api_version, kind, name, binding, clusters)                                          \
    "{'apiVersion':'work.karmada.io/v1alpha2','kind':'ResourceBinding','metadata':{'name':"        \
    "'" binding "','namespace':'a'},'spec':{'resource':{'apiVersion':'" api_version                \
    "','kind':'" kind "','namespace':'a','name':'" name "'},'placement':{},'clusters':[" clusters  \
    "]}}"
#define WEB_ON(clusters) BOUND("apps/v1", "Deployment", "web", "web-deployment", clusters)
#define HPA_ON(clusters)                                                                           \
    BOUND("autoscaling/v2", "HorizontalPodAutoscaler", "scaler", "scaler-horizontalpodautoscaler", \
          clusters)
#define SET              WEB_OF("apps/v1", "StatefulSet", "", "")
#define OF_SET           "'apiVersion':'apps/v1','kind':'StatefulSet','name':'web'"
#define SET_ON(clusters) BOUND("apps/v1", "StatefulSet", "web", "web-statefulset", clusters)
#define OF_DEPLOYMENT(api_version, name)                                                           \
    "'apiVersion':'" api_version "','kind':'Deployment','name':'" name "'"
#define M1 "{'name':'m1'}"
#define M2 "{'name':'m2'}"
#define CLUSTER(name, spec)                                                                        \
    "{'apiVersion':'cluster.karmada.io/v1alpha1','kind':'Cluster','metadata':{'name':'" name       \
    "','labels':{'site':'" name "'}},'spec':{" spec "}}"
#define TAINT "'taints':[{'key':'k','effect':'NoSchedule'}]"

static struct entry *find_web(const struct world *w)
{
    struct entry *web = world_find(w, "apps/v1", "Deployment", "a", "web");

    return web ? web : world_find(w, "apps/v1", "StatefulSet", "a", "web");
}

static void init_world(struct world *w, const char *objects)
{
    CLEANUP(strbuf_release) struct strbuf list = STRBUF_INIT(TEXT_MAX * 16);
    CLEANUP(json_cleanup) cJSON *all = NULL;

    strbuf_addf(&list, "[%s]", objects);
    all = json_of(list.data);
    world_init(w, &rules_options_default, 1);
    world_put_all(w, all);
    world_run(w, NOW_MS);
}

static void put(struct world *w, const char *object)
{
    CLEANUP(json_cleanup) cJSON *json = json_of(object);

    world_put(w, json);
    world_run(w, NOW_MS);
}

static void add_autoscaler_name(void *context, const struct entry *autoscaler)
{
    strbuf_addf(context, " %s", entry_kind(autoscaler));
}

static void add_cluster_name(void *context, const char *cluster)
{
    strbuf_addf(context, " %s", cluster);
}

/* Appends the reason, its autoscalers and clusters; nothing without a reason. */
static void describe(const struct world *w, struct strbuf *out)
{
    const struct rule_context *c = engine_context_const(w->engine);
    const struct entry *web = find_web(w);
    int64_t since_ms;
    enum problem_reason reason = replica_contest_reason(c, web, &since_ms);

    if (reason == PROBLEM_REASON_COUNT)
        return;
    strbuf_adds(out, problem_reasons[reason].name);
    replica_contest_each_autoscaler(c, web, reason, add_autoscaler_name, out);
    replica_contest_each_cluster(c, web, reason, add_cluster_name, out);
}

static void check(const struct world *w, const char *expected)
{
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(TEXT_MAX);

    describe(w, &out);
    assert_string_equal(out.data, expected);
}

#define SHARED "hpa HorizontalPodAutoscaler m1"
#define BOTH   NAMES("'m1','m2'")

static const struct contest_case {
    const char *name;
    const char *objects;
    const char *expected;
} cases[] = {
    {"no autoscaler", WEB("") "," WEB_ON(M1), ""},
    {"bound to one cluster", WEB("") "," HPA("") "," WEB_ON(M1) "," HPA_ON(M1 "," M2), SHARED},
    {"bound to other clusters", WEB("") "," HPA("") "," WEB_ON(M1) "," HPA_ON(M2), ""},
    {"not propagated", WEB("") "," HPA("") "," WEB_ON(M1), ""},
    {"the workload has no target", WEB("") "," HPA("") "," WEB_ON("") "," HPA_ON(M1), ""},
    {"the label retains the replicas",
     WEB(RETAIN("true")) "," HPA("") "," WEB_ON(M1) "," HPA_ON(M1), ""},
    {"another value of the label", WEB(RETAIN("yes")) "," HPA("") "," WEB_ON(M1) "," HPA_ON(M1),
     SHARED},
    {"the autoscaler is in deletion",
     WEB("") "," HPA(",'deletionTimestamp':'2026-01-09T00:00:00Z'") "," WEB_ON(M1) "," HPA_ON(M1),
     ""},
    {"the target has another version",
     WEB_ON(M1) "," HPA_ON(M1) "," WEB("") "," HPA_OF(OF_DEPLOYMENT("apps/v1beta1", "web")),
     SHARED},
    {"the target has another group",
     WEB_ON(M1) "," HPA_ON(M1) "," WEB("") "," HPA_OF(OF_DEPLOYMENT("example.org/v1", "web")), ""},
    {"the target has another name",
     WEB_ON(M1) "," HPA_ON(M1) "," WEB("") "," HPA_OF(OF_DEPLOYMENT("apps/v1", "api")), ""},
    {"no target", WEB("") "," HPA_OF("") "," WEB_ON(M1) "," HPA_ON(M1), ""},
    {"another kind of workload", SET "," HPA_OF(OF_SET) "," HPA_ON(M1) "," SET_ON(M1), SHARED},

    /* Manifests, of which nothing is bound yet. */
    {"policies that name a common cluster",
     WEB("") "," HPA("") "," WEBS(NAMES("'m1'")) "," HPAS(BOTH), SHARED},
    {"policies that name other clusters",
     WEB("") "," HPA("") "," WEBS(NAMES("'m1'")) "," HPAS(NAMES("'m2'")), ""},
    {"only the workload has a policy", WEB("") "," HPA("") "," WEBS(NAMES("'m1'")), ""},
    {"equal placements of unknown clusters",
     WEB("") "," HPA("") "," WEBS(LABELLED("m1")) "," HPAS(LABELLED("m1")),
     "hpa HorizontalPodAutoscaler"},
    {"other placements of unknown clusters",
     WEB("") "," HPA("") "," WEBS(LABELLED("m1")) "," HPAS(LABELLED("m2")), ""},
    {"labels of known clusters",
     CLUSTER("m1", "") "," CLUSTER("m2", "") "," WEB("") "," HPA("") "," WEBS(
         LABELLED("m1")) "," HPAS(""),
     SHARED},
    {"a taint keeps both out of the common cluster",
     CLUSTER("m1", TAINT) "," CLUSTER("m2", "") "," WEB("") "," HPA("") "," WEBS(
         LABELLED("m1")) "," HPAS(""),
     ""},

    /* FederatedHPAs */
    {"a FederatedHPA", WEB("") "," FHPA "," WEB_ON(M1 "," M2), "federated_hpa FederatedHPA m1 m2"},
    {"a FederatedHPA of a workload that no policy propagates", WEB("") "," FHPA, ""},
    {"a FederatedHPA, and the label retains the replicas",
     WEB(RETAIN("true")) "," FHPA "," WEB_ON(M1), ""},
    {"a FederatedHPA of another workload",
     WEB("") "," FHPA_OF("'apiVersion':'apps/v1','kind':'Deployment','name':'api'") "," WEB_ON(M1),
     ""},
    {"a FederatedHPA, and the manifest sets no replicas",
     WEB_OF("apps/v1", "Deployment", "", ",'spec':{}") "," FHPA "," WEB_ON(M1), ""},
    {"a FederatedHPA, and a client sets the replicas", STORED_WEB(BY_USER) "," FHPA "," WEB_ON(M1),
     "federated_hpa FederatedHPA m1"},
    {"a FederatedHPA alone sets the replicas", STORED_WEB(BY_KARMADA) "," FHPA "," WEB_ON(M1), ""},
    {"a FederatedHPA, and metadata without managedFields", STORED_WEB("") "," FHPA "," WEB_ON(M1),
     "federated_hpa FederatedHPA m1"},
    {"a HorizontalPodAutoscaler has precedence",
     WEB("") "," FHPA "," HPA("") "," WEB_ON(M1) "," HPA_ON(M1), SHARED},
};

TEST_ROWS(replicas_are_contested, cases, name)
{
    const struct contest_case *c = *state;
    struct world w;

    init_world(&w, c->objects);
    check(&w, c->expected);
    world_release(&w);
}

TEST(the_contest_begins_with_the_last_change_of_both)
{
    static const char *const objects =
        WEB(BY_USER) "," SCALER("autoscaling/v2", "HorizontalPodAutoscaler",
                                ",'managedFields':[{'manager':'kubectl','operation':'Update',"
                                "'time':'2026-01-05T00:00:00Z','fieldsV1':{'f:spec':{'f:x':{}}}}]",
                                OF_WEB) "," WEB_ON(M1) "," HPA_ON(M1);
    int64_t since_ms;
    struct world w;
    char text[32];

    init_world(&w, objects);
    replica_contest_reason(engine_context_const(w.engine), find_web(&w), &since_ms);
    format_timestamp(since_ms, text);
    assert_string_equal(text, "2026-01-05T00:00:00Z");
    put(&w, HPA(",'generation':2"));
    replica_contest_reason(engine_context_const(w.engine), find_web(&w), &since_ms);
    assert_int_equal(since_ms, 0);
    world_release(&w);
}

/* Each step changes one object. The result must be that of a fresh engine, and few evaluations. */
TEST(a_change_evaluates_the_workload_only)
{
    static const struct {
        const char *object;
        const char *expected;
    } steps[] = {
        {HPA(""), ""},
        {HPA_ON(M1), SHARED},
        {HPA_ON(M2), ""},
        {HPA_ON(M2 "," M1), SHARED},
        {HPA_OF("'apiVersion':'apps/v1','kind':'Deployment','name':'api'"), ""},
        {HPA(""), SHARED},
        {FHPA, SHARED},
        {HPA(",'deletionTimestamp':'2026-01-09T00:00:00Z'"), "federated_hpa FederatedHPA m1"},
        {WEB(RETAIN("true")), ""},
        {WEB(""), "federated_hpa FederatedHPA m1"},
        {FHPA_OF("'apiVersion':'apps/v1','kind':'Deployment','name':'api'"), ""},
    };
    enum { OTHERS = 50 };
    struct world w;

    init_world(&w, WEB("") "," WEB_ON(M1));
    for (unsigned i = 0; i < OTHERS; i++) {
        char text[256];

        snprintf(text, sizeof(text),
                 "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'o%u',"
                 "'namespace':'a'}}",
                 i);
        put(&w, text);
    }
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        uint64_t before = engine_evaluations(w.engine);

        put(&w, steps[i].object);
        check(&w, steps[i].expected);
        assert_in_range(engine_evaluations(w.engine) - before, 1, 8);
    }
    world_release(&w);
}

/* ---- random changes ---- */

enum { STEPS = 3000, OBJECT_KINDS = 9 };

/* Variants of each object; NULL at the end. The object does not exist in the variant "". */
static const char *const variants[OBJECT_KINDS][6] = {
    {WEB(""), WEB(RETAIN("true")), WEB(BY_KARMADA), "", NULL},
    {SET, "", NULL},
    {HPA(""), HPA_OF(OF_SET), HPA(",'deletionTimestamp':'2026-01-09T00:00:00Z'"), "", NULL},
    {FHPA, FHPA_OF(OF_SET), FHPA_OF("'kind':'Deployment','name':'web'"), "", NULL},
    {WEB_ON(M1), WEB_ON(M1 "," M2), WEB_ON(""), "", NULL},
    {SET_ON(M2), "", NULL},
    {HPA_ON(M1), HPA_ON(M2), HPA_ON(""), "", NULL},
    {WEBS(NAMES("'m1'")), WEBS(LABELLED("m1")), "", NULL},
    {HPAS(NAMES("'m1','m2'")), HPAS(LABELLED("m1")), HPAS(NAMES("'m2'")), "", NULL},
};

static void put_or_remove(struct world *w, const char *object, const char *former)
{
    CLEANUP(json_cleanup) cJSON *json = json_of(*object ? object : former);
    struct identity id;
    struct error err;

    if (*object) {
        world_put(w, json);
        return;
    }
    assert_true(identity_read(json, &id, &err));
    store_remove(w->store, store_find(w->store, &id));
}

/* Appends the reason for which an instance about the workload holds; nothing without one. */
static void describe_instance(const struct world *w, const char *kind, struct strbuf *out)
{
    struct entry *workload = world_find(w, "apps/v1", kind, "a", "web");
    struct problem_walk walk = {0};
    const struct problem *p;

    while ((p = problems_next(engine_problems(w->engine), &walk)) != NULL) {
        if (p->subject == workload && problem_id(p) == PROBLEM_REPLICAS_CONTESTED &&
            p->status != PROBLEM_RESOLVING)
            strbuf_addf(out, "%s %s;", kind, problem_reasons[p->reason].name);
    }
}

static void describe_instances(const struct world *w, struct strbuf *out)
{
    describe_instance(w, "Deployment", out);
    describe_instance(w, "StatefulSet", out);
}

static void start_judging(struct world *w)
{
    struct problem_options options = {.snapshot = true, .only_proven_times = true};

    problem_settings_reset(&options.settings);
    engine_judge_problems(w->engine, &options);
    world_run(w, NOW_MS);
}

/* The judged problems after any sequence of changes are those of a fresh engine. */
TEST(random_changes_lead_to_the_problems_of_a_fresh_engine)
{
    const char *now[OBJECT_KINDS];
    unsigned held = 0;
    struct world w;

    world_init(&w, &rules_options_default, 7);
    start_judging(&w);
    for (size_t i = 0; i < OBJECT_KINDS; i++)
        now[i] = "";
    for (unsigned step = 0; step < STEPS; step++) {
        CLEANUP(strbuf_release) struct strbuf found = STRBUF_INIT(TEXT_MAX);
        CLEANUP(strbuf_release) struct strbuf expected = STRBUF_INIT(TEXT_MAX);
        size_t i = world_random(&w, OBJECT_KINDS), count = 0;
        const char *former = now[i];
        struct world fresh;

        while (variants[i][count])
            count++;
        now[i] = variants[i][world_random(&w, (uint32_t)count)];
        if (*now[i] || *former)
            put_or_remove(&w, now[i], former);
        world_run(&w, NOW_MS);
        describe_instances(&w, &found);

        world_init(&fresh, &rules_options_default, step);
        for (size_t k = 0; k < OBJECT_KINDS; k++) {
            if (*now[k])
                put_or_remove(&fresh, now[k], "");
        }
        world_run(&fresh, NOW_MS);
        start_judging(&fresh);
        describe_instances(&fresh, &expected);
        world_release(&fresh);
        assert_string_equal(found.data, expected.data);
        held += found.len > 0;
    }
    assert_in_range(held, STEPS / 20, STEPS);
    world_release(&w);
}

TEST(a_deleted_autoscaler_contests_nothing)
{
    struct world w;

    init_world(&w, WEB("") "," FHPA "," HPA("") "," WEB_ON(M1) "," HPA_ON(M1));
    check(&w, SHARED);
    store_remove(w.store,
                 world_find(&w, "autoscaling/v2", "HorizontalPodAutoscaler", "a", "scaler"));
    world_run(&w, NOW_MS);
    check(&w, "federated_hpa FederatedHPA m1");
    store_remove(w.store,
                 world_find(&w, "autoscaling.karmada.io/v1alpha1", "FederatedHPA", "a", "scaler"));
    world_run(&w, NOW_MS);
    check(&w, "");
    assert_false(has_autoscaler(engine_context_const(w.engine)->autoscalers, find_web(&w)));
    world_release(&w);
}

TEST(only_horizontal_pod_autoscalers_are_read_as_full_objects)
{
    assert_true(template_needs_object("autoscaling/v2", "HorizontalPodAutoscaler"));
    assert_true(template_needs_object("autoscaling/v1", "HorizontalPodAutoscaler"));
    assert_true(template_needs_object("storage.cnrm.cloud.google.com/v1beta1", "StorageBucket"));
    assert_false(template_needs_object("autoscaling.example.org/v1", "HorizontalPodAutoscaler"));
    assert_false(template_needs_object("apps/v1", "Deployment"));
}
