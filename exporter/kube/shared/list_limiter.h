/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * Keeps hundreds of resources from asking a server for all objects at the same time: it
 * limits how many lists are open, and how many start in a second. Streams of changes are
 * not limited.
 */
struct list_limiter {
    unsigned open;
    int64_t credit_ms; /* Time saved up; each list spends some. */
    int64_t updated_ms;
};

void list_limiter_init(struct list_limiter *g, int64_t now_ms);

/* True if a list may start now; then call list_limiter_leave() when it has ended. */
bool list_limiter_enter(struct list_limiter *g, int64_t now_ms) MUST_USE;
void list_limiter_leave(struct list_limiter *g);

/* When to try again after list_limiter_enter() returned false; INT64_MAX: when another leaves. */
int64_t list_limiter_due(const struct list_limiter *g);
