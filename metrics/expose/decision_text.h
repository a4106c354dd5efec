/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/connector_conflicts.h"
#include "metrics/rules/engine.h"
#include "metrics/rules/policy_rank.h"
#include "metrics/rules/problems/problem_table.h"
#include "metrics/rules/replica_projection.h"
#include "metrics/simulate/overlay.h"

/*
 * Texts for people about the decisions of the rules: states, candidates, stages, the role that must
 * act, a user's next change, and conflicts of Config Connector. Returned texts are constants.
 * `takeover` is the result of engine_takeover().
 */

/*
 * Returns sentences about the state of a template and its reason or, with `priority_moved`, about
 * the PriorityClass.
 */
const char *state_text(const struct template_decision *d);

/*
 * Returns sentences about the phase of a stale template: the overdue action of Karmada, or why
 * Karmada does not act or need not act yet. `claim_holds` is the result of template_claim_holds().
 */
const char *phase_text(const struct template_decision *d, enum takeover takeover, bool claim_holds);

/*
 * Returns the reason why Karmada cannot apply the governing policy; NULL if it can, or without such
 * a policy. The text continues a sentence that begins with the name of the policy.
 */
const char *policy_obstacle_text(const struct template_decision *d);

/* Returns the role that must act on the state of a template; ACTOR_NONE if no action is due. */
enum actor state_actor(const struct template_decision *d, enum takeover takeover);

/* Returns the name of a role for people: "Platform team". */
const char *actor_title(enum actor actor);

/*
 * Returns the property by which a selector selects a template: "name", "label" or "kind". `score`
 * must not be SCORE_NONE.
 */
const char *selector_score_text(enum selector_score score);

/* Returns the name of the selector's field that does not match, such as "apiVersion". */
const char *selector_miss_text(enum selector_miss miss);

/* Returns the name of a criterion that ranks candidates, such as "priority". */
const char *rank_step_name(enum rank_step step);

/* Returns the reason why a candidate ranks after another, such as "its priority is lower". */
const char *rank_step_text(enum rank_step step);

/* Returns the reason why `d->governing`, not NULL, is the governing policy of the template. */
const char *governing_text(const struct template_decision *d, enum takeover takeover);

/* Circumstance that determines the effect of a user's next change of a template. */
enum next_change_note {
    NEXT_CHANGE_NORMAL,   /* No special circumstance. */
    NEXT_CHANGE_BLOCKED,  /* The governing policy cannot be applied. */
    NEXT_CHANGE_REFUSED,  /* No change lets Karmada create the binding (`refused`). */
    NEXT_CHANGE_NAMESAKE, /* An earlier binding blocks the name (UNBOUND_NAMESAKE). */
    NEXT_CHANGE_REQUIRED, /* Referrers require the template: Karmada propagates it with them. */
    NEXT_CHANGE_PRIORITY, /* The change copies the value of a PriorityClass to the binding. */
};

/* Returns the first of BLOCKED, REFUSED, NAMESAKE, REQUIRED, PRIORITY that applies; else NORMAL. */
enum next_change_note next_change_note_of(const struct template_decision *d,
                                          const struct entry *template);

/*
 * Returns a sentence about a user's next change of a template that has the outcome `o` both before
 * and after the change. `o->state` must not be STATE_IGNORED. `is_static` is true with
 * TAKEOVER_STATIC.
 */
const char *next_change_note_text(const struct outcome *o, enum next_change_note note,
                                  bool is_static);

/* Returns the reason why a distribution is unpredictable, such as "by spread constraints". */
const char *undetermined_text(enum undetermined_reason reason);

/*
 * Returns a sentence about an outcome that is no success; NULL for a template that is placed or
 * with undetermined clusters.
 */
const char *predicted_text(struct predicted p);

/*
 * Returns predicted_text() of an outcome that its state does not show: refused, or current or
 * attached without being placed. Returns NULL for other outcomes.
 */
const char *failed_outcome_text(const struct outcome *o);

/* Action that ends a stage, and the role that must act. */
struct stage_action {
    enum actor actor;
    const char *text; /* Sentences; "" if no action is due or the state decides (state_actor). */
};
struct stage_action stage_action_of(struct stage_and_reason at);

/*
 * Returns the role that must act on a template: the result of state_actor() or, if that is
 * ACTOR_NONE, the role of stage_action_of().
 */
enum actor responsible_actor(const struct template_decision *d, enum takeover takeover);

/*
 * Appends the other object of a conflict of a template or lease `entry`, to continue a text of
 * connector_conflict_texts: ": PubSubTopic team-b/t and 2 more", ": the namespace team-b" or, if
 * the namespace is unknown, ": the id 42". Appends nothing if no other object is known.
 */
void connector_conflict_add_subject(const struct engine *e, const struct entry *entry,
                                    enum connector_conflict conflict, struct strbuf *out);
