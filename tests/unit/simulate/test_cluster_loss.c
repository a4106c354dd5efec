/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/simulate/cluster_loss.h"

#include "metrics/simulate/plan.h"

#include "tests/unit/bound_objects.h"
#include "tests/unit/planned.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

enum { NOW_MS = 1000 * 1000, OBJECTS_MAX = 8, LOST_MAX = 3 };

/* ---- objects ---- */

/* A Cluster that serves Deployments and has room for two pods. */
#define MEMBER(name, mode, spec)                                                                   \
    "{\"apiVersion\":\"cluster.karmada.io/v1alpha1\",\"kind\":\"Cluster\",\"metadata\":{"          \
    "\"name\":\"" name "\"},\"spec\":{\"syncMode\":\"" mode "\"" spec "},\"status\":{"             \
    "\"resourceSummary\":{\"allocatable\":{\"pods\":\"3\"},\"allocated\":{\"pods\":\"2\"}},"       \
    "\"apiEnablements\":[{\"groupVersion\":\"apps/v1\",\"resources\":[{\"name\":\"deployments\","  \
    "\"kind\":\"Deployment\"}]}],\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"},"        \
    "{\"type\":\"CompleteAPIEnablements\",\"status\":\"True\"}]}}"
#define PUSH(name)    MEMBER(name, "Push", "")
#define TAINTED(name) MEMBER(name, "Push", ",\"taints\":[{\"key\":\"k\",\"effect\":\"NoExecute\"}]")

/* A binding of web, applied with its placement, whose text in JSON is `escaped`. */
#define BOUND(placement, escaped, clusters)                                                        \
    "{\"apiVersion\":\"work.karmada.io/v1alpha2\",\"kind\":\"ResourceBinding\",\"metadata\":{"     \
    "\"name\":\"web-deployment\",\"namespace\":\"default\",\"generation\":1,"                      \
    "\"labels\":{\"propagationpolicy.karmada.io/permanent-id\":\"id-p\"},"                         \
    "\"annotations\":{\"propagationpolicy.karmada.io/namespace\":\"default\","                     \
    "\"propagationpolicy.karmada.io/name\":\"p\",\"policy.karmada.io/applied-placement\":"         \
    "\"" escaped "\"}},\"spec\":{\"resource\":{\"apiVersion\":\"apps/v1\",\"kind\":"               \
    "\"Deployment\",\"namespace\":\"default\",\"name\":\"web\",\"uid\":\"u-web\","                 \
    "\"resourceVersion\":\"10\"},\"replicas\":2,\"replicaRequirements\":{},"                       \
    "\"conflictResolution\":\"Abort\"," placement ",\"clusters\":[" clusters "]},\"status\":{"     \
    "\"schedulerObservedGeneration\":1,\"lastScheduledTime\":\"2026-01-01T00:00:00Z\","            \
    "\"conditions\":[{\"type\":\"Scheduled\",\"status\":\"True\",\"reason\":\"Success\"}]}}"
#define AT(name) "{\"name\":\"" name "\",\"replicas\":2}"

/* web of a policy, everywhere, or with tolerations. */
#define EVERYWHERE(clusters)                                                                       \
    POLICY("p", SELECTS("web") ",\"placement\":{}"), BOUND("\"placement\":{}", "{}", clusters)
#define TOLERATING(fields, escaped, clusters)                                                      \
    POLICY("p", SELECTS("web") ",\"placement\":{\"clusterTolerations\":[{" fields "}]}"),          \
        BOUND("\"placement\":{\"clusterTolerations\":[{" fields "}]}",                             \
              "{\\\"clusterTolerations\\\":[{" escaped "}]}", clusters)
#define ANY_TAINT         "\"operator\":\"Exists\""
#define ESCAPED_ANY_TAINT "\\\"operator\\\":\\\"Exists\\\""
#define FOR_SECONDS       ANY_TAINT ",\"tolerationSeconds\":300"
#define ESCAPED_SECONDS   ESCAPED_ANY_TAINT ",\\\"tolerationSeconds\\\":300"

/* A ClusterTaintPolicy that adds a taint to clusters with a status of Ready. */
#define TAINTS(status)                                                                             \
    "{\"apiVersion\":\"policy.karmada.io/v1alpha1\",\"kind\":\"ClusterTaintPolicy\","              \
    "\"metadata\":{\"name\":\"t\"},\"spec\":{\"taints\":[{\"key\":\"k\",\"effect\":"               \
    "\"NoExecute\"}],\"addOnConditions\":[{\"conditionType\":\"Ready\",\"operator\":\"In\","       \
    "\"statusValues\":[\"" status "\"]}]}}"

#define FAILOVER "Failover=true"

/* ---- what becomes of a template ---- */

static const struct loss_case {
    const char *name;
    const char *objects[OBJECTS_MAX]; /* Beside the Deployment web. */
    const char *lost[LOST_MAX];
    const char *gates;
    enum release oldest;
    enum release newest;
    const char *after; /* Outcome of web. */
    const char *fate;
    const char *reason; /* NULL unless web stays. */
    bool last_copy;
    bool unsettled;
} cases[] = {
    {"the gate is off",
     {PUSH("m1"), PUSH("m2"), EVERYWHERE(AT("m1"))},
     {"m1"},
     "",
     RELEASE_1_19,
     RELEASE_1_19,
     "current p m1:2 m2:2",
     "stays",
     "failover_off",
     true,
     false},
    {"the gate is on, and nothing adds a taint",
     {PUSH("m1"), PUSH("m2"), EVERYWHERE(AT("m1") "," AT("m2"))},
     {"m1"},
     FAILOVER,
     RELEASE_1_14,
     RELEASE_1_19,
     "current p m1:2 m2:2",
     "stays",
     "no_taint",
     false,
     false},
    {"the gate is on until 1.13, which adds the taint",
     {PUSH("m1"), PUSH("m2"), EVERYWHERE(AT("m1") "," AT("m2"))},
     {"m1"},
     FAILOVER,
     RELEASE_1_13,
     RELEASE_1_13,
     "current p m2:2",
     "leaves",
     NULL,
     false,
     false},
    {"1.13 with the gate off evicts because of another taint",
     {TAINTED("m1"), PUSH("m2"), EVERYWHERE(AT("m1"))},
     {"m1"},
     "",
     RELEASE_1_13,
     RELEASE_1_13,
     "current p m2:2",
     "moves",
     NULL,
     true,
     false},
    {"1.14 with the gate off does not",
     {TAINTED("m1"), PUSH("m2"), EVERYWHERE(AT("m1") "," AT("m2"))},
     {"m1"},
     "",
     RELEASE_1_14,
     RELEASE_1_14,
     "current p m1:2 m2:2",
     "stays",
     "failover_off",
     false,
     false},
    {"the releases differ",
     {PUSH("m1"), PUSH("m2"), EVERYWHERE(AT("m1") "," AT("m2"))},
     {"m1"},
     FAILOVER,
     RELEASE_1_13,
     RELEASE_1_14,
     "current p release m1:2 m2:2",
     "undetermined",
     NULL,
     false,
     false},
    {"the only cluster",
     {TAINTED("m1"), EVERYWHERE(AT("m1"))},
     {"m1"},
     FAILOVER,
     RELEASE_1_19,
     RELEASE_1_19,
     "current p",
     "nowhere",
     NULL,
     true,
     false},
    {"all clusters",
     {TAINTED("m1"), TAINTED("m2"), EVERYWHERE(AT("m1") "," AT("m2"))},
     {"m2", "m1"},
     FAILOVER,
     RELEASE_1_19,
     RELEASE_1_19,
     "current p",
     "nowhere",
     NULL,
     true,
     false},
    {"a policy taints clusters that do not answer",
     {PUSH("m1"), PUSH("m2"), TAINTS("False"), EVERYWHERE(AT("m1") "," AT("m2"))},
     {"m1"},
     FAILOVER,
     RELEASE_1_19,
     RELEASE_1_19,
     "current p m2:2",
     "leaves",
     NULL,
     false,
     false},
    {"the status of a cluster in mode Pull is Unknown",
     {MEMBER("m1", "Pull", ""), PUSH("m2"), TAINTS("False"), EVERYWHERE(AT("m1") "," AT("m2"))},
     {"m1"},
     FAILOVER,
     RELEASE_1_19,
     RELEASE_1_19,
     "current p m1:2 m2:2",
     "stays",
     "no_taint",
     false,
     false},
    {"the policy has no effect while the gate is off",
     {PUSH("m1"), PUSH("m2"), TAINTS("False"), EVERYWHERE(AT("m1") "," AT("m2"))},
     {"m1"},
     "",
     RELEASE_1_19,
     RELEASE_1_19,
     "current p m1:2 m2:2",
     "stays",
     "failover_off",
     false,
     false},
    {"the taint is tolerated",
     {TAINTED("m1"), TOLERATING(ANY_TAINT, ESCAPED_ANY_TAINT, AT("m1"))},
     {"m1"},
     FAILOVER,
     RELEASE_1_19,
     RELEASE_1_19,
     "current p m1:2",
     "stays",
     "tolerated",
     true,
     false},
    {"the taint is tolerated for some time, and so is the taint for the scheduler",
     {TAINTED("m1"), TOLERATING(FOR_SECONDS, ESCAPED_SECONDS, AT("m1"))},
     {"m1"},
     FAILOVER,
     RELEASE_1_19,
     RELEASE_1_19,
     "current p m1:2",
     "stays",
     "scheduled_again",
     true,
     true},
};

static struct entry *find_cluster(const struct world *w, const char *name)
{
    return world_find(w, CLUSTER_API_VERSION, CLUSTER_KIND, "", name);
}

static void init_world(struct world *w, const struct loss_case *c)
{
    struct rules_options options = rules_options_default;

    options.feature_gates = c->gates;
    world_init(w, &options, 1);
    engine_set_release(w->engine,
                       (struct release_range){c->oldest, c->newest, RELEASE_OF_SERVER, false});
    world_put_text(w, TEMPLATE("web", "," CLAIM("p")));
    for (size_t i = 0; i < OBJECTS_MAX && c->objects[i]; i++)
        world_put_text(w, c->objects[i]);
    world_run(w, NOW_MS);
}

TEST_ROWS(a_lost_cluster, cases, name)
{
    const struct loss_case *c = *state;
    const struct plan_template *row;
    const struct plan_result *r;
    struct world w;
    char text[256];

    init_world(&w, c);
    struct plan *p = plan_new(w.engine);
    for (size_t i = 0; i < LOST_MAX && c->lost[i]; i++)
        assert_true(plan_lose(p, find_cluster(&w, c->lost[i])));
    r = plan_finish(p);
    row = planned_row(r, "web");
    assert_non_null(row);
    assert_string_equal(planned_outcome(&row->after, text), c->after);
    assert_string_equal(loss_fate_names[row->loss.fate], c->fate);
    if (c->reason)
        assert_string_equal(loss_reason_names[row->loss.reason], c->reason);
    assert_int_equal(row->loss.last_copy, c->last_copy);
    assert_int_equal(r->last_copies, c->last_copy);
    assert_int_equal(r->settled, !c->unsettled);
    plan_free(p);
    assert_true(entry_cluster(find_cluster(&w, c->lost[0]))->ready);
    world_release(&w);
}

/* ---- capacity, dependencies and repeated names ---- */

TEST(replicas_beyond_the_free_pods_are_named)
{
    const struct loss_case c = {.objects = {TAINTED("m1"), PUSH("m2"), EVERYWHERE(AT("m1"))},
                                .gates = FAILOVER,
                                .oldest = RELEASE_1_19,
                                .newest = RELEASE_1_19};
    const struct plan_result *r;
    struct world w;

    init_world(&w, &c);
    struct plan *p = plan_new(w.engine);
    assert_true(plan_lose(p, find_cluster(&w, "m1")));
    assert_false(plan_lose(p, find_cluster(&w, "m1")));
    r = plan_finish(p);
    assert_int_equal(r->clusters.count, 2);
    assert_true(r->clusters.items[0].lost);
    assert_int_equal(r->clusters.items[0].exceeded, 0);
    assert_false(r->clusters.items[1].lost);
    assert_int_equal(r->clusters.items[1].exceeded, 1U << PLAN_PODS);
    assert_true(r->clusters.items[1].free[PLAN_PODS] == 1);
    plan_free(p);
    world_release(&w);
}

TEST(a_cluster_without_copies)
{
    const struct loss_case c = {.objects = {PUSH("m1"), TAINTED("m2"), EVERYWHERE(AT("m1"))},
                                .gates = FAILOVER,
                                .oldest = RELEASE_1_19,
                                .newest = RELEASE_1_19};
    const struct plan_result *r;
    struct world w;

    init_world(&w, &c);
    struct plan *p = plan_new(w.engine);
    assert_true(plan_lose(p, find_cluster(&w, "m2")));
    r = plan_finish(p);
    assert_int_equal(r->template_count, 0);
    assert_int_equal(r->lost->count, 1);
    plan_free(p);
    world_release(&w);
}

TEST(a_cluster_that_the_change_deletes_is_not_lost)
{
    const struct loss_case c = {.objects = {PUSH("m1"), PUSH("m2"), EVERYWHERE(AT("m1"))},
                                .gates = FAILOVER,
                                .oldest = RELEASE_1_19,
                                .newest = RELEASE_1_19};
    const struct plan_result *r;
    struct world w;
    char text[256];

    init_world(&w, &c);
    struct plan *p = plan_new(w.engine);
    assert_true(plan_lose(p, find_cluster(&w, "m1")));
    plan_delete(p, find_cluster(&w, "m1"));
    r = plan_finish(p);
    assert_int_equal(r->lost->count, 0);
    assert_string_equal(planned_outcome(&planned_row(r, "web")->after, text), "current p m2:2");
    plan_free(p);
    world_release(&w);
}
