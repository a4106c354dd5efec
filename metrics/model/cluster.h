/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/metadata.h"

/* Member cluster: the fields by which placements select it, the served APIs and the resources. */

/* A taint in spec.taints of a Cluster. Interned texts, "" if unset. */
struct taint {
    const char *key;
    const char *value;
    const char *effect;
};

/* Amounts of one resource in a member cluster, in base units (cores, bytes). */
struct cluster_resource {
    const char *resource; /* Name of the resource, interned. */
    double allocatable;
    double allocated;
    double allocating; /* Requested by Pods that the member cluster has not scheduled yet. */
};

struct cluster {
    struct labels labels;
    const char *provider; /* Interned; NULL if unset. */
    const char *region;   /* Interned; NULL if unset. */
    const char **zones;   /* Interned: spec.zones, and the deprecated spec.zone if it is another. */
    struct taint *taints;
    struct cluster_resource *resources; /* status.resourceSummary, sorted by name. */
    uint64_t *apis; /* Hashes of the served kinds, ascending; for cluster_serves(). */
    uint32_t api_count;
    uint32_t zone_count;
    uint32_t taint_count;
    uint32_t resource_count;
    int64_t ready_since_ms; /* Last transition of the condition Ready; 0 if unknown. */
    bool ready;             /* The condition Ready is True. */
    bool apis_complete;     /* The condition CompleteAPIEnablements is True. */
    bool apis_known;        /* The status shows whether Karmada has collected the APIs. */
    bool pulls;             /* spec.syncMode is Pull. */
    bool deleting;
};

/* Callbacks of the row in the table of kinds (struct kind_def). */
void *cluster_decode(struct decode *d, const cJSON *json);
void cluster_release(struct intern *strings, void *object);

/*
 * Returns true if status.apiEnablements contains the kind, or if the APIs are not known, as in
 * manifests without a status.
 */
bool cluster_serves(const struct cluster *c, const char *api_version, const char *kind);

/* Returns the free amount of a resource of the cluster; 0 if it does not have the resource. */
double cluster_free_amount(const struct cluster *c, const char *resource);
