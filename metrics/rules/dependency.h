/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/binding.h"
#include "metrics/model/event.h"
#include "metrics/rules/control_plane.h"
#include "metrics/rules/decision.h"
#include "metrics/rules/object_index.h"

/*
 * What the referrers of a shared dependency want, and which value wins (seed 000; Karmada:
 * detectAndResolveConflictResolution and its twin for preserveResourcesOnDeletion).
 */

/* The votes on one field, counted. */
struct value_count {
    uint32_t count[2]; /* For false and for true. */
};

static inline bool value_count_conflict(const struct value_count *t)
{
    return t->count[false] > 0 && t->count[true] > 0;
}

/* One vote for true is enough; without any vote the value is false. */
static inline bool value_count_resolved(const struct value_count *t)
{
    return t->count[true] > 0;
}

/* What a policy or a binding wants of its dependencies. */
struct dependency_values dependency_values_of(const struct propagation *p);
bool dependency_values_equal(const struct dependency_values *a, const struct dependency_values *b);

/* One referrer of a dependency, and what it wants. */
struct dependency_referrer {
    struct entry *binding;  /* The referring binding; NULL where derived. */
    struct entry *template; /* The template behind it; NULL if it does not exist. */
    struct dependency_values
        observed; /* What its binding says, or will say as soon as Karmada makes it. */
    struct dependency_values current; /* What its policy says, which Karmada counts once applied. */
    /* False if the binding does not exist, or does not require the dependency yet. */
    bool counts_observed;
    bool counts_current; /* False if its policy no longer propagates dependencies. */
    bool derived;        /* It has no binding of its own yet: its references speak for it. */
};

/* A growing list of ballots; all zero is an empty one. */
struct dependency_referrers {
    struct dependency_referrer *items;
    size_t count;
    size_t capacity;
};

/* The list is empty and usable again. */
void dependency_referrers_release(struct dependency_referrers *list);

/*
 * Append a ballot for each referrer of a dependency, a template or its binding: the members of
 * the binding's spec.requiredBy, in that order; behind them the templates that it does not list
 * although they need the dependency and their policies propagate it, by name. One of these that
 * has no binding yet is derived; one that has a binding counts only for what will be. A binding
 * with a placement has nobody but those it lists, nor has one that lists nobody: it is left over,
 * and its template is the dependency. The decisions about the templates must be up to
 * date.
 */
void dependency_referrers_gather(const struct store *s, const struct incomplete *incomplete,
                                 const struct entry *dependency, struct dependency_referrers *out);

/*
 * The decision about a dependency with these referrers: about the binding `b` or, where there is
 * none (`b` is NULL), about a template that no policy governs. `resolves`: Karmada brings the value
 * that results into the binding (release.h). NULL if it is no dependency. The caller frees it.
 */
struct dependency_decision *dependency_decide(const struct binding *b,
                                              const struct dependency_referrers *referrers,
                                              bool resolves);

/*
 * Events that say what a dependency's referrers disagree on (seed 000; Karmada:
 * recordEventIfPolicyConflict): which there are about a binding, and how one reads and is named
 * that says it where Karmada does not.
 *
 * Fields are bits by enum dependency_field, as dependency_conflicts() has them.
 */
struct conflict_events {
    struct subject_index index; /* By binding. */
};

void conflict_events_init(struct conflict_events *c, uint64_t seed);
void conflict_events_release(struct conflict_events *c);

/* An entry's Event came (`old` is NULL), was replaced or went. */
void conflict_events_changed(struct conflict_events *c, struct entry *entry,
                             const struct event *old);

/*
 * The fields that others than this program have said of this binding. Events of one that had its
 * name before do not count.
 */
unsigned conflict_events_by_others(const struct conflict_events *c, const struct entry *binding);

/* Our own Event about this binding that names these fields and no other; NULL if there is none. */
const struct entry *conflict_events_own(const struct conflict_events *c,
                                        const struct entry *binding, unsigned fields);

/* Append "ConflictResolution conflicted (Overwrite vs Abort)". */
void conflict_event_hint(enum dependency_field field, struct strbuf *out);

/* Append the message of an Event, with the hints of all these fields. */
void conflict_event_message(unsigned fields, struct strbuf *out);

/*
 * Append the name of our Event about a binding: of one binding, by its uid, and one message there
 * is only one, whoever writes it, so that a second one cannot be created. At most
 * OBJECT_NAME_MAX bytes; of a binding whose name leaves no room it has the beginning.
 */
void conflict_event_name(const char *binding, const char *uid, unsigned fields, struct strbuf *out);
