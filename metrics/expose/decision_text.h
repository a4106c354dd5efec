/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/connector_conflicts.h"
#include "metrics/rules/engine.h"
#include "metrics/rules/projection.h"
#include "metrics/simulate/overlay.h"

/* The sentences of explain.h: constant texts for each answer that the rules can give. */

enum { EXPLAIN_VALUE_MAX_BYTES = 1 << 24 };

/* What the state means here. */
const char *explain_state_words(const struct template_decision *d);
/*
 * Why a stale template's difference may wait; of an overdue one, what Karmada has left undone.
 * `holds`: the policy that it claims exists, and has the id of the claim.
 */
const char *explain_phase_words(const struct template_decision *d, enum takeover takeover,
                                bool holds);

/* What keeps Karmada from applying the policy that governs, behind its name; NULL if nothing. */
const char *explain_obstacle(const struct template_decision *d);

/* Who must act, so that the template gets to what governs it (product contract 7). */
enum actor { ACTOR_USER, ACTOR_PLATFORM, ACTOR_KARMADA, ACTOR_CLUSTER, ACTOR_NOBODY, ACTOR_COUNT };
extern const char *const actor_names[ACTOR_COUNT];
enum actor explain_actor(const struct template_decision *d, enum takeover takeover);
const char *explain_actor_words(enum actor actor);

/* How closely a selector names a template: "name", "label", "kind". */
const char *explain_score_words(enum selector_score score);
/* What a selector of the template's kind does not fit: "apiVersion", ... */
const char *explain_miss_word(enum selector_miss miss);
/* What decides between two candidates: a word, and what the loser lost by. */
const char *explain_step_word(enum rank_step step);
const char *explain_step_words(enum rank_step step);
/* By what right the governing policy governs; there is one. */
const char *explain_governing_words(const struct template_decision *d, enum takeover takeover);
/* What else there is to say of a user's next change that leaves the state as it is. */
enum unmoved {
    UNMOVED,
    UNMOVED_BLOCKED,  /* The policy that governs cannot be applied. */
    UNMOVED_NAMESAKE, /* A binding of a deleted object is in the way. */
    UNMOVED_REQUIRED, /* Others require it: its changes travel with them. */
    UNMOVED_PRIORITY, /* It brings the value of a PriorityClass. */
};
enum unmoved explain_unmoved(const struct template_decision *d);
/* What becomes of a user's next change that leaves state, policy and clusters as they are. */
const char *explain_unmoved_words(const struct outcome *o, enum unmoved why, bool is_static);

/* Why nobody but the scheduler can say where the replicas go. */
const char *explain_undetermined_words(enum undetermined_reason reason);

/* What ends a stage, and who has to see to that. */
struct stage_end {
    enum actor actor;
    const char *text; /* The edit or the wait; a sentence. "" where nothing is to be ended. */
};

struct stage_end stage_end_of(struct stage_and_reason at);
/* Whoever must act on a template's state; where nobody has to, on its stage. */
enum actor explain_who(const struct template_decision *d, enum takeover takeover);
const char *explain_who_words(const struct template_decision *d, enum takeover takeover);
/* Who that is, behind "up to". */
const char *stage_actor_words(enum actor actor);

/*
 * Append what a conflict of a template or a lease is about, behind its sentence
 * (connector_conflict_texts): ": PubSubTopic team-b/t and 2 more", ": the namespace team-b".
 * Nothing for those that say it all.
 */
void connector_subject_add(const struct engine *e, const struct entry *entry,
                           enum connector_conflict conflict, struct strbuf *out);
