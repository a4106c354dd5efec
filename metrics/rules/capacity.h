/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/decision.h"
#include "metrics/rules/projection.h"

struct assigned_cluster {
    const char *name; /* Shared. */
    int32_t replicas;
    bool forbidden; /* The governing policy's placement no longer allows it. */
};

/* Where the replicas of a stale template are, and where they would go (product contract 3.6). */
struct capacity {
    struct assigned_cluster *assigned; /* By name, in byte order. */
    struct resource_request *requests; /* Of one replica. */
    uint32_t assigned_count;
    uint32_t request_count;
    struct projection projection; /* Under the governing policy: empty without one. */
    bool governed;                /* Some policy governs the template. */
};

/*
 * The capacity of a template whose binding `b` is out of date. `resolved` is the placement of
 * the policy that governs, NULL if none does. `outrun`: the user has changed the template since
 * (UPTAKE_NOT_IN), so that nobody knows how many replicas there will be. Free it with
 * capacity_free().
 */
struct capacity *capacity_decide(struct intern *strings, struct placements *placements,
                                 const struct resolved_placement *resolved, const struct binding *b,
                                 bool outrun) MUST_USE;
/* Takes NULL. */
void capacity_free(struct intern *strings, struct capacity *c);
