/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/serve/alerting/promql.h"

/*
 * The bundled rules that are on by default (alert_table.h), read once: what is recorded and what
 * alerts, in the order in which they are evaluated.
 */
struct alert_rule {
    const char *name;     /* Of the alert, or of what is recorded. */
    const char *severity; /* NULL: it records. */
    int64_t interval_ms;
    int64_t for_ms;
    int64_t keep_ms;
    const char *summary;
    const char *description;
    const char *runbook_url;
    const char *dashboard_url;
    const char
        *page_origin; /* Where its page is for one who does not know where the exporter is, */
    const char *page; /* ... and the rest of the address. */
    struct promql *expression;
    int64_t window_ms;       /* How far back it looks. */
    struct name_list labels; /* That it may have of its own. Their texts are the expression's. */
};

struct alert_rules {
    struct alert_rule *items;
    size_t count;
};

/* The labels that tell exporters apart, as whoever scrapes adds them; NULL at the end. */
extern const char *const alert_plane[];
extern const char alert_product[];
extern const char alert_job[];

/* False if one of them is not understood, which only a table that is wrong is. */
bool alert_rules_load(struct alert_rules *out, struct error *err) MUST_USE;
void alert_rules_release(struct alert_rules *r);

/* The alert of a name; NULL if there is none. */
const struct alert_rule *alert_rules_find(const struct alert_rules *r, const char *name);

/* Have a store keep what they look at. */
void alert_rules_want(const struct alert_rules *r, struct series_store *store);
