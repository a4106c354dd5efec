/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/problems/condition_list.h"

void condition_list_add(struct condition_list *list, struct condition condition)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? list->capacity * 2 : 8;
        list->items = xreallocarray(list->items, list->capacity, sizeof(*list->items));
    }
    list->items[list->count++] = condition;
}

void condition_list_release(struct condition_list *list)
{
    free(list->items);
    *list = (struct condition_list){0};
}

struct condition *condition_list_find(const struct condition_list *list, enum problem_reason reason)
{
    enum problem_id problem = problem_reasons[reason].problem;
    bool by_reason = problem_table[problem].flags & PROBLEM_BY_REASON;

    for (size_t i = 0; i < list->count; i++) {
        struct condition *condition = &list->items[i];

        if (problem_reasons[condition->reason].problem == problem &&
            (!by_reason || condition->reason == reason))
            return condition;
    }
    return NULL;
}

/* Returns true if one of the first `count` conditions is of the problem, unless by reason. */
static bool has_condition(const struct condition_list *list, size_t count, enum problem_id problem)
{
    if (problem_table[problem].flags & PROBLEM_BY_REASON)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (problem_reasons[list->items[i].reason].problem == problem)
            return true;
    }
    return false;
}

void condition_list_filter(struct condition_list *list, const struct problem_settings *settings,
                           bool snapshot)
{
    bool taken[LINE_COUNT] = {false};
    size_t kept = 0;

    for (size_t i = 0; i < list->count; i++) {
        enum problem_id problem = problem_reasons[list->items[i].reason].problem;
        const struct problem_row *row = &problem_table[problem];

        if (settings->severity[problem] == SEVERITY_OFF ||
            (snapshot && row->flags & PROBLEM_NOT_IN_FILES) || taken[row->line] ||
            has_condition(list, kept, problem))
            continue;
        if (row->line != LINE_NONE && !list->items[i].unknown)
            taken[row->line] = true;
        list->items[kept++] = list->items[i];
    }
    list->count = kept;
}
