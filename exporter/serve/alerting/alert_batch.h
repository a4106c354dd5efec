/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/serve/alerting/alert_text.h"
#include "exporter/serve/alerting/alerts.h"
#include "metrics/base/json.h"

/*
 * What all Alertmanagers are to be told at one moment, as requests for POST /api/v2/alerts: it
 * never changes, and goes with its last holder.
 */
enum {
    ALERT_REQUEST_MAX_BYTES = 1024 * 1024,
    ALERT_LIVES_MS =
        4 * 60 * 1000, /* Without word of us it is resolved: four rounds, as Prometheus. */
};

struct alert_request {
    char *json;
    size_t len;
    size_t alerts;
};

struct alert_batch {
    _Atomic unsigned holders;
    struct alert_request *requests;
    size_t count;
    size_t alerts;
};

struct alert_batch_settings {
    const struct series_store *store; /* What the texts ask. */
    const char *page_url;             /* Where the pages are; "" if that is not known. */
    int64_t clock_ms;
};

/* All that fires or has been resolved lately. One holder. */
struct alert_batch *alert_batch_new(const struct alerts *a,
                                    const struct alert_batch_settings *settings) MUST_USE;
struct alert_batch *alert_batch_hold(struct alert_batch *b);
/* NULL is fine. */
void alert_batch_drop(struct alert_batch *b);

/* One alert as the API has it. */
cJSON *alert_json(const struct alert *alert, const struct alert_batch_settings *settings) MUST_USE;

/*
 * Adopt those of an Alertmanager's answer to GET /api/v2/alerts that can be ours: of a rule, and
 * with labels of its own and `more` alone. How many those were; -1 if it is no such answer.
 */
int alert_batch_adopt(struct alerts *a, const struct alert_rules *rules,
                      const struct label_list *more, const char *json,
                      const struct alert_moment *now);
