/* SPDX-License-Identifier: Apache-2.0 */
/* Subjects of problems and their instances: search, names that they share, and removal. */
#include "metrics/rules/problems/problem_subjects.h"

#include "tests/unit/suite.h"

enum { SUBJECTS = 3000 }; /* Enough for the parts of a large table. */

struct lab {
    struct store *store;
    struct problem_subjects subjects;
};

static void lab_init(struct lab *lab)
{
    lab->store = store_new(1);
    problem_subjects_init(&lab->subjects, lab->store, 1);
}

static void lab_release(struct lab *lab)
{
    problem_subjects_release(&lab->subjects);
    store_free(lab->store);
}

static struct entry *entry_of(const struct lab *lab, unsigned number)
{
    char name[32];
    struct identity id = {"v1", "ConfigMap", "shop", name};

    snprintf(name, sizeof(name), "config-%u", number);
    return store_find_or_add(lab->store, &id);
}

TEST(a_subject_is_found_until_its_removal)
{
    CLEANUP(lab_release) struct lab lab;
    struct judged *removed;

    lab_init(&lab);
    for (unsigned i = 0; i < SUBJECTS; i++) {
        struct entry *entry = entry_of(&lab, i);

        assert_null(problem_subjects_find(&lab.subjects, entry));
        judged_add(&lab.subjects, problem_subjects_add(&lab.subjects, entry),
                   &(struct problem){.since_ms = i});
    }
    removed = problem_subjects_find(&lab.subjects, entry_of(&lab, 7));
    problem_subjects_remove(&lab.subjects, removed);
    for (unsigned i = 0; i < SUBJECTS; i++) {
        struct entry *entry = entry_of(&lab, i);
        const struct judged *j = problem_subjects_find(&lab.subjects, entry);

        assert_int_equal(j != NULL, i != 7);
        if (!j)
            continue;
        assert_ptr_equal(judged_entry(j), entry);
        assert_ptr_equal(judged_first(j)->subject, entry);
        assert_int_equal(judged_first(j)->since_ms, i);
    }
}

TEST(external_subjects_differ_in_each_part_of_their_identity)
{
    static const struct external_subject given[] = {{"v1", "Source", "", "a"},
                                                    {"v2", "Source", "", "a"},
                                                    {"v1", "ControlPlane", "", "a"},
                                                    {"v1", "Source", "shop", "a"},
                                                    {"v1", "Source", "", "b"}};
    CLEANUP(lab_release) struct lab lab;

    lab_init(&lab);
    for (unsigned i = 0; i < ARRAY_LEN(given); i++) {
        struct external_judged *j;

        assert_null(problem_subjects_find_external(&lab.subjects, &given[i]));
        j = problem_subjects_add_external(&lab.subjects, &given[i]);
        judged_add(&lab.subjects, &j->judged, &(struct problem){.since_ms = i});
        assert_null(judged_entry(&j->judged));
        assert_ptr_equal(judged_external(&j->judged), j);
    }
    for (unsigned i = 0; i < ARRAY_LEN(given); i++) {
        const struct external_judged *j = problem_subjects_find_external(&lab.subjects, &given[i]);
        const struct problem *p = judged_first(&j->judged);

        assert_int_equal(p->since_ms, i);
        assert_null(p->subject);
        assert_string_equal(p->external->name, given[i].name);
    }
}

TEST(removal_of_dead_instances_keeps_the_others)
{
    enum { INSTANCES = 5 };
    for (unsigned dead = 0; dead < 1U << INSTANCES; dead++) {
        CLEANUP(lab_release) struct lab lab;
        struct judged *j;
        unsigned left = 0;

        lab_init(&lab);
        j = problem_subjects_add(&lab.subjects, entry_of(&lab, 0));
        for (unsigned i = 0; i < INSTANCES; i++)
            judged_add(&lab.subjects, j, &(struct problem){.since_ms = i, .dead = dead >> i & 1});
        judged_remove_dead(&lab.subjects, j);
        for (const struct problem *p = judged_first(j); p; p = judged_next(p))
            left |= 1U << p->since_ms;
        assert_int_equal(left, ~dead & ((1U << INSTANCES) - 1));
    }
}

TEST(equal_names_are_stored_once)
{
    const struct problem_names names = {"PropagationPolicy", "shop", "first", NULL};
    CLEANUP(lab_release) struct lab lab;

    lab_init(&lab);
    for (unsigned i = 0; i < 3; i++) {
        struct judged *j = problem_subjects_add(&lab.subjects, entry_of(&lab, i));

        judged_add(&lab.subjects, j, &(struct problem){.names = &names});
        assert_string_equal(judged_first(j)->names->policy_name, "first");
        if (i > 0)
            assert_ptr_equal(
                judged_first(j)->names,
                judged_first(problem_subjects_find(&lab.subjects, entry_of(&lab, 0)))->names);
    }
    for (unsigned i = 0; i < 3; i++)
        problem_subjects_remove(&lab.subjects,
                                problem_subjects_find(&lab.subjects, entry_of(&lab, i)));
    assert_null(intern_find(store_string_pool(lab.store), "PropagationPolicy"));
}

TEST(times_of_conflicts_are_replaced)
{
    CLEANUP(lab_release) struct lab lab;
    struct conflict_begins begins = {{5}};
    struct judged *j;

    lab_init(&lab);
    j = problem_subjects_add(&lab.subjects, entry_of(&lab, 0));
    assert_int_equal(judged_conflict_begins(j)->time_ms[0], 0);
    for (unsigned i = 0; i < 2; i++) {
        begins.time_ms[0]++;
        judged_set_conflict_begins(&lab.subjects, j, &begins);
        assert_int_equal(judged_conflict_begins(j)->time_ms[0], begins.time_ms[0]);
    }
}
