/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/notify/events.h"
#include "exporter/serve/web_service.h"

struct alert_sender;

/*
 * Senders of Events to the API server and of alerts to Alertmanagers. A zeroed struct sends
 * nothing.
 */
struct senders {
    struct events events;
    struct alert_sender *alert_sender; /* Owned; NULL unless the options use an Alertmanager. */
};

/*
 * Starts the senders. `site_url`: URL of the pages for users; "" if unknown. Returns false with the
 * reason on failure; call senders_release() even then.
 */
bool senders_init(struct senders *s, const struct web_service_settings *settings,
                  const char *site_url, struct error *err) MUST_USE;
/* Gives up the Lease, within about a second, and ends the threads. `current` may be NULL. */
void senders_release(struct senders *s, struct evaluation *current);

/*
 * Does the due work for Events and alerts without blocking. `current`: NULL before the first
 * evaluation. `now_ms` is steady, `clock_ms` since the epoch. Returns true if pages may have
 * changed.
 */
bool senders_turn(struct senders *s, struct evaluation *current, int64_t now_ms, int64_t clock_ms);
/*
 * Returns the steady time in ms of the next turn if no response or change arrives before;
 * INT64_MAX: no call needed.
 */
int64_t senders_due(const struct senders *s);

/* Cancels Event requests; call it before the evaluation is freed.
 * Keeps Lease and counts. */
void senders_forget(struct senders *s);

/* Sets the series of both senders. */
void senders_fill(const struct senders *s, struct registry *registry);
