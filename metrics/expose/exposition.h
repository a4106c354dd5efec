/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/expose/registry.h"

/*
 * The page that scrapers read: families in the order of families.h, the series of each by
 * their text, so that the same numbers are the same bytes.
 */
enum exposition_format {
    EXPOSITION_TEXT,        /* text/plain; version=0.0.4 */
    EXPOSITION_OPENMETRICS, /* application/openmetrics-text; version=1.0.0 */
    EXPOSITION_FORMATS
};

struct exposition {
    enum exposition_format format;
    bool synced;        /* Until then, own health alone: numbers of half of the objects are lies. */
    int64_t created_ms; /* Since when it counts, which OpenMetrics tells; 0 if unknown. */
    int64_t since_ms;   /* Of what does not count for the process as a whole, if that is later. */
};

/* Is a family, of the index of family_at(), on the page? */
bool exposition_has(const struct registry *r, bool synced, size_t family);

/* Append what stands before the series of a family: its help, its type and its unit. */
void exposition_write_head(const struct family_def *def, enum exposition_format format,
                           struct strbuf *out);

/* Append the series of a family that is on the page: those of a gauge are the same in all formats.
 */
void exposition_write_series(const struct registry *r, size_t family, struct exposition how,
                             struct strbuf *out);

/* What the page ends with. */
const char *exposition_end(enum exposition_format format);

/* Append the whole page of a registry after registry_prepare. */
void exposition_write(const struct registry *r, struct exposition how, struct strbuf *out);
