/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/handle_map.h"
#include "metrics/rules/problems/condition_list.h"
#include "metrics/rules/problems/decision_flapping.h"
#include "metrics/rules/problems/problem.h"

/*
 * Memory of problems.c: the subjects and their instances. A failover makes an instance for each
 * binding, so a subject with an entry has only three handles and a hash. They have a pool of their
 * own: the memory of many instances that end together is free then, without cells that stay in
 * between.
 */

/* A subject with instances. */
struct judged {
    pool_handle entry;  /* In the pool of the store; 0: the subject is external. Pinned. */
    pool_handle first;  /* First instance, a struct problem. */
    pool_handle begins; /* struct conflict_begins of a dependency; 0 without conflicts. */
    uint32_t uid_hash;  /* Hash of the object's uid; 0 if unknown. */
};

/* An external subject. */
struct external_judged {
    struct judged judged; /* First member: a pointer to it is one to the external subject. */
    bool held;            /* The conditions are not known: problems_hold(). */
    struct external_subject external;
    struct condition_list reported; /* Its conditions. */
};

struct problem_subjects {
    struct store *store;
    struct pool *memory;         /* Owned. */
    struct handle_map by_entry;  /* struct judged of an entry. */
    struct handle_map externals; /* struct external_judged by kind, namespace and name. */
    uint64_t seed;
};

/* Sets up an empty set of subjects. Release it before the store. */
void problem_subjects_init(struct problem_subjects *s, struct store *store, uint64_t seed);
/* Frees all subjects with their instances. */
void problem_subjects_release(struct problem_subjects *s);

/* Return the subject; NULL if there is none. */
struct judged *problem_subjects_find(const struct problem_subjects *s, const struct entry *entry);
struct external_judged *problem_subjects_find_external(const struct problem_subjects *s,
                                                       const struct external_subject *subject);
/* Add a subject without instances; there must be none yet. */
struct judged *problem_subjects_add(struct problem_subjects *s, struct entry *entry);
struct external_judged *problem_subjects_add_external(struct problem_subjects *s,
                                                      const struct external_subject *subject);
/* Removes a subject, and frees it with its instances. Unpins its entry. */
void problem_subjects_remove(struct problem_subjects *s, struct judged *j);

/* Returns the entry of a subject; NULL if it is external. */
static inline struct entry *judged_entry(const struct problem_subjects *s, const struct judged *j)
{
    return pool_at(intern_memory(store_string_pool(s->store)), j->entry);
}

/* Returns an external subject; NULL for a subject with an entry. */
static inline struct external_judged *judged_external(struct judged *j)
{
    return j->entry ? NULL : (struct external_judged *)j;
}

/* Return the first instance of a subject, and the next one; NULL at the end. */
static inline struct problem *judged_first(const struct judged *j)
{
    return pool_beside(j, j->first);
}
static inline struct problem *judged_next(const struct problem *p)
{
    return pool_beside(p, p->next);
}

/*
 * Adds a copy of an instance to a subject: the copy has this subject, no cause, and its own names.
 */
struct problem *judged_add(struct problem_subjects *s, struct judged *j,
                           const struct problem *given);
/* Frees the instances that are `dead`. */
void judged_remove_dead(struct problem_subjects *s, struct judged *j);

/* Returns when conflicts of a dependency began; all zero without conflicts. */
const struct conflict_begins *judged_conflict_begins(const struct judged *j);
/* Replaces these times. */
void judged_set_conflict_begins(struct problem_subjects *s, struct judged *j,
                                const struct conflict_begins *begins);
