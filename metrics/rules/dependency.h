/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/binding.h"
#include "metrics/rules/decision.h"
#include "metrics/rules/incomplete.h"

/*
 * What the referrers of a shared dependency want, and which value wins (seed 000; Karmada:
 * detectAndResolveConflictResolution and its twin for preserveResourcesOnDeletion).
 */

/* The votes on one field, counted. */
struct tally {
    uint32_t count[2]; /* For false and for true. */
};

static inline bool tally_conflict(const struct tally *t)
{
    return t->count[false] > 0 && t->count[true] > 0;
}

/* One vote for true is enough; without any vote the value is false. */
static inline bool tally_resolved(const struct tally *t)
{
    return t->count[true] > 0;
}

/* What a policy or a binding wants of its dependencies. */
struct vote vote_of(const struct propagation *p);
bool vote_equal(const struct vote *a, const struct vote *b);

/* One referrer of a dependency, and what it wants. */
struct ballot {
    struct entry *binding;  /* The referring binding; NULL where derived. */
    struct entry *template; /* The template behind it; NULL if it does not exist. */
    struct vote observed;   /* What its binding says, or will say as soon as Karmada makes it. */
    struct vote current;    /* What its policy says, which Karmada counts once applied. */
    /* False if the binding does not exist, or does not require the dependency yet. */
    bool counts_observed;
    bool counts_current; /* False if its policy no longer propagates dependencies. */
    bool derived;        /* It has no binding of its own yet: its references speak for it. */
};

/* A growing list of ballots; all zero is an empty one. */
struct ballot_list {
    struct ballot *items;
    size_t count;
    size_t capacity;
};

/* The list is empty and usable again. */
void ballot_list_release(struct ballot_list *list);

/*
 * Append a ballot for each referrer of a dependency, a template or its binding: the members of
 * the binding's spec.requiredBy, in that order; behind them the templates that it does not list
 * although they need the dependency and their policies propagate it, by name. One of these that
 * has no binding yet is derived; one that has a binding counts only for what will be. A binding
 * with a placement has nobody but those it lists, nor has one that lists nobody: it is left over,
 * and its template is the dependency. The decisions about the templates must be up to
 * date.
 */
void ballots_gather(const struct store *s, const struct incomplete *incomplete,
                    const struct entry *dependency, struct ballot_list *out);

/*
 * The decision about a dependency with these referrers: about the binding `b` or, where there is
 * none (`b` is NULL), about a template that no policy governs. `resolves`: Karmada brings the value
 * that results into the binding (release.h). NULL if it is no dependency. The caller frees it.
 */
struct dependency_decision *dependency_decide(const struct binding *b,
                                              const struct ballot_list *ballots, bool resolves);
