/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"
#include "metrics/model/binding.h"
#include "metrics/rules/decision.h"
#include "metrics/rules/placement_match.h"

/*
 * Projections: where the scheduler would place a workload under the placement of another policy or
 * version, and the resulting movements of replicas (product contract 3.6).
 */

/* ---- projection ---- */

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
};

/*
 * Computes where the scheduler would place the replicas of a binding under the placement
 * `resolved`. The result is exact, or undetermined with an enum undetermined_reason. Release it
 * with projection_release().
 */
void projection_make(struct intern *strings, const struct resolved_placement *resolved,
                     const struct binding *b, struct projection *out);
/*
 * Computes the projection from the clusters that remain after the scheduler has filtered them:
 * `candidates`, a subset of one affinity group. Without candidates the workload is placed nowhere.
 */
void projection_make_from_candidates(const struct resolved_placement *resolved,
                                     const struct binding *b, const struct cluster_set *candidates,
                                     struct projection *out);
/* Frees the clusters and resets the projection. */
void projection_release(struct intern *strings, struct projection *p);

/* ---- division by weight ---- */

/* Weight of one member cluster, and the replicas that it gets. */
struct share {
    const char *name;
    int64_t weight; /* Greater than 0. */
    int64_t replicas;
};

/*
 * Divides `replicas` by weight and stores the result in each share (Karmada >= 1.16: the Webster
 * method). One replica at a time goes to the share with the highest weight / (2 x its replicas +
 * 1). Ties go to the share with fewer replicas, then to the smaller name; if the lowest bit of
 * `uid_hash` is set, to the larger name. The run time does not depend on the number of replicas.
 */
void divide_by_weight(struct share *shares, size_t count, int64_t replicas, uint32_t uid_hash);

/* ---- capacity ---- */

/* A cluster to which the binding assigns replicas. */
struct assigned_cluster {
    const char *name; /* Interned. */
    int32_t replicas;
    bool forbidden; /* The governing policy's placement does not allow the cluster. */
};

/*
 * Movements of replicas when a template changes to the placement of its governing policy. Per
 * cluster: replicas before = staying + leaving, replicas after = staying + arriving. If the
 * projection is undetermined, all present replicas are MOVEMENT_UNDETERMINED.
 */
enum movement {
    MOVEMENT_STAYING,
    MOVEMENT_LEAVING,
    MOVEMENT_ARRIVING,
    MOVEMENT_UNDETERMINED,
    MOVEMENT_COUNT,
};
extern const char *const movement_names[MOVEMENT_COUNT];

/* The present and the projected clusters of a stale template. */
struct capacity {
    struct assigned_cluster *assigned; /* Sorted by name, in byte order. */
    struct resource_request *requests; /* Requests of one replica. */
    uint32_t assigned_count;
    uint32_t request_count;
    struct projection projection; /* Under the governing policy; empty without such a policy. */
    bool governed;                /* The template has a governing policy. */
    bool moves;                   /* Result of placement_drifts(). */
};

/*
 * Returns the present and the projected clusters of a template with the outdated binding `b`.
 * `resolved` is the placement of the governing policy; NULL without such a policy. `change_missing`
 * means that the binding lacks a change of the template (CHANGE_NOT_APPLIED), so the number of
 * replicas is unknown. Free the result with capacity_free().
 */
struct capacity *capacity_new(struct intern *strings, struct placements *placements,
                              const struct resolved_placement *resolved, const struct binding *b,
                              bool change_missing, bool moves) MUST_USE;

/* Replicas of one cluster, by kind of movement. */
struct cluster_movement {
    const char *cluster; /* Interned; valid as long as the capacity. */
    int32_t replicas[MOVEMENT_COUNT];
};

/* Position of capacity_next_movement(): indexes of the next assigned and next projected cluster. */
struct movement_walk {
    uint32_t assigned;
    uint32_t projected;
};
/*
 * Stores the movements of the next present or projected cluster, by name in byte order. Start with
 * *at all zero. Returns false at the end, and at once if `c` is NULL or `c->moves` is false.
 */
bool capacity_next_movement(const struct capacity *c, struct movement_walk *at,
                            struct cluster_movement *out);

/*
 * Returns amount * replicas in thousandths: the requests of replicas that request `amount` of a
 * resource each. INT64_MAX if the number is too large.
 */
int64_t requests_in_thousandths(double amount, int32_t replicas);

/* Replicas with their requests in thousandths of a core and of a byte; at most INT64_MAX. */
struct replica_load {
    int64_t replicas;
    int64_t cores;
    int64_t bytes;
};

/* Adds replicas that each have the `count` requests. */
void replica_load_add(struct replica_load *load, const struct resource_request *requests,
                      uint32_t count, int32_t replicas);

/* Accepts NULL. */
void capacity_free(struct intern *strings, struct capacity *c);
