/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"
#include "metrics/model/decode.h"
#include "metrics/model/managed_fields.h"
#include "metrics/model/metadata.h"
#include "metrics/model/policy.h"

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
    uint32_t has_message : 1; /* Not applied, and why (struct status_problem). */
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

/*
 * How far Karmada says that it has come with a binding: the condition Scheduled, evictions, and
 * what each target's item says. A status is read leniently: what has another type is not there,
 * and a binding is not refused for it.
 */

/* The condition Scheduled; where it is False, by its reason (Karmada: getConditionByError). */
enum scheduled {
    SCHEDULED_NEVER, /* There is no such condition. */
    SCHEDULED_TRUE,
    SCHEDULED_NO_CLUSTER_FIT, /* From here on: False. */
    SCHEDULED_UNSCHEDULABLE,
    SCHEDULED_QUOTA_EXCEEDED,
    SCHEDULED_ERROR,
    SCHEDULED_OTHER, /* A reason that Karmada does not have. */
};

enum purge_mode { PURGE_GRACEFULLY, PURGE_DIRECTLY, PURGE_NEVER, PURGE_OTHER };

/* An element of spec.gracefulEvictionTasks. Shared texts, "" if unset. */
struct eviction {
    const char *cluster;
    const char *reason;
    const char *producer;
    int64_t created_ms; /* 0: not stamped yet. */
    int32_t grace_s;    /* 0 if unset: then the timeout of Karmada's controller holds. */
    uint8_t purge_mode; /* enum purge_mode */
    bool suppresses;    /* suppressDeletion: both copies run until a person says otherwise. */
};

/* Why a target's last apply failed. Shared texts. */
struct target_message {
    const char *cluster;
    const char *text;
};

/* What few bindings have. Messages are cut after MESSAGE_MAX bytes. */
enum { MESSAGE_MAX = 1024 };
struct status_problem {
    const char *message; /* Of Scheduled, if that is False; NULL if there is none. Shared. */
    struct eviction *evictions;
    struct target_message *messages; /* In the order of the targets. */
    uint32_t eviction_count;
    uint32_t message_count;
};

struct binding_status {
    struct status_problem *problem; /* NULL: none. */
    /* When the last scheduling succeeded, if Scheduled is True, else when it became what it is. */
    uint32_t scheduled_s;
    uint32_t applied_s;      /* When FullyApplied became what it is. Both 0 if unknown. */
    uint32_t required_count; /* Targets behind those of spec.clusters: of requiredBy alone. */
    uint8_t scheduled;       /* enum scheduled */
    /* False if the scheduler has not seen this generation, where both numbers are known. */
    bool observed;
    bool reschedules; /* spec.rescheduleTriggeredAt is after the last success. */
    bool was_placed;  /* Scheduling succeeded once. */
};

/* Why the last apply to a cluster failed; "" if that is not known. */
const char *binding_status_message(const struct binding_status *p, const char *cluster);

/* True if Scheduled is there and not True. */
static inline bool scheduling_failed(const struct binding_status *p)
{
    return p->scheduled >= SCHEDULED_NO_CLUSTER_FIT;
}

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
