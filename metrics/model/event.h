/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/decode.h"

/*
 * Kubernetes Events of Karmada and of the exporter: conflicts of shared dependencies, and results
 * of override policies.
 */

/* Result of the override policies of a template, as reported by the reason of an Event. */
enum override_outcome {
    OVERRIDE_FAILED,  /* ApplyOverridePolicyFailed: one policy failed for one member cluster. */
    OVERRIDE_APPLIED, /* ApplyOverridePolicySucceed: one policy was applied for one cluster. */
    WORKS_WRITTEN,    /* SyncWorkSucceed: all policies applied, all Works written. */
};

/*
 * Content of an Event about override policies. Only its message names policy and cluster: "Apply
 * override policy(<namespace>/<name>) for cluster(<name>) failed." or "Apply cluster override
 * policy(<name>) for ...". Interned texts.
 *
 * The event client of Karmada aggregates: repetitions increment the count of one Event; after 25
 * Events of one reason about a template it emits one in five minutes, so the time may be that of an
 * earlier attempt; after ten different messages about a template it combines the following ones
 * in one Event, which has the last message.
 */
struct override_event {
    const char *api_version; /* apiVersion of the template. */
    const char *cluster;     /* "" for WORKS_WRITTEN. */
    const char *policy_ns;   /* "" for a ClusterOverridePolicy and for WORKS_WRITTEN. */
    const char *policy;      /* "" for WORKS_WRITTEN. */
    int64_t time_ms;         /* Last occurrence. */
    uint32_t uid_hash;       /* uid_hash() of the template's UID. */
    uint8_t outcome;         /* Value of enum override_outcome. */
    char message[];          /* Message of the Event for OVERRIDE_FAILED, cut; else "". */
};

enum { OVERRIDE_MESSAGE_MAX = 1024 }; /* Maximum of `message` in bytes. */

/* Returns true if all members are equal. */
bool override_event_equal(const struct override_event *a, const struct override_event *b);

/* Component name in Events that the exporter emits. */
#define EVENT_COMPONENT "karmada-policy-exporter"

/* Reason of Events about conflicts of shared dependencies, emitted by Karmada or an exporter. */
#define EVENT_CONFLICT "DependencyPolicyConflict"

/*
 * An Event of core/v1 or events.k8s.io/v1. All members are zero for Events with other reasons.
 * Interned texts.
 */
struct event {
    const char *kind; /* Kind of the Event's object: an attached ResourceBinding, or a template. */
    const char *ns;   /* "" if the object is cluster-scoped. */
    const char *name;
    const char *uid;         /* UID of the Event itself; NULL if unset. */
    uint32_t about_uid_hash; /* uid_hash() of the UID of the object. */
    uint32_t count;          /* Number of occurrences, at least 1. */
    bool is_conflict;
    bool ours;                       /* Emitted by an exporter, not by Karmada. */
    bool conflict_resolution;        /* The message reports a conflict of conflictResolution. */
    bool preserve;                   /* It reports one of preserveResourcesOnDeletion. */
    struct override_event *override; /* Owned; NULL for Events about other subjects. */
};

/* Callbacks of the row in the table of kinds (struct kind_def). */
void *event_decode(struct decode *d, const cJSON *json);
void event_release(struct intern *strings, void *object);
