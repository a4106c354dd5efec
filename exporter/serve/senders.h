/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/notify/events.h"
#include "exporter/serve/web_service.h"

/*
 * What the exporter sends by itself, rather than being asked for it: Events, on the loop's thread,
 * and alerts, by threads of their own that read the page. All zero sends nothing.
 */
struct alerting;

struct outlets {
    struct events events;
    struct alerting *alerting; /* To Alertmanagers; NULL without one. */
};

/* Start them. `page_url`: where people reach the pages; "" if that is not known. */
bool outlets_init(struct outlets *o, const struct web_settings *settings, const char *page_url,
                  struct error *err) MUST_USE;
/* Take leave of whoever has to know, for about a second at most; `current` may be NULL. */
void outlets_release(struct outlets *o, struct evaluation *current);

/*
 * Go on, with what holds now (NULL: nothing is known yet). `now_ms` is steady. True if the page is
 * another one by that.
 */
bool outlets_turn(struct outlets *o, struct evaluation *current, int64_t now_ms, int64_t clock_ms);
/* When to do so even if nothing arrives (steady); INT64_MAX for never. */
int64_t outlets_due(const struct outlets *o);

/* The evaluation is about to be freed. What has been sent stays known. */
void outlets_forget(struct outlets *o);

/* Set their own families. */
void outlets_fill(const struct outlets *o, struct registry *registry);
