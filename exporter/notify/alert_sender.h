/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/evaluation.h"
#include "exporter/notify/alertmanager.h"

/*
 * Implements --alertmanager.url: sends alerts about open problems (problem_alerts.h) to
 * Alertmanagers once a minute. Functions run on the loop thread and do not block, except
 * alert_sender_free(); each Alertmanager has a thread (alertmanager.h).
 *
 * No alert is ever resolved: an alert ends if no replica renews it. Two replicas with different
 * data therefore send the union. After a start the sender renews the alerts of an earlier run until
 * it has had data for RENEWAL_MS: before, their problems may not be open yet.
 *
 * A replica without current data of policies and bindings sends no problem, only the alert
 * KarmadaPolicyExporterDegraded, once that lasts for a minute. A replica with current data also
 * sends KarmadaPolicyExporterWatchdog.
 */
struct alert_sender;

struct alert_sender_settings {
    const struct options *options;  /* Borrowed until the call returns. */
    const char *site_url;           /* URL of the pages for users; "" if unknown. Copied. */
    const char *const *environment; /* Has the proxy; NULL ends the list. */
    const struct log *log;          /* Borrowed. */
};

/* Returns true if any option about Alertmanager is set. */
bool alert_sender_is_configured(const struct options *o);

/* Returns NULL with the reason if an option is not valid, or --alertmanager.url is missing. */
struct alert_sender *alert_sender_new(const struct alert_sender_settings *settings,
                                      struct error *err) MUST_USE;
/* Cancels open requests and ends the threads. The alerts that were sent stay until they end. */
void alert_sender_free(struct alert_sender *s);

/* The next three functions have the contract of their counterparts in senders.h. */
void alert_sender_turn(struct alert_sender *s, struct evaluation *current, int64_t now_ms,
                       int64_t clock_ms);
int64_t alert_sender_due(const struct alert_sender *s);
void alert_sender_fill(const struct alert_sender *s, struct registry *registry);
