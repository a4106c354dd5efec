/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/serve/throttle.h"

enum { COST_PARTS = 5 };

void throttle_init(struct throttle *p, int64_t shortest_ms, int64_t longest_ms, int64_t refresh_ms)
{
    *p = (struct throttle){
        .shortest_ms = shortest_ms,
        .longest_ms = longest_ms,
        .refresh_ms = refresh_ms,
        .published_ms = -longest_ms,
    };
}

void throttle_change(struct throttle *p, int64_t now_ms)
{
    if (p->changed_ms == 0)
        p->changed_ms = now_ms;
}

int64_t throttle_deadline(const struct throttle *p)
{
    int64_t refresh_ms = p->refreshed_ms + p->refresh_ms;
    int64_t change_ms = p->published_ms + p->interval_ms;

    return p->changed_ms != 0 && change_ms < refresh_ms ? change_ms : refresh_ms;
}

static int64_t interval_of(const struct throttle *p, int64_t cost_ms)
{
    int64_t interval_ms = cost_ms * COST_PARTS;

    if (interval_ms < p->shortest_ms)
        interval_ms = p->shortest_ms;
    return interval_ms < p->longest_ms ? interval_ms : p->longest_ms;
}

int64_t throttle_publish(struct throttle *p, int64_t cost_ms, int64_t now_ms)
{
    int64_t waited_ms = p->changed_ms != 0 ? now_ms - p->changed_ms : 0;

    if (p->changed_ms != 0)
        p->published_ms = now_ms;
    p->interval_ms = interval_of(p, cost_ms);
    p->changed_ms = 0;
    p->refreshed_ms = now_ms;
    return waited_ms;
}
