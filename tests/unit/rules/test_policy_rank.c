/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/policy_rank.h"

#include "tests/unit/lines.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

/* Asserts that the winner is the policy that Karmada's own code selects. */
static void check_winner(const struct world *w, const cJSON *expect)
{
    const cJSON *policy = json_get(expect, "policy");
    const struct entry *template =
        world_find(w, json_str(expect, "apiVersion", ""), json_str(expect, "kind", ""),
                   json_str(expect, "namespace", ""), json_str(expect, "name", ""));

    assert_non_null(template);
    const struct entry *winner = decision_winner(template_decision(template));
    if (!policy) {
        assert_null(winner);
        return;
    }
    assert_non_null(winner);
    assert_string_equal(entry_kind(winner), json_str(policy, "kind", ""));
    assert_string_equal(entry_ns(winner), json_str(policy, "namespace", ""));
    assert_string_equal(winner->name, json_str(policy, "name", ""));
}

static void check_case(const cJSON *line, void *context)
{
    size_t *checked = context;
    const cJSON *expect;
    struct world w;

    world_init(&w, &rules_options_default, 1);
    /* From 1.17 on, the webhook refuses selectors with another namespace than the policy. */
    engine_set_release(
        w.engine, (struct release_range){RELEASE_1_16, RELEASE_1_16, RELEASE_OF_SERVER, false});
    world_put_all(&w, json_get(line, "objects"));
    world_run(&w, 0);
    cJSON_ArrayForEach (expect, json_get(line, "expect")) {
        check_winner(&w, expect);
        (*checked)++;
    }
    world_release(&w);
}

TEST(winning_policies_agree_with_karmada)
{
    size_t checked = 0;
    size_t cases = lines_each("tests/fixtures/vectors/match.jsonl.gz", check_case, &checked);

    assert_int_equal(cases, 1500);
    assert_true(checked > cases);
}

#define POLICY(kind, ns, name, spec)                                                               \
    "{\"apiVersion\":\"policy.karmada.io/v1alpha1\",\"kind\":\"" kind                              \
    "\",\"metadata\":{\"uid\":\"u\",\"name\":\"" name "\"" ns "},\"spec\":{" spec "}}"
#define IN_TEST ",\"namespace\":\"test\""
#define BY_NAME                                                                                    \
    "\"resourceSelectors\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\","                  \
    "\"name\":\"nginx\"}]"
#define BY_LABEL                                                                                   \
    "\"resourceSelectors\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\","                  \
    "\"labelSelector\":{\"matchLabels\":{\"app\":\"nginx\"}}}]"
#define BY_KIND "\"resourceSelectors\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\"}]"

/* Two policies that match one template, the expected winner and the deciding step. */
static struct rank_case {
    const char *title;
    const char *first;
    const char *second;
    const char *winner;
    enum rank_step step;
} rank_cases[] = {
    {"a namespaced policy wins over a cluster-wide one",
     POLICY("PropagationPolicy", IN_TEST, "own", BY_KIND),
     POLICY("ClusterPropagationPolicy", "", "wide", BY_NAME ",\"priority\":100"), "own", RANK_KIND},
    {"explicit priority ranks before the selector",
     POLICY("PropagationPolicy", IN_TEST, "a", BY_NAME ",\"priority\":1"),
     POLICY("PropagationPolicy", IN_TEST, "b", BY_LABEL ",\"priority\":2"), "b", RANK_PRIORITY},
    {"an unset priority is 0, which is higher than -1",
     POLICY("PropagationPolicy", IN_TEST, "a", BY_LABEL),
     POLICY("PropagationPolicy", IN_TEST, "b", BY_NAME ",\"priority\":-1"), "a", RANK_PRIORITY},
    {"a name ranks before a label",
     POLICY("PropagationPolicy", IN_TEST, "a", BY_LABEL ",\"priority\":1"),
     POLICY("PropagationPolicy", IN_TEST, "b", BY_NAME ",\"priority\":1"), "b", RANK_SELECTOR},
    {"a label ranks before the kind alone", POLICY("PropagationPolicy", IN_TEST, "a", BY_KIND),
     POLICY("PropagationPolicy", IN_TEST, "b", BY_LABEL), "b", RANK_SELECTOR},
    {"an empty labelSelector counts as a label", POLICY("PropagationPolicy", IN_TEST, "a", BY_KIND),
     POLICY("PropagationPolicy", IN_TEST, "b",
            "\"resourceSelectors\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\","
            "\"labelSelector\":{}}]"),
     "b", RANK_SELECTOR},
    {"between equal ranks the smaller name wins",
     POLICY("PropagationPolicy", IN_TEST, "abc", BY_NAME),
     POLICY("PropagationPolicy", IN_TEST, "ab", BY_NAME), "ab", RANK_NAME},
    {"capital letters are smaller", POLICY("PropagationPolicy", IN_TEST, "a", BY_NAME),
     POLICY("PropagationPolicy", IN_TEST, "B", BY_NAME), "B", RANK_NAME},
    {"an exclusion outweighs everything",
     POLICY("PropagationPolicy", IN_TEST, "a",
            BY_NAME ",\"priority\":9,\"excludedResources\":[{\"namespace\":\"test\"}]"),
     POLICY("ClusterPropagationPolicy", "", "wide", BY_KIND), "wide", RANK_ELIGIBLE},
};

TEST_ROWS(the_higher_ranked_policy_wins, rank_cases, title)
{
    const struct rank_case *d = *state;
    enum rank_step step;
    struct world w;

    world_init(&w, &rules_options_default, 1);
    world_put_text(&w,
                   "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{"
                   "\"name\":\"nginx\",\"namespace\":\"test\",\"labels\":{\"app\":\"nginx\"}}}");
    world_put_text(&w, d->first);
    world_put_text(&w, d->second);
    world_run(&w, 0);

    const struct template_decision *decision =
        template_decision(world_find(&w, "apps/v1", "Deployment", "test", "nginx"));
    assert_non_null(decision_winner(decision));
    assert_string_equal(decision_winner(decision)->name, d->winner);
    assert_int_equal(decision->candidate_count, 2);
    const struct candidate first = decision_candidate(decision, 0);
    const struct candidate second = decision_candidate(decision, 1);
    assert_true(candidate_compare(&first, &second, &step) < 0);
    assert_int_equal(step, d->step);
    assert_true(candidate_compare(&second, &first, &step) > 0);
    assert_int_equal(step, d->step);
    world_release(&w);
}
