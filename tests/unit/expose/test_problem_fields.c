/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/problem_fields.h"

#include "tests/unit/bound_objects.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

/* tests/e2e/places.test has the places of all problems. */

enum { TEXT_MAX = 4096 };

static const int64_t NOW_MS = INT64_C(1767225600000); /* 2026-01-01T00:00:00Z */

TEST(the_table_has_each_problem)
{
    for (unsigned i = 0; i < PROBLEM_COUNT; i++) {
        if (!problem_has_fields((enum problem_id)i))
            fail_msg("%s has no row in field_rows", problem_names[i]);
    }
}

static struct entry *find_policy(const struct world *w, const char *name)
{
    return world_find(w, "policy.karmada.io/v1alpha1", "PropagationPolicy", "default", name);
}

static void assert_field(const struct world *w, const struct problem *p, const struct entry *entry,
                         const char *wanted)
{
    CLEANUP(strbuf_release) struct strbuf got = STRBUF_INIT(TEXT_MAX);

    problem_add_field(w->engine, p, entry, &got);
    assert_string_equal(got.data, wanted);
}

TEST(competing_policies_have_the_selector_that_matches)
{
    static const char other[] =
        "\"resourceSelectors\":[{\"apiVersion\":\"v1\",\"kind\":\"Secret\"},{\"apiVersion\":"
        "\"apps/v1\",\"kind\":\"Deployment\",\"name\":\"new\"}],";
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);
    struct problem tie = {.reason = PROBLEM_REASON_POLICY_TIE};
    struct world w;

    world_init(&w, &rules_options_default, 1);
    world_put_text(&w, POLICY("a", SELECTS("new") "," ON("m1")));
    strbuf_addf(&text, POLICY("b", "%s" ON("m1")), other);
    world_put_text(&w, text.data);
    world_put_text(&w, TEMPLATE("new", ""));
    world_run(&w, NOW_MS);
    tie.subject = find_policy(&w, "a");
    assert_field(&w, &tie, find_policy(&w, "a"), "spec.resourceSelectors[0]");
    assert_field(&w, &tie, find_policy(&w, "b"), "spec.resourceSelectors[1]");
    assert_false(problem_blames_policy(&tie));
    world_release(&w);
}

TEST(templates_without_a_match_have_their_labels_if_a_policy_selects_by_labels)
{
    static const char by_labels[] =
        POLICY("a", "\"resourceSelectors\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\","
                    "\"labelSelector\":{\"matchLabels\":{\"x\":\"y\"}}}]," ON("m1"));
    struct problem unmatched = {.reason = PROBLEM_REASON_NOT_PROPAGATED_NO_MATCH};
    struct world w;

    world_init(&w, &rules_options_default, 1);
    world_put_text(&w, TEMPLATE("new", ",\"labels\":{\"x\":\"z\"}"));
    world_put_text(&w, TEMPLATE("plain", ""));
    world_run(&w, NOW_MS);
    unmatched.subject = world_find(&w, "apps/v1", "Deployment", "default", "new");
    assert_field(&w, &unmatched, unmatched.subject, "metadata.name");
    world_put_text(&w, by_labels);
    world_run(&w, NOW_MS);
    assert_field(&w, &unmatched, unmatched.subject, "metadata.labels");
    unmatched.subject = world_find(&w, "apps/v1", "Deployment", "default", "plain");
    assert_field(&w, &unmatched, unmatched.subject, "metadata.name");
    world_release(&w);
}
