/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/decision.h"
#include "metrics/rules/projection.h"

struct assigned_cluster {
    const char *name; /* Shared. */
    int32_t replicas;
    bool forbidden; /* The governing policy's placement no longer allows it. */
};

/*
 * What becomes of replicas once a template follows the policy that governs it (product contract
 * 3.6). On each cluster, now = staying + leaving + undetermined, and
 * then = staying + arriving + undetermined.
 */
enum movement {
    MOVEMENT_STAYING,
    MOVEMENT_LEAVING,
    MOVEMENT_ARRIVING,
    MOVEMENT_UNDETERMINED, /* There now; only the scheduler knows, and until it decides they stay.
                            */
    MOVEMENT_COUNT,
};
extern const char *const movement_names[MOVEMENT_COUNT];

/* Where the replicas of a stale template are, and where they would go. */
struct capacity {
    struct assigned_cluster *assigned; /* By name, in byte order. */
    struct resource_request *requests; /* Of one replica. */
    uint32_t assigned_count;
    uint32_t request_count;
    struct projection projection; /* Under the governing policy: empty without one. */
    bool governed;                /* Some policy governs the template. */
    bool moves;                   /* Its placement drifts, or another policy takes it over. */
};

/*
 * The capacity of a template whose binding `b` is out of date. `resolved` is the placement of
 * the policy that governs, NULL if none does. `outrun`: the user has changed the template since
 * (UPTAKE_NOT_IN), so that nobody knows how many replicas there will be. `moves` becomes that of
 * the capacity. Free it with capacity_free().
 */
struct capacity *capacity_decide(struct intern *strings, struct placements *placements,
                                 const struct resolved_placement *resolved, const struct binding *b,
                                 bool outrun, bool moves) MUST_USE;

/* How many replicas of one cluster move how. */
struct cluster_movement {
    const char *cluster; /* Shared: valid as long as the capacity. */
    int32_t replicas[MOVEMENT_COUNT];
};

/*
 * Walk over the clusters that a template is on, or would be on, by name in byte order: start with
 * all zeros in *at; false at the end. NULL, and a capacity that does not move, have none.
 */
struct movement_walk {
    uint32_t assigned;
    uint32_t projected;
};
bool capacity_movement(const struct capacity *c, struct movement_walk *at,
                       struct cluster_movement *out);

/* Takes NULL. */
void capacity_free(struct intern *strings, struct capacity *c);
