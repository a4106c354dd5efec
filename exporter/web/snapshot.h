/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <microhttpd.h>

#include "exporter/web/metrics_page.h"
#include "exporter/web/pages.h"

/*
 * The pages that clients read, made by the loop and sent by libmicrohttpd's
 * threads. A page never changes: a new one takes its place, and the old one goes
 * when the last client has read it. All of the locking is in here.
 */
struct snapshot;

/* No page is published yet: each answers 503 and says so. */
struct snapshot *snapshot_new(void) MUST_USE;

/* NULL is fine. No thread may be serving any more. */
void snapshot_free(struct snapshot *s);

/* Put a page other than of metrics in place. Moves the bytes out of `text`, which is not overfull.
 */
void snapshot_publish(struct snapshot *s, enum page page, struct strbuf *text);

/* Put the page of metrics in place, which is held from here on. */
void snapshot_publish_metrics(struct snapshot *s, struct metrics_page *page);

/* The page of metrics as it is now, held for the caller; NULL before the first. Any thread may. */
struct metrics_page *snapshot_hold_metrics(struct snapshot *s) MUST_USE;

/* What the bytes of pages of metrics are added to; it lives as long as the snapshot. */
struct segment_sum *snapshot_sum(struct snapshot *s);

/*
 * Old pages of metrics stay until the last client has read them. True if they hold more than so
 * many bytes, and more than one page beyond that, which whoever reads while it is replaced needs.
 */
bool snapshot_holds_more(struct snapshot *s, uint64_t bytes);

/*
 * The page as it is now, in the encoding the client prefers; of metrics in the format that it
 * prefers, and the families that its parameters name. `out_status` is what it gets: 400 if they
 * name what is not there.
 */
struct MHD_Response *snapshot_response(struct snapshot *s, enum page page,
                                       struct MHD_Connection *connection,
                                       unsigned *out_status) MUST_USE;
