/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/simulate/plan.h"

#include "metrics/model/store.h"
#include "metrics/rules/admission/quota.h"

#include "tests/unit/planned.h"
#include "tests/unit/reading.h"
#include "tests/unit/suite.h"
#include "tests/unit/world_format.h"

/* Plans in a namespace with FederatedResourceQuotas. Texts have ' in place of ". */

enum { NOW_MS = 1000 * 1000, TEXT_MAX = 1 << 16 };

#define GATE "FederatedQuotaEnforcement=true"

#define QUOTA_NAMED(name, overall)                                                                 \
    "{'apiVersion':'policy.karmada.io/v1alpha1','kind':'FederatedResourceQuota',"                  \
    "'metadata':{'name':'" name "','namespace':'a'},'spec':{'overall':{" overall "}}}"
#define QUOTA(overall) QUOTA_NAMED("limit", overall)
#define CLUSTERS                                                                                   \
    "{'apiVersion':'cluster.karmada.io/v1alpha1','kind':'Cluster','metadata':{'name':'m1'}},"      \
    "{'apiVersion':'cluster.karmada.io/v1alpha1','kind':'Cluster','metadata':{'name':'m2'}}"
#define POLICY_ON(names)                                                                           \
    "{'apiVersion':'policy.karmada.io/v1alpha1','kind':'PropagationPolicy','metadata':{"           \
    "'name':'p','namespace':'a'},'spec':{'resourceSelectors':[{'apiVersion':'apps/v1',"            \
    "'kind':'Deployment'}],'placement':{'clusterAffinity':{'clusterNames':[" names "]}}}}"
#define DIVIDING_POLICY                                                                            \
    "{'apiVersion':'policy.karmada.io/v1alpha1','kind':'PropagationPolicy','metadata':{"           \
    "'name':'p','namespace':'a'},'spec':{'resourceSelectors':[{'apiVersion':'apps/v1',"            \
    "'kind':'Deployment'}],'placement':{'replicaScheduling':{'replicaSchedulingType':'Divided',"   \
    "'replicaDivisionPreference':'Weighted'}}}}"
#define POLICY POLICY_ON("'m1'")
#define WEB(name, number, requests)                                                                \
    "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'" name "','namespace':'a'},"  \
    "'spec':{'replicas':" number ",'template':{'spec':{'containers':[{'name':'a','resources':{"    \
    "'requests':{" requests "}}}]}}}}"
#define CPU(amount) "'cpu':'" amount "'"

static const char no_quota[] = "";

static const struct quota_case {
    const char *name;
    const char *gates;
    const char *quotas;  /* Objects before the change, each with a comma after it. */
    const char *before;  /* Templates before the change, likewise. */
    const char *change;  /* Objects of the change, without a comma at the end. */
    const char *outcome; /* Of the template "web" after the change; "" if it is not affected. */
} quota_cases[] = {
    {"fits exactly", GATE, QUOTA("'cpu':'500m'") ",", "", WEB("web", "5", CPU("100m")),
     "placed scheduled m1:5"},
    {"one unit too much", GATE, QUOTA("'cpu':'499m'") ",", "", WEB("web", "5", CPU("100m")),
     "refused quota_exceeded; limit/cpu 499 0 500"},
    {"gate off", "", QUOTA("'cpu':'499m'") ",", "", WEB("web", "5", CPU("100m")),
     "placed scheduled m1:5"},
    {"no quota", GATE, no_quota, "", WEB("web", "5", CPU("100m")), "placed scheduled m1:5"},
    {"duplicated replicas count in each cluster", GATE, QUOTA("'cpu':'900m'") ",", "",
     POLICY_ON("'m1','m2'") "," WEB("web", "5", CPU("100m")),
     "refused quota_exceeded; limit/cpu 900 0 1000"},
    {"a tie between clusters does not change the sum", GATE, QUOTA("'cpu':'499m'") ",", "",
     DIVIDING_POLICY "," WEB("web", "5", CPU("100m")),
     "refused quota_exceeded; limit/cpu 499 0 500"},
    {"a tie between clusters, and the sum fits", GATE, QUOTA("'cpu':'500m'") ",", "",
     DIVIDING_POLICY "," WEB("web", "5", CPU("100m")), "undetermined uid"},
    {"memory in bytes", GATE, QUOTA("'memory':'1Gi'") ",", "",
     WEB("web", "2", "'memory':'536870913'"),
     "refused quota_exceeded; limit/memory 1073741824 0 1073741826"},
    {"no requests", GATE, QUOTA("'cpu':'0'") ",", "", WEB("web", "5", ""), "placed scheduled m1:5"},
    {"a key that no request has", GATE, QUOTA("'requests.cpu':'0','pods':'0'") ",", "",
     WEB("web", "5", CPU("1")), "placed scheduled m1:5"},
    {"an empty overall", GATE, QUOTA("") ",", "", WEB("web", "5", CPU("1")),
     "placed scheduled m1:5"},
    {"a negative limit is refused, so that the quota does not exist", GATE, QUOTA("'cpu':'1'") ",",
     "", QUOTA("'cpu':'-1'") "," WEB("web", "1", CPU("1")), "placed scheduled m1:1"},
    {"the second of two quotas refuses", GATE,
     QUOTA("'cpu':'9'") "," QUOTA_NAMED("small", "'cpu':'1'") ",", "", WEB("web", "2", CPU("1")),
     "refused quota_exceeded; small/cpu 1000 0 2000"},
    {"scaled within the limit", GATE, QUOTA("'cpu':'3'") ",", WEB("web", "2", CPU("1")) ",",
     WEB("web", "3", CPU("1")), "placed scheduled m1:3"},
    {"scaled over the limit keeps its replicas", GATE, QUOTA("'cpu':'3'") ",",
     WEB("web", "2", CPU("1")) ",", WEB("web", "4", CPU("1")),
     "refused quota_exceeded m1:2; limit/cpu 3000 2000 2000"},
    {"larger requests keep the old binding", GATE, QUOTA("'cpu':'3'") ",",
     WEB("web", "2", CPU("1")) ",", WEB("web", "2", CPU("2")),
     "refused quota_exceeded m1:2; limit/cpu 3000 2000 2000"},
    {"scaled down, but still above a lowered limit", GATE, QUOTA("'cpu':'4'") ",",
     WEB("web", "4", CPU("1")) ",", QUOTA("'cpu':'1'") "," WEB("web", "2", CPU("1")),
     "refused quota_exceeded m1:4; limit/cpu 1000 4000 -2000"},
    {"scaled down below the limit", GATE, QUOTA("'cpu':'4'") ",", WEB("web", "4", CPU("1")) ",",
     QUOTA("'cpu':'2'") "," WEB("web", "2", CPU("1")), "placed scheduled m1:2"},
    {"a lowered limit takes nothing away", GATE, QUOTA("'cpu':'4'") ",",
     WEB("web", "4", CPU("1")) ",", QUOTA("'cpu':'1'"), ""},
    {"a quota is raised", GATE, QUOTA("'cpu':'1'") ",", WEB("web", "2", CPU("1")) ",",
     QUOTA("'cpu':'2'"), "placed scheduled m1:2"},
    {"another template gives back what it used", GATE, QUOTA("'cpu':'3'") ",",
     WEB("aaa", "2", CPU("1")) "," WEB("web", "2", CPU("1")) ",", WEB("aaa", "1", CPU("1")),
     "placed scheduled m1:2"},
    {"a policy that adds a cluster", GATE, QUOTA("'cpu':'3'") ",", WEB("web", "2", CPU("1")) ",",
     POLICY_ON("'m1','m2'"), "refused quota_exceeded m1:2; limit/cpu 3000 2000 2000"},
    {"two templates compete", GATE, QUOTA("'cpu':'3'") ",", "",
     WEB("web", "2", CPU("1")) "," WEB("zzz", "2", CPU("1")), "undetermined quota_order"},
    {"a template that never fits competes with none", GATE, QUOTA("'cpu':'3'") ",", "",
     WEB("web", "2", CPU("1")) "," WEB("zzz", "4", CPU("1")), "placed scheduled m1:2"},
    {"templates of different resources do not compete", GATE, QUOTA("'cpu':'2','memory':'1Gi'") ",",
     "", WEB("web", "2", CPU("1")) "," WEB("zzz", "2", "'memory':'1Gi'"), "placed scheduled m1:2"},
};

static void apply_all(struct plan *p, const char *objects)
{
    CLEANUP(strbuf_release) struct strbuf list = STRBUF_INIT(TEXT_MAX);
    const cJSON *item;
    cJSON *json;

    strbuf_addf(&list, "[%s]", objects);
    json = json_of(list.data);
    cJSON_ArrayForEach (item, json) {
        char *text = cJSON_PrintUnformatted(item);

        planned_apply(p, text);
        cJSON_free(text);
    }
    cJSON_Delete(json);
}

static void add_outcome(const struct outcome *o, struct strbuf *out)
{
    const struct quota_excess *e = o->binding ? binding_rare(o->binding)->quota_excess : NULL;

    strbuf_addf(out, "%s %s", prediction_names[o->predicted.outcome], o->predicted.reason);
    for (uint32_t i = 0; i < o->cluster_count; i++)
        strbuf_addf(out, " %s:%d", o->clusters[i].name, o->clusters[i].replicas);
    if (e && o->predicted.outcome == PREDICTION_REFUSED)
        strbuf_addf(out, "; %s/%s %" PRId64 " %" PRId64 " %" PRId64, e->quota->name, e->resource,
                    e->limit, e->used, e->needed);
}

static void init_world(struct world *w, const struct quota_case *c)
{
    CLEANUP(strbuf_release) struct strbuf list = STRBUF_INIT(TEXT_MAX);
    struct rules_options options = rules_options_default;
    cJSON *json;

    options.feature_gates = c->gates;
    world_init(w, &options, 1);
    strbuf_addf(&list, "[%s%s" CLUSTERS "," POLICY "]", c->quotas, c->before);
    json = json_of(list.data);
    world_put_all(w, json);
    cJSON_Delete(json);
    world_run(w, NOW_MS);
}

TEST_ROWS(quota_decides_about, quota_cases, name)
{
    const struct quota_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);
    const struct plan_template *row;
    struct world w;

    init_world(&w, c);
    struct plan *p = plan_new(w.engine);

    plan_admit_manifests(p);
    apply_all(p, c->change);
    const struct plan_result *r = plan_finish(p);

    row = planned_row(r, "web");
    if (row)
        add_outcome(&row->after, &text);
    assert_string_equal(text.len > 0 ? text.data : "", c->outcome);
    assert_true(r->settled);
    plan_free(p);
    world_release(&w);
}

/* Rows in which the plan cannot tell whether a quota refuses the template. */
static const struct unknown_case {
    const char *name;
    const char *quotas;
    bool unread; /* Not all quotas have been read. */
    const char *placement;
    bool assumed;
} unknown_cases[] = {
    {"unread quotas", "", true, "", true},
    {"a quota and free capacity decides", QUOTA("'cpu':'9'") ",", false,
     "'replicaScheduling':{'replicaSchedulingType':'Divided',"
     "'replicaDivisionPreference':'Aggregated'}",
     true},
    {"no quota and free capacity decides", "", false,
     "'replicaScheduling':{'replicaSchedulingType':'Divided',"
     "'replicaDivisionPreference':'Aggregated'}",
     false},
    {"a quota and a certain placement", QUOTA("'cpu':'9'") ",", false, "", false},
};

TEST_ROWS(plan_assumes_that_no_quota_refuses, unknown_cases, name)
{
    const struct unknown_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf list = STRBUF_INIT(TEXT_MAX);
    struct rules_options options = rules_options_default;
    struct world w;
    cJSON *json;

    options.feature_gates = GATE;
    world_init(&w, &options, 1);
    strbuf_addf(&list,
                "[%s" CLUSTERS ",{'apiVersion':'policy.karmada.io/v1alpha1','kind':"
                "'PropagationPolicy','metadata':{'name':'p','namespace':'a'},'spec':{"
                "'resourceSelectors':[{'apiVersion':'apps/v1','kind':'Deployment'}],"
                "'placement':{%s}}}]",
                c->quotas, c->placement);
    json = json_of(list.data);
    world_put_all(&w, json);
    cJSON_Delete(json);
    if (c->unread)
        engine_set_incomplete(w.engine, QUOTA_API_VERSION, QUOTA_KIND, true);
    world_run(&w, NOW_MS);
    struct plan *p = plan_new(w.engine);

    apply_all(p, WEB("web", "2", CPU("1")));
    assert_int_equal(plan_finish(p)->assumptions >> ASSUMED_QUOTA & 1, c->assumed);
    plan_free(p);
    world_release(&w);
}

/* After the plan, the store has its own objects again. */
TEST(plan_with_a_refusal_restores_the_store)
{
    const struct quota_case c = {
        "", GATE, QUOTA("'cpu':'1'") ",", WEB("web", "1", CPU("1")) ",", WEB("web", "2", CPU("1")),
        ""};
    CLEANUP(strbuf_release) struct strbuf before = STRBUF_INIT(TEXT_MAX);
    CLEANUP(strbuf_release) struct strbuf after = STRBUF_INIT(TEXT_MAX);
    struct world w;

    init_world(&w, &c);
    world_dump(&w, &before);
    struct plan *p = plan_new(w.engine);

    plan_admit_manifests(p);
    apply_all(p, c.change);
    assert_int_equal(plan_finish(p)->template_count, 1);
    plan_free(p);
    world_run(&w, NOW_MS);
    world_dump(&w, &after);
    assert_string_equal(before.data, after.data);
    world_release(&w);
}
