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
 * (Karmada: ApplyOverridePolicies), and which of them fail. The overriders are not evaluated; see
 * `others_may_act`.
 */

/* ---- selection ---- */

/* An override policy that selects a template. A policy that is being deleted still selects it. */
struct overriding {
    const struct entry *policy;
    enum selector_score score; /* A policy without selectors has SCORE_ALL. */
};

/* All override policies that select one template, in the order in which Karmada applies them. */
struct override_selection {
    struct overriding *items;
    size_t count;
    size_t capacity;
};

/*
 * Returns the override policies that select a template, which must have an object: first the
 * ClusterOverridePolicies, then the OverridePolicies of its namespace; in each kind by score,
 * lowest first, then by name in byte order. Valid until the store changes. Release the result with
 * override_selection_release().
 */
struct override_selection override_selection_make(const struct store *store,
                                                  const struct entry *template);
void override_selection_release(struct override_selection *selection);

/* A rule of an override policy, which applies to a cluster. */
struct override_step {
    const struct overriding *by;
    const struct override_rule *rule;
};

/* All rules that apply to one cluster, in the order of application. */
struct override_steps {
    struct override_step *items; /* Owned; NULL if `count` is 0. */
    size_t count;
    /* Some rule may not apply: its conditions need the Cluster object, which is not known. */
    bool unsure;
    /*
     * A rule of a ClusterOverridePolicy can change the labels, the name or the namespace of the
     * template. Karmada selects OverridePolicies after that, so it may select other ones.
     */
    bool others_may_act;
};

/*
 * Returns the rules of a selection that apply to the cluster `name`. `cluster` is NULL if its
 * object is not known. The result points into the selection. Release it with
 * override_steps_release().
 */
struct override_steps override_steps_for_cluster(const struct override_selection *selection,
                                                 const char *name, const struct cluster *cluster);
void override_steps_release(struct override_steps *steps);

/* Returns true if both contain the same rules. Both must come from the same selection. */
bool override_steps_equal(const struct override_steps *a, const struct override_steps *b);

/* Returns the index of a step's rule in spec.overrideRules; 0 for the deprecated fields. */
uint32_t override_step_rule_index(const struct override_step *step);

/* ---- failures ---- */

/*
 * Index of Karmada's Events about the override policies of templates. Only Events show that an
 * override policy cannot be applied: Karmada then creates no Work or keeps the old one, and does
 * not change the binding.
 *
 * The index has no data beyond the Events in the store, which an API server deletes after an hour
 * by default. A repetition updates the same Event.
 */
struct override_events {
    struct subject_index index; /* Events by template. */
    struct store *store;
    const struct incomplete *incomplete;
};

/* Initializes `o`, which borrows the other arguments. */
void override_events_init(struct override_events *o, struct store *store,
                          const struct incomplete *incomplete, uint64_t seed);
void override_events_release(struct override_events *o);

/*
 * Updates the index after an Event was created (`old` is NULL), replaced or deleted. Returns true
 * if that may affect the templates of both Events (override_event_template()).
 */
bool override_events_update(struct override_events *o, struct entry *entry,
                            const struct event *old);
/* Returns the template that an Event is about; NULL if the store has no such template. */
struct entry *override_event_template(const struct override_events *o, const struct event *event);

/* A failed override policy. The texts belong to the Event and are valid until the store changes. */
struct override_failure {
    const char *policy_ns; /* "" for a ClusterOverridePolicy. */
    const char *policy;
    const char *message; /* Error text of Karmada. */
    int64_t time_ms;     /* Time of the last known attempt; 0 if unknown. */
};

/*
 * Returns true, with the latest failure in `out`, if an override policy of a template cannot be
 * applied for a member cluster. Call it only if the current version of the template has no Work for
 * the cluster; such a Work proves that the policies were applied. A failure counts until one of
 * these happens, in a later second, because times of Events are whole seconds:
 * - the policy was deleted, changed, or deleted and created again;
 * - Karmada applied this policy for this cluster, or wrote all Works of the template. (Only files
 *   have these Events; they are not requested from an API server);
 * - the Work for the cluster was written; `work` is NULL if there is no Work or it is unknown.
 * Events about a deleted object of the template's name (another uid) do not count, nor do Events
 * while these have not been read completely.
 *
 * Appends the policies that the result depends on to `reads`. Events that change the result mark
 * the template, so they are not appended.
 */
bool override_failed(const struct override_events *o, const struct entry *template,
                     const struct work *work, const char *cluster, struct entry_list *reads,
                     struct override_failure *out);
