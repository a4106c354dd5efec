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

size_t entry_place(struct entry *const *entries, size_t count, const struct entry *entry)
{
    size_t first = 0, end = count;

    while (first < end) {
        size_t middle = first + (end - first) / 2;

        if (entry_compare(entries[middle], entry) < 0)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

void entry_list_release(struct entry_list *list)
{
    free(list->items);
    *list = (struct entry_list){0};
}
