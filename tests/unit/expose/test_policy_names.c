/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/policy_names.h"

#include "metrics/model/store.h"
#include "metrics/simulate/plan.h"
#include "tests/unit/reading.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

/* The Deployment a/web and its policies, with different field managers, and the binding. */
#define WRITTEN(manager, time)                                                                     \
    ",'managedFields':[{'manager':'" manager "','time':'2026-01-01T" time                          \
    "Z','fieldsV1':{'f:spec':{'f:x':{}}}},"                                                        \
    "{'manager':'karmada','time':'2026-01-01T23:00:00Z','subresource':'status',"                   \
    "'fieldsV1':{'f:status':{}}}]"
#define POLICY(name, id, manager, spec)                                                            \
    "{'apiVersion':'policy.karmada.io/v1alpha1','kind':'PropagationPolicy','metadata':{"           \
    "'namespace':'a','name':'" name "','generation':2,'labels':{"                                  \
    "'propagationpolicy.karmada.io/permanent-id':'" id                                             \
    "'}" WRITTEN(manager, "10:00:00") "},"                                                         \
                                      "'spec':{'resourceSelectors':[{'apiVersion':'apps/"          \
                                      "v1','kind':'Deployment'" spec "}}"
#define ALL         "}]"
#define OTHERS      ",'name':'other'}]"
#define ON(cluster) ",'placement':{'clusterAffinity':{'clusterNames':['" cluster "']}}"
#define CLAIM_OF(name, id)                                                                         \
    ",'labels':{'propagationpolicy.karmada.io/permanent-id':'" id "'},'annotations':{"             \
    "'propagationpolicy.karmada.io/namespace':'a','propagationpolicy.karmada.io/name':'" name "'}"
#define CLAIM CLAIM_OF("p", "1")
#define WEB(metadata)                                                                              \
    "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'namespace':'a','name':'web',"        \
    "'uid':'u','generation':3,'resourceVersion':'20'" metadata "}}"
#define BY_USER WRITTEN("deployer", "09:00:00")
#define BINDING(cluster)                                                                           \
    "{'apiVersion':'work.karmada.io/v1alpha2','kind':'ResourceBinding','metadata':{"               \
    "'namespace':'a','name':'web-deployment'" CLAIM "},'spec':{'resource':{"                       \
    "'apiVersion':'apps/v1','kind':'Deployment','namespace':'a','name':'web'"                      \
    ",'resourceVersion':'20'}" ON(cluster) "}}"
/* Binding of another template, in another namespace. */
#define OTHER_BINDING                                                                              \
    "{'apiVersion':'work.karmada.io/v1alpha2','kind':'ResourceBinding','metadata':{"               \
    "'namespace':'b','name':'x-deployment'},'spec':{'placement':{},'resource':{"                   \
    "'apiVersion':'apps/v1','kind':'Deployment','namespace':'b','name':'x'}}}"

static void put(struct world *w, const char *text)
{
    CLEANUP(json_cleanup) cJSON *json = json_of(text);

    world_put(w, json);
}

static struct entry *web_of(const struct world *w)
{
    return world_find(w, "apps/v1", "Deployment", "a", "web");
}

static struct changer_case {
    const char *title;
    const char *objects[4];
    enum template_state state;
    unsigned reason;
    const char *by;
    const char *wrote; /* Name of the policy that `by` wrote; NULL for the template. */
} changers[] = {
    {"current",
     {WEB(CLAIM BY_USER), POLICY("p", "1", "author", ALL ON("m1")), BINDING("m1")},
     STATE_CURRENT,
     0,
     "deployer",
     NULL},
    {"a policy that was changed",
     {WEB(CLAIM BY_USER), POLICY("p", "1", "author", ALL ON("m2")), BINDING("m1")},
     STATE_STALE,
     STALE_POLICY_UPDATED,
     "author",
     "p"},
    {"another policy takes over",
     {WEB(CLAIM_OF("q", "2") BY_USER), POLICY("q", "2", "newcomer", ALL ON("m1")), BINDING("m1")},
     STATE_STALE,
     STALE_POLICY_REPLACED,
     "newcomer",
     "q"},
    {"a policy that no longer selects the template",
     {WEB(CLAIM BY_USER), POLICY("p", "1", "author", OTHERS ON("m1")), BINDING("m1")},
     STATE_STALE,
     STALE_SELECTOR_MISMATCH,
     "author",
     "p"},
    {"a Lazy policy without a binding",
     {WEB(CLAIM BY_USER), POLICY("p", "1", "author", ALL ON("m1") ",'activationPreference':'Lazy'"),
      OTHER_BINDING},
     STATE_STALE,
     STALE_NEVER_BOUND,
     "author",
     "p"},
    {"a deleted policy",
     {WEB(CLAIM BY_USER), BINDING("m1")},
     STATE_STALE,
     STALE_POLICY_GONE,
     NULL,
     NULL},
    {"a policy that was deleted and created again",
     {WEB(CLAIM BY_USER), POLICY("p", "9", "author", ALL ON("m1")), BINDING("m1")},
     STATE_STALE,
     STALE_POLICY_GONE,
     NULL,
     NULL},
    {"a template without a policy",
     {WEB(BY_USER), POLICY("p", "1", "author", OTHERS ON("m1"))},
     STATE_PENDING,
     PENDING_NO_MATCH,
     "deployer",
     NULL},
    {"a template without a manager",
     {WEB(""), POLICY("p", "1", "author", OTHERS ON("m1"))},
     STATE_PENDING,
     PENDING_NO_MATCH,
     NULL,
     NULL},
};

TEST_ROWS(manager_that_caused_the_state_is_found, changers, title)
{
    const struct changer_case *c = *state;
    const struct template_decision *d;
    struct state_writer writer;
    struct world w;

    world_init(&w, &rules_options_default, 1);
    for (size_t i = 0; i < ARRAY_LEN(c->objects) && c->objects[i]; i++)
        put(&w, c->objects[i]);
    world_run(&w, 1);
    d = template_decision(web_of(&w));
    assert_string_equal(state_names[d->state], state_names[c->state]);
    assert_int_equal(d->reason, c->reason);
    writer = state_writer_of_template(web_of(&w));
    assert_text(writer.by, c->by);
    if (c->wrote)
        assert_string_equal(writer.written->name, c->wrote);
    else if (c->by)
        assert_ptr_equal(writer.written, web_of(&w));
    world_release(&w);
}

/* Simulates a change, and restores the engine. */
static void simulate_change(struct world *w, const char *text)
{
    CLEANUP(json_cleanup) cJSON *json = json_of(text);
    struct plan *plan = plan_new(w->engine);
    struct error err;

    assert_true(plan_apply(plan, json, &err));
    assert_true(plan_finish(plan)->settled);
    plan_free(plan);
}

/* A change of the reason alone, or a simulation, does not change the time. */
TEST(since_is_the_first_evaluation_if_no_object_has_a_time)
{
    struct since since;
    struct world w;

    world_init(&w, &rules_options_default, 1);
    put(&w, POLICY("p", "1", "author", ALL ON("m1")));
    put(&w, BINDING("m1"));
    put(&w, WEB(CLAIM BY_USER));
    world_run(&w, 1000);
    since = template_since(template_decision(web_of(&w)));
    assert_true(since.time_ms == 1000 && since.seen);
    /* The new decision has the same state. */
    put(&w, WEB(CLAIM ",'finalizers':['x']" BY_USER));
    world_run(&w, 2000);
    since = template_since(template_decision(web_of(&w)));
    assert_true(since.time_ms == 1000 && since.seen);
    simulate_change(&w, POLICY("p", "1", "author", ALL ON("m2") ",'activationPreference':'Lazy'"));
    since = template_since(template_decision(web_of(&w)));
    assert_true(since.time_ms == 1000 && since.seen);
    /* The policy has the time of its last change. */
    put(&w, POLICY("p", "1", "author", ALL ON("m2")));
    world_run(&w, 3000);
    since = template_since(template_decision(web_of(&w)));
    assert_true(template_decision(web_of(&w))->state == STATE_STALE);
    assert_true(since.time_ms > 1000000 && !since.seen);
    /* A deletion has no time, so the time is the first evaluation with the state stale. */
    store_remove(w.store,
                 world_find(&w, "policy.karmada.io/v1alpha1", "PropagationPolicy", "a", "p"));
    world_run(&w, 4000);
    since = template_since(template_decision(web_of(&w)));
    assert_true(template_decision(web_of(&w))->reason == STALE_POLICY_GONE);
    assert_true(since.time_ms == 3000 && since.seen);
    put(&w, POLICY("p", "1", "author", ALL ON("m1")));
    world_run(&w, 5000);
    since = template_since(template_decision(web_of(&w)));
    assert_true(template_decision(web_of(&w))->state == STATE_CURRENT);
    assert_true(since.time_ms == 5000 && since.seen);
    world_release(&w);
}
