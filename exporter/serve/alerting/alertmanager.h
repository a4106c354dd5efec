/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/options/options.h"
#include "exporter/serve/alerting/alert_batch.h"
#include "exporter/system/log.h"

/*
 * One Alertmanager, with a thread of its own that sends it the latest batch and waits longer from
 * failure to failure. What it was handed and could not send before the next one came is dropped:
 * the next one says the same and more.
 */
struct alertmanager;

struct alertmanager_settings {
    const struct options *options; /* Whom to trust and who we are. */
    const char *url;
    const char *query;              /* Of GET /api/v2/alerts: which of its alerts may be ours. */
    const char *const *environment; /* With the proxy. */
    const struct log *log;          /* Borrowed; the rest is copied. */
};

/* How alerts ended up. */
enum alert_result { ALERT_SENT, ALERT_FAILED, ALERT_DROPPED, ALERT_RESULTS };
extern const char *const alert_result_names[];

/* NULL if the options are not valid, or a file of them cannot be read. */
struct alertmanager *alertmanager_new(const struct alertmanager_settings *settings,
                                      struct error *err) MUST_USE;
/* Ends what is under way. NULL is fine. */
void alertmanager_free(struct alertmanager *m);

/* Have it send this next. It holds the batch. */
void alertmanager_hand(struct alertmanager *m, struct alert_batch *batch);

/*
 * The answer to what it has of us, once, when it has come; NULL before and after. The caller frees
 * it.
 */
char *alertmanager_take_answer(struct alertmanager *m) MUST_USE;

/* Host and port, for logs and metrics. */
const char *alertmanager_host(const struct alertmanager *m);

/* How many alerts have ended up so. Any thread may ask. */
uint64_t alertmanager_count(const struct alertmanager *m, enum alert_result result);
