/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/engine_state.h"

/* Where the decision of one that waits keeps its place. */
static uint32_t *place_of(const struct entry *entry)
{
    if (entry_class(entry) == CLASS_LEASE)
        return &((struct lease_decision *)entry->decision)->waiting;
    return &((struct template_decision *)entry->decision)->waiting;
}

void engine_wait_no_more(struct engine *e, uint32_t *place)
{
    if (*place == 0)
        return;

    struct waiting *moved = &e->waiting[--e->waiting_count];
    e->waiting[*place - 1] = *moved;
    if (*place - 1 < e->waiting_count)
        *place_of(moved->entry) = *place;
    *place = 0;
}

void engine_wait(struct engine *e, struct entry *entry, uint32_t *place, int64_t due_ms)
{
    if (due_ms == INT64_MAX)
        return;
    if (e->waiting_count == e->waiting_capacity) {
        e->waiting_capacity = e->waiting_capacity ? 2 * e->waiting_capacity : 64;
        e->waiting = xreallocarray(e->waiting, e->waiting_capacity, sizeof(*e->waiting));
    }
    e->waiting[e->waiting_count++] = (struct waiting){entry, due_ms};
    *place = (uint32_t)e->waiting_count;
    if (due_ms < e->deadline_ms)
        e->deadline_ms = due_ms;
}

void engine_wake(struct engine *e)
{
    int64_t next = INT64_MAX;

    if (e->now_ms < e->deadline_ms)
        return;
    for (size_t i = 0; i < e->waiting_count; i++) {
        if (e->waiting[i].due_ms <= e->now_ms)
            engine_mark(e, e->waiting[i].entry);
        else if (e->waiting[i].due_ms < next)
            next = e->waiting[i].due_ms;
    }
    e->deadline_ms = next;
}
