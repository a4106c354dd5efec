/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/metadata.h"

/*
 * Cluster affinities and placements, parsed to find the member clusters that they allow. To
 * compare two placements, compare their canonical texts instead.
 */

/* Selects member clusters (Karmada: ClusterAffinity): all conditions that are set must hold. */
struct cluster_affinity {
    struct label_selector *labels; /* NULL if absent, like `fields` and `zones`. */
    struct label_selector *fields; /* Requirements of fieldSelector other than zones. */
    struct label_selector *zones;  /* Separate, because a cluster can have several zones. */
    const char **names;
    const char **exclude;
    uint32_t name_count;
    uint32_t exclude_count;
    bool never; /* Matches no cluster: a requirement on zones has an unknown operator. */
};

/*
 * Decodes the affinity `json`; NULL is an empty affinity, which allows all clusters. `path` is its
 * path in error messages. Release `out` also after an error.
 */
void cluster_affinity_decode(struct decode *d, const cJSON *json, const char *path,
                             struct cluster_affinity *out);
void cluster_affinity_release(struct intern *strings, struct cluster_affinity *affinity);

/* clusterAffinity, or an element of clusterAffinities. */
struct affinity_group {
    const char *name; /* Interned; NULL for clusterAffinity. */
    struct cluster_affinity affinity;
    struct cluster_affinity *overflow; /* overflowAffinities */
    uint32_t overflow_count;
};

/* Interned texts, "" if unset. */
struct toleration {
    const char *key;
    const char *op;
    const char *value;
    const char *effect;
};

struct static_weight {
    struct cluster_affinity target;
    int64_t weight;
};

/* Division of replicas, from replicaScheduling. */
enum division {
    DIVISION_DUPLICATED,
    DIVISION_STATIC_WEIGHT,
    DIVISION_DYNAMIC_WEIGHT,
    DIVISION_AGGREGATED,
    DIVISION_UNKNOWN, /* A type or preference of a newer Karmada. */
};

struct placement {
    struct affinity_group *groups; /* Empty: every cluster is allowed. */
    struct toleration *tolerations;
    struct static_weight *weights;
    uint32_t group_count;
    uint32_t toleration_count;
    uint32_t weight_count;
    enum division division;
    bool has_spread_constraints;
    bool has_workload_affinity;
    bool unreadable; /* A member has a wrong type: do not use any other field. */
};

/*
 * Returns the placement of a canonical text (struct propagation); NULL is the empty placement.
 * Never fails: unknown fields are ignored, a field of a wrong type sets `unreadable`. Free it with
 * placement_free().
 */
struct placement *placement_new(struct intern *strings, const char *canonical) MUST_USE;
/* Takes NULL. */
void placement_free(struct intern *strings, struct placement *p);
