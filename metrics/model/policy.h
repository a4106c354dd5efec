/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/claim.h"
#include "metrics/model/managed_fields.h"
#include "metrics/model/metadata.h"

/*
 * PropagationPolicy and ClusterPropagationPolicy, and the parts that they share with override
 * policies (resource selectors) and bindings (propagation).
 */

/* An element of resourceSelectors or excludedResources. Interned texts, NULL if unset. */
struct resource_selector {
    const char *api_version;
    const char *kind;
    const char *ns;
    const char *name;
    struct label_selector *labels;
};

/*
 * Returns the selectors in the array `spec.key`; NULL if it is absent or empty. Release them with
 * resource_selectors_release(), also after an error.
 */
struct resource_selector *resource_selectors_decode(struct decode *d, const cJSON *spec,
                                                    const char *key, uint32_t *count);
void resource_selectors_release(struct intern *strings, struct resource_selector *selectors,
                                uint32_t count);

/* Default of the field schedulerName of a policy. */
#define DEFAULT_SCHEDULER "default-scheduler"

/* Field conflictResolution of a policy or binding. */
enum conflict_resolution { CONFLICT_RESOLUTION_ABORT, CONFLICT_RESOLUTION_OVERWRITE };

/*
 * Fields that Karmada copies from the spec of a policy into the spec of a binding
 * (Karmada: BuildResourceBinding, ApplyPolicy). Structures are canonical JSON (canonical_json.h).
 * Texts are interned; NULL if unset. A difference between policy and binding is drift, except in
 * schedule_priority: a policy names a PriorityClass, a binding has the number from that class.
 */
struct propagation {
    const char *placement;
    const char *failover;
    const char *suspension;     /* See CANONICAL_SUSPENSION. */
    const char *scheduler_name; /* DEFAULT_SCHEDULER if unset. */
    const char *schedule_priority;
    enum conflict_resolution conflict_resolution : 8;
    enum optional_bool preserve : 8; /* Field preserveResourcesOnDeletion. */
    bool propagate_deps;             /* In a policy, true also if it selects ServiceImports. */
};

/* Sets `out` to the fields in the spec of a policy or a binding. */
void propagation_decode(struct decode *d, const cJSON *spec, struct propagation *out);
void propagation_release(struct intern *strings, struct propagation *p);
/* Returns an interned block with the fields, and takes their references. */
const struct propagation *propagation_share(struct intern *strings, const struct propagation *p);
/* Drops the result of propagation_share(). */
void propagation_drop(struct intern *strings, const struct propagation *shared);
/* Returns fields of which no one is set, not even to its default. */
const struct propagation *propagation_none(void);
/* Returns true if all members are equal. Both need the same string pool. */
bool propagation_equal(const struct propagation *a, const struct propagation *b);

/*
 * Returns the time of the newest entry of managedFields that owns a field of struct propagation, in
 * seconds since the epoch; 0 if no such entry has a time.
 */
uint32_t propagation_write_time_s(struct decode *d, const cJSON *metadata);

struct policy {
    struct resource_selector *selectors;
    struct resource_selector *exclusions;
    uint32_t selector_count;
    uint32_t exclusion_count;
    const char **overrides; /* Field dependentOverrides. */
    uint32_t override_count;
    int32_t priority;
    const char *id;                        /* Result of permanent_id_decode(). */
    const struct propagation *propagation; /* Result of propagation_share(). */
    const char *priority_class; /* PriorityClass in schedulePriority; NULL if unset. Interned. */
    bool priority_refused;      /* priorityClassSource is set to an unsupported value. */
    int64_t generation;
    int64_t created_ms;
    int64_t changed_ms; /* Last change by a user; 0 if unknown. */
    int64_t deleted_ms; /* metadata.deletionTimestamp; 0 if unset. */
    struct spec_write write;
    /* Drift from the last change is not overdue before this time; 0: no extension of the grace. */
    int64_t grace_extended_until_ms;
    struct admission *admission; /* Owned; NULL without findings. */
    bool unread;                 /* Result of decode_admission(): the policy selects nothing. */
    bool undated;                /* A change was observed, but changed_ms is not its time yet. */
    bool lazy;
    bool protected; /* Result of deletion_is_protected(). */
    bool preempts;  /* Field preemption is "Always". */
    bool deleting;
};

/* Callbacks of the row in the table of kinds (struct kind_def). */
void *policy_decode(struct decode *d, const cJSON *json);
void policy_release(struct intern *strings, void *object);
void policy_inherit(void *fresh, const void *last, bool relisted);

/* Returns true if decoded specs and `deleting` of two policies of one string pool are equal. */
bool policy_equal(const struct policy *a, const struct policy *b);

/* If `undated`, raises changed_ms to `now_ms`, and clears `undated`. */
void policy_set_change_time(struct policy *p, int64_t now_ms);
