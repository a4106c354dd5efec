/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/metadata.h"
#include "metrics/simulate/plan.h"

/*
 * Which stale templates a change by their user would bring to what their policy says now, and what
 * becomes of all when these are changed together. Played as a plan is; nothing is written.
 */

/* Whom somebody wants to reconcile. */
struct reconcile_wish {
    const struct entry *policy;          /* Those that are to follow it; NULL: any policy. */
    const struct label_selector *labels; /* Those whose labels match; NULL: whatever they are. */
    const char *ns;                      /* Those in this namespace; NULL: in all. */
    const char *version; /* Those that run this one of `policy`, by its hash; NULL: whichever. */
    size_t max;          /* The first so many; 0: all. */
    bool undo;           /* Those with RECONCILE_ANNOTATION instead. */
};

/*
 * What there is to say of a template that somebody may mean. A row is its enumerator, its word for
 * programs and a sentence for people.
 */
#define RECONCILE_VERDICTS(ROW)                                                                    \
    ROW(MOVES, "moves", "a change by its user brings it to its policy")                            \
    ROW(CURRENT, "current", "it is current already")                                               \
    ROW(UNRELATED, "unrelated", "it is none of those that are meant any more")                     \
    /* From here on a change by its user does not help. */                                         \
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
/* One sentence for people. */
extern const char *const reconcile_verdict_texts[RECONCILE_VERDICT_COUNT];

/* A template that is meant. The entry is pinned, as is the policy. */
struct reconcile_item {
    struct entry *template;
    enum reconcile_verdict verdict; /* MOVES if it is chosen. */
    enum template_state becomes;    /* Of one that is chosen: its state once Karmada rests. */
    struct entry *policy;           /* That it is to follow, NULL if there is none, ... */
    int64_t generation;             /* ... and of which generation that was. */
};

struct reconcile_list {
    struct reconcile_item *items; /* In the order of entry_compare(), those NOT_TOGETHER last. */
    size_t count;
};

struct reconcile {
    struct engine *engine;
    struct reconcile_list chosen;
    struct reconcile_list left; /* Not current, and not for a change by their user to cure. */
    size_t beyond;              /* So many more than `max` would move, too. */
    size_t current;             /* So many are current already, ... */
    size_t reconciled;          /* ... of which so many have RECONCILE_ANNOTATION. */
    struct plan *plan;          /* Of the change of those that are chosen. */
    const struct plan_result *result;
};

/*
 * What a wish comes to, in an engine in which nothing is left to evaluate. `admit` as of manifests
 * (plan_admit). The store must not change before reconcile_end_plan().
 */
struct reconcile *reconcile_new(struct engine *e, const struct reconcile_wish *wish,
                                bool admit) MUST_USE;
/* The plan and its result go; the lists stay, and the store may change from then on. */
void reconcile_end_plan(struct reconcile *r);
/* Takes NULL. */
void reconcile_free(struct reconcile *r);

/* What there is to say of one template now; likewise of an engine at rest. */
enum reconcile_verdict reconcile_judge(struct engine *e, const struct reconcile_wish *wish,
                                       const struct entry *template);

/* True if the policy that it is to follow is the one that the plan was made with, unchanged. */
bool reconcile_is_as_planned(const struct reconcile_item *item);

/* What comes next for one template, played as a plan is, without any change of policies. */
struct next_change {
    struct outcome now;
    struct outcome rest; /* What Karmada makes of it by itself; it may be the same. */
    struct outcome next; /* After that, and the next change by its user. */
    bool settled;
    unsigned assumptions; /* Bits by enum assumption. */
};

/*
 * Look ahead for a template that exists, in an engine in which nothing is left to evaluate. `each`
 * reads the answer, whose outcomes are valid during the call alone; afterwards the engine is as it
 * was.
 */
void next_change_find(struct engine *e, const struct entry *template,
                      void (*each)(void *context, const struct next_change *f), void *context);
