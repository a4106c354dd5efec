/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"
#include "metrics/model/binding.h"
#include "metrics/rules/decision.h"
#include "metrics/rules/scheduling/scheduling.h"

/*
 * Projections: where the scheduler would place a workload under the placement of another policy or
 * version, and the resulting movements of replicas (product contract 3.6).
 */

/* ---- projection ---- */

/*
 * Computes where the scheduler would place the replicas of a binding under the placement
 * `resolved`, in all releases that Karmada may have. The result is exact, or undetermined with an
 * enum undetermined_reason: also where scheduling_place() could tell, because spread constraints,
 * components, overflow, taints or the free capacity of clusters have a part in it. Release it with
 * projection_release().
 */
void projection_make(struct placements *placements, const struct resolved_placement *resolved,
                     const struct binding *b, struct projection *out);

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
struct capacity *capacity_new(struct placements *placements,
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
