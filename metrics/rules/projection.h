/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/binding.h"
#include "metrics/rules/placements.h"

/* What keeps an assignment from being told without the scheduler's live knowledge. */
enum undetermined_reason {
    UNDETERMINED_AGGREGATED,
    UNDETERMINED_DYNAMIC_WEIGHT,
    UNDETERMINED_SPREAD_CONSTRAINTS,
    UNDETERMINED_TAINTS,      /* Of a cluster that the affinity means. */
    UNDETERMINED_COMPONENTS,  /* The workload has several pod templates. */
    UNDETERMINED_OVERFLOW,    /* Which of several affinities is in use depends on what fits. */
    UNDETERMINED_NO_CLUSTERS, /* No Cluster in the source, or none that the affinity means. */
    UNDETERMINED_UNSUPPORTED, /* workloadAffinity, or a placement that we do not understand. */
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
 * Project what a binding asks for (replicas, uid) onto a placement: exact for
 * Duplicated and for static weights, and for what has no replicas to divide; for
 * all else undetermined, never guessed. Release the answer.
 */
void projection_make(struct intern *strings, const struct resolved_placement *resolved,
                     const struct binding *b, struct projection *out);
void projection_release(struct intern *strings, struct projection *p);
