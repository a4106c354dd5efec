/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/binding.h"
#include "metrics/model/template.h"
#include "metrics/rules/members.h"
#include "metrics/rules/override_events.h"
#include "metrics/rules/placements.h"
#include "metrics/rules/stage.h"
#include "metrics/rules/works.h"

/*
 * How far a binding's template has come in its member clusters: the stages from EVICTING on
 * (product contract 3.8). Pure functions.
 */

/* What is known of a target beside its item in the binding. */
struct target_facts {
    const struct work *work; /* NULL: none that is known. */
    const char *failure;     /* What Karmada says of an override policy that fails; NULL: none. */
    enum member_standing member;
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

/* Where each target is, from UNDISPATCHED on; `out` has room for binding_target_count(). */
void delivery_of_targets(const struct delivery_facts *f, struct standing *out);

/* Where the binding is: that of its worst target if nothing before stops it. */
struct standing delivery_of(const struct delivery_facts *f, const struct standing *targets);

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
