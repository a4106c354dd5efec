/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/list_limiter.h"
#include "exporter/kube/watch.h"

/*
 * When a list, or a stream that begins with all objects, takes too long. The ticket is that of
 * the list; `open` says that its request is under way.
 */

/* When to give up the open request of the watch, or to end its wait. */
int64_t lateness_end_ms(const struct watch *w, const struct list_limiter *limiter,
                        const struct list_ticket *ticket);

/* When people have to be told of it; INT64_MAX if it is no list, or neither waits nor is open. */
int64_t lateness_due_ms(const struct watch *w, const struct list_ticket *ticket, bool open);

/* What to tell them. */
const char *lateness_reason(const struct watch *w, bool open, int64_t now_ms);
