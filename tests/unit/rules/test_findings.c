/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/findings.h"

#include "metrics/model/store.h"
#include "tests/unit/random_object.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

enum { WORLDS = 60, OBJECTS = 150, SHOWN = 7, SLICE = 11, NOW_MS = 1000 };

static void put_some(struct world *w, unsigned count)
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
    assert_memory_equal(a->stages, b->stages, sizeof(a->stages));
    assert_memory_equal(a->deliveries, b->deliveries, sizeof(a->deliveries));
    for (unsigned i = 0; i < FINDING_CLASSES; i++)
        assert_int_equal(findings_count(a, i), findings_count(b, i));
}

/* The first of all that are found, in order. */
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

TEST(few_in_parts_are_the_first_of_all_at_once)
{
    for (uint32_t seed = 1; seed <= WORLDS; seed++) {
        struct findings all, few;
        unsigned parts = 1;
        struct world w;

        world_init(&w, &rules_options_default, seed);
        put_some(&w, OBJECTS);
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

static void remove_some(struct world *w, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        struct entry *entry = world_pick(w);

        if (entry)
            store_remove(w->store, entry);
    }
}

/*
 * While objects come and go: what is listed in the end is true then, in order and once; nothing is
 * held on to after that.
 */
TEST(what_changes_meanwhile_is_true_or_off_the_lists)
{
    for (uint32_t seed = 1; seed <= WORLDS; seed++) {
        struct findings few, all;
        struct world w;
        bool done = false;

        world_init(&w, &rules_options_default, seed);
        put_some(&w, OBJECTS);
        world_run(&w, NOW_MS);
        findings_begin(&few, w.store, SHOWN);
        for (unsigned i = 0; !done; i++) {
            if (i < 8) {
                remove_some(&w, 6);
                put_some(&w, 4);
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

/* One who gives up in the middle holds on to nothing. */
TEST(what_is_given_up_is_let_go)
{
    struct findings few;
    struct world w;

    world_init(&w, &rules_options_default, 1);
    put_some(&w, OBJECTS);
    world_run(&w, NOW_MS);
    findings_begin(&few, w.store, SHOWN);
    assert_false(findings_step(&few, SLICE));
    findings_release(&few);
    for (struct entry *entry; (entry = world_pick(&w)) != NULL;)
        store_remove(w.store, entry);
    for (const struct type *type = store_first_type(w.store); type; type = type->next) {
        for (const struct partition *p = type->partitions; p; p = p->next_of_type) {
            for (size_t i = 0; i < p->count; i++)
                assert_int_equal(p->entries[i]->pins, 0);
        }
    }
    world_release(&w);
}
