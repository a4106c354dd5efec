/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/decode.h"
#include "metrics/model/target.h"

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
struct trouble {
    const char *message; /* Of Scheduled, if that is False; NULL if there is none. Shared. */
    struct eviction *evictions;
    struct target_message *messages; /* In the order of the targets. */
    uint32_t eviction_count;
    uint32_t message_count;
};

struct binding_status {
    struct trouble *trouble; /* NULL: none. */
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

/* Fill in `out`, and the items of the targets. */
void binding_status_decode(struct decode *d, const cJSON *json, struct target_cluster *targets,
                           uint32_t target_count, struct binding_status *out);
void binding_status_release(struct intern *strings, struct binding_status *p);

/* Why the last apply to a cluster failed; "" if that is not known. */
const char *binding_status_message(const struct binding_status *p, const char *cluster);

/* True if Scheduled is there and not True. */
static inline bool scheduling_failed(const struct binding_status *p)
{
    return p->scheduled >= SCHEDULED_NO_CLUSTER_FIT;
}

/* The task that moves the resource off the cluster; NULL if there is none. */
const struct eviction *binding_status_eviction(const struct binding_status *p, const char *cluster);
