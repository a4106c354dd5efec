/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/metadata.h"
#include "metrics/simulate/plan.h"

/*
 * Stale templates that a change by their user would bring up to date with their policy, one by one
 * and all together. The changes are simulated as a plan; nothing is written.
 */

/* Filter of the templates to reconcile. */
struct reconcile_filter {
    const struct entry *policy;          /* Policy of the templates; NULL for any. */
    const struct label_selector *labels; /* Labels of the templates; NULL for any. */
    const char *ns;                      /* Namespace; NULL for all. */
    const char *version; /* Hash of the version of `policy` that they run; NULL for any. */
    size_t max;          /* Maximum number of templates; 0 for all. */
    bool undo;           /* Select templates with RECONCILE_ANNOTATION instead of stale ones. */
};

/*
 * Result of the check of one template. A row has an enumerator, a name for programs and a sentence
 * for people.
 */
#define RECONCILE_VERDICTS(ROW)                                                                    \
    ROW(MOVES, "moves", "a change by its user brings it to its policy")                            \
    ROW(CURRENT, "current", "it is current already")                                               \
    ROW(UNRELATED, "unrelated", "it is none of those that are meant any more")                     \
    /* Templates that a change by their user does not bring to their policy: */                    \
    ROW(LABEL_DRIFT, "selector_mismatch",                                                          \
        "the policy that it claims does not select it any more: Karmada leaves it as it is until " \
        "its labels or that policy's selectors are put right")                                     \
    ROW(POLICY_GONE, "policy_gone",                                                                \
        "the policy that it claims is gone, or was deleted and created again")                     \
    ROW(ORPHANED, "orphaned", "no policy selects it: it needs a policy, not a change")             \
    ROW(PRIORITY_CLASS_MISSING, "priority_class_missing",                                          \
        "its policy names a PriorityClass that does not exist")                                    \
    ROW(OVERRIDE_MISSING, "override_missing",                                                      \
        "its policy waits for an override policy that does not exist")                             \
    ROW(CONFLICT, "conflict",                                                                      \
        "those that require it disagree: align their policies, a change here decides nothing")     \
    ROW(BY_ITSELF, "by_itself",                                                                    \
        "its policy is not Lazy: Karmada brings it there without a change, or says in its log "    \
        "why not")                                                                                 \
    ROW(OTHER_POLICY, "other_policy", "a change would bring it to another policy than this one")   \
    ROW(IN_VAIN, "in_vain", "a change would not make it current")                                  \
    ROW(NOT_TOGETHER, "not_together",                                                              \
        "changed together with the others it would not become current")

#define RECONCILE_ENUMERATOR(id, word, text) RECONCILE_##id,
enum reconcile_verdict { RECONCILE_VERDICTS(RECONCILE_ENUMERATOR) RECONCILE_VERDICT_COUNT };
extern const char *const reconcile_verdict_names[RECONCILE_VERDICT_COUNT];
/* Sentences for people, by enum reconcile_verdict. */
extern const char *const reconcile_verdict_texts[RECONCILE_VERDICT_COUNT];

/* A checked template; the template and the policy are pinned. */
struct reconcile_item {
    struct entry *template;
    enum reconcile_verdict verdict; /* RECONCILE_MOVES for chosen templates. */
    enum template_state becomes;    /* State of a chosen template after the change. */
    struct entry *policy;           /* Policy to follow; NULL if there is no such policy. */
    int64_t generation;             /* Generation of `policy` at the time of the plan. */
};

struct reconcile_list {
    struct reconcile_item *items; /* By entry_compare(), RECONCILE_NOT_TOGETHER last. */
    size_t count;
};

struct reconcile {
    struct engine *engine;
    struct reconcile_list chosen;
    struct reconcile_list left; /* Templates that would not become current. */
    size_t beyond;              /* Number of templates that would move, beyond `max`. */
    size_t current;             /* Number of templates that are current already. */
    size_t reconciled;          /* Number of current templates with RECONCILE_ANNOTATION. */
    struct plan *plan;          /* Plan of changing all chosen templates. */
    const struct plan_result *result;
};

/*
 * Returns the templates that match the filter, with their plan. The engine must have no evaluation
 * left to do, and the store must not change before reconcile_end_plan(). If `admit` is true,
 * manifests count as applied (plan_admit_manifests).
 */
struct reconcile *reconcile_new(struct engine *e, const struct reconcile_filter *wish,
                                bool admit) MUST_USE;
/* Frees the plan and its result, but not the lists. The store may change afterwards. */
void reconcile_end_plan(struct reconcile *r);
/* Frees the lists and, if it still exists, the plan. Accepts NULL. */
void reconcile_free(struct reconcile *r);

/*
 * Returns whether a change by its user would bring the template to its policy, or why not. The
 * engine must have no evaluation left to do.
 */
enum reconcile_verdict reconcile_find_verdict(struct engine *e, const struct reconcile_filter *wish,
                                              const struct entry *template);

/*
 * Returns true if the template still follows the same policy in the same generation as in the plan.
 */
bool reconcile_is_as_planned(const struct reconcile_item *item);

/* ---- prediction for one template ---- */

/* Outcomes of a template now and later, as long as no policy changes. */
struct next_change {
    struct outcome now;
    struct outcome rest; /* After Karmada's pending work; may equal `now`. */
    struct outcome next; /* After the next change of the template by its user. */
    bool settled;
    unsigned assumptions; /* Bits by enum assumption. */
};

/*
 * Simulates the next change of an existing template and calls `each` once with the outcomes, which
 * are valid only during the call. The engine must have no evaluation left to do; its state is
 * restored afterwards.
 */
void next_change_predict_outcomes(struct engine *e, const struct entry *template,
                                  void (*each)(void *context, const struct next_change *f),
                                  void *context);
