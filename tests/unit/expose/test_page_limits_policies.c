/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/family.h"

#include "tests/unit/page.h"
#include "tests/unit/random_object.h"
#include "tests/unit/suite.h"

enum { WORLDS = 60, OBJECTS = 200 };

#define CLAIM(policy, id)                                                                          \
    "\"labels\":{\"propagationpolicy.karmada.io/permanent-id\":\"" id "\"},\"annotations\":{"      \
    "\"propagationpolicy.karmada.io/namespace\":\"default\","                                      \
    "\"propagationpolicy.karmada.io/name\":\"" policy "\"}"
#define POLICY(name, id, rest)                                                                     \
    "{\"apiVersion\":\"policy.karmada.io/v1alpha1\",\"kind\":\"PropagationPolicy\",\"metadata\":{" \
    "\"name\":\"" name "\",\"namespace\":\"default\",\"generation\":3,\"labels\":{"                \
    "\"propagationpolicy.karmada.io/permanent-id\":\"" id "\"}},\"spec\":{"                        \
    "\"resourceSelectors\":[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"labelSelector\":{"     \
    "\"matchLabels\":{\"of\":\"" name "\"}}}],\"placement\":{\"clusterAffinity\":{"                \
    "\"clusterNames\":[\"new\"]}}" rest "}}"
/* A ConfigMap with a claim, and its binding. The binding is up to date if `cluster` is "new". */
#define OBJECT(name, policy, id, cluster)                                                          \
    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"" name "\","           \
    "\"namespace\":\"default\",\"labels\":{\"of\":\"" policy "\","                                 \
    "\"propagationpolicy.karmada.io/permanent-id\":\"" id "\"},\"annotations\":{"                  \
    "\"propagationpolicy.karmada.io/namespace\":\"default\","                                      \
    "\"propagationpolicy.karmada.io/name\":\"" policy "\"}}}",                                     \
        "{\"apiVersion\":\"work.karmada.io/v1alpha2\",\"kind\":\"ResourceBinding\",\"metadata\":{" \
        "\"name\":\"" name "-configmap\",\"namespace\":\"default\"," CLAIM(                        \
            policy, id) "},"                                                                       \
                        "\"spec\":{\"resource\":{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\","    \
                        "\"namespace\":\"default\",\"name\":\"" name                               \
                        "\"},\"conflictResolution\":\"Abort\","                                    \
                        "\"placement\":{\"clusterAffinity\":{\"clusterNames\":[\"" cluster         \
                        "\"]}},"                                                                   \
                        "\"clusters\":[{\"name\":\"old\"}]}}"
#define LAZY ",\"activationPreference\":\"Lazy\""

/*
 * Six policies. Their order by numbers of overdue, deferred and all templates is: late (1, 0, 1),
 * lazy (0, 2, 2), many (0, 0, 2), early and few (0, 0, 1), and one policy without templates.
 */
static const char *const objects[] = {
    POLICY("early", "i1", ""),
    POLICY("few", "i2", ""),
    POLICY("late", "i3", ""),
    POLICY("lazy", "i4", LAZY),
    POLICY("many", "i5", ""),
    POLICY("none", "i6", ""),
    OBJECT("e1", "early", "i1", "new"),
    OBJECT("f1", "few", "i2", "new"),
    OBJECT("l1", "late", "i3", "before"),
    OBJECT("z1", "lazy", "i4", "before"),
    OBJECT("z2", "lazy", "i4", "before"),
    OBJECT("m1", "many", "i5", "new"),
    OBJECT("m2", "many", "i5", "new"),
};

static char *page_with_limit(size_t limit)
{
    struct registry_options options = registry_options_default;
    struct world w;

    options.policy_limit = limit;
    world_init(&w, &rules_options_default, 1);
    struct registry *r = page_registry(&w, &options);
    for (size_t i = 0; i < ARRAY_LEN(objects); i++)
        world_put_text(&w, objects[i]);
    world_run(&w, 1000);
    char *page = page_of(r);
    registry_free(r);
    world_release(&w);
    return page;
}

static struct limit_case {
    const char *name;
    size_t limit;
    const char *shown; /* Names of the policies that have series. */
    const char *claimed_by_others;
    const char *dropped; /* Number of dropped series of karmada_propagationpolicy_templates. */
} limit_cases[] = {
    {"all policies", 6, "early few late lazy many none", NULL, "0"},
    {"a policy without templates is hidden first", 5, "early few late lazy many", "0", "0"},
    {"of equal policies the first by name is shown", 4, "early late lazy many", "1", "3"},
    {"a policy with fewer templates is hidden", 3, "late lazy many", "2", "6"},
    {"a policy that is up to date is hidden", 2, "late lazy", "4", "9"},
    {"deferred templates are hidden before overdue ones", 1, "late", "6", "12"},
    {"no policies", 0, "", "7", "15"},
};

static void check_policy(const char *page, const struct limit_case *row, const char *name)
{
    char labels[160], series[320];
    bool shown = strstr(row->shown, name) != NULL;

    snprintf(labels, sizeof(labels),
             "{policy_kind=\"PropagationPolicy\",policy_namespace=\"default\",policy=\"%s\"", name);
    snprintf(series, sizeof(series), "karmada_propagationpolicy_generation%s}", labels);
    if (shown)
        page_has(page, series, "3");
    else
        page_lacks(page, series);
    snprintf(series, sizeof(series), "karmada_propagationpolicy_info%s,", labels);
    assert_int_equal(strstr(page, series) != NULL, shown);
    snprintf(series, sizeof(series), "karmada_propagationpolicy_templates%s,", labels);
    assert_int_equal(strstr(page, series) != NULL, shown && strcmp(name, "none") != 0);
}

TEST_ROWS(policies_with_most_problems_are_shown, limit_cases, name)
{
    static const char *const names[] = {"early", "few", "late", "lazy", "many", "none"};
    static const char others[] = "karmada_propagationpolicy_templates{policy_kind=\"\","
                                 "policy_namespace=\"\",policy=\"\",relation=\"claimed\"}";
    const struct limit_case *row = *state;
    CLEANUP(free_cleanup) char *page = page_with_limit(row->limit);

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        check_policy(page, row, names[i]);
    if (row->claimed_by_others && strcmp(row->claimed_by_others, "0") != 0)
        page_has(page, others, row->claimed_by_others);
    else
        page_lacks(page, others);
    page_lacks(page, "karmada_propagationpolicy_info{policy_kind=\"\"");
    page_lacks(page, "karmada_propagationpolicy_generation{policy_kind=\"\"");
    page_has(page,
             "karmada_policy_exporter_detail_series_dropped{family="
             "\"karmada_propagationpolicy_templates\"}",
             row->dropped);
    page_has(
        page,
        "karmada_propagationpolicies_not_in_force{reason=\"policy_updated\",phase=\"overdue\"}",
        "1");
    page_has(
        page,
        "karmada_propagationpolicies_not_in_force{reason=\"policy_updated\",phase=\"deferred\"}",
        "1");
}

static char *page_of_world(uint32_t seed, size_t limit)
{
    struct registry_options options = registry_options_default;
    struct world w;

    options.policy_limit = limit;
    options.detail_limit = limit;
    world_init(&w, &rules_options_default, seed);
    struct registry *r = page_registry(&w, &options);
    random_objects(&w, OBJECTS);
    world_run(&w, 1000);
    char *page = page_of(r);
    registry_free(r);
    world_release(&w);
    return page;
}

/* The sum of each family that folds series is the same with each limit. */
TEST(sums_of_families_do_not_depend_on_the_limit)
{
    static const char drift[] = "karmada_namespace_placement_drift_resource_requests";
    int64_t folded = 0, others = 0, moves = 0;

    for (uint32_t seed = 1; seed <= WORLDS; seed++) {
        CLEANUP(free_cleanup) char *all = page_of_world(seed, 1000);
        CLEANUP(free_cleanup) char *page = page_of_world(seed, seed % 6);

        for (size_t i = 0; i < family_count(); i++) {
            const struct family_def *def = family_at(i);

            if (!def->limit_kind || def->no_rest)
                continue;
            assert_int_equal(page_sum(page, def->name, ""), page_sum(all, def->name, ""));
            folded += page_sum(page, def->name, "{policy_kind=\"\"");
            others += page_sum(page, def->name, "{namespace=\"_others\",st");
        }
        moves += page_sum(page, drift, "{namespace=\"_others\",resource=\"pods\"");
    }
    assert_true(folded > 100 && others > 100 && moves > 10);
}
