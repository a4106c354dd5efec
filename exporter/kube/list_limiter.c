/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/list_limiter.h"

enum {
    LISTS_AT_ONCE = 4,
    LIST_COST_MS = 50, /* Twenty a second, */
    BURST = 40,        /* after forty at once. */
    CREDIT_MAX_MS = BURST * LIST_COST_MS,
};

void gate_init(struct gate *g, int64_t now_ms)
{
    *g = (struct gate){.credit_ms = CREDIT_MAX_MS, .updated_ms = now_ms};
}

bool gate_enter(struct gate *g, int64_t now_ms)
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

void gate_leave(struct gate *g)
{
    g->open--;
}

int64_t gate_due(const struct gate *g)
{
    return g->open >= LISTS_AT_ONCE ? INT64_MAX : g->updated_ms + LIST_COST_MS - g->credit_ms;
}
