/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"
#include "metrics/model/decode.h"
#include "metrics/model/managed_fields.h"
#include "metrics/model/metadata.h"
#include "metrics/model/policy.h"

/*
 * ResourceBinding and ClusterResourceBinding: the template, the copied policy fields, the target
 * clusters and the status. The spec is decoded strictly; in the status a member of a wrong type is
 * treated as absent and does not reject the binding.
 */

/* ---- target clusters ---- */

/* Health of a resource in a member cluster: aggregatedStatus[].health. */
enum target_health {
    HEALTH_UNKNOWN, /* Includes an absent value. */
    HEALTH_HEALTHY,
    HEALTH_UNHEALTHY,
    HEALTH_OTHER, /* A value that Karmada does not define. */
};

/*
 * Status of one target cluster: its element of status.aggregatedStatus, and suspension of
 * dispatching. All zero if the status has no such element.
 */
struct target_status {
    uint32_t generation : 24; /* status.resourceTemplateGeneration; 0 if unknown or too large. */
    uint32_t exists : 1;      /* The status has an element for the cluster. */
    uint32_t applied : 1;
    uint32_t has_message : 1; /* Not applied, with a message in struct status_problem. */
    uint32_t health : 2;      /* enum target_health */
    uint32_t rolling : 1;     /* Unhealthy during a rollout in the member cluster. */
    uint32_t suspended : 1;   /* spec.suspension.dispatching or dispatchingOnClusters */
};

/* A member cluster and its replicas, as in spec.clusters. The name is shared. */
struct target_cluster {
    const char *name;
    int32_t replicas;
    struct target_status item; /* Set for the targets of a binding only. */
};

/* ---- status ---- */

/* Condition Scheduled; if it is False, by its reason (Karmada: getConditionByError). */
enum scheduled {
    SCHEDULED_NEVER, /* The condition is absent. */
    SCHEDULED_TRUE,
    SCHEDULED_NO_CLUSTER_FIT, /* This and the following: False. */
    SCHEDULED_UNSCHEDULABLE,
    SCHEDULED_QUOTA_EXCEEDED,
    SCHEDULED_ERROR,
    SCHEDULED_OTHER, /* A reason that Karmada does not define. */
};

enum purge_mode { PURGE_GRACEFULLY, PURGE_DIRECTLY, PURGE_NEVER, PURGE_OTHER };

/* An element of spec.gracefulEvictionTasks. Interned texts, "" if unset. */
struct eviction {
    const char *cluster;
    const char *reason;
    const char *producer;
    int64_t created_ms; /* 0 if the task has no creation time yet. */
    int32_t grace_s;    /* 0 if unset: the timeout of Karmada's controller applies. */
    uint8_t purge_mode; /* enum purge_mode */
    bool suppresses;    /* suppressDeletion: both copies run until a user changes the task. */
};

/* Message of the last failed apply to a target cluster. Interned texts. */
struct target_message {
    const char *cluster;
    const char *text;
};

/* Status details that few bindings have. Messages are cut to MESSAGE_MAX bytes. */
enum { MESSAGE_MAX = 1024 };
struct status_problem {
    const char *message; /* Message of Scheduled, if it is False; NULL if absent. Interned. */
    struct eviction *evictions;
    struct target_message *messages; /* In the order of status.aggregatedStatus. */
    uint32_t eviction_count;
    uint32_t message_count;
};

/* Times are in seconds since the epoch, 0 if unknown. */
struct binding_status {
    struct status_problem *problem; /* Owned; NULL if the binding has no such details. */
    /* Last successful scheduling if Scheduled is True, else last transition of Scheduled. */
    uint32_t scheduled_s;
    uint32_t applied_s;      /* Last transition of FullyApplied. */
    uint32_t required_count; /* Targets after those of spec.clusters: clusters of requiredBy. */
    uint8_t scheduled;       /* enum scheduled */
    /* True if the scheduler has processed this generation, or the generation is unknown. */
    bool observed;
    bool reschedule_requested; /* spec.rescheduleTriggeredAt is later than the last success. */
    bool was_placed;           /* Scheduling has succeeded at least once. */
};

/* Returns the message of the last failed apply to `cluster` (a shared string); "" if unknown. */
const char *binding_status_message(const struct binding_status *p, const char *cluster);

/* Returns true if the condition Scheduled exists and is not True. */
static inline bool scheduling_failed(const struct binding_status *p)
{
    return p->scheduled >= SCHEDULED_NO_CLUSTER_FIT;
}

/* ---- the binding ---- */

/* A binding that requires this one (an element of spec.requiredBy). Interned texts, "" if unset. */
struct referrer {
    const char *ns;
    const char *name;
};

/* Amount of a resource that one replica requests, in base units (cores, bytes). Interned name. */
struct resource_request {
    const char *resource;
    double amount;
};

/* A ManagementConflict that Config Connector reports in a member cluster. Interned texts. */
struct member_conflict {
    const char *cluster; /* NULL terminates a list. */
    const char *holder;  /* Id of the lease holder; "" if unknown. */
};

/*
 * Named dependencies that Karmada recorded in an annotation of the binding of a template that
 * propagates its dependencies. Interned texts.
 */
struct recorded_dependencies {
    uint32_t count;
    struct identity items[];
};

/*
 * A ResourceBinding or a ClusterResourceBinding. Its claim and the name of its template are part
 * of the same allocation: never pass the claim to claim_free().
 */
struct binding {
    const char *api_version; /* Template in spec.resource; "" for unset members. Interned. */
    const char *kind;
    const char *ns;
    const char *name;       /* Not shared. */
    struct claim *claim;    /* NULL if unclaimed. */
    const char *managed_by; /* Label binding.karmada.io/managed-by; NULL if absent. Interned. */
    struct propagation propagation;
    const char *applied_placement; /* Placement applied last, canonical; NULL if unknown. */
    struct referrer *referrers;
    struct target_cluster *clusters; /* binding_target_count() elements. */
    struct resource_request *requests;
    struct member_conflict *member_conflicts; /* NULL if no cluster reports a conflict. */
    struct recorded_dependencies *noted;      /* NULL if unknown; an empty list if empty. */
    uint32_t referrer_count;
    uint32_t cluster_count; /* Elements of spec.clusters, the first ones of `clusters`. */
    uint32_t request_count;
    uint32_t component_count; /* Pod templates in spec.components. */
    int32_t replicas;
    uint32_t own_uid_hash; /* uid_hash() of the binding. */
    uint32_t uid_hash;     /* uid_hash() of the template (spec.resource.uid). */
    uint32_t id_hash;      /* binding_id_decode() */
    /* Smallest resourceTemplateGeneration in status.aggregatedStatus; 0 if unknown. */
    uint32_t delivered_generation;
    struct binding_write write; /* Last write of spec.resource. */
    struct binding_status status;
    uint64_t resource_version; /* Version of the template (spec.resource); 0 if unknown. */
    int64_t created_ms;
    int64_t changed_ms; /* Last change of the spec; 0 if unknown. */
    bool has_placement; /* spec.placement exists, even if empty: made by a policy. */
    bool has_conflict_resolution;
    bool has_replicas; /* Karmada has read the template's replicas, possibly 0. */
    bool deleting;
    bool was_changed;          /* The source has observed a change of `propagation`. */
    bool has_requirements;     /* spec.replicaRequirements exists. */
    bool scheduling_suspended; /* spec.suspension.scheduling */
    /* Index in clusterAffinities (of applied_placement) of the group that the scheduler uses. */
    uint8_t observed_group;
    /* Simulation only: 1 + enum undetermined_reason if the scheduler's result is open, else 0. */
    uint8_t undetermined;
    uint32_t propagated_s; /* Last write of the `propagation` fields, in seconds; 0 if unknown. */
};

/* Callbacks of struct kind_def. */
void *binding_decode(struct decode *d, const cJSON *json);
void binding_release(struct intern *strings, void *object);
void binding_inherit(void *fresh, const void *last, bool relisted);

/*
 * Returns the uid_hash() of the permanent id in the labels of a binding or of its Works. A binding
 * that is deleted and created again has a new id.
 */
uint32_t binding_id_decode(struct decode *d, const cJSON *labels);

/* Returns true for workloads, also with 0 replicas (Karmada: IsWorkload). */
static inline bool binding_is_workload(const struct binding *b)
{
    return b->replicas > 0 || b->has_requirements || b->component_count > 0;
}

/*
 * Returns the number of target clusters: those of spec.clusters, then, sorted by name, those that
 * only bindings in spec.requiredBy request.
 */
static inline uint32_t binding_target_count(const struct binding *b)
{
    return b->cluster_count + b->status.required_count;
}

enum { BINDING_NAME_MAX = 1024 }; /* Bytes; object names have at most 253, kinds 63. */
/*
 * Sets `out` to the name of a template's binding: "<name>-<kind>" in lower case, with '.' for ':'
 * in the name (Karmada: names.GenerateBindingName).
 */
void binding_name(const char *kind, const char *name, struct strbuf *out);
