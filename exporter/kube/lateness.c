/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/lateness.h"

static bool is_listing(const struct watch *w)
{
    return w->phase == WATCH_LISTING || w->phase == WATCH_INITIAL_EVENTS;
}

int64_t lateness_end_ms(const struct watch *w, const struct list_limiter *limiter,
                        const struct list_ticket *ticket)
{
    int64_t patience_ms = list_limiter_patience(limiter, ticket, w->stalls);

    if (!is_listing(w) || patience_ms == INT64_MAX)
        return w->due_ms;
    patience_ms += progress_quiet_since(&w->lifetime.progress);
    return patience_ms < w->due_ms ? patience_ms : w->due_ms;
}

int64_t lateness_due_ms(const struct watch *w, const struct list_ticket *ticket, bool open)
{
    if (!is_listing(w))
        return INT64_MAX;
    if (open)
        return progress_quiet_since(&w->lifetime.progress) + PROGRESS_LATE_MS;
    return ticket->state == TICKET_WAITING ? ticket->since_ms + PROGRESS_LATE_MS : INT64_MAX;
}

const char *lateness_reason(const struct watch *w, bool open, int64_t now_ms)
{
    return open ? watch_fault(w, now_ms) : "it waits for the lists of other resources";
}
