/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/cluster.h"
#include "metrics/model/placement.h"
#include "metrics/model/store.h"

/* Which member clusters a placement may use (Karmada: ClusterMatches, TaintToleration). */

/* True if the affinity allows this cluster: all that is set in it must hold. */
bool affinity_matches(const struct cluster_affinity *affinity, const char *name,
                      const struct cluster *cluster);

/*
 * True if the affinity allows a cluster as far as its name says: all that is known of a cluster
 * whose object is not in the source.
 */
bool affinity_allows_name(const struct cluster_affinity *affinity, const char *name);

/*
 * True if the scheduler may put something new on the cluster: the placement tolerates its
 * taints, and it is not being removed.
 */
bool placement_tolerates(const struct placement *placement, const struct cluster *cluster);

/*
 * The placements of all policies, resolved to the member clusters of a store: each distinct one
 * is parsed and matched once, however many policies and templates share it.
 */
struct placements;

/* A member cluster that a group of affinities allows. */
struct member {
    const char *name; /* Shared. */
    int64_t weight;   /* The largest of the static weights that match it; 0 if none does. */
    bool tolerated;   /* The placement tolerates its taints. */
    const struct entry *cluster;
};

struct cluster_set {
    struct member *members; /* By name, in byte order. */
    uint32_t count;
    bool tolerated; /* The placement tolerates the taints of all of them. */
};

/* A placement, and the clusters that it allows. */
struct resolved_placement {
    const char *text; /* The canonical text, shared; NULL for the empty placement. */
    struct placement *placement;
    struct cluster_set *groups; /* Of placement->groups; without any, one of all clusters. */
    uint32_t group_count;
    const char **clusters; /* All that any group allows, overflow too, by name; shared texts. */
    uint32_t cluster_count;
    bool has_clusters;   /* There are Cluster objects at all. */
    uint32_t references; /* The last placements_drop() frees it. */
    uint64_t version;    /* Of the set of clusters that it was resolved to. */
};

struct placements *placements_new(struct store *store, uint64_t seed) MUST_USE;
/* Takes NULL. Every reference must have been dropped. */
void placements_free(struct placements *p);

/*
 * A cluster came or went, or what placements choose by (labels, fields, taints) changed:
 * placements_ref() resolves again each placement that it is asked for.
 */
void placements_clusters_changed(struct placements *p);

/*
 * Not all clusters have been read: as long as that is so placements are resolved as if there
 * were none at all. As placements_clusters_changed() otherwise.
 */
void placements_hide_clusters(struct placements *p, bool hidden);

/*
 * A new reference to the placement of a canonical text (struct propagation). It is resolved to
 * the clusters there are now, also for those who have a reference already.
 */
const struct resolved_placement *placements_ref(struct placements *p, const char *text) MUST_USE;
/* Give a reference back. Takes NULL. */
void placements_drop(struct placements *p, const struct resolved_placement *resolved);

/* True if there is a Cluster of this name. */
bool placements_has_cluster(struct placements *p, const char *name);

/* True if any affinity of the placement allows this cluster; one without an object, by its name. */
bool placements_allow(struct placements *p, const struct resolved_placement *resolved,
                      const char *name);
