/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/options/options.h"
#include "exporter/system/log.h"
#include "metrics/expose/problem_alerts.h"

/* ---- batches ---- */

enum {
    ALERT_REQUEST_MAX_BYTES = 1024 * 1024,
    ALERT_LIFETIME_MS = 5 * 60 * 1000, /* From the sending to the end of an alert. */
};

struct alert_request {
    char *json; /* Body of POST /api/v2/alerts. Owned. */
    size_t len;
    size_t alerts; /* Number of alerts in `json`. */
};

/*
 * All alerts to send at one time. Immutable and shared: freed with its last holder. Every alert
 * ends ALERT_LIFETIME_MS after the sending, so that an alert that is not renewed ends by itself.
 */
struct alert_batch {
    _Atomic unsigned holders;
    struct alert_request *requests;
    size_t count;
    size_t alerts;   /* Number of alerts in all requests. */
    int64_t ends_ms; /* End of every alert; since the epoch. */
};

/*
 * Returns a batch of the alerts in `lists`, with one holder. `clock_ms` is the time of the sending,
 * since the epoch; an alert that starts later starts then.
 */
struct alert_batch *alert_batch_new(const struct problem_alert_list *const *lists, size_t count,
                                    int64_t clock_ms) MUST_USE;
struct alert_batch *alert_batch_hold(struct alert_batch *b);
/* Accepts NULL. */
void alert_batch_drop(struct alert_batch *b);

/* ---- connection to one Alertmanager ---- */

/*
 * Client of one Alertmanager, with its own thread. The thread first reads the alerts of earlier
 * runs, then sends the latest batch; after failures it waits up to a minute. A newer batch replaces
 * one that was not sent. A batch that was not sent in time is dropped: an alert whose end has
 * passed would count as resolved.
 */
struct alertmanager;

struct alertmanager_settings {
    const struct options *options; /* Credentials and trust. */
    const char *url;
    const char *query;              /* Query of GET /api/v2/alerts. */
    const char *const *environment; /* Has the proxy; NULL ends the list. */
    const struct log *log;          /* Borrowed; all others are copied. */
};

/* Result of sending an alert. */
enum alert_result { ALERT_SENT, ALERT_FAILED, ALERT_DROPPED, ALERT_RESULTS };
extern const char *const alert_result_names[];

/* Returns NULL with the reason if an option is not valid, or one of its files cannot be read. */
struct alertmanager *alertmanager_new(const struct alertmanager_settings *settings,
                                      struct error *err) MUST_USE;
/* Cancels the open request and ends the thread. Accepts NULL. */
void alertmanager_free(struct alertmanager *m);

/* Makes the batch the next one to send, and holds it. */
void alertmanager_hand(struct alertmanager *m, struct alert_batch *batch);

/* Returns, once, the response to GET /api/v2/alerts; NULL before it and after. Caller frees it. */
char *alertmanager_take_response(struct alertmanager *m) MUST_USE;

/* Returns host and port, for logs and metrics. */
const char *alertmanager_host(const struct alertmanager *m);

/* Returns the number of alerts with this result so far. Any thread may call it. */
uint64_t alertmanager_count(const struct alertmanager *m, enum alert_result result);
