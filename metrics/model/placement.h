/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/metadata.h"

/*
 * Cluster affinities and placements, parsed to find the member clusters that they allow. To
 * compare two placements, compare their canonical texts instead.
 */

/* Selects the member clusters that meet all conditions that are set (Karmada: ClusterAffinity). */
struct cluster_affinity {
    struct label_selector *labels; /* labelSelector; NULL if absent. */
    struct label_selector *fields; /* fieldSelector without the key "zone"; NULL if empty. */
    struct label_selector *zones;  /* Requirements of fieldSelector on "zone"; NULL if empty. */
    const char **names;
    const char **exclude;
    uint32_t name_count;
    uint32_t exclude_count;
    bool never; /* Selects no cluster: a requirement on zones has an unknown operator. */
};

/*
 * Decodes the affinity `json`; NULL is an empty affinity, which allows all clusters. `path` is its
 * path in error messages. Release `out` also after an error.
 */
void cluster_affinity_decode(struct decode *d, const cJSON *json, const char *path,
                             struct cluster_affinity *out);
void cluster_affinity_release(struct intern *strings, struct cluster_affinity *affinity);

/* Affinity group of a placement: clusterAffinity, or an element of clusterAffinities. */
struct affinity_group {
    const char *name; /* Interned; NULL for clusterAffinity, or if unset. */
    struct cluster_affinity affinity;
    struct cluster_affinity *overflow; /* Elements of overflowAffinities. */
    uint32_t overflow_count;
    uint64_t hash;               /* Of the canonical text without overflowAffinities. */
    uint64_t hash_with_overflow; /* Of the canonical text. */
};

/* Element of clusterTolerations. Interned texts, "" if unset. */
struct toleration {
    const char *key;
    const char *op;
    const char *value;
    const char *effect;
    bool limited; /* tolerationSeconds is set: ends after some time. */
};

struct static_weight {
    struct cluster_affinity target;
    int64_t weight;
};

/* Property of clusters by which a spread constraint groups them. */
enum spread_field {
    SPREAD_CLUSTER,
    SPREAD_REGION,
    SPREAD_ZONE,
    SPREAD_PROVIDER,
    SPREAD_OTHER, /* spreadByLabel, or a field of a newer Karmada. */
    SPREAD_FIELD_COUNT,
};

/* Element of spreadConstraints. */
struct spread_constraint {
    enum spread_field field;
    int64_t least; /* minGroups */
    int64_t most;  /* maxGroups; 0 if unset. */
};

/* Parts of a placement that the scheduler compares one by one; struct affinity_group has others. */
enum placement_part {
    PLACEMENT_AFFINITY,
    PLACEMENT_TOLERATIONS,
    PLACEMENT_SPREAD,
    PLACEMENT_SCHEDULING,
    PLACEMENT_WORKLOAD_AFFINITY,
    PLACEMENT_PART_COUNT,
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
    struct affinity_group *groups; /* An empty list allows all clusters. */
    struct toleration *tolerations;
    struct static_weight *weights;
    struct spread_constraint *spread;
    uint32_t group_count;
    uint32_t toleration_count;
    uint32_t weight_count;
    uint32_t spread_count;
    uint64_t hashes[PLACEMENT_PART_COUNT]; /* Of the canonical texts; 0 for an absent part. */
    enum division division;
    bool has_groups; /* clusterAffinities exist: the groups have names. */
    bool has_spread_constraints;
    bool has_workload_affinity;
    bool unreadable; /* The text is invalid (placement_parse()): use no other member. */
};

/*
 * Returns the placement of a canonical text, such as `placement` of struct propagation; an empty
 * placement if `canonical` is NULL. Ignores unknown fields; sets `unreadable` if a known field is
 * invalid, or the text is no JSON object. Free the placement with placement_free().
 */
struct placement *placement_parse(struct intern *strings, const char *canonical) MUST_USE;
/* Frees a placement, which may be NULL. */
void placement_free(struct intern *strings, struct placement *p);
