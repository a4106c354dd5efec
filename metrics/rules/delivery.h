/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/binding.h"
#include "metrics/model/template.h"
#include "metrics/rules/decision.h"
#include "metrics/rules/delivery_index.h"
#include "metrics/rules/drift.h"
#include "metrics/rules/overrides.h"
#include "metrics/rules/placement_match.h"

/*
 * How far a binding's template has come in its member clusters: the stages from EVICTING on
 * (product contract 3.8). Pure functions.
 */

/* What is known of a target beside its item in the binding. */
struct target_facts {
    const struct work *work; /* NULL: none that is known. */
    const char *failure;     /* What Karmada says of an override policy that fails; NULL: none. */
    enum member_state member;
};

/* Keeps its memory from one use to the next; release it in the end. */
struct target_list {
    struct target_facts *items;
    size_t capacity;
};
void target_list_release(struct target_list *list);

struct delivery_facts {
    const struct binding *binding;
    const struct target_facts *targets; /* Of each of binding_target_count(), in that order. */
    uint32_t generation;                /* Of the template; 0 if its kind has none. */
    bool works_known;                   /* A Work that is not known does not exist. */
    bool purge_blocked;  /* A task Directly waits for a cluster that is not ready, or a Work. */
    bool evicts_ready;   /* A task that counts is about a cluster that is ready. */
    bool override_fails; /* For a target. */
    bool lists_gone_override; /* A Work names an override policy that does not exist. */
    bool divides;             /* Its placement shares replicas out. */
    bool off_placement;       /* A cluster that its placement does not allow. */
};

/* Where what is known of targets comes from. All is borrowed. */
struct delivery_sources {
    const struct members *members;
    const struct works *works;
    const struct override_events *override_events;
    struct store *store;
    const struct incomplete *incomplete;
};

/*
 * The facts of a binding that is not left over, and of its template, with the targets in `list`.
 * What is read for them is appended to `reads`. What follows from its placement is left to
 * delivery_place().
 */
struct delivery_facts delivery_gather(const struct entry *binding, const struct entry *template,
                                      const struct delivery_sources *from, struct target_list *list,
                                      struct entry_list *reads);

/* What the binding's placement, resolved, says about where it is. */
void delivery_place(struct delivery_facts *f, struct placements *placements,
                    const struct resolved_placement *resolved);

/*
 * Since when a binding is in a stage, by what the objects say, in seconds since the epoch; 0 if
 * they do not. `changed_ms` is the last change of its template by a user.
 */
uint32_t delivery_since_s(const struct binding *b, enum stage stage, int64_t changed_ms);

/*
 * Karmada's own words about a target of a template's binding, by its index in the decision: about
 * the override policy that fails where it waits for that, else what the binding has; "" without
 * any. Borrowed, until the store changes.
 */
const char *delivery_target_message(const struct delivery_sources *from,
                                    const struct entry *template, uint32_t target);
/*
 * The same about where the binding of a template that has one is: about the first such target by
 * name, or about the binding.
 */
const char *delivery_message(const struct delivery_sources *from, const struct entry *template);

/* True if the task counts: it is to end, and the copy with it. */
static inline bool eviction_counts(const struct eviction *e)
{
    return !e->suppresses;
}

/*
 * The stage of a template, which follows from its state and, where that says that the binding is
 * right, from how far that has come (product contract 3.8). Pure functions.
 */

/*
 * Fill in out->stages, and the flags and risks of a template with a binding, after drift_decide().
 * `delivery` is NULL without a binding that a policy made or others require. Returns when that
 * changes by time alone; INT64_MAX for never.
 */
int64_t template_stages_decide(const struct drift_input *s, const struct delivery_facts *delivery,
                               struct template_decision *out);

/*
 * What will hurt people who go by what they see now; bits by this order. A row is its enumerator,
 * its word for programs and a sentence for people. A new one is a row here, and a line in risk.c.
 */
#define RISKS(ROW)                                                                                 \
    ROW(LAST_COPY, "last_copy",                                                                    \
        "its only copy is deleted when its eviction times out, and no other cluster takes it")     \
    ROW(READY_EVICTED, "ready_cluster_evicted",                                                    \
        "the cluster that it is moved off is ready, and loses its copy all the same")              \
    ROW(EMPTIED, "placement_emptied",                                                              \
        "it was placed, no cluster fits any more, and so its copies are deleted")                  \
    ROW(FROZEN, "frozen_by_priority_class",                                                        \
        "its binding takes no change, of its policy or its own, before the PriorityClass that "    \
        "its policy names exists")                                                                 \
    ROW(OVERRIDE_FAILED, "override_failed",                                                        \
        "an override policy fails for a member cluster, so that no change reaches it")             \
    /* Karmada: its annotations applied-overrides and applied-cluster-overrides are only added to. \
     */                                                                                            \
    ROW(OVERRIDE_LISTED, "override_still_listed",                                                  \
        "a Work lists an override policy as applied that does not exist any more")                 \
    ROW(MAY_TRAVEL, "change_may_travel",                                                           \
        "it was changed after its policy went, and a restart of Karmada's controllers, or a move " \
        "of a cluster, delivers that")

#define RISK_ENUMERATOR(id, word, text) RISK_##id,
enum risk { RISKS(RISK_ENUMERATOR) RISK_COUNT };
extern const char *const risk_names[RISK_COUNT];
/* One sentence for people, without its ends. */
extern const char *const risk_texts[RISK_COUNT];

/* The risks of a template; 0 for any other entry. */
unsigned entry_risks(const struct entry *e);
