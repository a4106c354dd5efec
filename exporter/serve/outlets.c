/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/serve/outlets.h"

void outlets_init(struct outlets *o, const struct log *log)
{
    events_init(&o->events, log);
}

void outlets_release(struct outlets *o, struct evaluation *current)
{
    events_release(&o->events, current);
}

bool outlets_turn(struct outlets *o, struct evaluation *current, int64_t now_ms, int64_t clock_ms)
{
    return events_turn(&o->events, current, now_ms, clock_ms);
}

int64_t outlets_due(const struct outlets *o)
{
    return events_due(&o->events);
}

void outlets_forget(struct outlets *o)
{
    events_forget(&o->events);
}

void outlets_fill(const struct outlets *o, struct registry *registry)
{
    events_fill(&o->events, registry);
}
