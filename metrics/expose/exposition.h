/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/expose/registry.h"

/*
 * Exposition: the page that Prometheus scrapes. Families are in the order of family_at(), and the
 * series of a family are in a fixed order, so that equal values give equal bytes.
 */
enum exposition_format {
    EXPOSITION_TEXT,        /* text/plain; version=0.0.4 */
    EXPOSITION_OPENMETRICS, /* application/openmetrics-text; version=1.0.0 */
    EXPOSITION_FORMATS
};

struct exposition {
    enum exposition_format format;
    /* All objects have been read. If false, the page has only families of the exporter itself. */
    bool synced;
    /*
     * Start times of counters and histograms for OpenMetrics, milliseconds since the epoch:
     * `created_ms` for families `of_process`, for others the later of `created_ms` and `since_ms`.
     * If `created_ms` is 0, the page has no series with start times.
     */
    int64_t created_ms;
    int64_t since_ms;
};

/* Returns true if the page has the family with this index of family_at(). */
bool exposition_has_family(const struct registry *r, bool synced, size_t family);

/* Appends the lines before the series of a family: help, type and, in OpenMetrics, unit. */
void exposition_write_head(const struct family_def *def, enum exposition_format format,
                           struct strbuf *out);

/*
 * Appends the series of a family for which exposition_has_family() returns true. Call
 * registry_prepare() before. The text of a gauge is the same in all formats.
 */
void exposition_write_series(const struct registry *r, size_t family, struct exposition how,
                             struct strbuf *out);

/* Returns the last line of a page; "" for EXPOSITION_TEXT. */
const char *exposition_trailer(enum exposition_format format);

/* Appends the whole page. Call registry_prepare() before. */
void exposition_write(const struct registry *r, struct exposition how, struct strbuf *out);
