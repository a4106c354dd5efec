/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/cluster.h"
#include "metrics/model/placement.h"
#include "metrics/model/store.h"
#include "metrics/rules/control_plane.h"

/* Member clusters that a placement allows (Karmada: ClusterMatches, TaintToleration). */

/* Returns true if the cluster meets all conditions of the affinity in a release of Karmada. */
bool affinity_matches_cluster(const struct cluster_affinity *affinity, const char *name,
                              const struct cluster *cluster, enum release release);

/* Conditions of an affinity, in the order in which Karmada checks them. */
enum affinity_condition {
    AFFINITY_EXCLUDE,
    AFFINITY_LABELS,
    AFFINITY_FIELDS,
    AFFINITY_NAMES,
    AFFINITY_CONDITION_COUNT,
};

/* The condition that a cluster does not meet. */
struct affinity_mismatch {
    enum affinity_condition condition;
    /* Of labels and fields: the first requirement that does not hold; NULL if invalid. */
    const struct label_requirement *requirement;
};

/*
 * Returns false if affinity_matches_cluster(); else true with the first condition that the cluster
 * does not meet.
 */
bool affinity_find_mismatch(const struct cluster_affinity *affinity, const char *name,
                            const struct cluster *cluster, enum release release,
                            struct affinity_mismatch *out);

/* Returns affinity_matches_cluster() for all releases of a range. */
enum release_answer affinity_matches_in_range(const struct cluster_affinity *affinity,
                                              const char *name, const struct cluster *cluster,
                                              struct release_range range);

/* Returns true if the affinity allows the name; ignores `never` and conditions on other fields. */
bool affinity_allows_name(const struct cluster_affinity *affinity, const char *name);

/*
 * Returns an affinity group that has no conditions but on names, so that it is known without the
 * Cluster objects; NULL if the group has others, matches no cluster, or does not exist.
 */
const struct cluster_affinity *placement_group_by_name(const struct placement *placement,
                                                       uint32_t group);

/*
 * Returns the first taint NoSchedule or NoExecute of the cluster that the placement does not
 * tolerate; NULL without one.
 */
const struct taint *placement_find_taint(const struct placement *placement,
                                         const struct cluster *cluster);

/* Returns true if the placement tolerates the taints NoSchedule and NoExecute of the cluster. */
bool placement_tolerates_taints(const struct placement *placement, const struct cluster *cluster);

/*
 * Returns true if the placement tolerates all taints of the cluster without a limit in time. The
 * first toleration that covers a taint counts (Karmada: GetMatchingTolerations).
 */
bool placement_tolerates_forever(const struct placement *placement, const struct cluster *cluster);

/*
 * Returns true if the scheduler may place new workloads on the cluster: the placement tolerates its
 * taints NoSchedule and NoExecute, and the cluster is not in deletion.
 */
bool placement_tolerates_cluster(const struct placement *placement, const struct cluster *cluster);

/*
 * Placements of policies and bindings, resolved to the member clusters of a store. Each distinct
 * placement is parsed and matched once; all its users share the result.
 */
struct placements;

/* A member cluster that a group of affinities allows. */
struct member {
    const char *name; /* Interned. */
    int64_t weight;   /* Largest matching static weight; 0 without a match. */
    bool tolerated;   /* Result of placement_tolerates_cluster(). */
    bool untainted;   /* Result of placement_tolerates_taints(). */
    const struct entry *cluster;
};

/* The clusters that one affinity group, or its overflow, allows. */
struct cluster_set {
    struct member *members; /* Sorted by name, in byte order. */
    uint32_t count;
    bool tolerated; /* All members are `tolerated`. */
};

/* A placement, and the clusters that it allows. */
struct resolved_placement {
    const char *text;            /* Canonical text, interned; NULL for the empty placement. */
    struct placement *placement; /* If placement->unreadable, this struct's lists are empty. */
    /*
     * One set per element of placement->groups, without overflow, for the newest release of the
     * range; without groups one set of all clusters.
     */
    struct cluster_set *groups;
    struct cluster_set *overflows; /* Clusters that only the overflow of each group allows. */
    /* The same for releases of the range that match zones in another way; NULL without such. */
    struct cluster_set *older_groups;
    struct cluster_set *older_overflows;
    uint32_t group_count;
    /* Names of the clusters that any group or its overflow allows in any release, sorted. */
    const char **clusters;
    uint32_t cluster_count;
    /*
     * 1 + index of the last group with a cluster that is `tolerated`, or that its overflow allows;
     * 0 without one, or if the clusters are hidden. UINT32_MAX if no cluster exists, or the
     * placement is unreadable.
     */
    uint32_t open_groups;
    /* Hash of the groups' clusters and of their properties that filters of present targets read. */
    uint64_t members_hash;
    bool has_clusters;   /* The store has Cluster objects, and they are not hidden. */
    uint32_t references; /* Number of placements_ref() calls without their placements_drop(). */
    uint64_t version;    /* placements->version when the lists were made. */
};

/* Returns an empty set of placements. Borrows the store, which must be freed later. */
struct placements *placements_new(struct store *store, uint64_t seed) MUST_USE;
/* Accepts NULL. Every reference must have been dropped. */
void placements_free(struct placements *p);

/*
 * Marks all placements as outdated after a cluster was added, removed, or changed in a property
 * that placements depend on. The next placements_ref() resolves a placement again.
 */
void placements_mark_outdated(struct placements *p);

/*
 * Sets the releases that Karmada may have, RELEASE_NEWEST at first. Marks all placements as
 * outdated if the range changes.
 */
void placements_set_release(struct placements *p, struct release_range range);
struct release_range placements_release(const struct placements *p);
/* Returns the string pool of the store. */
struct intern *placements_strings(const struct placements *p);

/*
 * Marks all placements as outdated. If `hidden` (not all Clusters have been read), placements are
 * resolved as if the store had no Clusters.
 */
void placements_set_clusters_hidden(struct placements *p, bool hidden);

/*
 * Returns a new reference to the placement of a canonical text (struct propagation). An outdated
 * placement is resolved again in place, for all holders of a reference.
 */
const struct resolved_placement *placements_ref(struct placements *p, const char *text) MUST_USE;
/*
 * Drops a reference. Accepts NULL. The last placement that has no reference left stays in memory,
 * for a next placements_ref().
 */
void placements_drop(struct placements *p, const struct resolved_placement *resolved);

/*
 * Returns true if some group has a tolerated cluster, and the scheduler keeps a present target in
 * the clusters of its group for each kind of template, unless it is being evicted.
 */
bool placements_keep_targets(const struct placements *p, const struct resolved_placement *resolved);

/* Returns the clusters of a group, and of its overflow, in a release of the range. */
const struct cluster_set *resolved_group(const struct resolved_placement *resolved, uint32_t group,
                                         enum release release);
const struct cluster_set *resolved_overflow(const struct resolved_placement *resolved,
                                            uint32_t group, enum release release);

/* Returns the Clusters of the store, sorted by name; an empty list if they are hidden. */
const struct listing *placements_clusters(struct placements *p);
/* Returns the Cluster of this name; NULL if it does not exist or is hidden. */
const struct entry *placements_find_cluster(struct placements *p, const char *name);

/* Returns true if the store has a Cluster of this name, and clusters are not hidden. */
bool placements_has_cluster(struct placements *p, const char *name);

/*
 * Returns true if any affinity of the placement allows the cluster, or the placement has none or is
 * unreadable. Without a Cluster of this name (placements_has_cluster()), only the conditions on the
 * name count.
 */
bool placements_allow_cluster(struct placements *p, const struct resolved_placement *resolved,
                              const char *name);
