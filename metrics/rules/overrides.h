/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/cluster.h"
#include "metrics/model/event.h"
#include "metrics/model/override_policy.h"
#include "metrics/model/store.h"
#include "metrics/model/work.h"
#include "metrics/rules/control_plane.h"
#include "metrics/rules/object_index.h"
#include "metrics/rules/selector.h"

/*
 * Override policies: which of them apply to a template for a member cluster, in which order
 * (Karmada: ApplyOverridePolicies), and which of them failed by an Event.
 * override/override_effect.h evaluates their overriders.
 */

/* ---- selection ---- */

/* An override policy that selects a template. A policy in deletion still selects templates. */
struct overriding {
    const struct entry *policy;
    enum selector_score score; /* A policy without selectors has SCORE_ALL. */
};

/* All override policies that select one template, in the order in which Karmada applies them. */
struct override_selection {
    struct overriding *items; /* Owned. */
    size_t count;
    size_t capacity;
    bool namespace_has_policies; /* The template's namespace has OverridePolicies, selecting or not.
                                  */
};

/*
 * Returns the override policies that select a template, which must have an object: first the
 * ClusterOverridePolicies, then the OverridePolicies of its namespace. Both are sorted by score,
 * lowest first, then by name in byte order. The result is valid until the store changes; release it
 * with override_selection_release().
 */
struct override_selection override_selection_make(const struct store *store,
                                                  const struct entry *template);
void override_selection_release(struct override_selection *selection);

/* Returns true if the override policy selects the template; false if it does not exist. */
bool override_selects(const struct entry *policy, const struct entry *template);
/* Like override_selects(), as if the policy had the object `o`. */
bool override_object_selects(const struct entry *policy, const struct override *o,
                             const struct entry *template);

/*
 * Like override_selection_make(), for the OverridePolicies alone and an object that need not be in
 * the store: for a template that ClusterOverridePolicies have changed. One label that is no text
 * hides all labels. Without a namespace, no OverridePolicy selects the object.
 */
struct override_selection override_selection_of_object(const struct store *store,
                                                       const cJSON *object);

/* Application of one rule of the override policy `by` to a cluster. */
struct override_step {
    const struct overriding *by;
    const struct override_rule *rule;
};

/* All rules that apply or may apply to one cluster, in the order of application. */
struct override_steps {
    struct override_step *items; /* Owned; NULL if `count` is 0. */
    size_t count;
    /* Some rule may not apply: its conditions need the Cluster object, which is not known. */
    bool unsure;
    /* Some rule applies only in some of the releases that Karmada may have: zones decide. */
    bool release_decides;
    /*
     * A rule of a ClusterOverridePolicy can change fields by which override policies select, such
     * as labels. Karmada then selects OverridePolicies by the new values, so others may apply.
     */
    bool others_may_act;
};

/*
 * Returns the rules of a selection that apply to the cluster `name`. `cluster` is NULL if the
 * Cluster object is not known; rules that may apply, also in some release of the range only, are
 * then included. The result points into the selection. Release it with override_steps_release().
 */
struct override_steps override_steps_for_cluster(const struct override_selection *selection,
                                                 const char *name, const struct cluster *cluster,
                                                 struct release_range range);
void override_steps_release(struct override_steps *steps);

/* Returns true if both have the same rules and `unsure`. Both must be of the same selection. */
bool override_steps_equal(const struct override_steps *a, const struct override_steps *b);

/* Returns the index of a step's rule in spec.overrideRules; 0 for the deprecated fields. */
uint32_t override_step_rule_index(const struct override_step *step);

/* ---- failures ---- */

/*
 * Index of Karmada's Events about the override policies of templates. Only Events show that an
 * override policy cannot be applied: after such a failure Karmada creates no Work or keeps the old
 * Work, and does not change the binding.
 *
 * The index contains only Events in the store. By default, an API server deletes Events after an
 * hour. If a failure repeats, Karmada updates the same Event.
 */
struct override_events {
    struct subject_index index; /* Events by template. */
    struct store *store;
    const struct incomplete *incomplete;
};

/* Initializes `o`, which borrows `store` and `incomplete`. `seed` is the seed of its hashes. */
void override_events_init(struct override_events *o, struct store *store,
                          const struct incomplete *incomplete, uint64_t seed);
void override_events_release(struct override_events *o);

/*
 * Updates the index after an Event was created (`old` is NULL), replaced or deleted. Returns true
 * if the templates of the old and the new Event may be affected (override_event_template()).
 */
bool override_events_update(struct override_events *o, struct entry *entry,
                            const struct event *old);
/*
 * Returns the entry of the template, existing or not, that an Event about override policies
 * concerns; NULL if the store has no such entry, or the Event is NULL or has another subject.
 */
struct entry *override_event_template(const struct override_events *o, const struct event *event);

/* A failed override policy. The texts belong to an Event, and are valid until the store changes. */
struct override_failure {
    const char *policy_ns; /* "" for a ClusterOverridePolicy. */
    const char *policy;
    const char *message; /* Error text of Karmada. */
    int64_t time_ms;     /* Time of the last known attempt; 0 if unknown. */
};

/*
 * Returns true, with the latest failure in `out`, if an override policy of a template cannot be
 * applied for a member cluster. Call it only if the current version of the template has no Work for
 * the cluster; such a Work proves that the policies were applied. A failure counts until one of:
 * - the policy does not exist, or was changed or created later than the failure;
 * - a later Event shows that Karmada applied this policy for this cluster (only in files);
 * - a later Event shows that Karmada wrote all Works of the template (only in files);
 * - the Work for the cluster was written later; `work` is NULL if there is no known Work.
 * Later means in a later second, because times of Events are whole seconds. Events about a deleted
 * object of the template's name (another uid) do not count. Policies and Events of a kind that was
 * not read completely prove nothing.
 *
 * Appends the policies that the result depends on to `reads`, but not the Events: a change of an
 * Event marks the template (override_events_update()).
 */
bool override_failed(const struct override_events *o, const struct entry *template,
                     const struct work *work, const char *cluster, struct entry_list *reads,
                     struct override_failure *out);
