/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/web/api.h"
#include "exporter/web/response.h"
#include "metrics/base/strbuf.h"

/* Appends the page. Runs on the loop thread. */
typedef void page_fn(const struct health *h, struct strbuf *out);

/*
 * Pages that the loop writes in advance, after changes and at intervals. A row has the enumerator,
 * the label `handler` of http_requests_total, the path (NULL for --web.telemetry-path), the content
 * type, and the function that writes the page. The last two are NULL for metrics: their content
 * type depends on the request, and struct metrics_page has the text. A new page is a row here and a
 * function in a file page_*.c.
 */
#define PAGES(PAGE)                                                                                \
    PAGE(METRICS, "metrics", NULL, NULL, NULL)                                                     \
    PAGE(EXPORTER, "exporter", "/exporter", RESPONSE_HTML, exporter_page_write)                    \
    PAGE(STYLE, "style", "/style.css", "text/css; charset=utf-8", style_page_write)

#define PAGE_ENUMERATOR(id, handler, path, content_type, write) PAGE_##id,
enum page { PAGES(PAGE_ENUMERATOR) PAGE_COUNT };

page_fn exporter_page_write, style_page_write;

struct page_def {
    const char *handler;
    const char *content_type;
    page_fn *write;
};

/* Rows of PAGES by enum page. */
extern const struct page_def page_defs[PAGE_COUNT];
