/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/serve/throttle.h"

enum { COST_PARTS = 5 };

void throttle_init(struct throttle *t, int64_t shortest_ms, int64_t longest_ms, int64_t refresh_ms)
{
    *t = (struct throttle){
        .shortest_ms = shortest_ms,
        .longest_ms = longest_ms,
        .refresh_ms = refresh_ms,
        .published_ms = -longest_ms,
    };
}

void throttle_change(struct throttle *t, int64_t now_ms)
{
    if (t->changed_ms == 0)
        t->changed_ms = now_ms;
}

int64_t throttle_deadline(const struct throttle *t)
{
    int64_t refresh_ms = t->refreshed_ms + t->refresh_ms;
    int64_t change_ms = t->published_ms + t->interval_ms;

    return t->changed_ms != 0 && change_ms < refresh_ms ? change_ms : refresh_ms;
}

int64_t throttle_publish(struct throttle *t, int64_t cost_ms, int64_t now_ms)
{
    int64_t waited_ms = t->changed_ms != 0 ? now_ms - t->changed_ms : 0;
    int64_t interval_ms = cost_ms * COST_PARTS;

    if (t->changed_ms != 0)
        t->published_ms = now_ms;
    if (interval_ms < t->shortest_ms)
        interval_ms = t->shortest_ms;
    t->interval_ms = interval_ms < t->longest_ms ? interval_ms : t->longest_ms;
    t->changed_ms = 0;
    t->refreshed_ms = now_ms;
    return waited_ms;
}
