/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"
#include "metrics/model/decode.h"
#include "metrics/model/managed_fields.h"
#include "metrics/model/metadata.h"
#include "metrics/model/policy.h"

/*
 * ResourceBinding and ClusterResourceBinding: the template, the copied policy fields, the target
 * clusters and the status. Most members of a wrong type reject the binding. Such a member counts as
 * absent in status, in spec.gracefulEvictionTasks, and as spec.rescheduleTriggeredAt, metadata.uid,
 * metadata.managedFields[].manager, spec.suspension.dispatchingOnClusters.clusterNames or
 * spec.requiredBy[].clusters.
 */

/* ---- target clusters of a binding ---- */

/* Health of a resource in a member cluster: aggregatedStatus[].health. */
enum target_health {
    HEALTH_UNKNOWN, /* Value "Unknown", or no value. */
    HEALTH_HEALTHY,
    HEALTH_UNHEALTHY,
    HEALTH_OTHER, /* The value is not defined by Karmada. */
};

/*
 * Status of one target cluster: `suspended` from spec.suspension, the other members from the
 * cluster's element of status.aggregatedStatus. Without such an element, the other members are 0.
 */
struct target_status {
    uint32_t generation : 24; /* status.resourceTemplateGeneration; 0 if unknown or too large. */
    uint32_t exists : 1;      /* status.aggregatedStatus has an element for the cluster. */
    uint32_t applied : 1;
    uint32_t has_message : 1; /* Not applied, and struct status_problem has a message. */
    uint32_t health : 2;      /* Value of enum target_health. */
    uint32_t rolling : 1;     /* Unhealthy during a rollout in the member cluster. */
    uint32_t suspended : 1;   /* Dispatching to the cluster is suspended. */
    uint32_t unused : 1;      /* 0: interned blocks have no padding. */
};

/* A member cluster and its replicas, as in spec.clusters. The name is interned. */
struct target_cluster {
    const char *name;
    int32_t replicas;
    struct target_status item; /* All 0 if the target does not belong to a binding. */
};

/* Returns the target of this name; NULL without one. */
const struct target_cluster *targets_find(const struct target_cluster *targets, uint32_t count,
                                          const char *name);
/* Returns true if both arrays of `count` targets have the same names and replicas, in order. */
bool targets_equal(const struct target_cluster *a, const struct target_cluster *b, uint32_t count);

/*
 * Sets `suspended` of each target from the canonical JSON of a suspension (struct propagation);
 * NULL: no target is suspended. The names of the targets are in `strings`.
 */
void targets_set_suspended(const struct intern *strings, const char *suspension,
                           struct target_cluster *targets, uint32_t count);

/*
 * Returns true if Karmada dispatches to the target, or the cluster has a copy from the time before
 * the suspension.
 */
static inline bool target_has_copy(const struct target_cluster *target)
{
    return !target->item.suspended || target->item.applied;
}

/* ---- status of a binding ---- */

/* Condition Scheduled; if not True, classified by its reason (Karmada: getConditionByError). */
enum scheduled {
    SCHEDULED_NEVER, /* The condition is absent. */
    SCHEDULED_TRUE,
    SCHEDULED_NO_CLUSTER_FIT, /* From this value on, the condition is not True. */
    SCHEDULED_UNSCHEDULABLE,
    SCHEDULED_QUOTA_EXCEEDED,
    SCHEDULED_ERROR,
    SCHEDULED_OTHER, /* No reason, or none of Karmada's. */
};

enum purge_mode { PURGE_GRACEFULLY, PURGE_DIRECTLY, PURGE_NEVER, PURGE_OTHER };

/* An element of spec.gracefulEvictionTasks. Interned texts, "" if unset. */
struct eviction {
    const char *cluster;
    const char *reason;
    const char *producer;
    int64_t created_ms; /* 0 if unset or invalid. */
    int32_t grace_s;    /* 0 if unset or invalid: Karmada applies its own timeout. */
    uint8_t purge_mode; /* Value of enum purge_mode. */
    bool suppresses;    /* suppressDeletion: the evicted copy runs until a user changes the task. */
    uint16_t unused;    /* 0: interned blocks have no padding. */
};

/* Message of the last failed apply to a target cluster. Interned texts. */
struct target_message {
    const char *cluster;
    const char *text;
};

enum { MESSAGE_MAX = 1024 }; /* In bytes; longer messages are cut. */

/*
 * Failures and evictions, which few bindings have. A failover gives the same to many: they share
 * one interned block with interned blocks of evictions and messages.
 */
struct status_problem {
    const char *message; /* Message of Scheduled, if that is not True; NULL if empty. Interned. */
    const struct eviction *evictions;
    const struct target_message *messages; /* In the order of status.aggregatedStatus. */
    uint32_t eviction_count;
    uint32_t message_count;
};

/* Status of a binding. Times are in seconds since the epoch, 0 if unknown. */
struct binding_status {
    const struct status_problem *problem; /* Interned, borrowed in copies; or NULL. */
    /* status.lastScheduledTime if set and Scheduled is True; else last transition of Scheduled. */
    uint32_t scheduled_s;
    uint32_t applied_s;      /* Last transition of the condition FullyApplied. */
    uint32_t required_count; /* Number of targets in spec.requiredBy, but not in spec.clusters. */
    uint8_t scheduled;       /* Value of enum scheduled. */
    /* The scheduler has processed the current generation, or the generation is unknown. */
    bool observed;
    /* spec.rescheduleTriggeredAt is after status.lastScheduledTime, or only the first is set. */
    bool reschedule_requested;
    /* status.lastScheduledTime is set, or the source has observed clusters in spec.clusters. */
    bool was_placed;
};

/* Returns the message of the last failed apply to `cluster` (an interned string); "" if unknown. */
const char *binding_status_message(const struct binding_status *p, const char *cluster);

/* Returns true if the condition Scheduled exists and is not True. */
static inline bool has_failed_scheduling(const struct binding_status *p)
{
    return p->scheduled >= SCHEDULED_NO_CLUSTER_FIT;
}

/* ---- spec and metadata of a binding ---- */

struct quota_excess; /* metrics/rules/admission/quota.h */

/* Element of spec.requiredBy: a binding whose template needs the template of this binding. */
struct referrer {
    const char *ns; /* Both texts are interned; "" if unset. */
    const char *name;
};

/* Amount of a resource that one replica requests, in base units (cores, bytes). */
struct resource_request {
    const char *resource; /* Name, such as "cpu". Interned. */
    double amount;
};

/* A ManagementConflict that Config Connector reports from a member cluster. Interned texts. */
struct member_conflict {
    const char *cluster; /* NULL in the last element of an array. */
    const char *holder;  /* Id of the lease holder; "" if unknown. */
};

/*
 * Dependencies in the annotation resourcebinding.karmada.io/dependencies of a binding, without
 * those that have no apiVersion, kind or name (label selector). Interned texts.
 */
struct recorded_dependencies {
    uint32_t count;
    struct identity items[];
};

/* Members that few bindings have. */
struct binding_rare {
    struct referrer *referrers;
    struct member_conflict *member_conflicts; /* NULL if no cluster reports a conflict. */
    struct recorded_dependencies *recorded;   /* NULL if unknown. */
    /* spec.workloadAffinityGroups; NULL if unset. Interned. */
    const char *affinity_group;
    const char *anti_affinity_group;
    const char *managed_by; /* Label binding.karmada.io/managed-by; NULL if absent. Interned. */
    /* status.schedulerObservingAffinityName; NULL if unset. Interned. */
    const char *observed_affinity;
    /* For simulations: results of different releases if these make the targets unpredictable. */
    const char *by_release;
    /* For simulations: the quota that refuses the last write of the binding; NULL without one. */
    const struct quota_excess *quota_excess;
    uint32_t referrer_count;
    uint32_t deleted_s; /* metadata.deletionTimestamp, seconds since the epoch; 0 if unset. */
};

/* Returns rare members that are all unset. */
const struct binding_rare *binding_rare_none(void);

/*
 * A ResourceBinding or a ClusterResourceBinding. The name of its template is part of the same
 * allocation: do not free it.
 */
struct binding {
    /*
     * The template, from spec.resource. `scope` is an interned block, borrowed in copies; `name` is
     * "" if unset.
     */
    const struct object_scope *scope;
    const char *name;
    const struct claim *claim; /* Result of claim_decode(); NULL if no policy claims the binding. */
    const struct propagation *propagation; /* Result of propagation_share(). */
    /* Canonical JSON of the annotation applied-placement; NULL if absent, invalid or empty. */
    const char *applied_placement;
    /* Interned block of binding_target_count() targets; NULL without targets. */
    const struct target_cluster *clusters;
    const struct resource_request *requests; /* Interned block; NULL without requests. */
    const struct binding_rare *rare;         /* Owned; NULL if all are unset. Use binding_rare(). */
    uint32_t cluster_count; /* Number of elements in spec.clusters; `clusters` may have more. */
    uint32_t request_count;
    uint32_t component_count; /* Number of pod templates in spec.components. */
    int32_t replicas;
    uint32_t own_uid_hash; /* uid_hash() of the UID of the binding. */
    uint32_t uid_hash;     /* uid_hash() of the UID of the template. */
    uint32_t id_hash;      /* Result of binding_id_decode(). */
    /* Smallest resourceTemplateGeneration in status.aggregatedStatus; 0 if unknown. */
    uint32_t delivered_generation;
    struct binding_write write; /* Result of binding_write_decode(). */
    struct binding_status status;
    uint64_t resource_version; /* spec.resource.resourceVersion; 0 if unknown. */
    uint32_t created_s;        /* Seconds since the epoch; 0 if unknown. */
    /* user_change_time_ms() in seconds; Karmada's writes of the spec count as changes. */
    uint32_t changed_s;
    bool
        has_placement : 1; /* spec.placement exists, even if empty: a policy created the binding. */
    bool was_scheduled : 1; /* The annotation applied-placement exists, even if empty. */
    bool has_conflict_resolution : 1;
    bool has_replicas : 1; /* spec.replicas or spec.replicaRequirements exists. */
    bool deleting : 1;
    bool protected : 1;            /* Result of deletion_is_protected(). */
    bool was_changed : 1;          /* The source has observed a change of `propagation`. */
    bool has_requirements : 1;     /* spec.replicaRequirements exists. */
    bool scheduling_suspended : 1; /* spec.suspension.scheduling */
    /* Index of the scheduler's group in the applied clusterAffinities; 0 if unknown or > 254. */
    uint8_t observed_group;
    /* For simulations: 1 + enum undetermined_reason if the targets are unpredictable, else 0. */
    uint8_t undetermined;
    uint32_t propagated_s; /* Result of propagation_write_time_s(). */
};

static_assert(sizeof(struct binding) <= 152, "a store has up to a million bindings");

/* Return the creation, and the last change of the spec, in ms since the epoch; 0 if unknown. */
static inline int64_t binding_created_ms(const struct binding *b)
{
    return (int64_t)b->created_s * 1000;
}

static inline int64_t binding_changed_ms(const struct binding *b)
{
    return (int64_t)b->changed_s * 1000;
}

/* Returns the rare members of a binding; if all are unset, an empty struct. */
static inline const struct binding_rare *binding_rare(const struct binding *b)
{
    return b->rare ? b->rare : binding_rare_none();
}

/* Times at which Karmada's components wrote a binding, in seconds since the epoch; 0 if unknown. */
struct binding_times {
    uint32_t written_s;   /* binding.write.time_s */
    uint32_t scheduled_s; /* binding_status.scheduled_s */
};

/* Sets `out` from a binding that is not decoded. Members of a wrong type count as absent. */
void binding_times_decode(const cJSON *json, struct binding_times *out);

/* Members that binding_decode() reads, for the row in the table of kinds (struct kind_def). */
extern const struct json_filter binding_fields;

/* Callbacks of the row in the table of kinds (struct kind_def). */
void *binding_decode(struct decode *d, const cJSON *json);
void binding_release(struct intern *strings, void *object);
void binding_inherit(void *fresh, const void *last, bool relisted);

/*
 * Returns the uid_hash() of the permanent id in the labels of a binding or of its Works;
 * uid_hash("") without an id. A binding that is deleted and created again has a new id.
 */
uint32_t binding_id_decode(struct decode *d, const cJSON *labels);

/* Returns true if there are replicas, requirements or components (Karmada: IsWorkload). */
static inline bool binding_is_workload(const struct binding *b)
{
    return b->replicas > 0 || b->has_requirements || b->component_count > 0;
}

/*
 * Returns the number of elements in `clusters`: first spec.clusters, in order; then, sorted by
 * name, the clusters that are in spec.requiredBy only.
 */
static inline uint32_t binding_target_count(const struct binding *b)
{
    return b->cluster_count + b->status.required_count;
}

enum { BINDING_NAME_MAX = 1024 }; /* Limit in bytes for buffers; valid names are shorter. */
/*
 * Sets `out` to the name of a template's binding: "<name>-<kind>" in lower case, with '.' for ':'
 * in the name (Karmada: names.GenerateBindingName).
 */
void binding_name(const char *kind, const char *name, struct strbuf *out);
/* Returns true if an API server accepts binding_name() as the name of an object. */
bool binding_name_is_valid(const char *kind, const char *name);
