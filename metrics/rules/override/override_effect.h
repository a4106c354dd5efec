/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/override/override_changes.h"
#include "metrics/rules/override/overriders.h"
#include "metrics/rules/overrides.h"

/*
 * Result of the override policies for one template and one member cluster (Karmada:
 * ApplyOverridePolicies). Karmada applies them to a copy of the template, after the scheduler's
 * replicas were written into it.
 */

/* A rule that was applied, and the values that it changed. */
struct applied_override {
    const struct entry *policy;
    const struct override_rule *rule;
    struct override_changes changes; /* Only paths; empty if the rule changes nothing. */
};

struct override_effect {
    struct applied_override *applied; /* In the order of application. */
    size_t applied_count;
    struct override_changes changes; /* The template against the result. Empty after a failure. */
    cJSON *result;                   /* The changed object; NULL after a failure. */
    /* The rule that failed; NULL without a failure. */
    const struct entry *failed_policy;
    const struct override_rule *failed_rule;
    bool panicked;    /* Karmada's controller panics at the failed rule. */
    struct error err; /* The reason of the failure. */
    /* See struct override_steps. */
    bool unsure;
    bool release_decides;
};

/* A template, and where its override policies are. */
struct override_subject {
    const struct store *store;
    const struct entry *template;
    const cJSON *object; /* The whole template. */
    const struct yaml_converter *yaml;
    struct release_range release;
    /* Leave out `changes` of the effect and of applied rules, and `result`: for failures alone. */
    bool failures_only;
};

/*
 * Returns the effect for the member cluster `name`; `cluster` is NULL if its Cluster object is not
 * known. `selection` is that of the template. The result points into the store and is valid until
 * the store changes; release it with override_effect_release().
 */
struct override_effect override_effect_make(const struct override_subject *subject,
                                            const struct override_selection *selection,
                                            const char *name, const struct cluster *cluster);
void override_effect_release(struct override_effect *effect);

/* Returns true if both effects of one template have equal rules, changes and failures. */
bool override_effects_equal(const struct override_effect *a, const struct override_effect *b);

/* Returns the index of a rule in spec.overrideRules; 0 for the deprecated fields. */
uint32_t override_rule_index(const struct entry *policy, const struct override_rule *rule);

/*
 * Returns the value of the annotation of the Work with the applied ClusterOverridePolicies
 * (`cluster_scoped`) or OverridePolicies, sorted by name; NULL if there is none. Owned by the
 * caller.
 */
cJSON *override_effect_annotation(const struct override_effect *effect,
                                  bool cluster_scoped) MUST_USE;
