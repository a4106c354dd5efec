/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/store.h"

/*
 * Who looked at whom. An entry that read others to reach its decision is one
 * of their dependents, and is looked at again when they change.
 */

/* False if edges_replace with the same arguments would change nothing. */
bool edges_differ(const struct entry *reader, struct entry *const *reads, size_t count);

/*
 * From now on `reader` reads exactly these entries, in this order, repetitions
 * aside. Entries that nobody reads any more and that have no object are let go.
 */
void edges_replace(struct store *store, struct entry *reader, struct entry *const *reads,
                   size_t count);

/* A growing list of entries, for collecting what is read. */
struct entry_list {
    struct entry **items;
    size_t count;
    size_t capacity;
};

void entry_list_add(struct entry_list *list, struct entry *entry);
void entry_list_release(struct entry_list *list);
