/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/selector.h"

/*
 * Which of the policies that select a template wins (product contract 3.1;
 * Karmada: getHighestPriorityPropagationPolicy, propagateResource).
 */

/* A policy that selects a template, whether or not it may have it. */
struct candidate {
    struct entry *policy;
    enum selector_score score;
    bool excluded; /* One of the policy's exclusion rules matches too. */
    bool deleting; /* A policy being deleted selects nothing any more. */
};

/* What told a winner from a loser, strongest first. */
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

/* Negative if `a` ranks before `b`; `step`, unless NULL, is what decided. */
int candidate_compare(const struct candidate *a, const struct candidate *b, enum rank_step *step);

/* Best first; those that are not eligible last. */
void candidates_sort(struct candidate *candidates, size_t count);
