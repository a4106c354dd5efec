/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/selector_index.h"

#include "metrics/model/store.h"
#include "tests/unit/random_object.h"
#include "tests/unit/suite.h"

enum { ROUNDS = 200, OBJECTS = 60 };

/* Does the policy belong to those that are asked for this template at all? */
static bool in_reach(const struct entry *policy, const struct entry *template)
{
    return policy->partition->type->def->cluster_scoped || entry_ns(policy) == entry_ns(template);
}

static enum selector_score found_score(const struct selection *found, size_t count,
                                       const struct entry *policy)
{
    enum selector_score score = SCORE_NONE;

    for (size_t i = 0; i < count; i++) {
        if (found[i].policy != policy)
            continue;
        assert_int_equal(score, SCORE_NONE); /* Each policy once. */
        score = found[i].score;
    }
    return score;
}

struct all_entries {
    struct entry *items[OBJECTS];
    size_t count;
};

static void list(const struct store *store, enum object_class class, struct all_entries *out)
{
    out->count = 0;
    for (const struct type *type = store_first_type(store); type; type = type->next) {
        for (const struct partition *partition = type->partitions; partition;
             partition = partition->next_of_type) {
            for (size_t i = 0; i < partition->count && type->def->class == class; i++) {
                if (entry_exists(partition->entries[i]))
                    out->items[out->count++] = partition->entries[i];
            }
        }
    }
}

/* The index must say of every pair what looking at every selector says. */
static void compare_with_every_selector(struct selector_index *index, const struct store *store)
{
    struct all_entries templates;
    struct all_entries policies;

    list(store, CLASS_TEMPLATE, &templates);
    list(store, CLASS_POLICY, &policies);
    for (size_t t = 0; t < templates.count; t++) {
        size_t count;
        const struct selection *found =
            selector_index_find_policies(index, templates.items[t], &count);

        for (size_t p = 0; p < policies.count; p++) {
            const struct entry *policy = policies.items[p];
            enum selector_score expect =
                in_reach(policy, templates.items[t])
                    ? policy_best_score(entry_policy(policy), templates.items[t])
                    : SCORE_NONE;

            assert_int_equal(found_score(found, count, policy), expect);
        }
    }
}

/* The walk names what some selector names, all of it, each once. */
static void walk_types(const struct selector_index *index, const struct all_entries *policies)
{
    const char *api_version, *kind;
    size_t selectors = 0, counted = 0;

    for (size_t at = 0; selector_index_next_type(index, &at, &api_version, &kind);)
        counted += selector_index_count_selectors(index, api_version, kind);
    for (size_t i = 0; i < policies->count; i++)
        selectors += entry_policy(policies->items[i])->selector_count;
    assert_int_equal(counted, selectors);
}

TEST(finds_what_every_selector_finds)
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
        list(w.store, CLASS_POLICY, &policies);
        for (size_t i = 0; i < policies.count; i++)
            selector_index_add(index, policies.items[i], entry_policy(policies.items[i]));
        compare_with_every_selector(index, w.store);
        walk_types(index, &policies);
        for (size_t i = 0; i < policies.count; i++)
            selector_index_remove(index, policies.items[i], entry_policy(policies.items[i]));
        policies.count = 0;
        walk_types(index, &policies);

        struct all_entries templates;
        list(w.store, CLASS_TEMPLATE, &templates);
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

TEST(the_version_moves_with_the_first_and_the_last_of_a_type)
{
    struct all_entries policies;
    struct world w;

    world_init(&w, &rules_options_default, 1);
    struct selector_index *index = selector_index_new(w.store, 1);
    for (unsigned i = 0; i < 2; i++)
        world_put_text(&w, i == 0 ? POLICY("p") : POLICY("q"));
    list(w.store, CLASS_POLICY, &policies);

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
