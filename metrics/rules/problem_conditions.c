/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/problem_conditions.h"

#include "metrics/rules/rule.h"
#include "metrics/rules/template_conditions.h"

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

void problem_conditions(const struct rule_context *c, const struct entry *entry,
                        struct condition_list *out, int64_t *due_ms)
{
    if (template_decision(entry))
        template_conditions(c, entry, out, due_ms);
}
