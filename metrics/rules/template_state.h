/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/binding.h"
#include "metrics/model/store.h"
#include "metrics/model/template.h"
#include "metrics/rules/control_plane.h"
#include "metrics/rules/decision.h"
#include "metrics/rules/graph.h"
#include "metrics/rules/selector.h"

/*
 * State of a template: compares the present policies with the binding that Karmada made. Also
 * resolves the schedulePriority of policies. Only priority_of(), which adds missing entries to the
 * store, and priority_mark_policies() have side effects.
 */

/*
 * Returns the fields in which the binding's copy differs from the policy, bits by enum drift_field.
 * `priority` is the policy's resolved schedulePriority, NULL if unknown. If `cluster_scoped`, the
 * binding is a ClusterResourceBinding: propagateDeps and schedulePriority are not compared.
 */
unsigned drift_fields(const struct propagation *policy, const struct priority *priority,
                      const struct propagation *binding, bool cluster_scoped);

/* Inputs of a template's state; all borrowed. */
struct template_state_input {
    const struct rules_options *options;
    struct release_range release;
    int64_t now_ms;
    const struct entry *template;
    /* Claim of the template or, unless that is incomplete, of its binding; NULL without one. */
    const struct claim *claim;
    struct entry *claimed;     /* The claim's policy, existing or not; NULL without a claim. */
    bool own_claim;            /* The claim is on the template itself. */
    struct entry *binding;     /* The template's binding, or NULL. */
    bool binding_name_blocked; /* An earlier binding blocks the name (is_binding_name_blocked). */
    struct entry *winner;      /* Policy that wins a fresh match; NULL without one. */
    const struct candidate *candidates;
    size_t candidate_count;
    bool required;      /* The template has no binding, but a derived referrer (dependency.h). */
    bool kind_selected; /* Some policy has a selector of the template's kind. */
    /* Only policies that name an unwatched version would select the template. */
    bool unwatched_version;
};

/*
 * Sets state, reason, phase, fields, governing, since_ms, change_applied and priority_moved, all
 * zero before, and FLAG_REQUIRED. Returns the time in milliseconds at which the decision changes
 * without a change of objects, the end of a grace period; INT64_MAX for never.
 */
int64_t template_state_decide(const struct template_state_input *s, struct template_decision *out);

/*
 * Returns true if a decided template is stale because the governing policy has another placement
 * than the binding, or because another policy is to replace the present one.
 */
bool placement_drifts(const struct template_decision *d);

/*
 * Returns the first millisecond after the grace period in which Karmada has to claim the template
 * for its governing policy and to make its binding; 0 if no times are known.
 */
int64_t unbound_due_ms(const struct template_state_input *s, const struct template_decision *d);

/*
 * ---- schedulePriority ----
 *
 * With the gate PriorityBasedScheduling, Karmada's ApplyPolicy reads the PriorityClass that a
 * policy names, and copies its value into bindings. Every API server has PriorityClasses, so a
 * store without any has not read them yet.
 */

/*
 * Returns the resolved schedulePriority of a policy. Appends the entries of the PriorityClass that
 * the policy names, existing or not, to `reads`.
 */
struct priority priority_of(struct store *store, gate_set gates,
                            const struct incomplete *incomplete, const struct policy *policy,
                            struct entry_list *reads);

/* Returns true if not all PriorityClasses have been read, so that a missing one may exist. */
bool priority_classes_incomplete(const struct incomplete *i);

/*
 * Handles an object that was added (`old` is NULL), replaced or deleted. If it is a PriorityClass,
 * marks the policies that name it, or all policies if it is the first or was the last
 * PriorityClass.
 */
void priority_mark_policies(const struct store *store, struct graph *graph,
                            const struct entry *entry, const void *old);
