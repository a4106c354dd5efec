/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/store.h"

/* A growing list of entries; all zero is an empty one. The entries are the store's. */
struct entry_list {
    struct entry **items;
    size_t count;
    size_t capacity;
};

void entry_list_add(struct entry_list *list, struct entry *entry);
/* Where an entry is among others in the order of entry_compare(), or would be. */
size_t entry_place(struct entry *const *entries, size_t count, const struct entry *entry);
/* Free the list, not the entries; it is empty and usable again. */
void entry_list_release(struct entry_list *list);
