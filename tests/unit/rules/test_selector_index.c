/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/selector_index.h"

#include "metrics/model/store.h"
#include "tests/unit/random_object.h"
#include "tests/unit/suite.h"

enum { ROUNDS = 200, OBJECTS = 60 };

/* Returns true if the policy's scope and namespace allow it to select the template. */
static bool is_in_scope(const struct entry *policy, const struct entry *template)
{
    return entry_is_cluster_scoped(policy) || entry_ns(policy) == entry_ns(template);
}

static enum selector_score found_score(const struct selection *found, size_t count,
                                       const struct entry *policy)
{
    enum selector_score score = SCORE_NONE;

    for (size_t i = 0; i < count; i++) {
        if (found[i].policy != policy)
            continue;
        assert_int_equal(score, SCORE_NONE); /* At most one result for a policy. */
        score = found[i].score;
    }
    return score;
}

struct all_entries {
    struct entry *items[OBJECTS];
    size_t count;
};

static void list_entries(const struct store *store, enum object_class class,
                         struct all_entries *out)
{
    out->count = 0;
    for (const struct type *type = store_first_type(store); type; type = type->next) {
        for (const struct partition *partition = type->partitions; partition;
             partition = partition->next_of_type) {
            for (size_t i = 0; i < partition->count && type->def->class == class; i++) {
                if (entry_exists(partition_entry(partition, i)))
                    out->items[out->count++] = partition_entry(partition, i);
            }
        }
    }
}

/* Asserts that the index and policy_best_score() agree for each pair of template and policy. */
static void compare_with_scan(struct selector_index *index, const struct store *store)
{
    struct all_entries templates;
    struct all_entries policies;

    list_entries(store, CLASS_TEMPLATE, &templates);
    list_entries(store, CLASS_POLICY, &policies);
    for (size_t t = 0; t < templates.count; t++) {
        size_t count;
        const struct selection *found =
            selector_index_find_policies(index, templates.items[t], &count);

        for (size_t p = 0; p < policies.count; p++) {
            const struct entry *policy = policies.items[p];
            enum selector_score expect =
                is_in_scope(policy, templates.items[t])
                    ? policy_best_score(entry_policy(policy), templates.items[t])
                    : SCORE_NONE;

            assert_int_equal(found_score(found, count, policy), expect);
        }
    }
}

/* Asserts that the types of the index have, in total, as many selectors as the policies. */
static void check_types(const struct selector_index *index, const struct all_entries *policies)
{
    const char *api_version, *kind;
    size_t selectors = 0, counted = 0;

    for (size_t at = 0; selector_index_next_type(index, &at, &api_version, &kind);)
        counted += selector_index_count_selectors(index, api_version, kind);
    for (size_t i = 0; i < policies->count; i++)
        selectors += entry_policy(policies->items[i])->selector_count;
    assert_int_equal(counted, selectors);
}

TEST(the_index_agrees_with_a_scan_of_all_selectors)
{
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        struct all_entries policies;
        struct world w;

        world_init(&w, &rules_options_default, round);
        struct selector_index *index = selector_index_new(w.store, round);
        for (size_t i = 0; i < OBJECTS; i++) {
            cJSON *object = random_object(&w);

            world_put(&w, object);
            cJSON_Delete(object);
        }
        list_entries(w.store, CLASS_POLICY, &policies);
        for (size_t i = 0; i < policies.count; i++)
            selector_index_add(index, policies.items[i], entry_policy(policies.items[i]));
        compare_with_scan(index, w.store);
        check_types(index, &policies);
        for (size_t i = 0; i < policies.count; i++)
            selector_index_remove(index, policies.items[i], entry_policy(policies.items[i]));
        policies.count = 0;
        check_types(index, &policies);

        struct all_entries templates;
        list_entries(w.store, CLASS_TEMPLATE, &templates);
        for (size_t i = 0; i < templates.count; i++) {
            size_t count;

            selector_index_find_policies(index, templates.items[i], &count);
            assert_int_equal(count, 0);
        }
        selector_index_free(index);
        world_release(&w);
    }
}

#define POLICY(name)                                                                               \
    "{\"apiVersion\":\"policy.karmada.io/v1alpha1\",\"kind\":\"PropagationPolicy\","               \
    "\"metadata\":{\"namespace\":\"a\",\"name\":\"" name                                           \
    "\"},\"spec\":{\"resourceSelectors\":[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\"}]}}"

TEST(the_first_and_last_selector_of_a_type_change_the_version)
{
    struct all_entries policies;
    struct world w;

    world_init(&w, &rules_options_default, 1);
    struct selector_index *index = selector_index_new(w.store, 1);
    for (unsigned i = 0; i < 2; i++)
        world_put_text(&w, i == 0 ? POLICY("p") : POLICY("q"));
    list_entries(w.store, CLASS_POLICY, &policies);

    uint64_t version = selector_index_types_version(index);
    selector_index_add(index, policies.items[0], entry_policy(policies.items[0]));
    assert_int_not_equal(selector_index_types_version(index), version);
    version = selector_index_types_version(index);
    selector_index_add(index, policies.items[1], entry_policy(policies.items[1]));
    selector_index_remove(index, policies.items[0], entry_policy(policies.items[0]));
    assert_int_equal(selector_index_types_version(index), version);
    selector_index_remove(index, policies.items[1], entry_policy(policies.items[1]));
    assert_int_not_equal(selector_index_types_version(index), version);
    selector_index_free(index);
    world_release(&w);
}
