/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/selector.h"

/*
 * Rank of the policies that select a template: the first policy wins if it is eligible (product
 * contract 3.1; Karmada: getHighestPriorityPropagationPolicy, propagateResource).
 */

/* A policy that selects a template, even if it cannot win. */
struct candidate {
    struct entry *policy;
    enum selector_score score;
    bool excluded; /* The policy's excludedResources match the template too. */
    bool deleting; /* Policy in deletion: Karmada gives it no more templates. */
    bool refused;  /* Policy of files that no API server stores (admission_keeps_out). */
};

/* Growing list of candidates; all zero is the empty list. */
struct candidate_list {
    struct candidate *items;
    size_t count;
    size_t capacity;
};

/* Empties the list and makes room for `count` candidates. */
void candidate_list_reserve(struct candidate_list *list, size_t count);
/* Frees the items. The list is empty and usable again. */
void candidate_list_release(struct candidate_list *list);

/* Criteria that rank two candidates, strongest first. */
enum rank_step {
    RANK_ELIGIBLE, /* Policies that exclude it, are being deleted or are refused rank last. */
    RANK_KIND,     /* PropagationPolicy before ClusterPropagationPolicy. */
    RANK_PRIORITY, /* Higher spec.priority before lower. */
    RANK_SELECTOR, /* Higher selector_score before lower. */
    RANK_NAME,     /* In byte order. */
};

static inline bool candidate_eligible(const struct candidate *c)
{
    return !c->excluded && !c->deleting && !c->refused;
}

/*
 * Returns a negative number if `a` ranks before `b`, a positive number if behind, else 0. If not 0,
 * stores in `step`, unless NULL, the strongest criterion in which the two differ.
 */
int candidate_compare(const struct candidate *a, const struct candidate *b, enum rank_step *step);

/* Sorts candidates by rank, best first, ineligible ones last. */
void candidates_sort(struct candidate *candidates, size_t count);
