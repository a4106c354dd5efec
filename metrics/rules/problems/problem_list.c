/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/problems/problem_list.h"

/* Ranks a time for the order of lists: unknown times come last. */
static int64_t since_rank(const struct problems *ps, const struct problem *p)
{
    int64_t since = problem_since_ms(ps, p);

    return since ? since : INT64_MAX;
}

int problem_compare(const struct problems *ps, const struct problem *a, const struct problem *b)
{
    int64_t a_rank = since_rank(ps, a), b_rank = since_rank(ps, b);
    int order = (int)problem_severity(ps, problem_id(a)) - (int)problem_severity(ps, problem_id(b));

    order = order ? order : (a_rank > b_rank) - (a_rank < b_rank);
    order = order ? order : (int)problem_id(a) - (int)problem_id(b);
    order = order ? order : strcmp(problem_subject_kind(a), problem_subject_kind(b));
    order = order ? order : strcmp(problem_ns(a), problem_ns(b));
    order = order ? order : strcmp(problem_name(a), problem_name(b));
    order = order ? order : strcmp(problem_api_version(a), problem_api_version(b));
    return order ? order : (int)a->reason - (int)b->reason;
}

/* Argument of compare_problems(). */
struct problem_order {
    const struct problems *problems;
};

static int compare_problems(const void *a, const void *b, void *context)
{
    return problem_compare(((const struct problem_order *)context)->problems,
                           *(const struct problem *const *)a, *(const struct problem *const *)b);
}

const struct problem **problems_list(const struct problems *ps, unsigned statuses, size_t *count)
{
    const struct problem **list = NULL;
    struct problem_order order = {ps};
    struct problem_walk walk = {0};
    const struct problem *p;
    size_t capacity = 0;

    *count = 0;
    while ((p = problems_next(ps, &walk)) != NULL) {
        if (!(statuses & 1U << p->status))
            continue;
        if (*count == capacity) {
            capacity = capacity ? 2 * capacity : 16;
            list = xreallocarray(list, capacity, sizeof(const struct problem *));
        }
        list[(*count)++] = p;
    }
    if (*count > 1)
        qsort_r(list, *count, sizeof(const struct problem *), compare_problems, &order);
    return list;
}
