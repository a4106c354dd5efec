/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/simulate/scheduler.h"

#include "metrics/simulate/plan.h"

#include "tests/unit/bound_objects.h"
#include "tests/unit/planned.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

enum { NOW_MS = 1000 * 1000, CHANGES_MAX = 3 };

/* ---- several changes of a template whose targets are unpredictable after the first one ---- */

/* A Cluster that serves Deployments. */
#define MEMBER(name, spec)                                                                         \
    "{\"apiVersion\":\"cluster.karmada.io/v1alpha1\",\"kind\":\"Cluster\",\"metadata\":{"          \
    "\"name\":\"" name "\"},\"spec\":{" spec "},\"status\":{\"apiEnablements\":[{"                 \
    "\"groupVersion\":\"apps/v1\",\"resources\":[{\"name\":\"deployments\",\"kind\":"              \
    "\"Deployment\"}]}],\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"},"                 \
    "{\"type\":\"CompleteAPIEnablements\",\"status\":\"True\"}]}}"
#define TAINTED "\"taints\":[{\"key\":\"k\",\"effect\":\"NoSchedule\"}]"
#define SCALED                                                                                     \
    "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"web\","          \
    "\"namespace\":\"default\"},\"spec\":{\"replicas\":5,\"template\":{}}}"
#define PLACED(more) POLICY("p", SELECTS("web") ",\"placement\":{" more "}")
#define DIVIDED(more)                                                                              \
    "\"replicaScheduling\":{\"replicaSchedulingType\":\"Divided\",\"replicaDivisionPreference\":"  \
    "\"" more
#define AGGREGATED DIVIDED("Aggregated\"}")
#define ONLY(name) "\"clusterAffinity\":{\"clusterNames\":[\"" name "\"]}"
/* m2 weighs more than m1, so that no tie remains. */
#define WEIGHTED                                                                                   \
    DIVIDED("Weighted\",\"weightPreference\":{\"staticWeightList\":[{\"targetCluster\":{"          \
            "\"clusterNames\":[\"m1\"]},\"weight\":1},{\"targetCluster\":{\"clusterNames\":["      \
            "\"m2\"]},\"weight\":4}]}}")
#define SPREAD "\"spreadConstraints\":[{\"spreadByField\":\"cluster\",\"maxGroups\":1}]"

static const struct sequence {
    const char *name;
    const char *m2_spec;
    const char *changes[CHANGES_MAX];
    const char *after; /* Outcome of web; an undetermined one keeps the present targets. */
} sequences[] = {
    {"more replicas", "", {SCALED}, "current p aggregated m1:2"},
    {"then Duplicated", "", {SCALED, PLACED("")}, "current p m1:5 m2:5"},
    {"then static weights", "", {SCALED, PLACED(WEIGHTED)}, "current p m1:1 m2:4"},
    {"then another cluster", "", {SCALED, PLACED(ONLY("m2"))}, "current p m2:5"},
    {"then no cluster", "", {SCALED, PLACED(ONLY("m9"))}, "current p"},
    {"then Duplicated, and m2 fits as a target only",
     TAINTED,
     {SCALED, PLACED("")},
     "current p aggregated m1:2"},
    {"then a spread constraint", "", {SCALED, PLACED(SPREAD)}, "current p aggregated m1:2"},
    {"then Aggregated on one cluster",
     "",
     {SCALED, PLACED(ONLY("m2") "," AGGREGATED)},
     "current p aggregated m1:2"},
    {"then Duplicated, then static weights",
     "",
     {SCALED, PLACED(""), PLACED(WEIGHTED)},
     "current p m1:1 m2:4"},
};

static void init_world(struct world *w, const char *m2_spec)
{
    struct rules_options options = rules_options_default;
    char m2[1024];

    snprintf(m2, sizeof(m2), MEMBER("m2", "%s"), m2_spec);
    world_init(w, &options, 1);
    world_put_text(w, MEMBER("m1", ""));
    world_put_text(w, m2);
    world_put_text(w, PLACED(AGGREGATED));
    world_put_text(w, TEMPLATE("web", "," CLAIM("p")));
    world_put_text(w, "{\"apiVersion\":\"work.karmada.io/v1alpha2\",\"kind\":\"ResourceBinding\","
                      "\"metadata\":{\"name\":\"web-deployment\",\"namespace\":\"default\"," CLAIM(
                          "p") "},\"spec\":{\"resource\":{\"apiVersion\":\"apps/v1\",\"kind\":"
                               "\"Deployment\",\"namespace\":\"default\",\"name\":\"web\","
                               "\"uid\":\"u-web\",\"resourceVersion\":\"10\"},\"replicas\":2,"
                               "\"conflictResolution\":\"Abort\",\"placement\":{" AGGREGATED
                               "},\"clusters\":[{\"name\":\"m1\",\"replicas\":2}]}}");
    world_run(w, NOW_MS);
}

TEST_ROWS(changes_of_unpredictable_targets, sequences, name)
{
    const struct sequence *c = *state;
    const struct plan_result *r;
    struct world w;
    char text[256];

    init_world(&w, c->m2_spec);
    struct plan *p = plan_new(w.engine);
    for (size_t i = 0; i < CHANGES_MAX && c->changes[i]; i++)
        planned_apply(p, c->changes[i]);
    r = plan_finish(p);
    assert_int_equal(r->template_count, 1);
    assert_string_equal(planned_outcome(&r->templates[0].after, text), c->after);
    plan_free(p);
    world_release(&w);
}
