/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/store.h"
#include "metrics/model/work.h"
#include "metrics/rules/subject_index.h"

/*
 * The Works of each binding. They say of one member cluster what the binding's status only sums
 * up, or says late: whether there is anything to be applied, of which version of the template, and
 * whether an old copy is still being removed. All zero is no register: works_init().
 */
struct works {
    struct subject_index index;
    bool followed; /* A source reads all of them. */
    bool known;
};

void works_init(struct works *w, uint64_t seed);
void works_release(struct works *w);

/* An entry's Work came (`old` is NULL), was replaced or went. True if that concerns its bindings.
 */
bool works_changed(struct works *w, struct entry *entry, const struct work *old);

/*
 * True if all Works have been read: a source follows them and has read them as a whole, or there
 * is one in files. Only then one that is missing does not exist.
 */
static inline bool works_known(const struct works *w)
{
    return w->known;
}

/*
 * The Work of a binding for a member cluster, NULL if there is none; one of another binding that
 * had its name is none. Borrowed from the store, as long as that does not change. If that changes
 * the binding's template is marked, and with works_known() the templates of all bindings.
 */
const struct work *work_of(const struct works *w, const struct entry *binding, const char *cluster);
