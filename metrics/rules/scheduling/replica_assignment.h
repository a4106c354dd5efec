/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"
#include "metrics/model/binding.h"
#include "metrics/rules/placement_match.h"

/* Assignment of replicas to the clusters that the scheduler has selected (Karmada: AssignReplicas).
 */

/* Reasons why the result of the scheduler cannot be computed. */
enum undetermined_reason {
    UNDETERMINED_AGGREGATED,     /* The free capacity of clusters decides. */
    UNDETERMINED_DYNAMIC_WEIGHT, /* The free capacity of clusters decides. */
    UNDETERMINED_SPREAD_CONSTRAINTS,
    UNDETERMINED_TAINTS, /* A cluster of the group is in deletion, or has a taint not tolerated. */
    UNDETERMINED_COMPONENTS,       /* The binding has pod templates in spec.components. */
    UNDETERMINED_OVERFLOW,         /* overflowAffinities, or a later affinity group may apply. */
    UNDETERMINED_NO_CLUSTERS,      /* No Cluster is known, or no affinity group allows one. */
    UNDETERMINED_TEMPLATE_UPDATED, /* The binding lacks the last change of the template. */
    UNDETERMINED_LOT,              /* Karmada draws lots (releases until 1.15). */
    UNDETERMINED_UID,              /* The uid decides, and the object does not exist yet. */
    UNDETERMINED_RELEASE, /* The releases that Karmada may have place the workload differently. */
    UNDETERMINED_QUOTA_ORDER, /* Several workloads compete for a quota: their order decides. */
    UNDETERMINED_UNSUPPORTED, /* workloadAffinity, unreadable placement or unknown replicas. */
    UNDETERMINED_REASON_COUNT,
};
extern const char *const undetermined_reason_names[UNDETERMINED_REASON_COUNT];

/* The clusters on which a workload would be placed under a placement, with their replicas. */
struct projection {
    struct target_cluster *clusters; /* Sorted by name, in byte order. Owned; interned texts. */
    uint32_t count;
    bool determined;
    enum undetermined_reason reason; /* Valid if not determined; `count` is 0 then. */
    /*
     * Results of two releases, such as "until 1.15 m2: 2, from 1.16 m1: 1 and m2: 1"; NULL unless
     * the reason is UNDETERMINED_RELEASE. Interned.
     */
    const char *by_release;
};

/* Frees the clusters and resets the projection. */
void projection_release(struct intern *strings, struct projection *p);
/* Returns true if both have the same reason, or the same clusters with the same replicas. */
bool projection_equal(const struct projection *a, const struct projection *b);

/*
 * Returns the replicas that the scheduler assigns to the binding of a projection in all clusters;
 * -1 if unknown. A tie between clusters leaves the sum known: the replicas of the binding.
 */
int64_t projection_count_replicas(const struct projection *p, const struct binding *b);

/* ---- division by weight ---- */

/* Weight of one member cluster, and the replicas that it gets. */
struct share {
    const char *name;
    int64_t weight; /* Greater than 0. */
    int64_t replicas;
    int64_t last; /* Replicas before the division; only divide_by_remainder() uses it. */
};

/*
 * Divides `replicas` by weight and stores the result in each share (Karmada >= 1.16: the Webster
 * method). One replica at a time goes to the share with the highest weight / (2 x its replicas +
 * 1). Ties go to the share with fewer replicas, then to the smaller name; if the lowest bit of
 * `uid_hash` is set, to the larger name. The run time does not depend on the number of replicas.
 */
void divide_by_weight(struct share *shares, size_t count, int64_t replicas, uint32_t uid_hash);

/*
 * Divides `replicas` by weight and stores the result in each share (Karmada < 1.16). Each share
 * gets floor(weight x replicas / sum of weights). The remaining replicas go one each to the shares
 * with the largest weight, of equal weight to those with more replicas before the division. Returns
 * false if Karmada draws lots: then the remainder is not determined.
 */
bool divide_by_remainder(struct share *shares, size_t count, int64_t replicas) MUST_USE;

/* ---- assignment ---- */

/* Returns true if the scheduler of the release divides or duplicates replicas of the binding. */
bool assigns_replicas(const struct binding *b, enum release release);

/*
 * Assigns the replicas of a binding to the selected clusters, which are not empty and sorted by
 * name. `b->clusters` are the present targets. Appends to `out`, which is empty, the clusters that
 * remain targets, sorted by name; or sets `out->reason`. Does not consider overflowAffinities.
 */
void assign_replicas(const struct placement *placement, const struct binding *b,
                     const struct cluster_set *selected, enum release release,
                     struct projection *out);
