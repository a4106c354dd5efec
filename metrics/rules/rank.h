/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/selector.h"

/*
 * Which of the policies that select a template wins (product contract 3.1;
 * Karmada: getHighestPriorityPropagationPolicy, propagateResource).
 */

/* A policy that selects a template, eligible or not. */
struct candidate {
    struct entry *policy;
    enum selector_score score;
    bool excluded; /* One of the policy's exclusion rules matches too. */
    bool deleting; /* A policy that is being deleted no longer gets templates. */
};

/* What decides between two candidates, strongest first. */
enum rank_step {
    RANK_ELIGIBLE, /* The loser excludes the template or is being deleted. */
    RANK_KIND,     /* PropagationPolicy before ClusterPropagationPolicy. */
    RANK_PRIORITY,
    RANK_SELECTOR,
    RANK_NAME,
};

static inline bool candidate_eligible(const struct candidate *c)
{
    return !c->excluded && !c->deleting;
}

/* Negative if `a` ranks before `b`; `step`, unless NULL, is what decides. */
int candidate_compare(const struct candidate *a, const struct candidate *b, enum rank_step *step);

/* Best first; those that are not eligible come last. */
void candidates_sort(struct candidate *candidates, size_t count);
