/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/selector.h"

#include "metrics/model/store.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

#define POD                                                                                        \
    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"test\","                     \
    "\"namespace\":\"default\",\"labels\":{\"foo\":\"bar\"}}}"
#define NODE "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"test\"}}"

/* Selector, object and expected score (Karmada: TestResourceSelectorPriority). */
static const struct score_case {
    const char *selector;
    enum selector_score score;
    const char *object;
} score_cases[] = {
    {"\"apiVersion\":\"v1\",\"kind\":\"Pod\"", SCORE_ALL, POD},
    {"\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"namespace\":\"default\"", SCORE_ALL, POD},
    {"\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"namespace\":\"other\"", SCORE_NONE, POD},
    {"\"apiVersion\":\"v2\",\"kind\":\"Pod\"", SCORE_NONE, POD},
    {"\"apiVersion\":\"v1\",\"kind\":\"pod\"", SCORE_NONE, POD},
    {"\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"test\"", SCORE_NAME, POD},
    {"\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"Test\"", SCORE_NONE, POD},
    {"\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"test\",\"labelSelector\":{"
     "\"matchLabels\":{\"foo\":\"unmatched\"}}",
     SCORE_NAME, POD},
    {"\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"unmatched\",\"labelSelector\":{"
     "\"matchLabels\":{\"foo\":\"bar\"}}",
     SCORE_NONE, POD},
    {"\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"labelSelector\":{}", SCORE_LABELS, POD},
    {"\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"labelSelector\":{\"matchLabels\":{\"foo\":\"bar\"}}",
     SCORE_LABELS, POD},
    {"\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"labelSelector\":{\"matchLabels\":{\"\":\"bar\"}}",
     SCORE_NONE, POD},
    {"\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"labelSelector\":{\"matchExpressions\":[{"
     "\"key\":\"missing\",\"operator\":\"NotIn\",\"values\":[\"x\"]}]}",
     SCORE_LABELS, POD},
    {"\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"labelSelector\":{\"matchExpressions\":[{"
     "\"key\":\"foo\",\"operator\":\"NotIn\",\"values\":[\"bar\"]}]}",
     SCORE_NONE, POD},
    {"\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"labelSelector\":{\"matchExpressions\":[{"
     "\"key\":\"foo\",\"operator\":\"Exists\"}]}",
     SCORE_LABELS, POD},
    {"\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"labelSelector\":{\"matchExpressions\":[{"
     "\"key\":\"nokey\",\"operator\":\"DoesNotExist\"}]}",
     SCORE_LABELS, POD},
    {"\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"labelSelector\":{\"matchExpressions\":[{"
     "\"key\":\"foo\",\"operator\":\"In\",\"values\":[]}]}",
     SCORE_NONE, POD},
    {"\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"labelSelector\":{\"matchExpressions\":[{"
     "\"key\":\"foo\",\"operator\":\"Exists\",\"values\":[\"bar\"]}]}",
     SCORE_NONE, POD},
    {"\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"labelSelector\":{\"matchExpressions\":[{"
     "\"key\":\"foo\",\"operator\":\"in\",\"values\":[\"bar\"]}]}",
     SCORE_NONE, POD},
    {"\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"labelSelector\":{\"matchExpressions\":[{"
     "\"key\":\"foo\",\"operator\":\"Gt\",\"values\":[\"1\"]}]}",
     SCORE_NONE, POD},
    {"\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"labelSelector\":{\"matchLabels\":{\"foo\":\"bar\"},"
     "\"matchExpressions\":[{\"key\":\"foo\",\"operator\":\"NotIn\",\"values\":[\"bar\"]}]}",
     SCORE_NONE, POD},
    {"\"apiVersion\":\"v1\",\"kind\":\"Node\"", SCORE_ALL, NODE},
    {"\"apiVersion\":\"v1\",\"kind\":\"Node\",\"namespace\":\"default\"", SCORE_NONE, NODE},
};

/* Exclusion rule, whether it excludes POD, and whether it is empty. */
static const struct exclusion_case {
    const char *rule;
    bool excludes;
    bool empty;
} exclusion_cases[] = {
    {"", false, true},
    {"\"labelSelector\":{}", false, true},
    {"\"labelSelector\":{\"matchLabels\":{}}", false, true},
    {"\"namespace\":\"default\"", true, false},
    {"\"namespace\":\"other\"", false, false},
    {"\"kind\":\"Pod\"", true, false},
    {"\"apiVersion\":\"v1\"", true, false},
    {"\"name\":\"test\"", true, false},
    {"\"kind\":\"Pod\",\"name\":\"other\"", false, false},
    {"\"name\":\"test\",\"labelSelector\":{\"matchLabels\":{\"foo\":\"other\"}}", false, false},
    {"\"name\":\"test\",\"labelSelector\":{\"matchLabels\":{\"foo\":\"bar\"}}", true, false},
    {"\"name\":\"test\",\"labelSelector\":{}", true, false},
    {"\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"labelSelector\":{\"matchExpressions\":[{"
     "\"key\":\"foo\",\"operator\":\"DoesNotExist\"}]}",
     false, false},
    {"\"labelSelector\":{\"matchExpressions\":[{\"key\":\"foo\",\"operator\":\"Gt\"}]}", false,
     false},
};

/* Puts a ClusterPropagationPolicy with one rule in this list of its spec. Returns the policy. */
static const struct policy *put_policy(struct world *w, const char *list, const char *rule)
{
    char text[1024];

    snprintf(text, sizeof(text),
             "{\"apiVersion\":\"policy.karmada.io/v1alpha1\",\"kind\":\"ClusterPropagationPolicy\","
             "\"metadata\":{\"name\":\"p\"},\"spec\":{\"%s\":[{%s}]}}",
             list, rule);
    world_put_text(w, text);
    return entry_policy(
        world_find(w, "policy.karmada.io/v1alpha1", "ClusterPropagationPolicy", "", "p"));
}

TEST_ROWS(a_selector_has_the_score_of_karmada, score_cases, selector)
{
    const struct score_case *c = *state;
    bool is_node = strcmp(c->object, NODE) == 0;
    struct world w;

    world_init(&w, &rules_options_default, 1);
    world_put_text(&w, c->object);
    const struct policy *policy = put_policy(&w, "resourceSelectors", c->selector);
    const struct entry *object =
        world_find(&w, "v1", is_node ? "Node" : "Pod", is_node ? "" : "default", "test");

    assert_int_equal(policy_best_score(policy, object), c->score);
    world_release(&w);
}

TEST_ROWS(an_exclusion_rule_excludes_matching_templates, exclusion_cases, rule)
{
    const struct exclusion_case *c = *state;
    struct world w;

    world_init(&w, &rules_options_default, 1);
    world_put_text(&w, POD);
    const struct policy *policy = put_policy(&w, "excludedResources", c->rule);

    assert_int_equal(policy_excludes_template(policy,
                                              world_find(&w, "v1", "Pod", "default", "test"),
                                              (struct release_range){0}),
                     c->excludes);
    assert_int_equal(exclusion_is_empty(&policy->exclusions[0]), c->empty);
    world_release(&w);
}
