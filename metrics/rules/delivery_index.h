/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/cluster.h"
#include "metrics/model/store.h"
#include "metrics/model/work.h"
#include "metrics/rules/graph.h"
#include "metrics/rules/object_index.h"

/* Indexes for the delivery of bindings: member clusters by name, Works by binding and cluster. */

/*
 * ---- member clusters ----
 *
 * After a change of a cluster that can affect stages, the templates with a target or an eviction
 * task on it are marked. No index has these templates: a search in steps visits all bindings.
 */
struct members {
    struct store *store;
    struct map by_name;
    struct map changed;         /* Names of clusters: the search marks the templates on them. */
    bool all;                   /* The search marks the templates of all bindings. */
    bool hidden;                /* Not all Clusters have been read. */
    struct store_walk bindings; /* Position of the search. */
};

void members_init(struct members *m, struct store *store);
void members_release(struct members *m);

/*
 * Updates the index after a Cluster was added, replaced or deleted. Starts a search for the
 * affected templates if `affects_stages`; for all templates if the Cluster is the first or was the
 * last.
 */
void members_update(struct members *m, const struct entry *entry, bool affects_stages);

/* Sets m->hidden; a change starts a search for all templates. */
void members_set_incomplete(struct members *m, bool hidden);

/* Returns true if all Clusters have been read; a store without Clusters counts as unread. */
bool members_are_known(const struct members *m);

enum member_state {
    MEMBER_UNKNOWN, /* Not all Clusters have been read, or none exists. */
    MEMBER_READY,
    MEMBER_NOT_READY, /* Not ready, or without a Cluster object. */
};
/* Returns the state of a cluster; `name` must be interned in the store. */
enum member_state members_state(const struct members *m, const char *name);

/* Returns true while the search for affected templates is not complete. */
bool members_is_searching(const struct members *m);
/* Visits the next bindings of the search, and marks the affected templates. */
void members_search_step(struct members *m, struct graph *g);

/*
 * ---- Works ----
 *
 * A Work has details about one member cluster that the binding's status lacks or gets late: whether
 * there is a manifest to apply, from which generation of the template, and whether an old copy is
 * still being deleted.
 */
struct works {
    struct subject_index index;
    bool followed; /* A source reads all Works. */
    bool known;    /* Result of works_known(). */
};

void works_init(struct works *w, uint64_t seed);
void works_release(struct works *w);

/*
 * Updates the index after a Work was added (`old` is NULL), replaced or deleted. Returns true if
 * its binding, old or new, is affected.
 */
bool works_update(struct works *w, struct entry *entry, const struct work *old);

/*
 * Returns true if all Works count as read: their kind is not incomplete, and a source watches Works
 * or the store has one. Otherwise a Work that the index lacks may still exist.
 */
static inline bool works_known(const struct works *w)
{
    return w->known;
}

/*
 * Returns the Work of a binding for a member cluster, valid until the store changes; NULL without
 * one. Works of a deleted binding of the same name (another permanent id) do not count. A change of
 * a Work marks the template of its binding, so a decision need not list the Work in its reads.
 */
const struct work *work_in_cluster(const struct works *w, const struct entry *binding,
                                   const char *cluster);
