/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/simulate/plan.h"

#include "tests/unit/bound_objects.h"
#include "tests/unit/planned.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

enum { NOW_MS = 1000 * 1000, OBJECTS_MAX = 6 };

/* ---- objects ---- */

#define MEMBER(name, zones)                                                                        \
    "{\"apiVersion\":\"cluster.karmada.io/v1alpha1\",\"kind\":\"Cluster\",\"metadata\":{"          \
    "\"name\":\"" name "\"},\"spec\":{\"syncMode\":\"Push\",\"zones\":[" zones "]},\"status\":{"   \
    "\"apiEnablements\":[{\"groupVersion\":\"apps/v1\",\"resources\":[{\"name\":\"deployments\","  \
    "\"kind\":\"Deployment\"}]}],\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"},"        \
    "{\"type\":\"CompleteAPIEnablements\",\"status\":\"True\"}]}}"

/* A binding of web with 2 replicas, scheduled with its placement; `escaped` is its text in JSON. */
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
#define ON_M2 "{\"name\":\"m2\",\"replicas\":2}"

#define ZONE_AFFINITY                                                                              \
    "\"clusterAffinity\":{\"fieldSelector\":{\"matchExpressions\":[{\"key\":\"zone\","             \
    "\"operator\":\"In\",\"values\":[\"z1\"]}]}}"
#define ESCAPED_ZONE_AFFINITY                                                                      \
    "\\\"clusterAffinity\\\":{\\\"fieldSelector\\\":{\\\"matchExpressions\\\":[{\\\"key\\\":"      \
    "\\\"zone\\\",\\\"operator\\\":\\\"In\\\",\\\"values\\\":[\\\"z1\\\"]}]}}"
#define DIVIDED                                                                                    \
    ",\"replicaScheduling\":{\"replicaSchedulingType\":\"Divided\",\"replicaDivisionPreference\":" \
    "\"Weighted\"}"
#define ESCAPED_DIVIDED                                                                            \
    ",\\\"replicaScheduling\\\":{\\\"replicaSchedulingType\\\":\\\"Divided\\\","                   \
    "\\\"replicaDivisionPreference\\\":\\\"Weighted\\\"}"
#define WEB(fields, escaped, clusters)                                                             \
    POLICY("p", SELECTS("web") ",\"placement\":{" fields "}"),                                     \
        BOUND("\"placement\":{" fields "}", "{" escaped "}", clusters)

static const struct upgrade_case {
    const char *name;
    const char *objects[OBJECTS_MAX]; /* Beside m1 in two zones, m2 in one, and web. */
    enum release from;
    enum release to;
    enum plan_when when;
    const char *end; /* Outcome of web in the end; NULL: web is not affected. */
    behaviour_set causes;
} cases[] = {
    {"a Duplicated workload is scheduled by the restart",
     {WEB(ZONE_AFFINITY, ESCAPED_ZONE_AFFINITY, ON_M2)},
     RELEASE_1_17,
     RELEASE_1_18,
     PLAN_AT_ONCE,
     "current p m1:2 m2:2",
     UINT64_C(1) << BEHAVIOUR_ANY_ZONE},
    {"a divided workload waits for its next scheduling",
     {WEB(ZONE_AFFINITY DIVIDED, ESCAPED_ZONE_AFFINITY ESCAPED_DIVIDED, ON_M2)},
     RELEASE_1_17,
     RELEASE_1_18,
     PLAN_AT_NEXT_CHANGE,
     "current p m1:1 m2:1",
     UINT64_C(1) << BEHAVIOUR_ANY_ZONE},
    {"both releases agree",
     {WEB(ZONE_AFFINITY, ESCAPED_ZONE_AFFINITY, ON_M2)},
     RELEASE_1_16,
     RELEASE_1_17,
     PLAN_NEVER,
     NULL,
     0},
    {"several releases at once",
     {WEB(ZONE_AFFINITY, ESCAPED_ZONE_AFFINITY, ON_M2)},
     RELEASE_1_13,
     RELEASE_1_19,
     PLAN_AT_ONCE,
     "current p m1:2 m2:2",
     UINT64_C(1) << BEHAVIOUR_ANY_ZONE},
};

static void init_world(struct world *w, const struct upgrade_case *c)
{
    struct rules_options options = rules_options_default;

    world_init(w, &options, 1);
    engine_set_release(w->engine, (struct release_range){c->from, c->from, RELEASE_GIVEN, false});
    world_put_text(w, MEMBER("m1", "\"z1\",\"z2\""));
    world_put_text(w, MEMBER("m2", "\"z1\""));
    world_put_text(w, TEMPLATE("web", "," CLAIM("p")));
    for (size_t i = 0; i < OBJECTS_MAX && c->objects[i]; i++)
        world_put_text(w, c->objects[i]);
    world_run(w, NOW_MS);
}

TEST_ROWS(an_upgrade, cases, name)
{
    const struct upgrade_case *c = *state;
    const struct plan_template *row;
    const struct plan_result *r;
    struct world w;
    char text[256];

    init_world(&w, c);
    struct plan *p = plan_new(w.engine);
    plan_upgrade(p, c->to);
    assert_int_equal(engine_release(w.engine).newest, c->to);
    r = plan_finish(p);
    row = planned_row(r, "web");
    assert_int_equal(row != NULL, c->end != NULL);
    assert_int_equal(r->upgrade.from, c->from);
    assert_int_equal(r->upgrade.to, c->to);
    if (row) {
        assert_int_equal(row->when, c->when);
        assert_true(row->causes == c->causes);
        assert_string_equal(
            planned_outcome(c->when == PLAN_AT_ONCE ? &row->after : &row->next, text), c->end);
    }
    plan_undo(p);
    assert_int_equal(engine_release(w.engine).newest, c->from);
    plan_free(p);
    assert_int_equal(engine_release(w.engine).oldest, c->from);
    assert_int_equal(engine_release(w.engine).newest, c->from);
    world_release(&w);
}
