/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/replica_projection.h"

#include "tests/unit/reading.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

#define CLUSTER(name, env, cpu)                                                                    \
    "{'apiVersion':'cluster.karmada.io/v1alpha1','kind':'Cluster','metadata':{'name':'" name       \
    "','labels':{'env':'" env "'}},'status':{'resourceSummary':{'allocated':{'cpu':'" cpu "'}}}}"
#define POLICY(placement)                                                                          \
    "{'apiVersion':'policy.karmada.io/v1alpha1','kind':'PropagationPolicy','metadata':{"           \
    "'name':'policy','namespace':'default'},'spec':{'resourceSelectors':[{'apiVersion':'apps/v1'," \
    "'kind':'Deployment'}],'placement':" placement "}}"
#define CLAIM                                                                                      \
    "'labels':{'propagationpolicy.karmada.io/permanent-id':'id'},'annotations':{"                  \
    "'propagationpolicy.karmada.io/namespace':'default',"                                          \
    "'propagationpolicy.karmada.io/name':'policy'}"
#define TEMPLATE(name)                                                                             \
    "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'namespace':'default','name':'" name  \
    "'," CLAIM "},'spec':{'replicas':4}}"
#define BINDING(name, placement, rest)                                                             \
    "{'apiVersion':'work.karmada.io/v1alpha2','kind':'ResourceBinding','metadata':{"               \
    "'namespace':'default','name':'" name "-deployment'," CLAIM "},'spec':{'replicas':4,"          \
    "'resource':{'apiVersion':'apps/v1','kind':'Deployment','namespace':'default','name':'" name   \
    "','uid':'a'},'clusters':[{'name':'m2','replicas':1},{'name':'m1','replicas':3}],"             \
    "'replicaRequirements':{'resourceRequest':{'cpu':'250m','memory':'1Ki'}}" placement rest "}}"
#define OLD  ",'placement':{'clusterAffinity':{'clusterNames':['m1','m2']}}"
#define PROD "{'clusterAffinity':{'labelSelector':{'matchLabels':{'env':'prod'}}}}"
#define DIVIDED_PROD                                                                               \
    "{'clusterAffinity':{'labelSelector':{'matchLabels':{'env':'prod'}}},"                         \
    "'replicaScheduling':{'replicaSchedulingType':'Divided'}}"

static void put(struct world *w, const char *json)
{
    cJSON *tree = json_of(json);

    world_put(w, tree);
    cJSON_Delete(tree);
}

static const struct template_decision *decision_of(const struct world *w, const char *name)
{
    const struct entry *entry = world_find(w, "apps/v1", "Deployment", "default", name);

    assert_non_null(entry);
    return template_decision(entry);
}

/*
 * Asserts the capacity of template "app" as text, such as "m1:3! m2:1 -> m2:4": assigned replicas,
 * with "!" where the placement forbids the cluster, and projected replicas. Without a projection,
 * the reason replaces "->".
 */
static void assert_capacity(const struct world *w, const char *expected)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(4096);
    const struct capacity *c = decision_capacity(decision_of(w, "app"));

    assert_non_null(c);
    for (uint32_t i = 0; i < c->assigned_count; i++)
        strbuf_addf(&text, "%s:%" PRId32 "%s ", c->assigned[i].name, c->assigned[i].replicas,
                    c->assigned[i].forbidden ? "!" : "");
    strbuf_adds(&text, !c->governed ? "ungoverned"
                       : c->projection.determined
                           ? "->"
                           : undetermined_reason_names[c->projection.reason]);
    for (uint32_t i = 0; i < c->projection.count; i++)
        strbuf_addf(&text, " %s:%" PRId32, c->projection.clusters[i].name,
                    c->projection.clusters[i].replicas);
    assert_string_equal(text.data, expected);
}

static void init(struct world *w, const char *placement, const char *binding)
{
    world_init(w, &rules_options_default, 1);
    put(w, CLUSTER("m1", "dev", "1"));
    put(w, CLUSTER("m2", "prod", "1"));
    put(w, TEMPLATE("app"));
    put(w, binding);
    put(w, placement);
    world_run(w, 0);
}

/* Policies of a stale template that runs in m1 (env=dev) and m2 (env=prod). */
static struct capacity_case {
    const char *name;
    const char *policy;
    const char *expected;
} capacity_cases[] = {
    {"a cluster that the affinity no longer selects is forbidden", POLICY(PROD),
     "m1:3! m2:1 -> m2:4"},
    {"an empty placement forbids no cluster", POLICY("{}"), "m1:3 m2:1 -> m1:4 m2:4"},
    {"replicas are divided", POLICY("{'replicaScheduling':{}}"), "m1:3 m2:1 -> m1:2 m2:2"},
    {"an undetermined projection still forbids a cluster",
     POLICY("{'clusterAffinity':{'clusterNames':['m1']},'replicaScheduling':{"
            "'replicaDivisionPreference':'Aggregated'}}"),
     "m1:3 m2:1! aggregated"},
    {"every affinity group and overflow allows its clusters",
     POLICY("{'clusterAffinities':[{'affinityName':'a','clusterNames':['m9']},"
            "{'affinityName':'b','clusterNames':['m1'],'overflowAffinities':["
            "{'affinityName':'c','clusterNames':['m2']}]}]}"),
     "m1:3 m2:1 overflow"},
    {"an unreadable placement forbids no cluster", POLICY("{'clusterAffinity':{'clusterNames':7}}"),
     "m1:3 m2:1 unsupported"},
};

TEST_ROWS(capacity_follows_the_placement, capacity_cases, name)
{
    const struct capacity_case *c = *state;
    struct world w;

    init(&w, c->policy, BINDING("app", OLD, ""));
    assert_capacity(&w, c->expected);
    world_release(&w);
}

TEST(exclude_forbids_a_cluster_without_a_cluster_object)
{
    struct world w;

    world_init(&w, &rules_options_default, 1);
    put(&w, TEMPLATE("app"));
    put(&w, BINDING("app", OLD, ""));
    put(&w, POLICY("{'clusterAffinity':{'exclude':['m1'],'labelSelector':{'matchLabels':{"
                   "'env':'prod'}}}}"));
    world_run(&w, 0);
    assert_capacity(&w, "m1:3! m2:1 no_clusters");
    world_release(&w);
}

TEST(resource_requests_are_per_replica)
{
    struct world w;

    init(&w, POLICY(PROD), BINDING("app", OLD, ""));
    const struct capacity *c = decision_capacity(decision_of(&w, "app"));
    assert_int_equal(c->request_count, 2);
    assert_string_equal(c->requests[0].resource, "cpu");
    assert_true(c->requests[0].amount == 0.25);
    assert_string_equal(c->requests[1].resource, "memory");
    assert_true(c->requests[1].amount == 1024);
    world_release(&w);
}

TEST(only_stale_templates_have_a_capacity)
{
    struct world w;

    init(&w, POLICY(PROD), BINDING("app", ",'placement':" PROD, ""));
    assert_int_equal(decision_of(&w, "app")->state, STATE_CURRENT);
    assert_null(decision_capacity(decision_of(&w, "app")));
    put(&w, POLICY("{}"));
    world_run(&w, 0);
    assert_int_equal(decision_of(&w, "app")->state, STATE_STALE);
    assert_capacity(&w, "m1:3 m2:1 -> m1:4 m2:4");
    put(&w, POLICY(PROD));
    world_run(&w, 0);
    assert_null(decision_capacity(decision_of(&w, "app")));
    world_release(&w);
}

TEST(a_binding_without_a_placement_has_no_capacity)
{
    struct world w;

    init(&w, POLICY(PROD),
         BINDING("app", "", ",'requiredBy':[{'namespace':'default','name':'x'}]"));
    assert_null(decision_capacity(decision_of(&w, "app")));
    world_release(&w);
}

TEST(a_deleted_policy_forbids_and_projects_nothing)
{
    struct world w;

    init(&w, POLICY(PROD), BINDING("app", OLD, ""));
    store_remove(w.store, world_find(&w, "policy.karmada.io/v1alpha1", "PropagationPolicy",
                                     "default", "policy"));
    world_run(&w, 0);
    assert_int_equal(decision_of(&w, "app")->reason, STALE_POLICY_GONE);
    assert_capacity(&w, "m1:3 m2:1 ungoverned");
    world_release(&w);
}

/* Changes of Clusters update stale templates and the resolved placement of the policy. */
TEST(cluster_changes_update_the_capacity)
{
    struct world w;

    init(&w, POLICY(DIVIDED_PROD), BINDING("app", OLD, ""));
    const struct entry *policy =
        world_find(&w, "policy.karmada.io/v1alpha1", "PropagationPolicy", "default", "policy");
    assert_capacity(&w, "m1:3! m2:1 -> m2:4");
    put(&w, CLUSTER("m3", "prod", "1"));
    world_run(&w, 0);
    assert_capacity(&w, "m1:3! m2:1 -> m2:2 m3:2");
    assert_int_equal(policy_decision(policy)->resolved->cluster_count, 2);
    put(&w, CLUSTER("m1", "prod", "1"));
    world_run(&w, 0);
    assert_capacity(&w, "m1:3 m2:1 -> m1:2 m2:1 m3:1");
    assert_string_equal(policy_decision(policy)->resolved->clusters[0], "m1");
    store_remove(w.store, world_find(&w, "cluster.karmada.io/v1alpha1", "Cluster", "", "m2"));
    world_run(&w, 0);
    /*
     * Without its Cluster object, m2 has no labels that the selector could reject: it is allowed.
     */
    assert_capacity(&w, "m1:3 m2:1 -> m1:2 m3:2");
    assert_int_equal(policy_decision(policy)->resolved->cluster_count, 2);
    world_release(&w);
}

/* Puts the object and returns how many evaluations the engine then needs. */
static uint64_t evaluations_after_put(struct world *w, const char *json)
{
    uint64_t before;

    world_run(w, 0);
    before = engine_evaluations(w->engine);
    put(w, json);
    world_run(w, 0);
    return engine_evaluations(w->engine) - before;
}

TEST(a_change_of_free_resources_evaluates_only_the_cluster)
{
    struct world w;

    init(&w, POLICY(PROD), BINDING("app", OLD, ""));
    for (unsigned i = 0; i < 50; i++) {
        char name[512];

        snprintf(name, sizeof(name), TEMPLATE("other-%u"), i);
        put(&w, name);
    }
    assert_int_equal(evaluations_after_put(&w, CLUSTER("m1", "dev", "2")), 1);
    /* These are the evaluations of the Cluster, the policy and the stale template. */
    assert_int_equal(evaluations_after_put(&w, CLUSTER("m1", "test", "2")), 3);
    world_release(&w);
}

TEST(capacity_stays_correct_while_templates_come_and_go)
{
    struct world w;
    char text[1024];

    init(&w, POLICY(PROD), BINDING("app", OLD, ""));
    for (unsigned i = 0; i < 200; i++) {
        unsigned number = i * 7 % 90;

        snprintf(text, sizeof(text), TEMPLATE("app-%u"), number);
        put(&w, text);
        snprintf(text, sizeof(text), BINDING("app-%u", OLD, ""), number, number);
        put(&w, text);
        world_run(&w, 0);
        snprintf(text, sizeof(text), "app-%u", i * 3 % 90);
        struct entry *gone = world_find(&w, "apps/v1", "Deployment", "default", text);
        if (gone && entry_object(gone))
            store_remove(w.store, gone);
        world_run(&w, 0);
    }
    put(&w, CLUSTER("m2", "dev", "1"));
    world_run(&w, 0);
    assert_capacity(&w, "m1:3! m2:1! no_clusters");
    world_release(&w);
}
