/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/delivery.h"

#include "metrics/model/store.h"
#include "tests/unit/random_object.h"
#include "tests/unit/reading.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

enum { WORLDS = 1000, OBJECTS = 150, NOW_S = 1767312000, TEXT_MAX = 1 << 16 };

TEST(each_stage_with_reasons_has_the_reason_other)
{
    for (unsigned stage = 0; stage < STAGE_COUNT; stage++) {
        bool bare = stage_has_reason(stage, WHY_NONE);

        assert_int_equal(bare, stage == STAGE_HEALTHY);
        assert_int_equal(stage_has_reason(stage, WHY_OTHER), !bare);
    }
    for (unsigned reason = WHY_NONE; reason < STAGE_REASON_COUNT; reason++) {
        unsigned stages = 0;

        for (unsigned stage = 0; stage < STAGE_COUNT; stage++)
            stages += stage_has_reason(stage, reason);
        assert_true(stages > 0);
    }
}

/* ---- one binding ---- */

#define CLAIM                                                                                      \
    "'labels':{'propagationpolicy.karmada.io/permanent-id':'id'},'annotations':{"                  \
    "'propagationpolicy.karmada.io/namespace':'a','propagationpolicy.karmada.io/name':'p'"
#define POLICY                                                                                     \
    "{'apiVersion':'policy.karmada.io/v1alpha1','kind':'PropagationPolicy','metadata':{"           \
    "'name':'p','namespace':'a','labels':{'propagationpolicy.karmada.io/permanent-id':'id'}},"     \
    "'spec':{'resourceSelectors':[{'apiVersion':'apps/v1','kind':'Deployment'}],'placement':{}}}"
#define TEMPLATE                                                                                   \
    "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'web','namespace':'a',"        \
    "'generation':3," CLAIM "}},'spec':{'replicas':2}}"
#define BINDING(spec, status)                                                                      \
    "{'apiVersion':'work.karmada.io/v1alpha2','kind':'ResourceBinding','metadata':{"               \
    "'name':'web-deployment','namespace':'a','generation':7," CLAIM                                \
    ",'policy.karmada.io/applied-placement':'{}'}},'spec':{'resource':{'apiVersion':'apps/v1',"    \
    "'kind':'Deployment','namespace':'a','name':'web'},'replicas':2,'placement':{}" spec           \
    "},'status':{" status "}}"
#define ON_TWO    ",'clusters':[{'name':'m2','replicas':2},{'name':'m1','replicas':2}]"
#define OBSERVED  "'schedulerObservedGeneration':7"
#define SCHEDULED OBSERVED ",'conditions':[{'type':'Scheduled','status':'True'}]"
#define FAILED(reason)                                                                             \
    OBSERVED ",'conditions':[{'type':'Scheduled','status':'False','reason':'" reason               \
             "','message':'why not'}]"
#define ITEMS(items) SCHEDULED ",'aggregatedStatus':[" items "]"
#define ITEM(cluster, generation, rest)                                                            \
    "{'clusterName':'" cluster "','applied':true" rest                                             \
    ",'status':{'resourceTemplateGeneration':" generation "}}"
#define GOOD(cluster) ITEM(cluster, "3", ",'health':'Healthy'")
#define REFUSED(cluster, message)                                                                  \
    "{'clusterName':'" cluster "','appliedMessage':'" message "','health':'Unknown'}"
#define TASK(cluster, rest) ",'gracefulEvictionTasks':[{'fromCluster':'" cluster "'" rest "}]"
#define APIS                "'apiEnablements':[{'groupVersion':'apps/v1','resources':[{'kind':'Deployment'}]}],"
#define NOT_READY(name)                                                                            \
    "{'apiVersion':'cluster.karmada.io/v1alpha1','kind':'Cluster','metadata':{'name':'" name       \
    "'},'status':{" APIS "'conditions':[{'type':'Ready','status':'Unknown'}]}}"
#define READY(name)                                                                                \
    "{'apiVersion':'cluster.karmada.io/v1alpha1','kind':'Cluster','metadata':{'name':'" name       \
    "'},'status':{" APIS "'conditions':[{'type':'Ready','status':'True'}]}}"

static const struct stage_case {
    const char *name;
    const char *binding;
    const char *clusters; /* Cluster objects; NULL: the store has no Cluster. */
    const char *said;     /* Expected stage, reason, flags and message. */
} stage_cases[] = {
    {"healthy in all clusters", BINDING(ON_TWO, ITEMS(GOOD("m1") "," GOOD("m2"))), NULL, "healthy"},
    {"no status", BINDING(ON_TWO, ""), NULL, "unscheduled waiting kept"},
    {"no condition", BINDING("", OBSERVED), NULL, "unscheduled waiting"},
    {"scheduled to no cluster", BINDING("", SCHEDULED), NULL, "placed_nowhere no_replicas"},
    {"no cluster fits", BINDING("", FAILED("NoClusterFit")), NULL,
     "unscheduled no_cluster_fit 'why not'"},
    {"unschedulable", BINDING(ON_TWO, FAILED("Unschedulable")), NULL,
     "unscheduled unschedulable kept 'why not'"},
    {"quota exceeded", BINDING("", FAILED("QuotaExceeded")), NULL,
     "unscheduled quota_exceeded 'why not'"},
    {"scheduler error", BINDING("", FAILED("SchedulerError")), NULL,
     "unscheduled scheduler_error 'why not'"},
    {"an unknown reason", BINDING("", FAILED("Tuesday")), NULL, "unscheduled other 'why not'"},
    {"scheduling is suspended", BINDING(",'suspension':{'scheduling':true}", OBSERVED), NULL,
     "unscheduled suspended"},
    {"another scheduler", BINDING(",'schedulerName':'mine'", OBSERVED), NULL,
     "outdated policy_updated, unscheduled other_scheduler"},
    {"the scheduler has not observed the generation",
     BINDING(ON_TWO, "'schedulerObservedGeneration':6,'conditions':[{'type':'Scheduled',"
                     "'status':'True'}],'aggregatedStatus':[" GOOD("m1") "," GOOD("m2") "]"),
     NULL, "healthy"},
    {"a rebalance that is not finished",
     BINDING(ON_TWO ",'rescheduleTriggeredAt':'2026-01-01T00:00:00Z'",
             "'schedulerObservedGeneration':6,'conditions':[{'type':'Scheduled','status':'True'}],"
             "'aggregatedStatus':[" GOOD("m1") "," GOOD("m2") "]"),
     NULL, "unscheduled waiting kept"},
    {"no status item of a cluster", BINDING(ON_TWO, ITEMS(GOOD("m1"))), NULL,
     "undispatched waiting"},
    {"an empty status item of a cluster",
     BINDING(ON_TWO, ITEMS(GOOD("m1") ",{'clusterName':'m2'}")), NULL, "undispatched waiting"},
    {"no status item of a cluster that is not ready", BINDING(ON_TWO, ITEMS(GOOD("m1"))),
     READY("m1") "," NOT_READY("m2"), "undispatched cluster_not_ready"},
    {"a target cluster does not exist", BINDING(ON_TWO, ITEMS(GOOD("m1") "," GOOD("m2"))),
     READY("m1"), "unreachable cluster_not_ready"},
    {"the object exists already in the member cluster",
     BINDING(ON_TWO, ITEMS(REFUSED("m2", "x already exists in the cluster m2 y") "," GOOD("m1"))),
     NULL, "unapplied already_exists 'x already exists in the cluster m2 y'"},
    {"of two failures, the worse reason counts",
     BINDING(ON_TWO,
             ITEMS(REFUSED("m2", "no") "," REFUSED("m1", "already exists in the cluster m1"))),
     NULL, "unapplied already_exists 'already exists in the cluster m1'"},
    {"of two equal failures, the first cluster counts",
     BINDING(ON_TWO, ITEMS(REFUSED("m2", "two") "," REFUSED("m1", "one"))), NULL,
     "unapplied refused 'one'"},
    {"an older generation in a cluster", BINDING(ON_TWO, ITEMS(GOOD("m1") "," ITEM("m2", "2", ""))),
     NULL, "undelivered waiting"},
    {"dispatching is suspended in a cluster with an older one",
     BINDING(ON_TWO ",'suspension':{'dispatchingOnClusters':{'clusterNames':['m2']}}",
             ITEMS(GOOD("m1") "," ITEM("m2", "2", ""))),
     NULL, "outdated policy_updated, undelivered suspended"},
    {"a status item without a generation",
     BINDING(ON_TWO, ITEMS(GOOD("m1") ",{'clusterName':'m2',"
                                      "'applied':true,'health':"
                                      "'Healthy'}")),
     NULL, "healthy"},
    {"a status item without health", BINDING(ON_TWO, ITEMS(GOOD("m1") "," ITEM("m2", "3", ""))),
     NULL, "unhealthy unknown"},
    {"unhealthy", BINDING(ON_TWO, ITEMS(GOOD("m1") "," ITEM("m2", "3", ",'health':'Unhealthy'"))),
     NULL, "unhealthy unavailable"},
    {"an unknown health",
     BINDING(ON_TWO, ITEMS(GOOD("m1") "," ITEM("m2", "3", ",'health':'Fine'"))), NULL,
     "unhealthy other"},
    {"a rollout in progress",
     BINDING(ON_TWO, ITEMS(GOOD("m1") ",{'clusterName':'m2','applied':true,'health':'Unhealthy',"
                                      "'status':{'resourceTemplateGeneration':3,'generation':2,"
                                      "'observedGeneration':2,'updatedReplicas':1}}")),
     NULL, "unhealthy rolling"},
    {"a status item of a cluster that is no target",
     BINDING(ON_TWO, ITEMS(GOOD("m1") "," GOOD("m2") "," REFUSED("m3", "no"))), NULL, "healthy"},
    {"an eviction", BINDING(ON_TWO TASK("m3", ""), ITEMS(GOOD("m1") "," GOOD("m2"))), NULL,
     "evicting replacing"},
    {"an eviction without a replacement", BINDING(ON_TWO TASK("m3", ""), FAILED("Unschedulable")),
     NULL, "evicting rescheduling 'why not'"},
    {"an eviction of the last copy", BINDING(TASK("m3", ""), FAILED("NoClusterFit")), NULL,
     "evicting last_copy 'why not'"},
    {"a purge in a cluster that is not ready",
     BINDING(ON_TWO TASK("m3", ",'purgeMode':'Directly'"), ITEMS(GOOD("m1") "," GOOD("m2"))),
     READY("m1") "," READY("m2") "," NOT_READY("m3"), "evicting purge_blocked"},
    {"an eviction that keeps both copies",
     BINDING(ON_TWO TASK("m3", ",'suppressDeletion':true"), ITEMS(GOOD("m1") "," GOOD("m2"))), NULL,
     "healthy two_copies_held"},
    {"status members of wrong types",
     BINDING(ON_TWO, "'conditions':'x','aggregatedStatus':{'a':1},"
                     "'schedulerObservedGeneration':'7'"),
     NULL, "unscheduled waiting kept"},
    {"eviction tasks of a wrong type",
     BINDING(ON_TWO ",'gracefulEvictionTasks':7", ITEMS(GOOD("m1") "," GOOD("m2"))), NULL,
     "healthy"},
};

static void append_stage(const struct world *w, struct strbuf *out)
{
    const struct entry *entry = world_find(w, "apps/v1", "Deployment", "a", "web");
    struct template_decision *d = entry_decision(entry);
    const struct template_stages *stages = &d->stages;
    const char *message;

    strbuf_addf(out, "%s", stage_names[stages->at.stage]);
    if (stages->at.reason != WHY_NONE)
        strbuf_addf(out, " %s", stage_reason_names[stages->at.reason]);
    if (stages->at.stage != stages->delivery.stage)
        strbuf_addf(out, ", %s %s", stage_names[stages->delivery.stage],
                    stage_reason_names[stages->delivery.reason]);
    for (unsigned i = 0; i < TEMPLATE_FLAG_COUNT; i++) {
        if (d->flags >> i & 1)
            strbuf_addf(out, " %s", template_flag_names[i]);
    }
    message = engine_delivery_message(w->engine, entry);
    if (*message)
        strbuf_addf(out, " '%s'", message);
}

TEST_ROWS(the_stage_follows_from_binding_and_clusters, stage_cases, name)
{
    const struct stage_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf objects = STRBUF_INIT(TEXT_MAX);
    CLEANUP(strbuf_release) struct strbuf said = STRBUF_INIT(TEXT_MAX);
    struct world w;

    strbuf_addf(&objects, "[" POLICY "," TEMPLATE ",%s%s%s]", c->binding, c->clusters ? "," : "",
                c->clusters ? c->clusters : "");
    CLEANUP(json_cleanup) cJSON *all = json_of(objects.data);
    world_init(&w, &rules_options_default, 1);
    world_put_all(&w, all);
    world_run(&w, NOW_S * INT64_C(1000));
    append_stage(&w, &said);
    assert_string_equal(said.data, c->said);
    world_release(&w);
}

/* A change of a cluster's readiness evaluates only templates with the cluster as a target. */
TEST(a_cluster_that_becomes_unready_changes_the_stage)
{
    CLEANUP(json_cleanup)
    cJSON *all = json_of("[" POLICY "," TEMPLATE "," BINDING(
        ON_TWO, ITEMS(GOOD("m1") "," GOOD("m2"))) "," READY("m1") "," READY("m2") "]");
    CLEANUP(json_cleanup) cJSON *down = json_of(NOT_READY("m2"));
    CLEANUP(json_cleanup) cJSON *other = json_of(NOT_READY("m3"));
    CLEANUP(strbuf_release) struct strbuf said = STRBUF_INIT(TEXT_MAX);
    uint64_t evaluations;
    struct world w;

    world_init(&w, &rules_options_default, 1);
    world_put_all(&w, all);
    world_run(&w, NOW_S * INT64_C(1000));
    world_put(&w, other);
    world_run(&w, NOW_S * INT64_C(1000));
    append_stage(&w, &said);
    assert_string_equal(said.data, "healthy");
    strbuf_reset(&said);
    world_put(&w, down);
    evaluations = engine_evaluations(w.engine);
    world_run(&w, NOW_S * INT64_C(1000));
    append_stage(&w, &said);
    assert_string_equal(said.data, "unreachable cluster_not_ready");
    /* These are the evaluations of the Cluster and of the template. */
    assert_int_equal(engine_evaluations(w.engine) - evaluations, 2);
    world_release(&w);
}

/* ---- random objects ---- */

static bool is_worse(struct stage_and_reason a, struct stage_and_reason b)
{
    return a.stage < b.stage || (a.stage == b.stage && a.reason < b.reason);
}

/* Asserts invariants between the stages of a template and its binding, for any status. */
static void check_stages(const struct template_decision *d, const struct stage_and_reason *targets)
{
    const struct binding *b = entry_binding(decision_binding(d));
    const struct status_problem *t = b ? b->status.problem : NULL;
    struct stage_and_reason worst = {STAGE_HEALTHY, WHY_NONE};
    bool healthy = d->stages.delivery.stage == STAGE_HEALTHY;

    assert_true(stage_has_reason(d->stages.at.stage, d->stages.at.reason));
    for (uint32_t i = 0; i < d->target_count; i++) {
        assert_true(stage_has_reason(targets[i].stage, targets[i].reason));
        assert_in_range(targets[i].stage, STAGE_UNDISPATCHED, STAGE_HEALTHY);
        if (is_worse(targets[i], worst))
            worst = targets[i];
        if (healthy) {
            const struct target_status *item = &b->clusters[i].item;

            assert_true(item->exists && item->applied && item->health == HEALTH_HEALTHY);
        }
    }
    for (uint32_t i = 0; healthy && t && i < t->eviction_count; i++)
        assert_true(t->evictions[i].suppresses);
    if (d->stages.delivery.stage == STAGE_NONE) {
        assert_int_equal(d->target_count, 0);
        assert_true(d->stages.at.stage < STAGE_EVICTING);
        return;
    }
    assert_true(stage_has_reason(d->stages.delivery.stage, d->stages.delivery.reason));
    if (d->stages.delivery.stage > STAGE_PLACED_NOWHERE)
        assert_memory_equal(&d->stages.delivery, &worst, sizeof(worst));
    if (healthy)
        assert_true(d->target_count > 0 &&
                    (!b->has_placement || b->status.scheduled == SCHEDULED_TRUE));
    if (d->stages.at.stage >= STAGE_EVICTING) {
        assert_memory_equal(&d->stages.at, &d->stages.delivery, sizeof(worst));
        assert_true(d->state == STATE_CURRENT || d->state == STATE_ATTACHED);
    }
}

TEST(the_worst_target_decides_the_stage)
{
    size_t seen[STAGE_COUNT] = {0};
    unsigned unseen = 0;

    for (uint32_t seed = 1; seed <= WORLDS; seed++) {
        struct world w;

        world_init(&w, &rules_options_default, seed);
        random_objects(&w, OBJECTS);
        world_run(&w, NOW_S * INT64_C(1000));
        for (const struct type *type = store_first_type(w.store); type; type = type->next) {
            for (const struct partition *p = type->partitions; p; p = p->next_of_type) {
                for (size_t i = 0; i < p->count; i++) {
                    struct template_decision *d = template_decision(partition_entry(p, i))
                                                      ? entry_decision(partition_entry(p, i))
                                                      : NULL;

                    if (!d)
                        continue;
                    check_stages(d, decision_targets(d));
                    seen[d->stages.at.stage]++;
                    if (d->stages.delivery.stage != STAGE_NONE)
                        seen[d->stages.delivery.stage]++;
                }
            }
        }
        world_release(&w);
    }
    /* Nearly all stages occur, so the checks are not vacuous. stage_cases covers the rare ones. */
    for (unsigned stage = 0; stage < STAGE_COUNT; stage++)
        unseen += seen[stage] == 0;
    assert_in_range(unseen, 0, 2);
}
