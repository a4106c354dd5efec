/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/metadata.h"

/* Which member clusters are meant (Karmada: ClusterAffinity). All that is set must hold. */
struct cluster_affinity {
    struct label_selector *labels; /* NULL if absent; so are the next two. */
    struct label_selector *fields; /* The requirements of fieldSelector but for those on zones, */
    struct label_selector *zones;  /* which are apart because a cluster has several zones. */
    const char **names;
    const char **exclude;
    uint32_t name_count;
    uint32_t exclude_count;
    bool never; /* An operator on zones is unknown: no cluster is meant. */
};

/*
 * Read an affinity, which `json` is and which stands at `path`; NULL is an empty one, which means
 * all clusters. Release it also after a failure.
 */
void cluster_affinity_decode(struct decode *d, const cJSON *json, const char *path,
                             struct cluster_affinity *out);
void cluster_affinity_release(struct intern *strings, struct cluster_affinity *affinity);

/*
 * A placement, parsed to find the member clusters that it allows. To compare two placements,
 * compare their canonical texts.
 */

/* clusterAffinity, or one of clusterAffinities. */
struct affinity_group {
    const char *name; /* NULL for clusterAffinity. */
    struct cluster_affinity affinity;
    struct cluster_affinity *overflow; /* overflowAffinities */
    uint32_t overflow_count;
};

/* Shared texts, "" for what is not set. */
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

/* What replicaScheduling amounts to. */
enum division {
    DIVISION_DUPLICATED,
    DIVISION_STATIC_WEIGHT,
    DIVISION_DYNAMIC_WEIGHT,
    DIVISION_AGGREGATED,
    DIVISION_UNKNOWN, /* A type or preference of a newer Karmada. */
};

struct placement {
    struct affinity_group *groups; /* Without any, every cluster is allowed. */
    struct toleration *tolerations;
    struct static_weight *weights;
    uint32_t group_count;
    uint32_t toleration_count;
    uint32_t weight_count;
    enum division division;
    bool has_spread_constraints;
    bool has_workload_affinity;
    bool unreadable; /* A member has a wrong type: do not rely on any other field. */
};

/*
 * The placement of a canonical text (struct propagation); NULL is the empty one. Never fails:
 * unknown fields are ignored, and a field of a wrong type makes it `unreadable`. Free it with
 * placement_free().
 */
struct placement *placement_new(struct intern *strings, const char *canonical) MUST_USE;
/* Takes NULL. */
void placement_free(struct intern *strings, struct placement *p);
