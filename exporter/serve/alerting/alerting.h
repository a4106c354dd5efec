/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/options/options.h"
#include "exporter/system/log.h"
#include "exporter/web/metrics_page.h"
#include "metrics/expose/registry.h"

/*
 * Alerts without a Prometheus: a thread reads the page of metrics once a minute, as a Prometheus
 * would, holds the bundled rules against it, and hands what fires to the Alertmanagers. The loop
 * has no part in it.
 */
struct alerting;

struct alerting_settings {
    const struct options *options; /* Borrowed until the call returns. */
    struct page_store *page_store; /* Borrowed. */
    const char *page_url;          /* Where people reach the pages; "" if that is not known. */
    const char *const *environment;
    const struct log *log;
};

/* Whether any option speaks of an Alertmanager. */
bool alerting_wanted(const struct options *o);

/* NULL with the reason if the options cannot be used, as without an --alertmanager.url. */
struct alerting *alerting_new(const struct alerting_settings *settings, struct error *err) MUST_USE;
/* Ends what is under way; whatever fires goes on doing so for a while. NULL is fine. */
void alerting_free(struct alerting *a);

/* Set the families that say how alerts ended up. */
void alerting_fill(const struct alerting *a, struct registry *registry);
