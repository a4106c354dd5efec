/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/object_index.h"

#include "tests/unit/suite.h"
#include "tests/unit/world.h"

enum { ENTRIES = 24, SUBJECTS = 5, ROUNDS = 20000 };

struct lab {
    struct world world;
    struct subject_index index;
    struct entry *entries[ENTRIES];
    unsigned about[ENTRIES]; /* 0 if not in the index, else 1 + position of the subject. */
};

static const struct subject subjects[SUBJECTS] = {
    {"Deployment", "a", "web"}, {"Deployment", "b", "web"}, {"ConfigMap", "a", "web"},
    {"Deployment", "a", "db"},  {"Deployment", "", "web"},
};

static void lab_init(struct lab *lab)
{
    *lab = (struct lab){0};
    world_init(&lab->world, &rules_options_default, 1);
    subject_index_init(&lab->index, 1);
    for (unsigned i = 0; i < ENTRIES; i++) {
        char ns[16], name[16];

        snprintf(ns, sizeof(ns), "ns%u", i * 7 % 5);
        snprintf(name, sizeof(name), "e%u", i * 5 % ENTRIES);
        lab->entries[i] =
            store_find_or_add(lab->world.store, &(struct identity){"v1", "Event", ns, name});
    }
}

static void lab_release(struct lab *lab)
{
    subject_index_release(&lab->index);
    world_release(&lab->world);
}

static void check_subject(const struct lab *lab, unsigned subject)
{
    const struct subject_group *group = subject_index_find(&lab->index, &subjects[subject]);
    uint32_t count = 0;

    for (unsigned i = 0; i < ENTRIES; i++)
        count += lab->about[i] == subject + 1;
    assert_int_equal(group ? group->count : 0, count);
    for (uint32_t i = 0; i < count; i++) {
        bool found = false;

        for (unsigned k = 0; k < ENTRIES; k++)
            found = found || (lab->entries[k] == group->entries[i] && lab->about[k] == subject + 1);
        assert_true(found);
        if (i > 0)
            assert_true(entry_compare(group->entries[i - 1], group->entries[i]) < 0);
    }
}

TEST(any_history_finds_all_entries_of_a_subject)
{
    struct lab lab;

    lab_init(&lab);
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned at = world_random(&lab.world, ENTRIES);
        unsigned to = world_random(&lab.world, SUBJECTS + 1);

        if (lab.about[at] > 0)
            subject_index_remove(&lab.index, &subjects[lab.about[at] - 1], lab.entries[at]);
        if (to > 0)
            subject_index_add(&lab.index, &subjects[to - 1], lab.entries[at]);
        lab.about[at] = to;
        check_subject(&lab, world_random(&lab.world, SUBJECTS));
    }
    for (unsigned i = 0; i < SUBJECTS; i++)
        check_subject(&lab, i);
    lab_release(&lab);
}

TEST(removing_the_last_entry_removes_the_group)
{
    struct lab lab;

    lab_init(&lab);
    assert_null(subject_index_find(&lab.index, &subjects[0]));
    for (unsigned i = 0; i < ENTRIES; i++)
        subject_index_add(&lab.index, &subjects[0], lab.entries[i]);
    for (unsigned i = 0; i < ENTRIES; i++)
        subject_index_remove(&lab.index, &subjects[0], lab.entries[i]);
    assert_null(subject_index_find(&lab.index, &subjects[0]));
    assert_int_equal(lab.index.groups.count, 0);
    lab_release(&lab);
}
