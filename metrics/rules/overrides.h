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

/*
 * What Karmada's Events say about the override policies of each template. Nothing else tells that
 * one cannot be applied: no Work is made then, or the old one stays, and the binding says nothing.
 *
 * Nothing is kept but what the Events in the store say, and an API server forgets those after an
 * hour unless it is told otherwise. One that repeats is the same Event.
 */
struct override_events {
    struct subject_index index; /* By template. */
    struct store *store;
    const struct incomplete *incomplete;
};

/* All but `o` is borrowed. */
void override_events_init(struct override_events *o, struct store *store,
                          const struct incomplete *incomplete, uint64_t seed);
void override_events_release(struct override_events *o);

/*
 * An entry's Event came (`old` is NULL), was replaced or went. True if that makes a difference to
 * the templates that the two are about: override_event_template().
 */
bool override_events_changed(struct override_events *o, struct entry *entry,
                             const struct event *old);
/* The template that an Event is about, NULL if it is about none, or none is in the store. */
struct entry *override_event_template(const struct override_events *o, const struct event *event);

/* Why nothing reaches a member cluster. Texts are the Event's, until the store changes. */
struct override_failure {
    const char *policy_ns; /* "" for a ClusterOverridePolicy. */
    const char *policy;
    const char *message; /* Karmada's. */
    int64_t time_ms;     /* When it was tried last, as far as is known; 0 if that is not. */
};

/*
 * True if the last that is known of a template's override policies for a member cluster is that
 * one could not be applied; of several the latest. Ask where something is missing: a Work that is
 * there, and of the newest template, proves the opposite. A failure counts until something later
 * says otherwise, in another second, since Events have whole ones:
 * - the policy was deleted, or changed, or made anew, so that it has not failed as it is now;
 * - Karmada applied this policy for this cluster, or wrote all Works of the template (Events that
 *   only files hold: an API server is not asked for them);
 * - the Work for the cluster was written; `work` is NULL where there is none, or nobody knows.
 * Events about another object of the template's name count for nothing, nor does one where Events
 * are incomplete.
 *
 * The policies that it goes by are appended to `reads`: the answer changes with them. If it
 * changes by an Event, the template is marked.
 */
bool override_failed(const struct override_events *o, const struct entry *template,
                     const struct work *work, const char *cluster, struct entry_list *reads,
                     struct override_failure *out);
