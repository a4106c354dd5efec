/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/metadata.h"

/* Shared texts, "" for what is not set. */
struct taint {
    const char *key;
    const char *value;
    const char *effect;
};

/* How much of a resource a member cluster has, in its base unit (cores, bytes, ...). Shared. */
struct cluster_resource {
    const char *resource;
    double allocatable;
    double allocated;
    double allocating; /* Scheduled to it, and not running yet. */
};

/* A member cluster: what placements choose by, and its resources. */
struct cluster {
    struct labels labels;
    const char *provider; /* NULL if not set, as is the region. */
    const char *region;
    const char **zones; /* spec.zones and, if not among them, the deprecated spec.zone. */
    struct taint *taints;
    struct cluster_resource *resources; /* status.resourceSummary, by name in byte order. */
    uint64_t *apis; /* Of the kinds that it serves (cluster_serves), in ascending order. */
    uint32_t api_count;
    uint32_t zone_count;
    uint32_t taint_count;
    uint32_t resource_count;
    bool ready;         /* The condition Ready is True. */
    bool apis_complete; /* The condition CompleteAPIEnablements is True. */
    bool deleting;
};

/* As struct kind_def wants them. */
void *cluster_decode(struct decode *d, const cJSON *json);
void cluster_release(struct intern *strings, void *object);

/*
 * True if the cluster serves the kind (status.apiEnablements), or reports none at all, which is
 * how one looks that has not been asked yet.
 */
bool cluster_serves(const struct cluster *c, const char *api_version, const char *kind);
