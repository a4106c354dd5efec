/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/edges.h"

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

static uint32_t add_dependent(struct entry *read, struct entry *reader)
{
    if (read->dependent_count == read->dependent_capacity) {
        uint32_t capacity = read->dependent_capacity;

        read->dependent_capacity = capacity ? capacity + capacity / 2 + 1 : 1;
        read->dependents =
            xreallocarray(read->dependents, read->dependent_capacity, sizeof(struct entry *));
    }
    read->dependents[read->dependent_count] = reader;
    return read->dependent_count++;
}

/* Move the last dependent into the gap, and tell it where it stands now. */
static void remove_dependent(struct entry *read, uint32_t position)
{
    uint32_t last = --read->dependent_count;
    struct entry *moved = read->dependents[last];

    if (position == last)
        return;
    read->dependents[position] = moved;
    for (uint32_t i = 0; i < moved->read_count; i++) {
        if (moved->reads[i].read == read)
            moved->reads[i].position = position;
    }
}

static bool is_read(const struct edge *edges, size_t count, const struct entry *read)
{
    for (size_t i = 0; i < count; i++) {
        if (edges[i].read == read)
            return true;
    }
    return false;
}

bool edges_differ(const struct entry *reader, struct entry *const *reads, size_t count)
{
    uint32_t at = 0;

    for (size_t i = 0; i < count; i++) {
        if (at < reader->read_count && reader->reads[at].read == reads[i])
            at++;
        else if (!is_read(reader->reads, at, reads[i]))
            return true;
    }
    return at != reader->read_count;
}

void edges_replace(struct store *store, struct entry *reader, struct entry *const *reads,
                   size_t count)
{
    struct edge *old = reader->reads;
    uint32_t old_count = reader->read_count;

    if (!edges_differ(reader, reads, count))
        return;
    for (uint32_t i = 0; i < old_count; i++)
        remove_dependent(old[i].read, old[i].position);
    reader->reads = count ? xreallocarray(NULL, count, sizeof(*reader->reads)) : NULL;
    reader->read_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (is_read(reader->reads, reader->read_count, reads[i]))
            continue;
        uint32_t at = add_dependent(reads[i], reader);
        reader->reads[reader->read_count++] = (struct edge){reads[i], at};
    }
    for (uint32_t i = 0; i < old_count; i++) {
        if (!is_read(reader->reads, reader->read_count, old[i].read))
            store_tidy(store, old[i].read);
    }
    free(old);
}
