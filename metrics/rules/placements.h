/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/placement.h"
#include "metrics/model/store.h"

/*
 * The placements of all policies, held against the member clusters of a store:
 * each distinct one is parsed and matched once, however many policies and
 * templates share it.
 */
struct placements;

/* A member cluster that a group of affinities means. */
struct member {
    const char *name; /* Shared. */
    int64_t weight;   /* The largest of the static weights that match it; 0 if none does. */
};

struct cluster_set {
    struct member *members; /* By name, in byte order. */
    uint32_t count;
    bool tolerated; /* None of them is tainted with what the placement does not tolerate. */
};

/* A placement, and where it leads. */
struct resolved_placement {
    const char *text; /* The canonical text, shared; NULL for the empty placement. */
    struct placement *placement;
    struct cluster_set
        *groups; /* As placement->groups; one for all clusters where there are none. */
    uint32_t group_count;
    const char **clusters; /* All that any group means, overflow too, by name; shared texts. */
    uint32_t cluster_count;
    bool has_clusters; /* There are Cluster objects at all. */
    uint32_t holders;
    uint64_t version; /* Of the clusters that it was held against. */
};

struct placements *placements_new(struct store *store, uint64_t seed) MUST_USE;
/* Takes NULL. Nobody may hold a placement of it any more. */
void placements_free(struct placements *p);

/* A cluster came, went, or is another one to affinities: what is held has to be held again. */
void placements_clusters_changed(struct placements *p);

/*
 * The placement of a canonical text, brought up to date for all who hold it, with
 * one holder more.
 */
const struct resolved_placement *placements_ref(struct placements *p, const char *text) MUST_USE;
/* One holder less. Takes NULL. */
void placements_drop(struct placements *p, const struct resolved_placement *resolved);

/* True if there is a Cluster of this name. */
bool placements_has_cluster(struct placements *p, const char *name);

/* True if the placement may put something on this cluster: one without an object by its name. */
bool placements_allow(struct placements *p, const struct resolved_placement *resolved,
                      const char *name);
