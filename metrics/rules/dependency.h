/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/binding.h"
#include "metrics/rules/engine.h"

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

/*
 * The decision about the dependency that `entry` is: a binding, or (derived) a
 * template that gets no binding of its own from a policy. Its referrers are
 * what the entry reads or is read by, see engine_ballots. NULL if it is none.
 * The caller frees it.
 */
struct dependency_decision *dependency_decide(const struct engine *e, const struct entry *entry);
