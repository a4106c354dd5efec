/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/metadata.h"
#include "metrics/simulate/plan.h"

/*
 * Stale templates that a change by their user would bring up to date with their policy. Each
 * template is checked alone, then all together in a plan; no object is written.
 */

/* Filter of the templates to reconcile. */
struct reconcile_filter {
    const struct entry *policy;          /* Governing or claimed policy; NULL for any. */
    const struct label_selector *labels; /* Labels of the templates; NULL for any. */
    const char *ns;                      /* Namespace; NULL for all. */
    const char *version; /* Hash of the version of `policy` that templates run; NULL for any. */
    size_t max;          /* Maximum number of chosen templates; 0 for all. */
    bool undo;           /* Choose templates with RECONCILE_ANNOTATION instead of stale ones. */
};

/*
 * Result of the check of one template. A row has an enumerator, a name for programs and a sentence
 * for people.
 */
#define RECONCILE_VERDICTS(ROW)                                                                    \
    ROW(MOVES, "moves", "the next change by a user applies the policy")                            \
    ROW(CURRENT, "current", "the template is current already")                                     \
    ROW(UNRELATED, "unrelated",                                                                    \
        "the template is no longer selected by the flags of this command, or is no longer stale")  \
    /* Verdicts on templates in the list `left` of struct reconcile: */                            \
    ROW(LABEL_DRIFT, "selector_mismatch",                                                          \
        "the claimed policy no longer selects the template: correct its labels or the policy's "   \
        "selectors")                                                                               \
    ROW(POLICY_GONE, "policy_gone",                                                                \
        "the claimed policy does not exist, or was deleted and created again")                     \
    ROW(ORPHANED, "orphaned", "no policy selects the template: create one")                        \
    ROW(PRIORITY_CLASS_MISSING, "priority_class_missing",                                          \
        "the policy names a PriorityClass that does not exist")                                    \
    ROW(OVERRIDE_MISSING, "override_missing",                                                      \
        "the policy waits for an override policy that does not exist")                             \
    ROW(CONFLICT, "conflict", "the referrers request different values: align their policies")      \
    ROW(BY_ITSELF, "by_itself",                                                                    \
        "the policy is not Lazy: Karmada applies it without a change of the template, or logs an " \
        "error")                                                                                   \
    ROW(OTHER_POLICY, "other_policy", "after a change, another policy would govern the template")  \
    ROW(IN_VAIN, "in_vain", "the template would stay stale after a change")                        \
    ROW(NOT_TOGETHER, "not_together",                                                              \
        "the template would stay stale if changed together with the other templates")

#define RECONCILE_ENUMERATOR(id, word, text) RECONCILE_##id,
enum reconcile_verdict { RECONCILE_VERDICTS(RECONCILE_ENUMERATOR) RECONCILE_VERDICT_COUNT };
extern const char *const reconcile_verdict_names[RECONCILE_VERDICT_COUNT];
/* Sentences for people, by enum reconcile_verdict. */
extern const char *const reconcile_verdict_texts[RECONCILE_VERDICT_COUNT];

/* A checked template; the template and the policy are pinned. */
struct reconcile_item {
    struct entry *template;
    enum reconcile_verdict verdict; /* RECONCILE_MOVES for chosen templates. */
    enum template_state becomes; /* State after its last plan; without a plan, the present state. */
    struct entry *policy;        /* Governing policy; NULL without an existing one. */
    int64_t generation;          /* Generation of `policy` at the time of the check. */
};

struct reconcile_list {
    struct reconcile_item *items; /* In the order of entry_compare(); NOT_TOGETHER last. */
    size_t count;
};

struct reconcile {
    struct engine *engine;
    struct reconcile_list chosen; /* Templates to change: RECONCILE_MOVES. */
    struct reconcile_list left;   /* Templates that are not to change, with the reason. */
    size_t beyond;                /* Number of further RECONCILE_MOVES, beyond `max`. */
    size_t current;               /* Number of RECONCILE_CURRENT; these are in no list. */
    size_t reconciled;            /* Number of `current` templates with RECONCILE_ANNOTATION. */
    struct plan *plan; /* Changes all chosen templates; NULL after reconcile_end_plan(). */
    const struct plan_result *result;
};

/*
 * Checks all templates, and plans a user's change of the chosen templates. The engine must have no
 * evaluation left to do, and the store must not change before reconcile_end_plan(). If `admit` is
 * true, manifests count as applied in the plan (plan_admit_manifests), but not in the checks.
 */
struct reconcile *reconcile_new(struct engine *e, const struct reconcile_filter *filter,
                                bool admit) MUST_USE;
/* Frees the plan and its result, but not the lists. The store may change afterwards. */
void reconcile_end_plan(struct reconcile *r);
/* Frees the lists and, if it still exists, the plan. Accepts NULL. */
void reconcile_free(struct reconcile *r);

/*
 * Checks one template. Returns RECONCILE_MOVES if the filter matches, and only a change by the user
 * would bring the template to its policy; else the reason why not. With `undo`, returns
 * RECONCILE_MOVES for every match. The engine must have no evaluation left to do; its state is
 * restored afterwards.
 */
enum reconcile_verdict reconcile_find_verdict(struct engine *e,
                                              const struct reconcile_filter *filter,
                                              const struct entry *template);

/* Returns true if the template has the item's governing policy, unchanged, or both have none. */
bool reconcile_is_as_planned(const struct reconcile_item *item);

/* ---- prediction for one template ---- */

/* Outcomes of a template now and later, as long as no policy changes. */
struct next_change {
    struct outcome now;
    struct outcome rest;  /* After Karmada's pending work; may equal `now`. */
    struct outcome next;  /* After the next change of the template by its user. */
    bool settled;         /* Both simulations processed their whole queue. */
    unsigned assumptions; /* Bits by enum assumption. */
};

/*
 * Simulates Karmada's pending work on an existing template, then a change by its user. Calls `each`
 * once with the outcomes, which are valid only during the call. The engine must have no evaluation
 * left to do; its state is restored afterwards.
 */
void next_change_predict_outcomes(struct engine *e, const struct entry *template,
                                  void (*each)(void *context, const struct next_change *f),
                                  void *context);
