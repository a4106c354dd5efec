/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <microhttpd.h>

#include "exporter/web/page_index.h"
#include "exporter/web/response_body.h"
#include "metrics/base/error.h"
#include "metrics/expose/exposition.h"

/*
 * Metrics page in all formats, split by family; immutable. Formats share the series of gauges, and
 * consecutive pages share unchanged text. Pages have a reference count.
 */
struct metrics_page;

/*
 * Returns a page with the present values of a registry, with one reference. Call registry_prepare()
 * before. Ignores the format in `how`. Shares text with `previous`, unless NULL. Adds the sizes of
 * its segments to `sum`, unless NULL, until they are freed. Returns NULL if the text of all formats
 * exceeds `max` bytes.
 */
struct metrics_page *metrics_page_new(const struct registry *r, struct exposition how,
                                      const struct metrics_page *previous, size_t max,
                                      struct segment_memory *sum) MUST_USE;

/* Returns the size of all formats in bytes; series that formats share count once. */
size_t metrics_page_len(const struct metrics_page *p);

/* Drops a reference; the last one frees the page. Accepts NULL. Any thread may call it. */
void metrics_page_drop(struct metrics_page *p);

/* Appends the page in Prometheus' text format. Any thread may call it. */
void metrics_page_write_text(const struct metrics_page *p, struct strbuf *out);

/*
 * The current version of each page. The loop publishes pages, and threads of libmicrohttpd send
 * responses with them. Pages are immutable; a replaced page is freed after its last response. The
 * functions do the locking.
 */
struct page_store;

/* Returns a store without pages. */
struct page_store *page_store_new(void) MUST_USE;

/* Frees the store. No other thread may use it. Accepts NULL. */
void page_store_free(struct page_store *s);

/* Replaces a page except PAGE_METRICS. Takes the bytes of `text`, which must not be overfull. */
void page_store_publish(struct page_store *s, enum page page, struct strbuf *text);

/* Replaces the metrics page. The store adds a reference of its own; the caller keeps its own. */
void page_store_publish_metrics(struct page_store *s, struct metrics_page *page);

/*
 * Returns the current metrics page with a reference that the caller drops; NULL before the first
 * page_store_publish_metrics(). Any thread may call it.
 */
struct metrics_page *page_store_hold_metrics(struct page_store *s) MUST_USE;

/* Returns the `sum` for metrics_page_new(); valid as long as the store. */
struct segment_memory *page_store_segment_sum(struct page_store *s);

/*
 * Returns true if metrics pages, including replaced pages that clients still read, hold more memory
 * than twice the size of the current page plus `bytes`. Any thread may call it.
 */
bool page_store_holds_more(struct page_store *s, uint64_t bytes);

/*
 * Returns a response with the current page, gzipped if the client prefers gzip and the result is
 * smaller. For PAGE_METRICS, the client selects the format by Accept, and families by the
 * parameters collect[] and exclude[]. Sets `out_status` to 200, to 503 before the first page, or to
 * 400 if these parameters are wrong. Any thread may call it.
 */
struct MHD_Response *page_store_response(struct page_store *s, enum page page,
                                         struct MHD_Connection *connection,
                                         unsigned *out_status) MUST_USE;
