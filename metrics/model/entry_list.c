/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/entry_list.h"

void entry_list_add(struct entry_list *list, struct entry *entry)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 16;
        list->items = xreallocarray(list->items, list->capacity, sizeof(struct entry *));
    }
    list->items[list->count++] = entry;
}

void entry_list_release(struct entry_list *list)
{
    free(list->items);
    *list = (struct entry_list){0};
}
