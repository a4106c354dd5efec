/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * Keeps hundreds of resources from asking a server for everything at the same
 * time: so many lists at once, so many in a second. Streams of changes are not
 * held up.
 */
struct gate {
    unsigned open;
    int64_t credit_ms; /* Time saved up; each list costs some. */
    int64_t updated_ms;
};

void gate_init(struct gate *g, int64_t now_ms);

/* True if a list may start now; gate_leave() when it is over. */
bool gate_enter(struct gate *g, int64_t now_ms) MUST_USE;
void gate_leave(struct gate *g);

/* When to ask again, after gate_enter() said no; INT64_MAX: when another has left. */
int64_t gate_due(const struct gate *g);
