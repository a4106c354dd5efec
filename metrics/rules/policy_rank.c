/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/policy_rank.h"

#include "metrics/model/store.h"

/* Returns a negative number if `a` is larger: larger numbers sort first. */
static int compare_descending(int64_t a, int64_t b)
{
    return (a < b) - (a > b);
}

static int compare_by_step(const struct candidate *a, const struct candidate *b,
                           enum rank_step step)
{
    const struct policy *left = entry_policy(a->policy);
    const struct policy *right = entry_policy(b->policy);

    switch (step) {
    case RANK_ELIGIBLE:
        return compare_descending(candidate_eligible(a), candidate_eligible(b));
    case RANK_KIND:
        return compare_descending(!entry_is_cluster_scoped(a->policy),
                                  !entry_is_cluster_scoped(b->policy));
    case RANK_PRIORITY:
        return compare_descending(left->priority, right->priority);
    case RANK_SELECTOR:
        return compare_descending(a->score, b->score);
    case RANK_NAME:
        return strcmp(a->policy->name, b->policy->name);
    }
    abort();
}

int candidate_compare(const struct candidate *a, const struct candidate *b, enum rank_step *step)
{
    for (int i = RANK_ELIGIBLE; i <= RANK_NAME; i++) {
        int order = compare_by_step(a, b, (enum rank_step)i);

        if (order == 0)
            continue;
        if (step)
            *step = (enum rank_step)i;
        return order;
    }
    return 0;
}

static int compare_candidates(const void *a, const void *b)
{
    return candidate_compare(a, b, NULL);
}

void candidates_sort(struct candidate *candidates, size_t count)
{
    if (count > 1)
        qsort(candidates, count, sizeof(*candidates), compare_candidates);
}

void candidate_list_reserve(struct candidate_list *list, size_t count)
{
    list->count = 0;
    if (count <= list->capacity)
        return;
    list->items = xreallocarray(list->items, count, sizeof(*list->items));
    list->capacity = count;
}

void candidate_list_release(struct candidate_list *list)
{
    free(list->items);
    *list = (struct candidate_list){0};
}
