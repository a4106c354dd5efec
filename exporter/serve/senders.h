/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/notify/events.h"
#include "exporter/serve/web_service.h"

/*
 * What the exporter sends by itself, rather than being asked for it: Events, on the loop's thread,
 * and alerts, by threads of their own that read the page. All zero sends nothing.
 */
struct alerting;

struct senders {
    struct events events;
    struct alerting *alerting; /* To Alertmanagers; NULL without one. */
};

/* Start them. `page_url`: where people reach the pages; "" if that is not known. */
bool senders_init(struct senders *o, const struct web_service_settings *settings,
                  const char *page_url, struct error *err) MUST_USE;
/* Take leave of whoever has to know, for about a second at most; `current` may be NULL. */
void senders_release(struct senders *o, struct evaluation *current);

/*
 * Go on, with what holds now (NULL: nothing is known yet). `now_ms` is steady. True if the page is
 * another one by that.
 */
bool senders_turn(struct senders *o, struct evaluation *current, int64_t now_ms, int64_t clock_ms);
/* When to do so even if nothing arrives (steady); INT64_MAX for never. */
int64_t senders_due(const struct senders *o);

/* The evaluation is about to be freed. What has been sent stays known. */
void senders_forget(struct senders *o);

/* Set their own families. */
void senders_fill(const struct senders *o, struct registry *registry);
