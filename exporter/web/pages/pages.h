/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/strbuf.h"

struct evaluation;
struct findings;
struct kube_session;
struct registry;
struct web;

/* What pages are written from: all that the exporter knows about objects and about itself. */
struct health {
    const struct evaluation *evaluation; /* NULL while the first one is not complete. */
    const struct findings *findings;     /* Of that; pages of metrics do not need them. */
    const struct kube_session *session;  /* Its own, or that of the first one; NULL without. */
    const struct web *web;               /* Whom it serves, and how. */
    struct registry *registry; /* Of the evaluation; before the first one without any object. */
    const char *telemetry_path;
    bool config_loaded;   /* The last reload succeeded. */
    uint64_t rejected;    /* Manifests that could not be read, so far. */
    uint64_t log_dropped; /* Lines of the log. */
    int64_t beat_age_ms;  /* How long ago the loop last turned. */
    int64_t now_ms;
    int64_t started_ms; /* When the process was; 0 if unknown. */
};

/* Append the page to `out`. The loop's thread calls it. */
typedef void page_fn(const struct health *h, struct strbuf *out);

/*
 * THE table of pages. A row is its enumerator, what http_requests_total{handler} calls it, its
 * path (NULL: that of --web.telemetry-path), its content type and the function that writes it.
 * Metrics have neither: what a client gets of them is put together for it (metrics_page.h).
 * A new page is one row here and one file in this folder: it is then served, published when
 * something changed, and counted.
 */
#define PAGES(PAGE)                                                                                \
    PAGE(METRICS, "metrics", NULL, NULL, NULL)                                                     \
    PAGE(INDEX, "index", "/", "text/html; charset=utf-8", index_page_write)

#define PAGE_ENUMERATOR(id, handler, path, content_type, write) PAGE_##id,
enum page { PAGES(PAGE_ENUMERATOR) PAGE_COUNT };

page_fn index_page_write;

struct page_def {
    const char *handler;
    const char *content_type;
    page_fn *write;
};

/* The rows as data, by enum page. */
extern const struct page_def page_defs[PAGE_COUNT];
