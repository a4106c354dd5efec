/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/explain/explain_objects.h"

#include "metrics/explain/explain.h"
#include "tests/unit/bound_objects.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

enum { TEXT_MAX = 1 << 20 };

static const int64_t NOW_MS = INT64_C(1767225600000); /* 2026-01-01T00:00:00Z */

#define OVERRIDE                                                                                   \
    "{\"apiVersion\":\"policy.karmada.io/v1alpha1\",\"kind\":\"OverridePolicy\",\"metadata\":{"    \
    "\"name\":\"images\",\"namespace\":\"default\"},\"spec\":{\"overrideRules\":[{"                \
    "\"targetCluster\":{\"clusterNames\":[\"m2\"]},\"overriders\":{}}]}}"
#define WORK                                                                                       \
    "{\"apiVersion\":\"work.karmada.io/v1alpha1\",\"kind\":\"Work\",\"metadata\":{\"name\":\"w\"," \
    "\"namespace\":\"karmada-es-m2\",\"annotations\":{"                                            \
    "\"resourcebinding.karmada.io/name\":\"web-deployment\","                                      \
    "\"resourcebinding.karmada.io/namespace\":\"default\","                                        \
    "\"policy.karmada.io/applied-overrides\":\"[{\\\"policyName\\\":\\\"images\\\"}]\"}},"         \
    "\"spec\":{}}"

/* The policy now selects m2; the binding of web still has m1. */
static void init_world(struct world *w)
{
    world_init(w, &rules_options_default, 1);
    world_put_text(w, POLICY("p", SELECTS("web") "," ON("m2") ",\"dependentOverrides\":"
                                                              "[\"images\"]"));
    world_put_text(w, TEMPLATE("web", "," CLAIM("p")));
    world_put_text(w, BINDING("web", "p", "m1"));
    world_put_text(w, CLUSTER("m1"));
    world_put_text(w, CLUSTER("m2"));
    world_put_text(w, OVERRIDE);
    world_put_text(w, WORK);
    world_run(w, NOW_MS);
}

static void add_line(void *context, enum explain_style style, const char *text)
{
    (void)style;
    strbuf_addf(context, "%s\n", text);
}

/* Checks that the explanation of the object has each of the texts, which end with NULL. */
static void check_explanation(const struct world *w, const struct entry *entry,
                              const char *const *texts)
{
    CLEANUP(strbuf_release) struct strbuf lines = STRBUF_INIT(TEXT_MAX);
    struct explanation x;

    assert_non_null(entry);
    explanation_init(&x);
    explain_object(w->engine, entry, NOW_MS, &x);
    explanation_finish(&x);
    explanation_each_line(&x, add_line, &lines);
    explanation_release(&x);
    for (size_t i = 0; texts[i]; i++) {
        if (!strstr(lines.data, texts[i]))
            fail_msg("'%s' is not in: %s", texts[i], lines.data);
    }
}

static const struct cluster_case {
    const char *name;
    const char *cluster;
    const char *const *texts;
} cluster_cases[] = {
    {"replicas leave the old cluster", "m1",
     (const char *const[]){"Cluster m1\n", "1 template with 2 replicas, 0 of them healthy.\n",
                           "Leaving: 2 replicas of 1 template.\n", NULL}},
    {"replicas arrive at the new cluster", "m2",
     (const char *const[]){"0 templates with 0 replicas", "Arriving: 2 replicas of 1 template.\n",
                           NULL}},
};

TEST_ROWS(a_cluster_has_its_templates_and_movements, cluster_cases, name)
{
    const struct cluster_case *c = *state;
    struct world w;

    init_world(&w);
    check_explanation(&w, world_find(&w, "cluster.karmada.io/v1alpha1", "Cluster", "", c->cluster),
                      c->texts);
    world_release(&w);
}

TEST(an_override_policy_has_its_templates_clusters_policies_and_works)
{
    static const char *const texts[] = {
        "The override policy selects 1 template that is in the data of the exporter:\nDeployment "
        "default/web\n",
        "overrideRules[0]: m2",
        "1 policy names it in dependentOverrides:\nPropagationPolicy default/p\n",
        "1 Work names it:\nWork karmada-es-m2/w\n",
        NULL,
    };
    struct world w;

    init_world(&w);
    check_explanation(
        &w, world_find(&w, "policy.karmada.io/v1alpha1", "OverridePolicy", "default", "images"),
        texts);
    world_release(&w);
}

TEST(a_namespace_has_its_templates_and_policies_or_is_not_known)
{
    struct explanation x;
    struct world w;

    init_world(&w);
    explanation_init(&x);
    assert_true(explain_namespace(w.engine, "default", NOW_MS, &x));
    explanation_finish(&x);
    if (!strstr(x.json.data, "\"stale\":1") ||
        !strstr(x.json.data, "PropagationPolicy default/p: 1 template."))
        fail_msg("%s", x.json.data);
    explanation_release(&x);
    explanation_init(&x);
    assert_false(explain_namespace(w.engine, "other", NOW_MS, &x));
    explanation_finish(&x);
    explanation_release(&x);
    world_release(&w);
}
