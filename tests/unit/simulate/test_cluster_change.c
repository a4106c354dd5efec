/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/simulate/cluster_change.h"

#include "metrics/simulate/plan.h"

#include "tests/unit/bound_objects.h"
#include "tests/unit/planned.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

enum { NOW_MS = 1000 * 1000, PLAN_STEPS_MAX = 2, OBJECTS_MAX = 8 };

/* ---- objects ---- */

/* A Cluster that serves Deployments. */
#define MEMBER(name, labels, spec)                                                                 \
    "{\"apiVersion\":\"cluster.karmada.io/v1alpha1\",\"kind\":\"Cluster\",\"metadata\":{"          \
    "\"name\":\"" name "\",\"labels\":{" labels "}},\"spec\":{\"syncMode\":\"Push\"" spec          \
    "},\"status\":{"                                                                               \
    "\"apiEnablements\":[{\"groupVersion\":\"apps/v1\",\"resources\":[{\"name\":\"deployments\","  \
    "\"kind\":\"Deployment\"}]}],\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"},"        \
    "{\"type\":\"CompleteAPIEnablements\",\"status\":\"True\"}]}}"
#define TAINT(effect) ",\"taints\":[{\"key\":\"k\",\"effect\":\"" effect "\"}]"
#define LABELLED(key)                                                                              \
    "\"placement\":{\"clusterAffinity\":{\"labelSelector\":{\"matchLabels\":{" key "}}}}"
#define ZONE(name) ",\"zones\":[\"" name "\"]"
#define IN_ZONE(name)                                                                              \
    "\"placement\":{\"clusterAffinity\":{\"fieldSelector\":{\"matchExpressions\":[{\"key\":"       \
    "\"zone\",\"operator\":\"In\",\"values\":[\"" name "\"]}]}}}"
#define EVERYWHERE "\"placement\":{}"

/* A binding of the Deployment web, applied with `placement`, whose text in JSON is `escaped`. */
#define BOUND(metadata, placement, escaped, clusters)                                              \
    "{\"apiVersion\":\"work.karmada.io/v1alpha2\",\"kind\":\"ResourceBinding\",\"metadata\":{"     \
    "\"name\":\"web-deployment\",\"namespace\":\"default\",\"generation\":1," metadata             \
    ",\"annotations\":{\"propagationpolicy.karmada.io/namespace\":\"default\","                    \
    "\"propagationpolicy.karmada.io/name\":\"p\",\"policy.karmada.io/applied-placement\":"         \
    "\"" escaped "\"}},\"spec\":{\"resource\":{\"apiVersion\":\"apps/v1\",\"kind\":"               \
    "\"Deployment\",\"namespace\":\"default\",\"name\":\"web\",\"uid\":\"u-web\","                 \
    "\"resourceVersion\":\"10\"},\"replicas\":2,\"replicaRequirements\":{},"                       \
    "\"conflictResolution\":\"Abort\"," placement ",\"clusters\":[" clusters "]},\"status\":{"     \
    "\"schedulerObservedGeneration\":1,\"lastScheduledTime\":\"2026-01-01T00:00:00Z\","            \
    "\"conditions\":[{\"type\":\"Scheduled\",\"status\":\"True\",\"reason\":\"Success\"}]}}"
#define BY_P  "\"labels\":{\"propagationpolicy.karmada.io/permanent-id\":\"id-p\"}"
#define ON_M1 "{\"name\":\"m1\",\"replicas\":2}"
#define BY_LABEL                                                                                   \
    "{\\\"clusterAffinity\\\":{\\\"labelSelector\\\":{\\\"matchLabels\\\":{\\\"a\\\":\\\"b\\\"}}}" \
    "}"
#define BY_ZONE                                                                                    \
    "{\\\"clusterAffinity\\\":{\\\"fieldSelector\\\":{\\\"matchExpressions\\\":[{\\\"key\\\":"     \
    "\\\"zone\\\",\\\"operator\\\":\\\"In\\\",\\\"values\\\":[\\\"z1\\\"]}]}}}"
#define A_B "\"a\":\"b\""

/* ---- effects of a changed Cluster ---- */

static const struct cluster_case {
    const char *name;
    const char *objects[OBJECTS_MAX]; /* Beside the Deployment web. */
    const char *apply;                /* A Cluster; NULL without one. */
    const char *deleted;              /* Name of a Cluster; NULL without a deletion. */
    const char *after;                /* Outcome of web; NULL: web is not affected. */
} cases[] = {
    {.name = "the label that the placement selects is removed",
     .objects = {MEMBER("m1", A_B, ""), POLICY("p", SELECTS("web") "," LABELLED(A_B)),
                 BOUND(BY_P, LABELLED(A_B), BY_LABEL, ON_M1)},
     .apply = MEMBER("m1", "", ""),
     .after = "current p"},
    {.name = "the label moves to another cluster",
     .objects = {MEMBER("m1", A_B, ""), MEMBER("m2", A_B, ""),
                 POLICY("p", SELECTS("web") "," LABELLED(A_B)),
                 BOUND(BY_P, LABELLED(A_B), BY_LABEL, ON_M1)},
     .apply = MEMBER("m1", "", ""),
     .after = "current p m2:2"},
    {.name = "a label is added that another placement selects",
     .objects = {MEMBER("m1", A_B, ""), POLICY("p", SELECTS("web") "," LABELLED(A_B)),
                 BOUND(BY_P, LABELLED(A_B), BY_LABEL, ON_M1)},
     .apply = MEMBER("m1", A_B ",\"c\":\"d\"", "")},
    {.name = "an unchanged Cluster",
     .objects = {MEMBER("m1", A_B, ""), POLICY("p", SELECTS("web") "," LABELLED(A_B)),
                 BOUND(BY_P, LABELLED(A_B), BY_LABEL, ON_M1)},
     .apply = MEMBER("m1", A_B, "")},
    {.name = "an unchanged Cluster that a waiting binding selects by now",
     .objects = {MEMBER("m1", A_B, ZONE("z1")), POLICY("p", SELECTS("web") "," LABELLED(A_B)),
                 BOUND(BY_P, LABELLED(A_B), BY_LABEL, "")},
     .apply = MEMBER("m1", A_B, ZONE("z1"))},
    {.name = "the zone of the only target changes",
     .objects = {MEMBER("m1", "", ZONE("z1")), POLICY("p", SELECTS("web") "," IN_ZONE("z1")),
                 BOUND(BY_P, IN_ZONE("z1"), BY_ZONE, ON_M1)},
     .apply = MEMBER("m1", "", ZONE("z2")),
     .after = "current p"},
    {.name = "a waiting binding and a new Cluster with the label",
     .objects = {MEMBER("m1", "", ""), POLICY("p", SELECTS("web") "," LABELLED(A_B)),
                 BOUND(BY_P, LABELLED(A_B), BY_LABEL, "")},
     .apply = MEMBER("m2", A_B, ""),
     .after = "current p m2:2"},
    {.name = "a waiting binding and the missing label",
     .objects = {MEMBER("m1", "", ""), POLICY("p", SELECTS("web") "," LABELLED(A_B)),
                 BOUND(BY_P, LABELLED(A_B), BY_LABEL, "")},
     .apply = MEMBER("m1", A_B, ""),
     .after = "current p m1:2"},
    {.name = "a waiting binding and a cluster that loses its taint",
     .objects = {MEMBER("m1", "", TAINT("NoSchedule")), POLICY("p", SELECTS("web") "," EVERYWHERE),
                 BOUND(BY_P, EVERYWHERE, "{}", "")},
     .apply = MEMBER("m1", "", ""),
     .after = "current p m1:2"},
    {.name = "a taint NoSchedule on a target",
     .objects = {MEMBER("m1", "", ""), POLICY("p", SELECTS("web") "," EVERYWHERE),
                 BOUND(BY_P, EVERYWHERE, "{}", ON_M1)},
     .apply = MEMBER("m1", "", TAINT("NoSchedule"))},
    {.name = "a new Cluster that the affinity group in use does not select",
     .objects = {MEMBER("m1", A_B, ""), POLICY("p", SELECTS("web") "," LABELLED(A_B)),
                 BOUND(BY_P, LABELLED(A_B), BY_LABEL, ON_M1)},
     .apply = MEMBER("m2", "", "")},
    {.name = "a Duplicated workload and a new Cluster",
     .objects = {MEMBER("m1", "", ""), POLICY("p", SELECTS("web") "," EVERYWHERE),
                 BOUND(BY_P, EVERYWHERE, "{}", ON_M1)},
     .apply = MEMBER("m2", "", ""),
     .after = "current p m1:2 m2:2"},
    {.name = "a binding that no policy claims any more and a new Cluster",
     .objects = {MEMBER("m1", "", ""), BOUND("\"labels\":{}", EVERYWHERE, "{}", ON_M1)},
     .apply = MEMBER("m2", "", ""),
     .after = "orphaned - m1:2 m2:2"},
    {.name = "the second of two clusters is deleted",
     .objects = {MEMBER("m1", "", ""), MEMBER("m2", "", ""),
                 POLICY("p", SELECTS("web") "," EVERYWHERE),
                 BOUND(BY_P, EVERYWHERE, "{}", ON_M1 ",{\"name\":\"m2\",\"replicas\":2}")},
     .deleted = "m2",
     .after = "current p m1:2"},
    {.name = "the only cluster is deleted",
     .objects = {MEMBER("m1", "", ""), POLICY("p", SELECTS("web") "," EVERYWHERE),
                 BOUND(BY_P, EVERYWHERE, "{}", ON_M1)},
     .deleted = "m1",
     .after = "current p"},
    {.name = "a cluster is deleted that nothing uses",
     .objects = {MEMBER("m1", A_B, ""), MEMBER("m2", "", ""),
                 POLICY("p", SELECTS("web") "," LABELLED(A_B)),
                 BOUND(BY_P, LABELLED(A_B), BY_LABEL, ON_M1)},
     .deleted = "m2"},
};

static void init_world(struct world *w, const char *const objects[OBJECTS_MAX])
{
    struct rules_options options = rules_options_default;

    world_init(w, &options, 1);
    world_put_text(w, TEMPLATE("web", ",\"labels\":{\"x\":\"y\"}"));
    for (size_t i = 0; i < OBJECTS_MAX && objects[i]; i++) {
        world_put_text(w, objects[i]);
        if (strstr(objects[i], "\"PropagationPolicy\""))
            world_put_text(w, TEMPLATE("web", "," CLAIM("p")));
    }
    world_run(w, NOW_MS);
}

static struct entry *find_cluster(const struct world *w, const char *name)
{
    return world_find(w, CLUSTER_API_VERSION, CLUSTER_KIND, "", name);
}

TEST_ROWS(a_changed_cluster_reschedules, cases, name)
{
    const struct cluster_case *c = *state;
    const struct plan_result *r;
    struct world w;
    char text[256];

    init_world(&w, c->objects);
    struct plan *p = plan_new(w.engine);
    if (c->apply)
        planned_apply(p, c->apply);
    if (c->deleted)
        plan_delete(p, find_cluster(&w, c->deleted));
    r = plan_finish(p);
    assert_int_equal(r->object_count, 0);
    assert_int_equal(r->template_count, c->after ? 1 : 0);
    if (c->after)
        assert_string_equal(planned_outcome(&planned_row(r, "web")->after, text), c->after);
    plan_free(p);
    world_release(&w);
}

/* ---- status, deletion and taints ---- */

static const char *const on_m1[OBJECTS_MAX] = {MEMBER("m1", "", ""),
                                               POLICY("p", SELECTS("web") "," EVERYWHERE),
                                               BOUND(BY_P, EVERYWHERE, "{}", ON_M1)};

TEST(the_status_of_an_existing_cluster_stays)
{
    struct world w;

    init_world(&w, on_m1);
    struct plan *p = plan_new(w.engine);
    planned_apply(p, CLUSTER("m1"));
    const struct cluster *c = entry_cluster(find_cluster(&w, "m1"));
    assert_true(c->ready && c->apis_complete);
    assert_int_equal(c->api_count, 1);
    assert_int_equal(plan_finish(p)->template_count, 0);
    plan_free(p);
    world_release(&w);
}

TEST(a_deleted_cluster_is_removed_once_it_is_no_target)
{
    struct world w;

    init_world(&w, on_m1);
    struct plan *p = plan_new(w.engine);
    plan_delete(p, find_cluster(&w, "m1"));
    assert_false(entry_exists(find_cluster(&w, "m1")));
    plan_free(p);
    assert_true(entry_exists(find_cluster(&w, "m1")));
    world_release(&w);
}

TEST(a_cluster_in_deletion_stays_while_it_is_the_target_of_a_suspended_binding)
{
    static const char *const objects[OBJECTS_MAX] = {
        MEMBER("m1", "", ""), POLICY("p", SELECTS("web") "," EVERYWHERE),
        BOUND(BY_P, "\"suspension\":{\"scheduling\":true}," EVERYWHERE, "{}", ON_M1)};
    struct world w;

    init_world(&w, objects);
    struct plan *p = plan_new(w.engine);
    plan_delete(p, find_cluster(&w, "m1"));
    assert_true(entry_cluster(find_cluster(&w, "m1"))->deleting);
    assert_string_equal(plan_finish(p)->objects[0].reason, "cluster_named");
    plan_free(p);
    world_release(&w);
}

#define DIVIDED                                                                                    \
    "\"placement\":{\"replicaScheduling\":{\"replicaSchedulingType\":\"Divided\","                 \
    "\"replicaDivisionPreference\":\"Weighted\"}}"
#define DIVIDED_TEXT                                                                               \
    "{\\\"replicaScheduling\\\":{\\\"replicaSchedulingType\\\":\\\"Divided\\\","                   \
    "\\\"replicaDivisionPreference\\\":\\\"Weighted\\\"}}"

/* Until 1.13, the scheduler leaves divided replicas on a cluster that is in deletion. */
TEST(a_deleted_cluster_that_bindings_name_is_listed_until_1_13)
{
    static const char *const objects[OBJECTS_MAX] = {MEMBER("m1", "", ""), MEMBER("m2", "", ""),
                                                     POLICY("p", SELECTS("web") "," DIVIDED),
                                                     BOUND(BY_P, DIVIDED, DIVIDED_TEXT, ON_M1)};
    const struct plan_result *r;
    struct world w;
    char text[256];

    init_world(&w, objects);
    engine_set_release(
        w.engine, (struct release_range){RELEASE_1_13, RELEASE_1_13, RELEASE_OF_SERVER, false});
    world_run(&w, NOW_MS);
    struct plan *p = plan_new(w.engine);
    plan_delete(p, find_cluster(&w, "m1"));
    r = plan_finish(p);
    assert_int_equal(r->template_count, 0);
    assert_int_equal(r->object_count, 1);
    snprintf(text, sizeof(text), "%s %s", prediction_names[r->objects[0].outcome],
             r->objects[0].reason);
    assert_string_equal(text, "not_simulated eviction");
    plan_free(p);
    world_release(&w);
}

#define DEFAULT_GATES ""
#define FAILOVER      "Failover=true"
/* A placement that tolerates the taint of TAINT(); `more` limits the toleration. */
#define TOLERANT(more)                                                                             \
    "\"placement\":{\"clusterTolerations\":[{\"key\":\"k\",\"operator\":\"Exists\"" more "}]}"
#define TOLERANT_TEXT(more)                                                                        \
    "{\\\"clusterTolerations\\\":[{\\\"key\\\":\\\"k\\\",\\\"operator\\\":\\\"Exists\\\"" more "}" \
    "]"                                                                                            \
    "}"
#define SECONDS      ",\"tolerationSeconds\":300"
#define SECONDS_TEXT ",\\\"tolerationSeconds\\\":300"

#define INTOLERANT_WEB                                                                             \
    POLICY("p", SELECTS("web") "," EVERYWHERE), BOUND(BY_P, EVERYWHERE, "{}", ON_M1)
#define TOLERANT_WEB                                                                               \
    POLICY("p", SELECTS("web") "," TOLERANT("")),                                                  \
        BOUND(BY_P, TOLERANT(""), TOLERANT_TEXT(""), ON_M1)
#define TOLERANT_WEB_FOR_SECONDS                                                                   \
    POLICY("p", SELECTS("web") "," TOLERANT(SECONDS)),                                             \
        BOUND(BY_P, TOLERANT(SECONDS), TOLERANT_TEXT(SECONDS_TEXT), ON_M1)
#define WAITING_WEB POLICY("p", SELECTS("web") "," EVERYWHERE), BOUND(BY_P, EVERYWHERE, "{}", "")
#define DELETED_WEB                                                                                \
    POLICY("p", SELECTS("web") "," EVERYWHERE),                                                    \
        BOUND(BY_P ",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"", EVERYWHERE, "{}", ON_M1)

static const struct taint_case {
    const char *name;
    const char *objects[OBJECTS_MAX]; /* Beside m1 and the Deployment web. */
    const char *before;               /* Taints of m1. */
    const char *after;
    const char *gates;
    enum release oldest; /* Releases that Karmada may have, up to the newest. */
    bool assumed;        /* ASSUMED_EVICTION_OFF */
    bool listed;         /* The Cluster is not simulated. */
} taint_cases[] = {
    {"a new taint NoExecute, without the gate",
     {INTOLERANT_WEB},
     "",
     TAINT("NoExecute"),
     DEFAULT_GATES,
     RELEASE_1_14,
     true,
     false},
    {"a new taint NoSchedule",
     {INTOLERANT_WEB},
     "",
     TAINT("NoSchedule"),
     DEFAULT_GATES,
     RELEASE_1_14,
     false,
     false},
    {"the same taint NoExecute",
     {INTOLERANT_WEB},
     TAINT("NoExecute"),
     TAINT("NoExecute"),
     DEFAULT_GATES,
     RELEASE_1_14,
     false,
     false},
    {"a taint NoExecute that is removed",
     {INTOLERANT_WEB},
     TAINT("NoExecute"),
     "",
     DEFAULT_GATES,
     RELEASE_1_14,
     false,
     false},
    {"a new taint NoExecute, with the gate",
     {INTOLERANT_WEB},
     "",
     TAINT("NoExecute"),
     FAILOVER,
     RELEASE_1_14,
     false,
     true},
    {"a new taint NoSchedule, with the gate",
     {INTOLERANT_WEB},
     "",
     TAINT("NoSchedule"),
     FAILOVER,
     RELEASE_1_14,
     false,
     false},
    {"the same taint NoExecute, with the gate",
     {INTOLERANT_WEB},
     TAINT("NoExecute"),
     TAINT("NoExecute"),
     FAILOVER,
     RELEASE_1_14,
     false,
     false},
    {"a taint NoExecute that is removed, with the gate",
     {INTOLERANT_WEB},
     TAINT("NoExecute"),
     "",
     FAILOVER,
     RELEASE_1_14,
     false,
     false},
    {"a taint that becomes NoExecute, with the gate",
     {INTOLERANT_WEB},
     TAINT("NoSchedule"),
     TAINT("NoExecute"),
     FAILOVER,
     RELEASE_1_14,
     false,
     true},
    {"a tolerated taint, with the gate",
     {TOLERANT_WEB},
     "",
     TAINT("NoExecute"),
     FAILOVER,
     RELEASE_1_14,
     false,
     false},
    {"a taint tolerated for some time, with the gate",
     {TOLERANT_WEB_FOR_SECONDS},
     "",
     TAINT("NoExecute"),
     FAILOVER,
     RELEASE_1_14,
     false,
     true},
    {"a taint tolerated for some time, without the gate",
     {TOLERANT_WEB_FOR_SECONDS},
     "",
     TAINT("NoExecute"),
     DEFAULT_GATES,
     RELEASE_1_14,
     true,
     false},
    {"a taint of a cluster that is no target, with the gate",
     {WAITING_WEB},
     "",
     TAINT("NoExecute"),
     FAILOVER,
     RELEASE_1_14,
     false,
     false},
    {"a taint and a binding in deletion, with the gate",
     {DELETED_WEB},
     "",
     TAINT("NoExecute"),
     FAILOVER,
     RELEASE_1_14,
     false,
     false},
    {"a new taint NoExecute, in releases that need no gate",
     {INTOLERANT_WEB},
     "",
     TAINT("NoExecute"),
     DEFAULT_GATES,
     RELEASE_1_13,
     false,
     true},
    {"a tolerated taint, in releases that need no gate",
     {TOLERANT_WEB},
     "",
     TAINT("NoExecute"),
     DEFAULT_GATES,
     RELEASE_1_13,
     false,
     false},
};

/* Sets `out` to m1 with a spec. */
static void write_m1(const char *spec, struct strbuf *out)
{
    strbuf_reset(out);
    strbuf_addf(out,
                "{\"apiVersion\":\"cluster.karmada.io/v1alpha1\",\"kind\":\"Cluster\","
                "\"metadata\":{\"name\":\"m1\"},\"spec\":{\"syncMode\":\"Push\"%s}}",
                spec);
}

static void init_tainted_world(struct world *w, const struct taint_case *c)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(4096);
    struct rules_options options = rules_options_default;

    options.feature_gates = c->gates;
    world_init(w, &options, 1);
    engine_set_release(w->engine,
                       (struct release_range){c->oldest, RELEASE_1_14, RELEASE_OF_SERVER, false});
    world_put_text(w, TEMPLATE("web", "," CLAIM("p")));
    for (size_t i = 0; i < OBJECTS_MAX && c->objects[i]; i++)
        world_put_text(w, c->objects[i]);
    write_m1(c->before, &text);
    world_put_text(w, text.data);
    world_run(w, NOW_MS);
}

TEST_ROWS(eviction_is_never_ignored_with, taint_cases, name)
{
    const struct taint_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(4096);
    const struct plan_result *r;
    struct world w;

    init_tainted_world(&w, c);
    write_m1(c->after, &text);
    struct plan *p = plan_new(w.engine);
    planned_apply(p, text.data);
    r = plan_finish(p);
    assert_int_equal(r->assumptions >> ASSUMED_EVICTION_OFF & 1, c->assumed);
    assert_int_equal(r->object_count, c->listed);
    if (c->listed) {
        assert_string_equal(r->objects[0].id.kind, "Cluster");
        assert_string_equal(r->objects[0].id.name, "m1");
        assert_int_equal(r->objects[0].outcome, PREDICTION_NOT_SIMULATED);
        assert_string_equal(r->objects[0].reason, "eviction");
    }
    plan_free(p);
    world_release(&w);
}
