/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/* What the member cluster says of a resource, in Karmada's words (aggregatedStatus[].health). */
enum target_health {
    HEALTH_UNKNOWN, /* Not said yet, too. */
    HEALTH_HEALTHY,
    HEALTH_UNHEALTHY,
    HEALTH_OTHER, /* A word that Karmada does not have. */
};

/*
 * What a binding's status.aggregatedStatus says of one of its targets, and whether dispatching to
 * that is suspended. All is zero where nothing is said.
 */
enum { TARGET_GENERATION_MAX = 0xffffff };
struct target_item {
    uint32_t generation : 24; /* status.resourceTemplateGeneration; 0 if unknown, or too large. */
    uint32_t exists : 1;
    uint32_t applied : 1;
    uint32_t has_message : 1; /* Not applied, and why (struct trouble). */
    uint32_t health : 2;      /* enum target_health */
    uint32_t rolling : 1;   /* Unhealthy, and the member has still to observe or to roll it out. */
    uint32_t suspended : 1; /* spec.suspension.dispatching, or dispatchingOnClusters */
};

/* A member cluster and its replicas, as in spec.clusters. The name is shared. */
struct target_cluster {
    const char *name;
    int32_t replicas;
    struct target_item item; /* Of a target of a binding alone. */
};
