/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/override/override_effect.h"
#include "metrics/rules/rule.h"

/*
 * Effects of the override policies on one template in all its member clusters: the targets of its
 * binding, or of the prediction if it has no binding.
 */

struct target_override {
    const char *cluster;
    int32_t replicas; /* Replicas that the scheduler assigns; 0 if unknown or without replicas. */
    bool missing;     /* Clusters exist and all have been read, but no Cluster has this name. */
    struct override_effect effect; /* All zero if `missing`, or without evaluation. */
    struct override_steps steps;   /* The rules, selected by the template as it is. */
};

struct template_overrides {
    struct override_selection selection;
    struct target_override *items; /* Sorted by cluster. */
    size_t count;
    struct projection *projection; /* Owner of the names of predicted targets; NULL: a binding. */
    struct intern *strings;
    bool predicted; /* The targets are those of the prediction. */
    bool evaluated; /* The whole template is known; else the effects are all zero. */
};

/*
 * Returns the effects for a decided template. `failures_only`: see struct override_subject. If no
 * override policy selects the template, `selection` is empty, and so is `items`. Valid until the
 * store or a decision changes. Release it with template_overrides_release().
 */
struct template_overrides template_overrides_make(const struct rule_context *c,
                                                  const struct entry *template, bool failures_only);
void template_overrides_release(struct template_overrides *o);

/* Sets spec.replicas of a template, if it has them, to the scheduler's replicas, if above 0. */
void template_set_replicas(cJSON *object, int32_t replicas);

/* Returns true if it is certain that a rule fails for the target. */
bool target_override_fails(const struct target_override *t);

/* Returns the first target for which a rule fails; NULL without one. */
const struct target_override *template_overrides_find_failure(const struct template_overrides *o);

/* Returns true if the values of a template must not be shown: it is a Secret. */
bool override_values_are_hidden(const struct entry *template);

/* Returns the reason of a failure; without values if they are hidden. */
const char *override_failure_text(const struct override_effect *effect, bool hidden);
