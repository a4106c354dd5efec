/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/store.h"

/* The entries of a class that have an object, in the order of entry_compare(), for lists. */
struct listing {
    const struct entry **entries;
    size_t count;
};

/* A listing is valid until the store changes. Release it with listing_release(). */
struct listing listing_make(const struct store *store, enum object_class class);
void listing_release(struct listing *listing);
