/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/decision.h"

/*
 * The other policies that select templates of a policy, and what decides between the two in a fresh
 * match. Templates that one of the two wins count alone, as where a third one does nothing is
 * decided between them: karmada_propagationpolicy_overlaps goes by the best two likewise. A policy
 * that excludes a template or is being deleted does not select it, and nobody an ignored one. What
 * the policy would win another may keep, besides, by its claim.
 */
struct rival {
    const struct entry *policy;
    enum rank_step step; /* From RANK_KIND on. */
    bool first;          /* The policy that was asked for comes before this one. */
    bool claims;         /* This one keeps them by its claim; `step` is nothing then. */
    size_t templates;
};

/* Ties first, then those with the most templates. One policy is there once for each way. */
struct rivals {
    struct rival *items;
    size_t count;
};

struct rivals rivals_of(const struct entry *policy) MUST_USE;
void rivals_release(struct rivals *rivals);

/* True if the two rank equal but for the name: nobody said which one is to win. */
bool rival_is_tie(const struct rival *rival);
