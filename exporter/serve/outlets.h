/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/serve/events/events.h"

/* What the exporter sends by itself, rather than being asked for it. All on the loop's thread. */
struct outlets {
    struct events events;
};

/* The log is borrowed. */
void outlets_init(struct outlets *o, const struct log *log);
/* Take leave of whoever has to know, for about a second at most; `current` may be NULL. */
void outlets_release(struct outlets *o, struct evaluation *current);

/*
 * Go on, with what holds now (NULL: nothing is known yet). True if their own families have changed.
 * `now_ms` is steady.
 */
bool outlets_turn(struct outlets *o, struct evaluation *current, int64_t now_ms, int64_t clock_ms);
/* When to do so even if nothing arrives (steady); INT64_MAX for never. */
int64_t outlets_due(const struct outlets *o);

/* The evaluation is about to be freed. What has been sent stays known. */
void outlets_forget(struct outlets *o);

/* Set their own families. */
void outlets_fill(const struct outlets *o, struct registry *registry);
