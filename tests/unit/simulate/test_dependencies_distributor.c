/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/simulate/dependencies_distributor.h"

#include "metrics/simulate/plan.h"

#include "tests/unit/bound_objects.h"
#include "tests/unit/planned.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

enum { NOW_MS = 1000 * 1000, OBJECTS_MAX = 10 };

/* ---- objects: the Deployment web uses the ConfigMap settings ---- */

#define USER(name, metadata, configmap)                                                            \
    "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"" name           \
    "\",\"namespace\":\"default\",\"uid\":\"u-" name "\",\"resourceVersion\":\"10\"" metadata      \
    "},\"spec\":{\"replicas\":2,\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\","          \
    "\"envFrom\":[{\"configMapRef\":{\"name\":\"" configmap "\"}}]}]}}}}"
#define CONFIGMAP(name, metadata)                                                                  \
    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"" name                 \
    "\",\"namespace\":\"default\",\"uid\":\"u-" name "\",\"resourceVersion\":\"5\"" metadata "}}"
#define NOTED(policy, names)                                                                       \
    ",\"annotations\":{\"propagationpolicy.karmada.io/namespace\":\"default\","                    \
    "\"propagationpolicy.karmada.io/name\":\"" policy "\"," names                                  \
    "\"policy.karmada.io/applied-placement\":\"{\\\"clusterAffinity\\\":{\\\"clusterNames\\\":["   \
    "\\\"member1\\\"]}}\"}"
#define NAMES_SETTINGS                                                                             \
    "\"resourcebinding.karmada.io/dependencies\":\"[{\\\"apiVersion\\\":\\\"v1\\\","               \
    "\\\"kind\\\":\\\"ConfigMap\\\",\\\"namespace\\\":\\\"default\\\",\\\"name\\\":"               \
    "\\\"settings\\\"}]\","
#define NAMES_NONE "\"resourcebinding.karmada.io/dependencies\":\"null\","
#define BY_P       "\"labels\":{\"propagationpolicy.karmada.io/permanent-id\":\"id-p\"}"
#define ORPHAN     "\"labels\":{}"
/* The binding of a template on member1. */
#define BOUND_KIND(version, kind, suffix, name, claim, noted, more)                                \
    "{\"apiVersion\":\"work.karmada.io/v1alpha2\",\"kind\":\"ResourceBinding\",\"metadata\":{"     \
    "\"name\":\"" name suffix "\",\"namespace\":\"default\",\"generation\":1," claim noted         \
    "},\"spec\":{\"resource\":{\"apiVersion\":\"" version "\",\"kind\":\"" kind                    \
    "\",\"namespace\":\"default\",\"name\":\"" name "\",\"uid\":\"u-" name                         \
    "\",\"resourceVersion\":\"10\"}," more ON(                                                     \
        "member1") ",\"clusters\":[{\"name\":\"member1\","                                         \
                   "\"replicas\":2}]},\"status\":{\"schedulerObservedGeneration\":1,"              \
                   "\"lastScheduledTime\":"                                                        \
                   "\"2026-01-01T00:00:00Z\",\"conditions\":[{\"type\":\"Scheduled\",\"status\":"  \
                   "\"True\","                                                                     \
                   "\"reason\":\"Success\"}]}}"
#define BOUND(name, claim, noted, more)                                                            \
    BOUND_KIND("apps/v1", "Deployment", "-deployment", name, claim, NOTED("p", noted),             \
               "\"replicas\":2,\"replicaRequirements\":{}," more)
#define PROPAGATES "\"propagateDeps\":true,\"conflictResolution\":\"Abort\","
/* The binding of the ConfigMap, required by the binding of web on member1. */
#define ATTACHED                                                                                   \
    "{\"apiVersion\":\"work.karmada.io/v1alpha2\",\"kind\":\"ResourceBinding\",\"metadata\":{"     \
    "\"name\":\"settings-configmap\",\"namespace\":\"default\"},\"spec\":{\"resource\":{"          \
    "\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"namespace\":\"default\",\"name\":"             \
    "\"settings\",\"uid\":\"u-settings\",\"resourceVersion\":\"5\"},\"conflictResolution\":"       \
    "\"Abort\",\"requiredBy\":[{\"namespace\":\"default\",\"name\":\"web-deployment\","            \
    "\"clusters\":[{\"name\":\"member1\",\"replicas\":2}]}]}}"
#define CLUSTERS     CLUSTER("member1"), CLUSTER("member2")
#define P(placement) POLICY("p", SELECTS("web") ",\"propagateDeps\":true," placement)

/* ---- effects on the ConfigMap ---- */

static const struct dependency_case {
    const char *name;
    const char *objects[OBJECTS_MAX];
    const char *apply[2];
    const char *after; /* Outcome of the ConfigMap settings; NULL: it is not affected. */
} cases[] = {
    {.name = "its referrer moves",
     .objects = {CLUSTERS, P(ON("member1")), USER("web", "," CLAIM("p"), "settings"),
                 BOUND("web", BY_P, NAMES_SETTINGS, PROPAGATES), CONFIGMAP("settings", ""),
                 ATTACHED},
     .apply = {P(ON("member2"))},
     .after = "attached - member2:0"},
    {.name = "its referrer moves, and its own Lazy policy has never bound it",
     .objects = {CLUSTERS, P(ON("member1")), USER("web", "," CLAIM("p"), "settings"),
                 BOUND("web", BY_P, NAMES_SETTINGS, PROPAGATES), ATTACHED,
                 POLICY("lazy", "\"resourceSelectors\":[{\"apiVersion\":\"v1\",\"kind\":"
                                "\"ConfigMap\",\"namespace\":\"default\"}],"
                                "\"activationPreference\":\"Lazy\"," ON("member1")),
                 CONFIGMAP("settings", "," CLAIM("lazy"))},
     .apply = {P(ON("member2"))},
     .after = "stale never_bound lazy member2:0"},
    {.name = "its referrer is placed nowhere",
     .objects = {CLUSTERS, P(ON("member1")), USER("web", "," CLAIM("p"), "settings"),
                 BOUND("web", BY_P, NAMES_SETTINGS, PROPAGATES), CONFIGMAP("settings", ""),
                 ATTACHED},
     .apply = {P(ON("absent"))},
     .after = "attached -"},
    {.name = "an existing binding gets propagateDeps, and fits no cluster",
     .objects = {CLUSTERS, POLICY("p", SELECTS("web") "," ON("member1")),
                 USER("web", "," CLAIM("p"), "settings"),
                 BOUND("web", BY_P, "", "\"conflictResolution\":\"Abort\","),
                 CONFIGMAP("settings", "")},
     .apply = {P(ON("absent"))},
     .after = "attached -"},
    {.name = "a new binding fits no cluster",
     .objects = {CLUSTERS, USER("web", "", "settings"), CONFIGMAP("settings", "")},
     .apply = {P(ON("absent"))},
     .after = NULL},
    {.name = "a new binding fits a cluster",
     .objects = {CLUSTERS, USER("web", "", "settings"), CONFIGMAP("settings", "")},
     .apply = {P(ON("member2"))},
     .after = "attached - member2:0"},
    {.name = "it is created, and the binding names it",
     .objects = {CLUSTERS, P(ON("member1")), USER("web", "," CLAIM("p"), "settings"),
                 BOUND("web", BY_P, NAMES_SETTINGS, PROPAGATES)},
     .apply = {CONFIGMAP("settings", "")},
     .after = "attached - member1:0"},
    {.name = "an orphan gets the reference, then it is created",
     .objects = {CLUSTERS, USER("web", "", "other"), BOUND("web", ORPHAN, NAMES_NONE, PROPAGATES)},
     .apply = {USER("web", "", "settings"), CONFIGMAP("settings", "")},
     .after = NULL},
    {.name = "a claimed template gets the reference, then it is created",
     .objects = {CLUSTERS, P(ON("member1")), USER("web", "," CLAIM("p"), "other"),
                 BOUND("web", BY_P, NAMES_NONE, PROPAGATES)},
     .apply = {USER("web", "," CLAIM("p"), "settings"), CONFIGMAP("settings", "")},
     .after = "attached - member1:0"},
    {.name = "its referrer loses the reference",
     .objects = {CLUSTERS, P(ON("member1")), USER("web", "," CLAIM("p"), "settings"),
                 BOUND("web", BY_P, NAMES_SETTINGS, PROPAGATES), CONFIGMAP("settings", ""),
                 ATTACHED},
     .apply = {USER("web", "," CLAIM("p"), "other")},
     .after = "pending kind_not_selected -"},
    {.name = "an orphan loses the reference",
     .objects = {CLUSTERS, USER("web", "", "settings"),
                 BOUND("web", ORPHAN, NAMES_SETTINGS, PROPAGATES), CONFIGMAP("settings", ""),
                 ATTACHED},
     .apply = {USER("web", "", "other")},
     .after = NULL},
};

static void init_world(struct world *w, const char *const objects[OBJECTS_MAX])
{
    world_init(w, &rules_options_default, 1);
    for (size_t i = 0; i < OBJECTS_MAX && objects[i]; i++)
        world_put_text(w, objects[i]);
    world_run(w, NOW_MS);
}

TEST_ROWS(dependency_changes_if, cases, name)
{
    const struct dependency_case *c = *state;
    const struct plan_template *row;
    struct world w;
    char text[256];

    init_world(&w, c->objects);
    struct plan *p = plan_new(w.engine);
    for (size_t i = 0; i < ARRAY_LEN(c->apply) && c->apply[i]; i++)
        planned_apply(p, c->apply[i]);
    row = planned_row(plan_finish(p), "settings");
    if (c->after)
        assert_string_equal(row ? planned_outcome(&row->after, text) : "unaffected", c->after);
    else
        /* A created template is listed, but not attached. */
        assert_true(!row || (!row->before.exists && row->after.state != STATE_ATTACHED));
    plan_free(p);
    world_release(&w);
}

TEST(an_attached_template_names_its_referrers_with_their_clusters)
{
    const struct plan_template *row;
    struct world w;

    init_world(&w, cases[0].objects);
    struct plan *p = plan_new(w.engine);
    planned_apply(p, cases[0].apply[0]);
    row = planned_row(plan_finish(p), "settings");
    assert_int_equal(row->before.referrer_count, 1);
    assert_int_equal(row->after.referrer_count, 1);
    assert_string_equal(row->after.referrers[0].name, "web-deployment");
    assert_string_equal(row->before.referrers[0].clusters[0].name, "member1");
    assert_string_equal(row->after.referrers[0].clusters[0].name, "member2");
    plan_free(p);
    world_release(&w);
}

/* ---- conflicts, labels and releases ---- */

/* Both dependencies conflict at once, although the second referrer has no cluster. */
TEST(a_conflict_exists_at_once_without_clusters)
{
    static const char *const objects[OBJECTS_MAX] = {
        CLUSTERS,
        POLICY("p", SELECTS("web") ",\"propagateDeps\":true," ON("member1")),
        POLICY("q", SELECTS("api") ",\"conflictResolution\":\"Overwrite\"," ON("member1")),
        USER("web", "," CLAIM("p"), "settings"),
        USER("api", "," CLAIM("q"), "settings"),
        BOUND("web", BY_P, NAMES_SETTINGS, PROPAGATES),
        BOUND_KIND(
            "apps/v1", "Deployment", "-deployment", "api",
            "\"labels\":{\"propagationpolicy.karmada.io/permanent-id\":\"id-q\"}", NOTED("q", ""),
            "\"replicas\":2,\"replicaRequirements\":{},\"conflictResolution\":\"Overwrite\","),
        CONFIGMAP("settings", ""),
        ATTACHED};
    const struct plan_result *r;
    struct world w;

    init_world(&w, objects);
    struct plan *p = plan_new(w.engine);
    planned_apply(p, POLICY("q", SELECTS("api") ",\"propagateDeps\":true,\"conflictResolution\":"
                                                "\"Overwrite\"," ON("absent")));
    r = plan_finish(p);
    assert_int_equal(r->conflicts_appear, 1);
    assert_true(dependency_decision(r->conflicts[0].dependency)
                    ->fields[DEPENDENCY_CONFLICT_RESOLUTION]
                    .conflict);
    plan_free(p);
    world_release(&w);
}

#define IMPORT(metadata)                                                                           \
    "{\"apiVersion\":\"multicluster.x-k8s.io/v1alpha1\",\"kind\":\"ServiceImport\",\"metadata\":{" \
    "\"name\":\"web\",\"namespace\":\"default\",\"uid\":\"u-web\"" metadata "},\"spec\":{}}"
#define IMPORTS(cluster)                                                                           \
    POLICY("p",                                                                                    \
           "\"resourceSelectors\":[{\"apiVersion\":\"multicluster.x-k8s.io/v1alpha1\","            \
           "\"kind\":\"ServiceImport\",\"namespace\":\"default\"}],\"propagateDeps\":true," ON(    \
               cluster))

TEST(a_service_import_moves_its_derived_service_and_its_endpoint_slices)
{
    static const char *const objects[OBJECTS_MAX] = {
        CLUSTERS,
        IMPORTS("member1"),
        IMPORT("," CLAIM("p")),
        BOUND_KIND("multicluster.x-k8s.io/v1alpha1", "ServiceImport", "-serviceimport", "web", BY_P,
                   NOTED("p", ""), PROPAGATES),
        "{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":{\"name\":\"derived-web\","
        "\"namespace\":\"default\",\"uid\":\"u-derived\"}}",
        "{\"apiVersion\":\"discovery.k8s.io/v1\",\"kind\":\"EndpointSlice\",\"metadata\":{"
        "\"name\":\"web-x\",\"namespace\":\"default\",\"uid\":\"u-slice\",\"labels\":{"
        "\"kubernetes.io/service-name\":\"derived-web\"}}}"};
    const struct plan_result *r;
    struct world w;
    char text[256];

    init_world(&w, objects);
    struct plan *p = plan_new(w.engine);
    planned_apply(p, IMPORTS("member2"));
    r = plan_finish(p);
    assert_string_equal(planned_outcome(&planned_row(r, "derived-web")->after, text),
                        "attached - member2:0");
    assert_string_equal(planned_outcome(&planned_row(r, "web-x")->after, text),
                        "attached - member2:0");
    plan_free(p);
    world_release(&w);
}

#define OVERWRITES "\"conflictResolution\":\"Overwrite\","

/* Both referrers are bound, and web is handled last: it requests Abort, the other one Overwrite. */
TEST(the_last_referrer_decides_before_release_1_16)
{
    static const struct {
        const char *release;
        enum conflict_resolution after;
    } rows[] = {{"1.15", CONFLICT_RESOLUTION_ABORT}, {"1.16", CONFLICT_RESOLUTION_OVERWRITE}};

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rules_options options = rules_options_default;
        struct world w;

        options.karmada_version = rows[i].release;
        world_init(&w, &options, 1);
        for (size_t k = 0; k < OBJECTS_MAX && cases[0].objects[k]; k++)
            world_put_text(&w, cases[0].objects[k]);
        world_put_text(
            &w, POLICY("q", SELECTS("api") ",\"propagateDeps\":true," OVERWRITES ON("member1")));
        world_put_text(&w, USER("api", "," CLAIM("q"), "settings"));
        world_put_text(
            &w,
            BOUND_KIND(
                "apps/v1", "Deployment", "-deployment", "api",
                "\"labels\":{\"propagationpolicy.karmada.io/permanent-id\":\"id-q\"}",
                NOTED("q", NAMES_SETTINGS),
                "\"replicas\":2,\"replicaRequirements\":{},\"propagateDeps\":true," OVERWRITES));
        world_run(&w, NOW_MS);
        struct plan *p = plan_new(w.engine);
        plan_touch_template(p, world_find(&w, "apps/v1", "Deployment", "default", "api"));
        planned_apply(p, P(ON("member2")));
        (void)plan_finish(p);
        const struct binding *b = entry_binding(world_find(
            &w, "work.karmada.io/v1alpha2", "ResourceBinding", "default", "settings-configmap"));
        assert_int_equal(binding_rare(b)->referrer_count, 2);
        assert_int_equal(b->propagation->conflict_resolution, rows[i].after);
        plan_free(p);
        world_release(&w);
    }
}
