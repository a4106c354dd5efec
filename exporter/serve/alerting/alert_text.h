/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/serve/alerting/series_store.h"
#include "metrics/base/strbuf.h"

/* What the templates of an alert's annotations speak of. All borrowed. */
struct alert_text {
    const struct label_list *labels;
    double value;
    const struct series_store *store; /* For queries. */
    int64_t now_ms;
};

/*
 * Append a text of a rule with its templates filled in, as Prometheus does: the part of Go's
 * templates that the bundled rules use. False with the reason where there is something else.
 */
bool alert_text_write(const struct alert_text *about, const char *text, struct strbuf *out,
                      struct error *err) MUST_USE;
