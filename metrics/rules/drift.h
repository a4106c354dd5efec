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
 * The state of a template (product contract 3.2 and 3.3): what the policies want now, compared
 * with the binding that Karmada made. Pure functions.
 */

/*
 * Bits by enum drift_field: the fields in which the binding's copy differs from the policy.
 * `priority` is what the policy's schedulePriority comes to, NULL if that is not known.
 */
unsigned drift_fields(const struct propagation *policy, const struct priority *priority,
                      const struct propagation *binding, bool cluster_scoped);

/* Everything that the state of one template depends on. */
struct drift_input {
    const struct rules_options *options;
    int64_t now_ms;
    const struct entry *template;
    const struct claim *claim; /* The template's own, else its binding's; NULL if none. */
    struct entry *claimed;     /* The claim's policy, existing or not. */
    bool own_claim;            /* The claim is on the template itself. */
    struct entry *binding;     /* Of this template; NULL if there is none. */
    bool in_the_way;           /* As binding_in_the_way() answers. */
    struct entry *winner;      /* The policy that wins a fresh match; NULL if none does. */
    const struct candidate *candidates;
    size_t candidate_count;
    bool required;      /* A template that is propagated depends on it (derived). */
    bool kind_selected; /* Some policy has a selector of this kind. */
};

/*
 * Fill in state, reason, phase, fields, governing and since_ms, all zero before. Returns when
 * the decision changes by time alone, at the end of a grace period; INT64_MAX for never.
 */
int64_t drift_decide(const struct drift_input *s, struct template_decision *out);

/*
 * True if the placement of a decided template drifts: the policy that governs it says another one
 * than its binding has, or another policy takes it over (product contract 3.6).
 */
bool drift_moves(const struct template_decision *d);

/*
 * Until when Karmada has time to claim the template for the policy that governs it, and to make
 * its binding; 0 where no times are known.
 */
int64_t unbound_due_ms(const struct drift_input *s, const struct template_decision *d);

/*
 * The number that Karmada copies into bindings for a policy's schedulePriority (Karmada: behind
 * the gate PriorityBasedScheduling, ApplyPolicy reads the PriorityClass that it names). A store
 * without any PriorityClass is one that could not read them: every API server has some.
 */

/* Append what was looked at to `reads`. */
struct priority priority_of(struct store *store, gate_set gates, const struct policy *policy,
                            struct entry_list *reads);

/* True if PriorityClasses have not been read: one that is missing may exist. */
bool priority_classes_incomplete(const struct incomplete *i);

/*
 * A template or a setting has changed: mark the policies that name it, if it is a PriorityClass;
 * all of them if it is the first one, or was the last.
 */
void priority_changed(const struct store *store, struct graph *graph, const struct entry *entry,
                      const void *old);
