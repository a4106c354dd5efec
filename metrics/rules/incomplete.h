/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/store.h"

/*
 * The kinds of which not all objects have been read yet: a source goes on without them. What is
 * missing of such a kind may well exist, and what is there is only a part: nothing is concluded
 * from either.
 */
struct incomplete {
    struct intern *strings; /* Borrowed. */
    struct incomplete_kind {
        const char *api_version; /* Shared, as is the kind. */
        const char *kind;
    } * items;
    size_t count;
};

void incomplete_init(struct incomplete *i, struct intern *strings);
void incomplete_release(struct incomplete *i);

/* True if that changes anything. */
bool incomplete_set(struct incomplete *i, const char *api_version, const char *kind,
                    bool incomplete);

/* Is the kind one of them? */
bool incomplete_has(const struct incomplete *i, const char *api_version, const char *kind);
/* The same of a type of the store that the strings are of: it compares no texts. */
bool incomplete_has_type(const struct incomplete *i, const struct type *type);
/* Their classes, a bit for each enum object_class. */
unsigned incomplete_classes(const struct incomplete *i);
