/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * Keeps hundreds of resources from asking a server for everything at the same
 * time: so many lists at once, so many in a second. Streams of changes are not
 * held up.
 */
struct list_limiter {
    unsigned open;
    int64_t credit_ms; /* Time saved up; each list costs some. */
    int64_t updated_ms;
};

void list_limiter_init(struct list_limiter *g, int64_t now_ms);

/* True if a list may start now; list_limiter_leave() when it is over. */
bool list_limiter_enter(struct list_limiter *g, int64_t now_ms) MUST_USE;
void list_limiter_leave(struct list_limiter *g);

/* When to ask again, after list_limiter_enter() said no; INT64_MAX: when another has left. */
int64_t list_limiter_due(const struct list_limiter *g);
