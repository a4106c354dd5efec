/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/web/query.h"
#include "metrics/expose/list_rows.h"

/*
 * How a list goes over several calls: `limit` says how many rows a page has, and `continue` where
 * the next one begins. All pages of a list are of one moment: what the first one was made from is
 * kept for a while, and a `continue` whose list was let go is answered with 410.
 *
 * The loop opens and closes it for a call; in between it is the clerk's.
 */

/* Rows that are text already, a JSON object a line. They are counted, and never change. */
struct stored_lines;
/* The text is moved. */
struct stored_lines *stored_lines_new(struct strbuf *text) MUST_USE;

struct paging;
struct paging *paging_new(uint64_t seed) MUST_USE;
/* NULL is fine. */
void paging_free(struct paging *p);

/* Lists that are kept: so many, for so long after their last page. */
enum { LISTS_KEPT_MAX = 16, LIST_KEPT_MS = 5 * 60 * 1000 };

/* What is asked of an endpoint that knows `limit` and `continue`, and when. */
struct page_query {
    const char *path;
    const struct query *query;
    size_t limit;     /* Of a page, where nobody asks for one; 0: none. */
    int64_t now_ms;   /* Steady. */
    int64_t clock_ms; /* Since the epoch. */
};

/* Begin with a call. False with the status that it is refused with, and the reason. */
bool paging_open(struct paging *p, const struct page_query *q, unsigned *status,
                 struct error *err) MUST_USE;

/* True if the list goes on from an earlier page: it has its view or lines. */
bool paging_continues(const struct paging *p);
/* What the list is made from; moved to it. */
void paging_set_view(struct paging *p, struct row_view *view);
void paging_set_lines(struct paging *p, struct stored_lines *lines);
const struct row_view *paging_view(const struct paging *p);

/* The most rows of a page. */
size_t paging_limit(const struct paging *p);
/* When the list was made, in milliseconds since the epoch. */
int64_t paging_made_ms(const struct paging *p);

/* Where the page is, for row_view_next_row(). */
struct row_position *paging_position(struct paging *p);
/* The next line, without its end; NULL behind the last. */
const char *paging_next_line(struct paging *p, size_t *len);
/* The page ends before the place: what `continue` of the next one is. Borrowed. */
const char *paging_end_page(struct paging *p, struct row_position place);

/* The call is answered: keep what it was made from if another page may be asked for. */
void paging_close(struct paging *p, int64_t now_ms);

/* Let go of what was kept for long enough; of all. */
void paging_drop_expired(struct paging *p, int64_t now_ms);
void paging_drop_all(struct paging *p);
/* True if views are kept. */
bool paging_keeps_views(const struct paging *p);
