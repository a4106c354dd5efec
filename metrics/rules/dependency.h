/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/binding.h"
#include "metrics/rules/decision.h"

/*
 * What the referrers of a shared dependency want, and what comes of it
 * (seed 000; Karmada: detectAndResolveConflictResolution and its twin for
 * preserveResourcesOnDeletion).
 */

/* Votes on one field, counted. */
struct tally {
    uint32_t count[2]; /* For false and for true. */
};

static inline bool tally_conflict(const struct tally *t)
{
    return t->count[false] > 0 && t->count[true] > 0;
}

/* Any true wins; of no votes at all the value is false. */
static inline bool tally_resolved(const struct tally *t)
{
    return t->count[true] > 0;
}

/* What a policy, or a binding, wants of the dependencies. */
struct vote vote_of(const struct propagation *p);
bool vote_equal(const struct vote *a, const struct vote *b);

/* One referrer of a dependency, and what it wants. */
struct ballot {
    struct entry *binding;  /* The referring binding; NULL where derived. */
    struct entry *template; /* The template behind it; NULL if it does not exist. */
    struct vote observed;   /* What decides now. */
    struct vote current;    /* What its policy says now. */
    bool counts_observed;
    bool counts_current; /* False if its policy no longer propagates dependencies. */
};

/* A growing list of ballots; all zero is an empty one. */
struct ballot_list {
    struct ballot *items;
    size_t count;
    size_t capacity;
};

void ballot_list_release(struct ballot_list *list);

/*
 * Append the referrers of a dependency: of a binding in the order of its
 * spec.requiredBy; of a template (derived) those templates that read it and whose policies
 * propagate dependencies, by name. The decisions about the templates must be up to date.
 */
void ballots_gather(const struct store *s, const struct entry *dependency, struct ballot_list *out);

/*
 * The decision about a dependency with these referrers: about the binding `b`, or (derived,
 * NULL) about a template that gets no binding of its own from a policy. NULL if it is none.
 * The caller frees it.
 */
struct dependency_decision *dependency_decide(const struct binding *b,
                                              const struct ballot_list *ballots);
