/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/admission/quota.h"

#include "metrics/rules/rule.h"

#include "tests/unit/suite.h"
#include "tests/unit/world_format.h"

enum { NOW_MS = 1000 * 1000, TEXT_MAX = 1 << 12 };

static void put_quota(struct world *w, const char *name, const char *overall, const char *used)
{
    world_put_format(w,
                     "{'apiVersion':'policy.karmada.io/v1alpha1','kind':'FederatedResourceQuota',"
                     "'metadata':{'name':'%s','namespace':'a'},'spec':{'overall':{%s}},"
                     "'status':{'overallUsed':{%s}}}",
                     name, overall, used);
}

/* `spec`: members of spec beside resource, each with a comma before it. */
static void put_binding(struct world *w, const char *name, const char *spec)
{
    world_put_format(w,
                     "{'apiVersion':'work.karmada.io/v1alpha2','kind':'ResourceBinding',"
                     "'metadata':{'name':'%s','namespace':'a'},'spec':{'resource':{"
                     "'apiVersion':'apps/v1','kind':'Deployment','namespace':'a','name':'%s'}%s}}",
                     name, name, spec);
}

#define REQUESTS ",'replicaRequirements':{'resourceRequest':{'cpu':'100m','memory':'64Mi'}}"

static void init_world(struct world *w)
{
    struct rules_options options = rules_options_default;

    options.feature_gates = "FederatedQuotaEnforcement=true";
    world_init(w, &options, 1);
    put_quota(w, "limit", "'cpu':'1','memory':'1Gi'", "");
    put_binding(w, "one",
                REQUESTS ",'clusters':[{'name':'m1','replicas':2},{'name':'m2',"
                         "'replicas':3}]");
    put_binding(w, "unplaced", REQUESTS ",'replicas':9");
    put_binding(w, "attached", ",'clusters':[{'name':'m1'}]");
    world_run(w, NOW_MS);
}

static struct quota_scope scope_of(const struct world *w)
{
    const struct rule_context *c = engine_context_const(w->engine);

    return (struct quota_scope){c->store, c->gates, c->release, &c->incomplete, NULL};
}

TEST(usage_is_the_sum_over_bindings_and_clusters)
{
    struct world w;

    init_world(&w);

    struct quota_sum cpu = quota_sum_bindings(w.store, "a", "cpu");
    struct quota_sum memory = quota_sum_bindings(w.store, "a", "memory");
    struct quota_sum other = quota_sum_bindings(w.store, "a", "pods");

    assert_int_equal(cpu.amount, 500);
    assert_int_equal(memory.amount, INT64_C(5) * (64 << 20));
    assert_true(cpu.is_complete && cpu.requested);
    assert_int_equal(other.amount, 0);
    assert_false(other.requested);
    assert_int_equal(quota_sum_bindings(w.store, "b", "cpu").amount, 0);
    put_binding(&w, "jobs", ",'components':[{'name':'x'}],'clusters':[{'name':'m1'}]");
    assert_false(quota_sum_bindings(w.store, "a", "cpu").is_complete);
    world_release(&w);
}

/* A binding that requests `cpu` cores for each of `replicas` replicas instead of 2 times 100m. */
static const struct judge_case {
    const char *name;
    const char *used; /* In the status of the quota. */
    bool by_status;
    double cpu;
    int64_t replicas;
    enum quota_answer answer;
    int64_t amounts[3]; /* limit, used and needed of the excess. */
} judge_cases[] = {
    {"no change", "", false, 0.1, 2, QUOTA_ALLOWS, {0}},
    {"up to the limit", "", false, 0.1, 7, QUOTA_ALLOWS, {0}},
    {"above the limit", "", false, 0.1, 8, QUOTA_REFUSES, {1000, 500, 600}},
    {"less", "", false, 0.1, 1, QUOTA_ALLOWS, {0}},
    {"a used amount in the status", "'cpu':'900m'", true, 0.1, 4, QUOTA_REFUSES, {1000, 900, 200}},
    {"a used amount below the sum", "'cpu':'100m'", true, 0.1, 8, QUOTA_REFUSES, {1000, 500, 600}},
    {"a status that does not count", "'cpu':'900m'", false, 0.1, 4, QUOTA_ALLOWS, {0}},
    {"less, but the use stays above the limit",
     "'cpu':'9'",
     true,
     0.1,
     1,
     QUOTA_REFUSES,
     {1000, 9000, -100}},
    {"no change above the limit", "'cpu':'9'", true, 0.1, 2, QUOTA_ALLOWS, {0}},
    {"the largest number", "", false, 1e30, 2, QUOTA_REFUSES, {1000, 500, INT64_MAX - 200}},
};

TEST_ROWS(quota_judges, judge_cases, name)
{
    const struct judge_case *c = *state;
    const struct resource_request old = {"cpu", 0.1}, fresh = {"cpu", c->cpu};
    const struct quota_load before = {&old, 1, 2}, after = {&fresh, 1, c->replicas};
    struct quota_excess e = {0};
    struct world w;

    init_world(&w);
    put_quota(&w, "limit", "'cpu':'1','memory':'1Gi'", c->used);

    const struct quota_scope scope = scope_of(&w);

    assert_int_equal(quota_judge(&scope, "a", &before, &after, c->by_status, &e), c->answer);
    assert_int_equal(e.limit, c->amounts[0]);
    assert_int_equal(e.used, c->amounts[1]);
    assert_int_equal(e.needed, c->amounts[2]);
    assert_int_equal(quota_judge(&scope, "b", &before, &after, c->by_status, &e), QUOTA_ALLOWS);
    world_release(&w);
}

TEST(quotas_are_unknown_until_they_are_read)
{
    const struct resource_request request = {"cpu", 1};
    const struct quota_load none = {0}, load = {&request, 1, 1};
    struct quota_excess e;
    struct quota_scope scope;
    struct world w;

    init_world(&w);
    scope = scope_of(&w);
    engine_set_incomplete(w.engine, QUOTA_API_VERSION, QUOTA_KIND, true);
    assert_int_equal(quota_judge(&scope, "a", &none, &load, true, &e), QUOTA_UNKNOWN);
    engine_set_incomplete(w.engine, QUOTA_API_VERSION, QUOTA_KIND, false);
    assert_int_equal(quota_judge(&scope, "a", &none, &load, true, &e), QUOTA_REFUSES);
    world_release(&w);
}

TEST(quotas_are_listed_by_name)
{
    CLEANUP(entry_list_release) struct entry_list list = {0};
    struct world w;

    init_world(&w);
    put_quota(&w, "zero", "", "");
    put_quota(&w, "all", "", "");
    quotas_of_namespace(w.store, "a", &list);
    assert_int_equal(list.count, 3);
    assert_string_equal(list.items[0]->name, "all");
    assert_string_equal(list.items[1]->name, "limit");
    assert_string_equal(list.items[2]->name, "zero");
    world_release(&w);
}

static const struct message_case {
    const char *name;
    const char *message;
    const char *quota; /* NULL for none. */
} message_cases[] = {
    {"Karmada 1.15",
     "admission webhook \"resourcebinding.karmada.io\" denied the request: "
     "FederatedResourceQuota(s-z-quota/limit) exceeded for resource cpu: requested sum 800m, "
     "limit 500m.",
     "s-z-quota/limit"},
    {"Karmada 1.14",
     "denied the request: Quota exceeded for FederatedResourceQuota shop/limit.v1. "
     "ResourceBinding shop/web will be denied.",
     "shop/limit.v1"},
    {"another message", "0/3 clusters are available: no cluster exists.", NULL},
    {"a cut message", "FederatedResourceQuota(", NULL},
    {"no message", NULL, NULL},
};

TEST_ROWS(quota_of_a_message_of, message_cases, name)
{
    const struct message_case *c = *state;
    size_t len = 0;
    const char *quota = quota_of_message(c->message, &len);

    if (!c->quota) {
        assert_null(quota);
        return;
    }
    assert_non_null(quota);
    assert_int_equal(len, strlen(c->quota));
    assert_memory_equal(quota, c->quota, len);
}
