/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/prediction.h"

#include "metrics/rules/replica_projection.h"
#include "tests/unit/reading.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

enum { NOW_MS = 1000, TEXT_MAX = 1 << 14 };

#define POLICY(placement)                                                                          \
    "{'apiVersion':'policy.karmada.io/v1alpha1','kind':'PropagationPolicy','metadata':{"           \
    "'name':'p','namespace':'a'},'spec':{'propagateDeps':true,'resourceSelectors':[{"              \
    "'apiVersion':'apps/v1','kind':'Deployment'}],'placement':{" placement "}}}"
#define OTHER_POLICY                                                                               \
    "{'apiVersion':'policy.karmada.io/v1alpha1','kind':'PropagationPolicy','metadata':{"           \
    "'name':'q','namespace':'a'},'spec':{'resourceSelectors':[{'apiVersion':'apps/v1','kind':"     \
    "'Deployment'}]}}"
#define STORED_POLICY                                                                              \
    "{'apiVersion':'policy.karmada.io/v1alpha1','kind':'PropagationPolicy','metadata':{"           \
    "'name':'p','namespace':'a','uid':'v'},'spec':{'resourceSelectors':[{'apiVersion':"            \
    "'apps/v1','kind':'Deployment'}],'placement':{" REFUSED "}}}"
/* The webhook refuses a constraint by field and by label. */
#define REFUSED "'spreadConstraints':[{'spreadByField':'cluster','spreadByLabel':'l'}]"
#define CLUSTER(name, spec)                                                                        \
    "{'apiVersion':'cluster.karmada.io/v1alpha1','kind':'Cluster','metadata':{'name':'" name       \
    "'},'spec':{" spec "}}"
#define TAINTED  "'taints':[{'key':'k','effect':'NoSchedule'}]"
#define CLUSTERS CLUSTER("m1", "") "," CLUSTER("m2", "")
#define DIVIDED                                                                                    \
    "'replicaScheduling':{'replicaSchedulingType':'Divided','replicaDivisionPreference':'"         \
    "Weighted'}"
#define TEMPLATE_OF(name, uid, replicas)                                                           \
    "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'" name                        \
    "','namespace':'a'" uid "},'spec':{'replicas':" replicas                                       \
    ",'template':{'spec':{'volumes':[{'configMap':{"                                               \
    "'name':'c'}}]}}}}"
#define TEMPLATE TEMPLATE_OF("web", ",'uid':'u'", "3")
#define CONFIG   "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'c','namespace':'a'}}"
#define BINDING(spec, status)                                                                      \
    "{'apiVersion':'work.karmada.io/v1alpha2','kind':'ResourceBinding','metadata':{"               \
    "'name':'web-deployment','namespace':'a'},'spec':{'resource':{'apiVersion':'apps/v1',"         \
    "'kind':'Deployment','namespace':'a','name':'web','uid':'u'},'replicas':3,'placement':{}" spec \
    "},'status':{" status "}}"
#define FAILED(reason) "'conditions':[{'type':'Scheduled','status':'False','reason':'" reason "'}]"
#define PLACED         ",'clusters':[{'name':'m1','replicas':3}]"

static const struct prediction_case {
    const char *name;
    const char *objects; /* The Deployment a/web and other objects. */
    const char *predicted;
} cases[] = {
    {"no policy", TEMPLATE "," CLUSTERS, "nowhere no_policy"},
    {"all clusters", TEMPLATE "," CLUSTERS "," POLICY(""), "placed scheduled m1:3 m2:3"},
    {"divided", TEMPLATE "," CLUSTERS "," POLICY(DIVIDED), "placed scheduled m1:2 m2:1"},
    {"no cluster of the name",
     TEMPLATE "," CLUSTERS "," POLICY("'clusterAffinity':{'clusterNames':['m9']}"),
     "nowhere no_cluster_fit"},
    {"the only cluster has a taint", TEMPLATE "," CLUSTER("m1", TAINTED) "," POLICY(""),
     "nowhere no_cluster_fit"},
    {"one of two clusters has a taint",
     TEMPLATE "," CLUSTER("m1", TAINTED) "," CLUSTER("m2", "") "," POLICY(""),
     "placed scheduled m2:3"},
    {"no replicas", TEMPLATE_OF("web", ",'uid':'u'", "0") "," CLUSTERS "," POLICY(""),
     "nowhere no_replicas"},
    {"spread by label",
     TEMPLATE "," CLUSTERS "," POLICY("'spreadConstraints':[{'spreadByLabel':'l','minGroups':1}]"),
     "refused spread_constraint"},
    {"the API server refuses the policy", TEMPLATE "," CLUSTERS "," POLICY(REFUSED),
     "refused policy_refused"},
    {"another policy than the refused one",
     TEMPLATE "," CLUSTERS "," POLICY(REFUSED) "," OTHER_POLICY, "placed scheduled m1:3 m2:3"},
    {"an API server stores the refused policy", TEMPLATE "," CLUSTERS "," STORED_POLICY,
     "refused spread_constraint"},
    {"no Cluster is known", TEMPLATE "," POLICY(""), "undetermined no_clusters"},
    {"the uid decides", TEMPLATE_OF("web", "", "3") "," CLUSTERS "," POLICY(DIVIDED),
     "undetermined uid"},
    {"the uid does not decide", TEMPLATE_OF("web", "", "4") "," CLUSTERS "," POLICY(DIVIDED),
     "placed scheduled m1:2 m2:2"},
    {"free capacity decides",
     TEMPLATE "," CLUSTERS "," POLICY("'replicaScheduling':{'replicaSchedulingType':'Divided',"
                                      "'replicaDivisionPreference':'Aggregated'}"),
     "undetermined aggregated"},
    {"left behind", TEMPLATE "," BINDING(PLACED, ""), "placed left_behind"},
    {"no cluster fits a binding", TEMPLATE "," POLICY("") "," BINDING("", FAILED("NoClusterFit")),
     "nowhere no_cluster_fit"},
    {"capacity is missing", TEMPLATE "," POLICY("") "," BINDING("", FAILED("Unschedulable")),
     "nowhere unschedulable"},
    {"a quota is exceeded", TEMPLATE "," POLICY("") "," BINDING("", FAILED("QuotaExceeded")),
     "refused quota_exceeded"},
    {"the scheduler fails", TEMPLATE "," POLICY("") "," BINDING("", FAILED("SchedulerError")),
     "refused scheduler_error"},
    {"suspended", TEMPLATE "," POLICY("") "," BINDING(",'suspension':{'scheduling':true}", ""),
     "nowhere suspended"},
};

/* Appends the outcome of an object, such as "placed scheduled m1:3". */
static void add_predicted(const struct world *w, const char *api_version, const char *kind,
                          const char *name, struct strbuf *out)
{
    struct projection projection;
    struct predicted predicted =
        predict_template(w->engine, world_find(w, api_version, kind, "a", name), &projection);

    strbuf_addf(out, "%s %s", prediction_names[predicted.outcome], predicted.reason);
    for (uint32_t i = 0; i < projection.count; i++)
        strbuf_addf(out, " %s:%d", projection.clusters[i].name, projection.clusters[i].replicas);
    projection_release(store_string_pool(w->store), &projection);
}

/* `release` is a value of --karmada.version; NULL for the newest release. */
static void predict_in(const char *release, const char *objects, const char *api_version,
                       const char *kind, const char *name, struct strbuf *out)
{
    CLEANUP(strbuf_release) struct strbuf list = STRBUF_INIT(TEXT_MAX);
    struct rules_options options = rules_options_default;
    struct world w;

    strbuf_addf(&list, "[%s]", objects);

    cJSON *json = json_of(list.data);

    options.karmada_version = release;
    world_init(&w, &options, 1);
    world_put_all(&w, json);
    world_run(&w, NOW_MS);
    add_predicted(&w, api_version, kind, name, out);
    world_release(&w);
    cJSON_Delete(json);
}

static void predict(const char *objects, const char *api_version, const char *kind,
                    const char *name, struct strbuf *out)
{
    predict_in(NULL, objects, api_version, kind, name, out);
}

TEST_ROWS(outcomes_and_reasons, cases, name)
{
    const struct prediction_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);

    predict(c->objects, "apps/v1", "Deployment", "web", &text);
    assert_string_equal(text.data, c->predicted);
}

TEST(a_dependency_is_where_its_referrers_are)
{
    static const char *const rows[][2] = {
        {TEMPLATE "," CONFIG "," CLUSTERS "," POLICY(""), "placed required m1:0 m2:0"},
        {TEMPLATE "," CONFIG "," CLUSTER("m1", TAINTED) "," POLICY(""), "nowhere referrer"},
        {TEMPLATE "," CONFIG "," POLICY(""), "undetermined no_clusters"},
        {CONFIG "," CLUSTERS "," POLICY(""), "nowhere no_policy"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);

        predict(rows[i][0], "v1", "ConfigMap", "c", &text);
        assert_string_equal(text.data, rows[i][1]);
    }
}

#define CUSTOM                                                                                     \
    "{'apiVersion':'shop.example/v1','kind':'Widget','metadata':{'name':'w','namespace':'a'},"     \
    "'spec':{'replicas':4}}"
#define CUSTOM_POLICY(placement)                                                                   \
    "{'apiVersion':'policy.karmada.io/v1alpha1','kind':'PropagationPolicy','metadata':{"           \
    "'name':'p','namespace':'a'},'spec':{'resourceSelectors':[{'apiVersion':'shop.example/v1',"    \
    "'kind':'Widget'}],'placement':{" placement "}}}"

/* Only a resource interpreter knows the replicas of a custom kind. */
TEST(divided_replicas_of_a_custom_kind_are_unknown)
{
    static const char *const rows[][2] = {
        {CUSTOM "," CLUSTERS "," CUSTOM_POLICY(DIVIDED), "undetermined unsupported"},
        {CUSTOM "," CLUSTERS "," CUSTOM_POLICY(""), "placed scheduled m1:0 m2:0"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);

        predict(rows[i][0], "shop.example/v1", "Widget", "w", &text);
        assert_string_equal(text.data, rows[i][1]);
    }
}

#define REPLICA_SET                                                                                \
    "{'apiVersion':'apps/v1','kind':'ReplicaSet','metadata':{'name':'web','namespace':'a',"        \
    "'uid':'u'},'spec':{'replicas':3}},{'apiVersion':'policy.karmada.io/v1alpha1','kind':"         \
    "'PropagationPolicy','metadata':{'name':'p','namespace':'a'},'spec':{'resourceSelectors':"     \
    "[{'apiVersion':'apps/v1','kind':'ReplicaSet'}],'placement':{" DIVIDED "}}}"

/* Karmada: getAllDefaultReplicaInterpreter. */
TEST(replicas_of_a_replica_set_count_since_1_16)
{
    static const char *const rows[][2] = {
        {"1.13", "placed scheduled m1:0 m2:0"},
        {"1.15", "placed scheduled m1:0 m2:0"},
        {"1.16", "placed scheduled m1:2 m2:1"},
        {NULL, "placed scheduled m1:2 m2:1"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);

        predict_in(rows[i][0], REPLICA_SET "," CLUSTERS, "apps/v1", "ReplicaSet", "web", &text);
        assert_string_equal(text.data, rows[i][1]);
    }
}
