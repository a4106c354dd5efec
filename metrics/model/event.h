/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/override_event.h"

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
