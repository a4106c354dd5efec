/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/decode.h"

/*
 * Kubernetes Events of Karmada and of the exporter: conflicts of shared dependencies, results of
 * override policies, and templates to which Karmada could not apply a policy.
 */

/* Result of the override policies of a template, as given by the reason of an Event. */
enum override_outcome {
    OVERRIDE_FAILED,  /* ApplyOverridePolicyFailed: one policy failed for one member cluster. */
    OVERRIDE_APPLIED, /* ApplyOverridePolicySucceed: one policy was applied for one cluster. */
    WORKS_WRITTEN,    /* SyncWorkSucceed: all policies applied, all Works written. */
};

/*
 * Content of an Event about override policies. Policy and cluster are parsed from the message:
 * "Apply override policy(<namespace>/<name>) for cluster(<name>) failed." or "Apply cluster
 * override policy(<name>) for ...". Interned texts.
 *
 * Karmada's Event client merges and drops Events. A repetition increments the count of the previous
 * Event. After 25 Events about a template the client sends only one in five minutes, so time_ms may
 * be that of an earlier attempt. After ten different messages of one reason about a template, one
 * Event represents all further ones and has the last message.
 */
struct override_event {
    const char *api_version; /* apiVersion of the template. */
    const char *cluster;     /* "" for WORKS_WRITTEN. */
    const char *policy_ns;   /* "" for a ClusterOverridePolicy and for WORKS_WRITTEN. */
    const char *policy;      /* "" for WORKS_WRITTEN. */
    int64_t time_ms;         /* Last occurrence; 0 if unknown. */
    uint32_t uid_hash;       /* uid_hash() of the template's UID. */
    uint8_t outcome;         /* Value of enum override_outcome. */
    char message[];          /* For OVERRIDE_FAILED, at most OVERRIDE_MESSAGE_MAX bytes; else "". */
};

enum { OVERRIDE_MESSAGE_MAX = 1024 };

/* Returns true if all members are equal. Both need the same string pool. */
bool override_event_equal(const struct override_event *a, const struct override_event *b);

/*
 * Returns the namespace of the object that the Event is about, borrowed; "" if that is cluster-
 * scoped or unknown. The Event itself is then in the namespace "default".
 */
const char *event_subject_ns(const cJSON *json);

/* Component name in Events that the exporter emits. */
#define EVENT_COMPONENT "karmada-policy-exporter"

/* Reason of Events about conflicts of shared dependencies, emitted by Karmada or an exporter. */
#define EVENT_CONFLICT "DependencyPolicyConflict"

/* Reason of Events about templates to which Karmada could not apply the policy. */
#define EVENT_REFUSAL "ApplyPolicyFailed"

/*
 * Content of an Event with the reason EVENT_REFUSAL. Karmada repeats the attempt, with growing
 * delays; single Events are normal, such as for an update of an object that has just changed.
 * Karmada's Event client merges and drops Events (struct override_event).
 */
struct refusal_event {
    const char *api_version; /* apiVersion of the template. Interned. */
    int64_t time_ms;         /* Last occurrence; 0 if unknown. */
    uint32_t uid_hash;       /* uid_hash() of the template's UID. */
};

/*
 * An Event of core/v1 or events.k8s.io/v1 about a conflict of shared dependencies (is_conflict),
 * about override policies (`override`), or about a refused template (`refusal`). For other Events
 * all members are zero. Interned texts.
 */
struct event {
    const char *kind; /* Kind of the Event's object: a binding for conflicts, else a template. */
    const char *ns;   /* "" if the object is cluster-scoped. */
    const char *name;
    struct override_event *override; /* Owned; NULL if the Event is another, or cannot be parsed. */
    struct refusal_event *refusal;   /* Owned; NULL if the Event is another, or has long names. */
    /* From here on, the members are zero if the Event is not about a conflict. */
    const char *uid;         /* UID of the Event itself; NULL if unset. */
    uint32_t about_uid_hash; /* uid_hash() of the UID of the object. */
    uint32_t count;          /* Number of occurrences, at least 1. */
    bool is_conflict;
    bool ours;                /* Emitted by an exporter, not by Karmada. */
    bool conflict_resolution; /* The message reports a conflict of conflictResolution. */
    bool preserve;            /* The message reports a conflict of preserveResourcesOnDeletion. */
};

/* Callbacks of the row in the table of kinds (struct kind_def). */
void *event_decode(struct decode *d, const cJSON *json);
void event_release(struct intern *strings, void *object);
