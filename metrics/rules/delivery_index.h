/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/cluster.h"
#include "metrics/model/store.h"
#include "metrics/model/work.h"
#include "metrics/rules/graph.h"
#include "metrics/rules/object_index.h"

/*
 * The member clusters by name, for what depends on each target of a binding; and, when a cluster
 * is ready or not any more, comes or goes, the templates that this concerns. Nobody keeps a list
 * of those: all bindings are looked at, a part at a time.
 */
struct members {
    struct store *store;
    struct map by_name;
    struct map changed; /* Names of those to be looked for. */
    bool all;           /* Whatever binding it is, its template is concerned. */
    bool hidden;
    struct store_walk bindings; /* Where the looking is. */
};

void members_init(struct members *m, struct store *store);
void members_release(struct members *m);

/*
 * The object of a Cluster came, changed or went. `concerns`: templates may be in another stage for
 * it.
 */
void members_change(struct members *m, const struct entry *entry, bool concerns);

/* Not all clusters have been read: nothing is known of any as long as that is so. */
void members_hide(struct members *m, bool hidden);

enum member_state {
    MEMBER_UNKNOWN,
    MEMBER_READY,
    MEMBER_NOT_READY, /* Or gone. */
};
/* What is known of the cluster of this name, a shared text. */
enum member_state members_state(const struct members *m, const char *name);

/* True while bindings are to be looked at. */
bool members_is_looking(const struct members *m);
/* Look at some more of them, and mark the templates that are concerned. */
void members_look(struct members *m, struct graph *g);

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
