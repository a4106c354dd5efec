/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/binding.h"
#include "metrics/rules/decision.h"

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
    struct vote observed;   /* What its binding says, which is what Karmada counts now. */
    struct vote current;    /* What its policy says, which Karmada counts once applied. */
    bool counts_observed;   /* False if the binding does not exist. */
    bool counts_current;    /* False also if its policy no longer propagates dependencies. */
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
 * Append a ballot for each referrer of a dependency: of a binding the members of its
 * spec.requiredBy, in that order; of a template (derived) the templates that read it and whose
 * policies propagate dependencies, by name. The decisions about the templates must be up to
 * date.
 */
void ballots_gather(const struct store *s, const struct entry *dependency, struct ballot_list *out);

/*
 * The decision about a dependency with these referrers: about the binding `b`, or (derived, `b`
 * is NULL) about a template that no policy governs. NULL if it is no dependency. The caller
 * frees it.
 */
struct dependency_decision *dependency_decide(const struct binding *b,
                                              const struct ballot_list *ballots);
