/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/pace.h"

void pace_change(struct pace *p, int64_t now_ms)
{
    if (p->changed_ms == 0)
        p->changed_ms = now_ms;
}

int64_t pace_deadline(const struct pace *p)
{
    int64_t refresh_ms = p->refreshed_ms + p->refresh_ms;
    int64_t change_ms = p->published_ms + p->interval_ms;

    return p->changed_ms != 0 && change_ms < refresh_ms ? change_ms : refresh_ms;
}

int64_t pace_publish(struct pace *p, int64_t now_ms)
{
    int64_t waited_ms = p->changed_ms != 0 ? now_ms - p->changed_ms : 0;

    if (p->changed_ms != 0)
        p->published_ms = now_ms;
    p->changed_ms = 0;
    p->refreshed_ms = now_ms;
    return waited_ms;
}
