/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"
#include "metrics/model/binding.h"
#include "metrics/rules/decision.h"
#include "metrics/rules/placement_match.h"

/* Why only the scheduler, with its live knowledge, can say where a workload goes. */
enum undetermined_reason {
    UNDETERMINED_AGGREGATED,
    UNDETERMINED_DYNAMIC_WEIGHT,
    UNDETERMINED_SPREAD_CONSTRAINTS,
    UNDETERMINED_TAINTS,      /* A cluster that the affinity allows has a taint not tolerated. */
    UNDETERMINED_COMPONENTS,  /* The workload has several pod templates. */
    UNDETERMINED_OVERFLOW,    /* Which of several affinities is in use depends on what fits. */
    UNDETERMINED_NO_CLUSTERS, /* No Cluster in the source, or none that the affinity allows. */
    UNDETERMINED_TEMPLATE_UPDATED, /* What will be scheduled is a change that no binding has. */
    UNDETERMINED_UNSUPPORTED,      /* workloadAffinity, or a placement of a newer Karmada. */
    UNDETERMINED_REASON_COUNT,
};
extern const char *const undetermined_reason_names[UNDETERMINED_REASON_COUNT];

/* Where the scheduler would put a workload under a placement. */
struct projection {
    struct target_cluster *clusters; /* By name, in byte order. Shared texts. */
    uint32_t count;
    bool determined;
    enum undetermined_reason reason; /* If not determined: then there are no clusters. */
};

/*
 * Where the scheduler would put the replicas of a binding under a placement: exact for
 * Duplicated, for static weights and for what has no replicas to divide; for all else
 * undetermined, never guessed. Release it with projection_release().
 */
void projection_make(struct intern *strings, const struct resolved_placement *resolved,
                     const struct binding *b, struct projection *out);
/*
 * The same once the scheduler has filtered: `candidates` are what is left of the group of
 * affinities that it uses. Without any it puts the workload nowhere.
 */
void projection_among(const struct resolved_placement *resolved, const struct binding *b,
                      const struct cluster_set *candidates, struct projection *out);
/* It is empty then, and may be released again. */
void projection_release(struct intern *strings, struct projection *p);

/* The weight of one member cluster, and the replicas that it gets. */
struct share {
    const char *name;
    int64_t weight; /* Above 0. */
    int64_t replicas;
};

/*
 * Divide `replicas` by weight and write what each share gets (Karmada >= 1.16: the Webster
 * method). One replica at a time goes to the share with the highest weight / (2 x replicas it
 * has + 1); of equal ones to the one that has fewer, then to the smaller name, or to the larger
 * if the last bit of `uid_hash` is set. The cost does not grow with the number of replicas.
 */
void divide_by_weight(struct share *shares, size_t count, int64_t replicas, uint32_t uid_hash);

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
 * (CHANGE_NOT_APPLIED), so that nobody knows how many replicas there will be. `moves` becomes that
 * of the capacity. Free it with capacity_free().
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
