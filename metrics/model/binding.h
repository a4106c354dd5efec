/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/binding_status.h"
#include "metrics/model/changes.h"
#include "metrics/model/identity.h"
#include "metrics/model/policy.h"

/* A binding that requires this one (an element of spec.requiredBy). Shared texts, "" if unset. */
struct referrer {
    const char *ns;
    const char *name;
};

/* What one replica requests of a resource, in its base unit (cores, bytes, ...). Shared. */
struct resource_request {
    const char *resource;
    double amount;
};

/* A member cluster whose Config Connector reports a ManagementConflict. Shared texts. */
struct member_conflict {
    const char *cluster; /* NULL ends a list. */
    const char *holder;  /* The id under which the lease is held; "" if unknown. */
};

/*
 * The dependencies that Karmada has noted on the binding of a template that propagates them, so
 * far as they have a name. Shared texts.
 */
struct noted_dependencies {
    uint32_t count;
    struct identity items[];
};

/*
 * A ResourceBinding or a ClusterResourceBinding. Its claim and the name of its template are in
 * its own allocation: never pass the claim to claim_free().
 */
struct binding {
    const char *api_version; /* spec.resource: the template; "" for what is not set. */
    const char *kind;
    const char *ns;
    const char *name;       /* Not shared. */
    struct claim *claim;    /* NULL if unclaimed. */
    const char *managed_by; /* binding.karmada.io/managed-by */
    struct propagation propagation;
    const char
        *applied_placement; /* What the scheduler last applied, canonical; NULL if unknown. */
    struct referrer *referrers;
    struct target_cluster
        *clusters; /* Behind them those of requiredBy alone (binding_target_count). */
    struct resource_request *requests;
    struct member_conflict *member_conflicts; /* NULL: none. */
    struct noted_dependencies *noted;         /* NULL if unknown, which is not none. */
    uint32_t referrer_count;
    uint32_t cluster_count;
    uint32_t request_count;
    uint32_t component_count; /* Several pod templates: spec.components. */
    int32_t replicas;
    uint32_t own_uid_hash; /* uid_hash() of its own. */
    uint32_t uid_hash;     /* Of spec.resource.uid, of which nothing else is needed. */
    uint32_t id_hash;      /* binding_id_decode() */
    /* The least resourceTemplateGeneration of status.aggregatedStatus; 0 if unknown. */
    uint32_t delivered_generation;
    struct binding_write write; /* From the template's version. */
    struct binding_status status;
    uint64_t resource_version; /* Of the template, in spec.resource; 0 if unknown. */
    int64_t created_ms;
    int64_t changed_ms; /* Last change of the spec; 0 if unknown. */
    bool has_placement; /* spec.placement is there, even if empty: a policy made the binding. */
    bool has_conflict_resolution;
    bool has_replicas; /* Karmada has read how many the template wants, if only 0. */
    bool deleting;
    bool was_changed;          /* The source saw its copied fields change: `propagation`. */
    bool has_requirements;     /* spec.replicaRequirements */
    bool scheduling_suspended; /* spec.suspension.scheduling */
    /* The place in clusterAffinities of the group that the scheduler uses, of applied_placement. */
    uint8_t observed_group;
    /* In a simulation: 1 + why only the scheduler knows the clusters (enum undetermined_reason). */
    uint8_t undetermined;
    uint32_t propagated_s; /* When `propagation` was last written, by anybody; 0 if unknown. */
};

/* As struct kind_def wants them. */
void *binding_decode(struct decode *d, const cJSON *json);
void binding_release(struct intern *strings, void *object);
void binding_succeed(void *fresh, const void *last, bool relisted);

/*
 * The uid_hash() of a binding's permanent id, which is a label of itself and of its Works: another
 * binding of its name has another one.
 */
uint32_t binding_id_decode(struct decode *d, const cJSON *labels);

/* True if it has replicas, be it none at the moment (Karmada: IsWorkload). */
static inline bool binding_is_workload(const struct binding *b)
{
    return b->replicas > 0 || b->has_requirements || b->component_count > 0;
}

/*
 * The clusters that it is to be in: those of spec.clusters, then those that only bindings which
 * require it are in, by name.
 */
static inline uint32_t binding_target_count(const struct binding *b)
{
    return b->cluster_count + b->status.required_count;
}

enum { BINDING_NAME_MAX = 1024 }; /* Names are at most 253 bytes, kinds 63. */
/*
 * The name of the binding of a template: "<name>-<kind>" in lower case, in the name ':' as '.'
 * (Karmada: names.GenerateBindingName). `out` is reset first.
 */
void binding_name(const char *kind, const char *name, struct strbuf *out);
