/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/binding.h"
#include "metrics/rules/placements.h"

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
