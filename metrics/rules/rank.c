/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/rank.h"

#include "metrics/model/store.h"

/* Negative where the larger number belongs first. */
static int descending(int64_t a, int64_t b)
{
    return (a < b) - (a > b);
}

static int by_step(const struct candidate *a, const struct candidate *b, enum rank_step step)
{
    const struct policy *left = entry_policy(a->policy);
    const struct policy *right = entry_policy(b->policy);

    switch (step) {
    case RANK_ELIGIBLE:
        return descending(candidate_eligible(a), candidate_eligible(b));
    case RANK_KIND:
        return descending(!a->policy->partition->type->def->cluster_scoped,
                          !b->policy->partition->type->def->cluster_scoped);
    case RANK_PRIORITY:
        return descending(left->priority, right->priority);
    case RANK_SELECTOR:
        return descending(a->score, b->score);
    case RANK_NAME:
        return strcmp(a->policy->name, b->policy->name);
    }
    abort();
}

int candidate_compare(const struct candidate *a, const struct candidate *b, enum rank_step *step)
{
    for (int i = RANK_ELIGIBLE; i <= RANK_NAME; i++) {
        int order = by_step(a, b, (enum rank_step)i);

        if (order == 0)
            continue;
        if (step)
            *step = (enum rank_step)i;
        return order;
    }
    return 0;
}

static int compare(const void *a, const void *b)
{
    return candidate_compare(a, b, NULL);
}

void candidates_sort(struct candidate *candidates, size_t count)
{
    if (count > 1)
        qsort(candidates, count, sizeof(*candidates), compare);
}
