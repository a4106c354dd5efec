/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/walk.h"

void walk_stop(struct walk *w)
{
    struct entry *anchor = w->anchor;

    w->anchor = NULL;
    w->position = 0;
    if (anchor)
        store_unpin(w->store, anchor);
}

/* The first with entries of these partitions, or of the types of the classes from `type` on. */
static struct partition *find_partition(const struct walk *w, struct partition *p,
                                        const struct type *type)
{
    for (;;) {
        for (; p; p = p->next_of_type) {
            if (p->count > 0)
                return p;
        }
        while (type && !(w->classes & 1U << type->def->class))
            type = type->next;
        if (!type)
            return NULL;
        p = type->partitions;
        type = type->next;
    }
}

/* Go to the next partition. False behind the last. */
static bool go_on(struct walk *w)
{
    const struct partition *last = w->anchor ? w->anchor->partition : NULL;
    struct partition *p = last ? find_partition(w, last->next_of_type, last->type->next)
                               : find_partition(w, NULL, store_types(w->store));
    struct entry *anchor = p ? p->entries[0] : NULL;

    if (anchor)
        store_pin(anchor);
    walk_stop(w);
    w->anchor = anchor;
    w->position = p ? p->count : 0;
    return p;
}

/*
 * From the last entry of a partition to the first: one that goes is replaced by the last, which
 * was visited then.
 */
struct entry *walk_next(struct walk *w)
{
    const struct partition *p = w->anchor ? w->anchor->partition : NULL;

    if (p && w->position > p->count)
        w->position = p->count;
    while (!p || w->position == 0) {
        if (!go_on(w))
            return NULL;
        p = w->anchor->partition;
    }
    return p->entries[--w->position];
}
