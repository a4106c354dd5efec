/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/map.h"
#include "metrics/model/store.h"

/*
 * Finds the entries that are about an object by that object's name, be it in the store or not: the
 * Works of a binding, the events about a template.
 */
struct subject {
    const char *kind;
    const char *ns; /* "" for what is cluster-scoped. */
    const char *name;
};

/* The entries about one object, in the order of entry_compare(). */
struct subject_group {
    struct subject subject;
    uint32_t count;
    uint32_t capacity;
    struct entry *entries[];
};

struct subject_index {
    struct map groups;
    uint64_t seed;
};

void subject_index_init(struct subject_index *index, uint64_t seed);
void subject_index_release(struct subject_index *index);

/*
 * Put an entry in that is not in it, or remove one that was put in with this subject. The texts
 * are shared, and what the entry keeps for as long as it is in: equal ones are one pointer.
 */
void subject_index_add(struct subject_index *index, const struct subject *subject,
                       struct entry *entry);
void subject_index_remove(struct subject_index *index, const struct subject *subject,
                          struct entry *entry);

/* NULL if there is none. Any texts; the answer is valid until the index changes. */
const struct subject_group *subject_index_find(const struct subject_index *index,
                                               const struct subject *subject);
