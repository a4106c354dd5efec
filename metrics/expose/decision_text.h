/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/connector_conflicts.h"
#include "metrics/rules/engine.h"
#include "metrics/rules/policy_rank.h"
#include "metrics/rules/replica_projection.h"
#include "metrics/simulate/overlay.h"

/*
 * Texts for people about the decisions of the rules: states, candidates, stages, the role that must
 * act, and a user's next change. All texts are constants. `takeover` is the setting of the engine.
 */

/* Maximal size of a value in an explanation. */
enum { EXPLAIN_VALUE_MAX_BYTES = 1 << 24 };

/* Returns a sentence about the state and the reason of a template. */
const char *state_text(const struct template_decision *d);

/*
 * Returns a sentence about the phase of a stale template: why the difference may wait, or the
 * action of Karmada that is overdue. `holds` is true if the claimed policy exists with the id of
 * the claim.
 */
const char *phase_text(const struct template_decision *d, enum takeover takeover, bool holds);

/*
 * Returns the reason why Karmada cannot apply the governing policy, to follow the name of the
 * policy in a sentence; NULL if Karmada can.
 */
const char *policy_obstacle_text(const struct template_decision *d);

/* Role that must act so that the governing policy applies to a template (product contract 7). */
enum actor { ACTOR_USER, ACTOR_PLATFORM, ACTOR_KARMADA, ACTOR_CLUSTER, ACTOR_NONE, ACTOR_COUNT };
extern const char *const actor_names[ACTOR_COUNT];

/* Returns the role that must act on the state of a template; ACTOR_NONE if no action is due. */
enum actor state_actor(const struct template_decision *d, enum takeover takeover);

/* Returns the name of a role for people, such as "Karmada". */
const char *state_actor_text(enum actor actor);

/* Returns the part of a template by which a selector selects it: "name", "label" or "kind". */
const char *selector_score_text(enum selector_score score);

/* Returns the field of a selector that does not match a template of its kind: "apiVersion", ... */
const char *selector_miss_text(enum selector_miss miss);

/* Returns the criterion that ranks one candidate before another, such as "priority". */
const char *rank_step_name(enum rank_step step);

/* Returns the reason why a candidate ranks after another, such as "its priority is lower". */
const char *rank_step_text(enum rank_step step);

/*
 * Returns the reason why the policy `d->governing`, which must not be NULL, governs the template.
 */
const char *governing_text(const struct template_decision *d, enum takeover takeover);

/* Circumstance in which a user's next change of a template leaves its state as it is. */
enum next_change_note {
    NEXT_CHANGE_NORMAL,   /* No special circumstance. */
    NEXT_CHANGE_BLOCKED,  /* The governing policy cannot be applied. */
    NEXT_CHANGE_NAMESAKE, /* The binding of a deleted object with the same name still exists. */
    NEXT_CHANGE_REQUIRED, /* Referrers require the template: Karmada propagates it with them. */
    NEXT_CHANGE_PRIORITY, /* The change copies the value of a PriorityClass to the binding. */
};

/*
 * Returns the first circumstance that applies, in the order blocked, namesake, required, priority.
 */
enum next_change_note next_change_note_of(const struct template_decision *d);

/*
 * Returns a sentence about a user's next change that leaves state, policy and clusters as they are.
 */
const char *next_change_note_text(const struct outcome *o, enum next_change_note why,
                                  bool is_static);

/* Returns the reason why the distribution of replicas cannot be predicted. */
const char *undetermined_text(enum undetermined_reason reason);

/* Action that ends a stage, and the role that must take it. */
struct stage_action {
    enum actor actor;
    const char *text; /* Sentence; "" for stages that need no action. */
};
struct stage_action stage_action_of(struct stage_and_reason at);

/* Returns the role that must act on a template: state_actor(), else the role for its stage. */
enum actor responsible_actor(const struct template_decision *d, enum takeover takeover);

/* Returns the role of responsible_actor() in words. */
const char *responsible_actor_text(const struct template_decision *d, enum takeover takeover);

/* Returns a role in words, to follow "up to" in a sentence about a stage. */
const char *stage_actor_text(enum actor actor);

/*
 * Appends the subject of a conflict of a template or a lease, to follow its sentence
 * (connector_conflict_texts): ": PubSubTopic team-b/t and 2 more", ": the namespace team-b".
 * Appends no text for conflicts without another subject.
 */
void connector_subject_add(const struct engine *e, const struct entry *entry,
                           enum connector_conflict conflict, struct strbuf *out);
