/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/cluster.h"
#include "metrics/model/override_policy.h"
#include "metrics/rules/selector.h"

/*
 * Which override policies act on a template on its way to a member cluster, and in which order
 * (Karmada: ApplyOverridePolicies). What they change is not looked at: see `others_may_act`.
 */

/* An override policy that selects a template. One that is being deleted still does. */
struct overriding {
    const struct entry *policy;
    enum selector_score score; /* SCORE_ALL also of one without selectors. */
};

/* All that select one template, in the order in which Karmada applies them. */
struct override_selection {
    struct overriding *items;
    size_t count;
    size_t capacity;
};

/*
 * Those of a template, which has an object: ClusterOverridePolicies, then the OverridePolicies of
 * its namespace; in each kind the closest match last, and by name in byte order. Valid until the
 * store changes. Release it with override_selection_release().
 */
struct override_selection override_selection_make(const struct store *store,
                                                  const struct entry *template);
void override_selection_release(struct override_selection *selection);

/* A rule that acts on a cluster. */
struct override_step {
    const struct overriding *by;
    const struct override_rule *rule;
};

/* All of them on one cluster, in the order in which they act. */
struct override_steps {
    struct override_step *items; /* NULL if none does. */
    size_t count;
    /* What is known of the cluster, its name, does not say whether some rule means it. */
    bool unsure;
    /*
     * A ClusterOverridePolicy among them can change the labels, the name or the namespace of the
     * template. Karmada selects OverridePolicies after that, so that other ones may act.
     */
    bool others_may_act;
};

/*
 * The rules of a selection that act on the cluster `name`; `cluster` is NULL if there is no object
 * of it. They point into the selection. Release them with override_steps_release().
 */
struct override_steps override_steps_make(const struct override_selection *selection,
                                          const char *name, const struct cluster *cluster);
void override_steps_release(struct override_steps *steps);

/* True if the same rules act; of one selection. */
bool override_steps_equal(const struct override_steps *a, const struct override_steps *b);

/* The place of a step's rule in spec.overrideRules; of a deprecated one (struct override) 0. */
uint32_t override_step_index(const struct override_step *step);
