/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/store.h"

/*
 * A walk over all entries of some classes, with an object or without, in steps between which the
 * store may change. Whatever is there from its begin to its end is visited; what comes or goes
 * meanwhile may be, and when something goes another one may be visited twice.
 */
struct walk {
    struct store *store;
    unsigned classes;     /* A bit for each enum object_class. */
    struct entry *anchor; /* Pinned, so that its partition stays; NULL before the first step. */
    size_t position;      /* The entries before it in the anchor's partition are left. */
};

/* All in `store`, which is borrowed, from the first on. */
static inline struct walk walk_over(struct store *store, unsigned classes)
{
    return (struct walk){.store = store, .classes = classes};
}

/* The next entry; NULL behind the last, and then begins anew. */
struct entry *walk_next(struct walk *w);

/* Begin anew, and hold on to nothing until then. */
void walk_stop(struct walk *w);
