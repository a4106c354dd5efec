/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/shared/list_limiter.h"

enum {
    LISTS_AT_ONCE = 4,
    LIST_COST_MS = 50, /* Twenty a second, */
    BURST = 40,        /* after forty at once. */
    CREDIT_MAX_MS = BURST * LIST_COST_MS,
};

void list_limiter_init(struct list_limiter *g, int64_t now_ms)
{
    *g = (struct list_limiter){.credit_ms = CREDIT_MAX_MS, .updated_ms = now_ms};
}

bool list_limiter_enter(struct list_limiter *g, int64_t now_ms)
{
    g->credit_ms += now_ms - g->updated_ms;
    g->updated_ms = now_ms;
    if (g->credit_ms > CREDIT_MAX_MS)
        g->credit_ms = CREDIT_MAX_MS;
    if (g->open >= LISTS_AT_ONCE || g->credit_ms < LIST_COST_MS)
        return false;
    g->credit_ms -= LIST_COST_MS;
    g->open++;
    return true;
}

void list_limiter_leave(struct list_limiter *g)
{
    g->open--;
}

int64_t list_limiter_due(const struct list_limiter *g)
{
    return g->open >= LISTS_AT_ONCE ? INT64_MAX : g->updated_ms + LIST_COST_MS - g->credit_ms;
}
