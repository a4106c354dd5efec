/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/decode.h"

/* What an Event says of the override policies of a template. */
enum override_outcome {
    OVERRIDE_FAILED,  /* ApplyOverridePolicyFailed: one cannot be applied for a member cluster. */
    OVERRIDE_APPLIED, /* ApplyOverridePolicySucceed: one was. */
    WORKS_WRITTEN,    /* SyncWorkSucceed: all were, for all clusters, and all Works are there. */
};

/*
 * An Event about that. Karmada's override manager names policy and cluster in the message alone:
 * "Apply override policy(<namespace>/<name>) for cluster(<name>) failed." or "Apply cluster
 * override policy(<name>) for ...". Its client counts in one Event what repeats, and drops what
 * comes too often: after 25 of one reason about a template one in five minutes is left, so that the
 * time may be that of an early try; and of more than ten messages about a template it combines the
 * others in one Event, which has the last of them. Shared texts.
 */
struct override_event {
    const char *api_version; /* Of the template. */
    const char *cluster;     /* "" of WORKS_WRITTEN, as is the policy. */
    const char *policy_ns;   /* "" for a ClusterOverridePolicy. */
    const char *policy;
    int64_t time_ms;   /* When it was seen last. */
    uint32_t uid_hash; /* Of the template; that of "" if unknown. */
    uint8_t outcome;   /* enum override_outcome */
    char message[];    /* If it failed, Karmada's words, cut; else "". */
};

enum { OVERRIDE_MESSAGE_MAX = 1024 };

/* True if the two say the same of the same. */
bool override_event_equal(const struct override_event *a, const struct override_event *b);

/* The component that writes our own Events. */
#define EVENT_COMPONENT "karmada-policy-exporter"

/* The reason of Events about conflicts, of Karmada and of our own. */
#define EVENT_CONFLICT "DependencyPolicyConflict"

/*
 * An Event of core/v1 or of events.k8s.io/v1: what counting needs of a DependencyPolicyConflict,
 * and what became of override policies. Of any other event nothing is kept: all is zero. Shared
 * texts.
 */
struct event {
    const char *kind; /* Of the object it is about: the attached ResourceBinding, the template. */
    const char *ns;   /* "" if the object is cluster-scoped. */
    const char *name;
    const char *uid;         /* Of the Event itself; NULL if not set. */
    uint32_t about_uid_hash; /* uid_hash() of that object's. */
    uint32_t count;          /* How often it was seen, at least once. */
    bool is_conflict;
    bool ours;                /* Written by a program of our name, not by Karmada. */
    bool conflict_resolution; /* What its message says the referrers disagree on. */
    bool preserve;
    struct override_event *override; /* NULL if it is not about override policies. */
};

/* As struct kind_def wants them. */
void *event_decode(struct decode *d, const cJSON *json);
void event_release(struct intern *strings, void *object);
