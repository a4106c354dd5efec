/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/claim.h"

/* The two fields that referrers of a shared dependency may disagree on (seed 000). */
enum conflict_resolution { CONFLICT_RESOLUTION_ABORT, CONFLICT_RESOLUTION_OVERWRITE };

/*
 * One entry of resourceSelectors or excludedResources. Unset texts are NULL;
 * all set texts are shared.
 */
struct resource_selector {
    const char *api_version;
    const char *kind;
    const char *ns;
    const char *name;
    struct label_selector *labels;
};

/*
 * What is copied from a policy's spec into the binding's (Karmada:
 * BuildResourceBinding, ApplyPolicy), each as canonical JSON (canonical.h), so
 * that equal is the same shared pointer. NULL for what is not set. Bindings
 * hold theirs in the same struct: comparing the two is the whole of drift, but
 * for schedule_priority: a policy names a PriorityClass there, a binding has
 * the number that Karmada read from it, and the two never compare.
 */
struct propagation {
    const char *placement;
    const char *failover;
    const char *suspension; /* The part that policies own: not `scheduling`. */
    const char *scheduler_name;
    const char *schedule_priority; /* Of a policy and of a binding not the same thing. */
    enum conflict_resolution conflict_resolution;
    enum optional_bool preserve; /* preserveResourcesOnDeletion */
    bool propagate_deps;
};

/* Read those fields of a PropagationSpec or a ResourceBindingSpec. */
void propagation_decode(struct decode *d, const cJSON *spec, struct propagation *out);
void propagation_release(struct intern *strings, struct propagation *p);

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
    int64_t generation;
    int64_t created_ms;
    int64_t changed_ms; /* Last change of the spec; 0 if unknown. */
    bool lazy;
    bool preempts; /* preemption: Always */
    bool deleting;
};

void *policy_decode(struct decode *d, const cJSON *json);
void policy_release(struct intern *strings, void *object);
