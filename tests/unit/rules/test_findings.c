/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/findings.h"

#include "metrics/model/store.h"
#include "tests/unit/random_object.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

enum { WORLDS = 60, OBJECTS = 150, SHOWN = 7, SLICE = 11, NOW_MS = 1000 };

static void put_random_objects(struct world *w, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        cJSON *object = random_object(w);

        world_put(w, object);
        cJSON_Delete(object);
    }
}

static void assert_same_numbers(const struct findings *a, const struct findings *b)
{
    assert_int_equal(a->templates, b->templates);
    assert_int_equal(a->bindings, b->bindings);
    assert_int_equal(a->policies, b->policies);
    assert_int_equal(a->not_selected, b->not_selected);
    assert_memory_equal(a->states, b->states, sizeof(a->states));
    for (unsigned i = 0; i < FINDING_CLASSES; i++)
        assert_int_equal(findings_count(a, i), findings_count(b, i));
}

/* Asserts that `few` lists the first SHOWN findings of `all`, in order. */
static void assert_first(const struct findings *few, const struct findings *all)
{
    for (unsigned i = 0; i < FINDING_LISTS; i++) {
        const struct finding_list *a = &few->lists[i], *b = &all->lists[i];

        assert_int_equal(a->found, b->found);
        assert_int_equal(a->count, b->count < SHOWN ? b->count : SHOWN);
        for (size_t k = 0; k < a->count; k++)
            assert_ptr_equal(a->entries[k], b->entries[k]);
    }
}

TEST(a_limited_stepwise_run_lists_the_first_findings)
{
    for (uint32_t seed = 1; seed <= WORLDS; seed++) {
        struct findings all, few;
        unsigned parts = 1;
        struct world w;

        world_init(&w, &rules_options_default, seed);
        put_random_objects(&w, OBJECTS);
        world_run(&w, NOW_MS);
        findings_gather(w.store, &all);
        findings_begin(&few, w.store, SHOWN);
        while (!findings_step(&few, SLICE))
            parts++;
        assert_true(parts > 1);
        assert_same_numbers(&few, &all);
        assert_first(&few, &all);
        findings_release(&few);
        findings_release(&all);
        world_release(&w);
    }
}

static void remove_random_objects(struct world *w, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        struct entry *entry = world_pick(w);

        if (entry)
            store_remove(w->store, entry);
    }
}

/*
 * Objects change between the steps. In the end, each listed entry is a current finding, and the
 * list is ordered and has no duplicates.
 */
TEST(changes_during_a_run_leave_only_current_findings)
{
    for (uint32_t seed = 1; seed <= WORLDS; seed++) {
        struct findings few, all;
        struct world w;
        bool done = false;

        world_init(&w, &rules_options_default, seed);
        put_random_objects(&w, OBJECTS);
        world_run(&w, NOW_MS);
        findings_begin(&few, w.store, SHOWN);
        for (unsigned i = 0; !done; i++) {
            if (i < 8) {
                remove_random_objects(&w, 6);
                put_random_objects(&w, 4);
                world_run(&w, NOW_MS);
            }
            done = findings_step(&few, SLICE);
        }
        findings_gather(w.store, &all);
        for (unsigned i = 0; i < FINDING_LISTS; i++) {
            const struct finding_list *list = &few.lists[i];

            assert_true(list->count <= SHOWN);
            for (size_t k = 0, at = 0; k < list->count; k++, at++) {
                while (at < all.lists[i].count && all.lists[i].entries[at] != list->entries[k])
                    at++;
                assert_true(at < all.lists[i].count);
            }
        }
        findings_release(&few);
        findings_release(&all);
        world_release(&w);
    }
}

TEST(releasing_an_unfinished_run_unpins_its_entries)
{
    struct findings few;
    struct world w;

    world_init(&w, &rules_options_default, 1);
    put_random_objects(&w, OBJECTS);
    world_run(&w, NOW_MS);
    findings_begin(&few, w.store, SHOWN);
    assert_false(findings_step(&few, SLICE));
    findings_release(&few);
    for (struct entry *entry; (entry = world_pick(&w)) != NULL;)
        store_remove(w.store, entry);
    /* The engine unpins what it counts of removed objects. */
    world_run(&w, NOW_MS);
    for (const struct type *type = store_first_type(w.store); type; type = type->next) {
        for (const struct partition *p = type->partitions; p; p = p->next_of_type) {
            for (size_t i = 0; i < p->count; i++)
                assert_int_equal(p->entries[i]->pins, 0);
        }
    }
    world_release(&w);
}
