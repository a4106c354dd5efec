/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/claim.h"
#include "metrics/model/managed_fields.h"
#include "metrics/model/metadata.h"

/*
 * An element of resourceSelectors or excludedResources, of whatever kind of policy. Shared texts,
 * NULL for what is not set.
 */
struct resource_selector {
    const char *api_version;
    const char *kind;
    const char *ns;
    const char *name;
    struct label_selector *labels;
};

/* The array `spec.key`; NULL if empty. Release it also after a failure. */
struct resource_selector *resource_selectors_decode(struct decode *d, const cJSON *spec,
                                                    const char *key, uint32_t *count);
void resource_selectors_release(struct intern *strings, struct resource_selector *selectors,
                                uint32_t count);

/* The two fields that referrers of a shared dependency may disagree on (seed 000). */
enum conflict_resolution { CONFLICT_RESOLUTION_ABORT, CONFLICT_RESOLUTION_OVERWRITE };

/*
 * The fields that Karmada copies from a policy's spec into a binding's (BuildResourceBinding,
 * ApplyPolicy), of either. Structures are canonical JSON (canonical.h), and all texts are shared,
 * so that equal ones are the same pointer; NULL for what is not set. Drift is a difference
 * between the two, but for schedule_priority: a policy names a PriorityClass there, a binding has
 * the number that Karmada read from it (rules/priority.h).
 */
struct propagation {
    const char *placement;
    const char *failover;
    const char *suspension; /* The part that policies own: not `scheduling`. */
    const char *scheduler_name;
    const char *schedule_priority; /* See above. */
    enum conflict_resolution conflict_resolution : 8;
    enum optional_bool preserve : 8; /* preserveResourcesOnDeletion */
    bool propagate_deps;
};

/* Read those fields of a PropagationSpec or a ResourceBindingSpec. */
void propagation_decode(struct decode *d, const cJSON *spec, struct propagation *out);
void propagation_release(struct intern *strings, struct propagation *p);
bool propagation_equal(const struct propagation *a, const struct propagation *b);

/* When anybody last wrote one of them in the spec; 0 if managedFields do not tell. */
uint32_t propagation_write_s(struct decode *d, const cJSON *metadata);

/* A PropagationPolicy or a ClusterPropagationPolicy. */
struct policy {
    struct resource_selector *selectors;
    struct resource_selector *exclusions;
    uint32_t selector_count;
    uint32_t exclusion_count;
    const char **overrides; /* dependentOverrides */
    uint32_t override_count;
    int32_t priority;
    const char *id;
    struct propagation propagation;
    const char *priority_class; /* That schedulePriority names, NULL for none. Shared. */
    bool priority_refused;      /* It names another source than Karmada accepts. */
    int64_t generation;
    int64_t created_ms;
    int64_t changed_ms; /* Last change of the spec; 0 if unknown. */
    struct spec_write write;
    /* Until when Karmada, which is seen to work off that change, has time for the rest; or 0. */
    int64_t busy_until_ms;
    bool undated; /* The source saw a change that left no time: policy_date() is to give one. */
    bool lazy;
    bool preempts; /* preemption: Always */
    bool deleting;
};

/* As struct kind_def wants them. */
void *policy_decode(struct decode *d, const cJSON *json);
void policy_release(struct intern *strings, void *object);
/* True if both specs mean the same to Karmada; of one store, whose texts are shared. */
bool policy_equal(const struct policy *a, const struct policy *b);
void policy_succeed(void *fresh, const void *last, bool relisted);

/* The time at which the source saw the change that has none of its own, if there was one. */
void policy_date(struct policy *p, int64_t now_ms);
