/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <microhttpd.h>

#include "exporter/web/body.h"
#include "exporter/web/page_index.h"
#include "metrics/base/error.h"
#include "metrics/expose/exposition.h"

/*
 * Which families a scrape is for, by its parameters as node_exporter has them: collect[]=NAME for
 * these alone, or exclude[]=NAME for all but these. Names are those of families, of counters also
 * without "_total". Other parameters say nothing.
 */
struct family_filter {
    bool *named; /* Owned, by the index of family_at(); NULL: all families are wanted. */
    bool excludes;
    unsigned count; /* How many names there were. */
};

/*
 * The page of metrics as it was at one moment, in every format, by family. What is the same in
 * two formats is there once, and what has not changed since the page before is shared with that.
 */
struct metrics_page;

/*
 * Write it from a registry after registry_prepare. `how` without its format; `previous` is the page
 * before it or NULL, `sum` what its bytes are added to or NULL. NULL if it would be larger than
 * `max` bytes. One holder.
 */
struct metrics_page *metrics_page_new(const struct registry *r, struct exposition how,
                                      const struct metrics_page *previous, size_t max,
                                      struct segment_sum *sum) MUST_USE;

/* The bytes of all formats; what two of them share is counted once. */
size_t metrics_page_len(const struct metrics_page *p);

/* One holder more, or less: the last one frees it. Any thread may call them. NULL is fine. */
void metrics_page_drop(struct metrics_page *p);

/* Append all of it in Prometheus' text format. Any thread may call it. */
void metrics_page_write_text(const struct metrics_page *p, struct strbuf *out);

/*
 * The pages that clients read, made by the loop and sent by libmicrohttpd's
 * threads. A page never changes: a new one takes its place, and the old one goes
 * when the last client has read it. All of the locking is in here.
 */
struct page_store;

/* No page is published yet: each answers 503 and says so. */
struct page_store *page_store_new(void) MUST_USE;

/* NULL is fine. No thread may be serving any more. */
void page_store_free(struct page_store *s);

/* Put a page other than of metrics in place. Moves the bytes out of `text`, which is not overfull.
 */
void page_store_publish(struct page_store *s, enum page page, struct strbuf *text);

/* Put the page of metrics in place, which is held from here on. */
void page_store_publish_metrics(struct page_store *s, struct metrics_page *page);

/* The page of metrics as it is now, held for the caller; NULL before the first. Any thread may. */
struct metrics_page *page_store_hold_metrics(struct page_store *s) MUST_USE;

/* What the bytes of pages of metrics are added to; it lives as long as the snapshot. */
struct segment_sum *page_store_segment_sum(struct page_store *s);

/*
 * Old pages of metrics stay until the last client has read them. True if they hold more than so
 * many bytes, and more than one page beyond that, which whoever reads while it is replaced needs.
 */
bool page_store_holds_more(struct page_store *s, uint64_t bytes);

/*
 * The page as it is now, in the encoding the client prefers; of metrics in the format that it
 * prefers, and the families that its parameters name. `out_status` is what it gets: 400 if they
 * name what is not there.
 */
struct MHD_Response *page_store_response(struct page_store *s, enum page page,
                                         struct MHD_Connection *connection,
                                         unsigned *out_status) MUST_USE;
