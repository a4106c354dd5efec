/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/labels.h"

/*
 * What a placement says of member clusters, for those who ask where it leads.
 * Everybody else compares canonical texts and never looks inside.
 */

/* Which clusters are meant (Karmada: ClusterAffinity). All that is set must hold. */
struct cluster_affinity {
    struct label_selector *labels; /* NULL if absent; so are the next two. */
    struct label_selector *fields; /* The requirements of fieldSelector, */
    struct label_selector *zones;  /* and apart from them those on zones: a cluster has several. */
    const char **names;
    const char **exclude;
    uint32_t name_count;
    uint32_t exclude_count;
    bool never; /* An operator on zones that nobody knows: no cluster is meant. */
};

/* clusterAffinity, or one of clusterAffinities. */
struct affinity_group {
    const char *name; /* NULL for clusterAffinity. */
    struct cluster_affinity affinity;
    struct cluster_affinity *overflow; /* overflowAffinities */
    uint32_t overflow_count;
};

/* Shared texts, "" where not set. */
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
    DIVISION_UNKNOWN, /* A type or preference that came after us. */
};

struct placement {
    struct affinity_group *groups; /* None: every cluster is meant. */
    struct toleration *tolerations;
    struct static_weight *weights;
    uint32_t group_count;
    uint32_t toleration_count;
    uint32_t weight_count;
    enum division division;
    bool has_spread_constraints;
    bool has_workload_affinity;
    bool unreadable; /* A member has a wrong type: nothing else is to be relied on. */
};

/*
 * The placement that a canonical text holds (struct propagation); NULL is the
 * empty one. Never fails: fields that nobody knows are passed over, and what
 * cannot be read makes it `unreadable`.
 */
struct placement *placement_new(struct intern *strings, const char *canonical) MUST_USE;
/* Takes NULL. */
void placement_free(struct intern *strings, struct placement *p);
