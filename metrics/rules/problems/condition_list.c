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
