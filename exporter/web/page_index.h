/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/web/api.h"
#include "exporter/web/response.h"
#include "metrics/base/strbuf.h"

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
    PAGE(INDEX, "index", "/", RESPONSE_HTML, index_page_write)                                     \
    PAGE(EXPORTER, "exporter", "/exporter", RESPONSE_HTML, exporter_page_write)                    \
    PAGE(STYLE, "style", "/style.css", "text/css; charset=utf-8", style_page_write)

#define PAGE_ENUMERATOR(id, handler, path, content_type, write) PAGE_##id,
enum page { PAGES(PAGE_ENUMERATOR) PAGE_COUNT };

page_fn index_page_write, exporter_page_write, style_page_write;

struct page_def {
    const char *handler;
    const char *content_type;
    page_fn *write;
};

/* The rows as data, by enum page. */
extern const struct page_def page_defs[PAGE_COUNT];
