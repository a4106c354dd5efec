/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/web/query.h"
#include "metrics/expose/list_rows.h"

/*
 * Paging of lists over several requests: the parameter `limit` is the maximum number of rows of a
 * page, and `continue` is a token for the next page. All pages show the list as of the first page,
 * because its view or lines are stored, for at most five minutes after the last paging_close(). The
 * history stores no view or lines: its tokens have the number of a transition. A token of a list
 * that is no longer stored, perhaps for lack of space, is refused with 410.
 *
 * Only the loop calls paging_open() and the functions from paging_close() on. The worker thread
 * uses the paging while it runs the endpoint of the open request.
 */
struct paging;

/* Returns a paging without lists. Its tokens contain `seed`; tokens of other seeds are refused. */
struct paging *paging_new(uint64_t seed) MUST_USE;

/* Frees the paging and all lists. Accepts NULL. */
void paging_free(struct paging *p);

/* Request for a page of a list. */
struct page_query {
    const char *path;
    const struct query *query;
    size_t limit;     /* Maximum number of rows without the parameter `limit`; 0: no maximum. */
    int64_t now_ms;   /* Steady time. */
    int64_t clock_ms; /* Milliseconds since the epoch. */
};

/*
 * Opens a request, until paging_close(). Returns false with the status code and the reason if
 * `limit` or `continue` is refused; the request is not open then.
 */
bool paging_open(struct paging *p, const struct page_query *q, unsigned *status,
                 struct error *err) MUST_USE;

/* Returns true if the list of the open request already has a view or lines. */
bool paging_continues(const struct paging *p);

/* Sets the view of the list of the open request; takes the reference. */
void paging_set_view(struct paging *p, struct row_view *view);

/*
 * Sets the rows of the view that the list has, in the order of the list; takes the array. Without
 * it the list has the rows of the view in their order.
 */
void paging_set_order(struct paging *p, const void **rows, size_t count);

/* Returns true after paging_set_order() for this list. */
bool paging_has_order(const struct paging *p);

/* Returns the next row of that order; NULL after the last. */
const void *paging_next_row(struct paging *p);

/* Sets the lines of the list; takes the text, in which each line ends with a newline. */
void paging_set_lines(struct paging *p, struct strbuf *text);

/* Returns the view of the list, borrowed; NULL without a view. */
const struct row_view *paging_view(const struct paging *p);

/* Returns the maximum number of rows of the page; SIZE_MAX: no maximum. */
size_t paging_limit(const struct paging *p);

/* Returns the time of the list's first page, in milliseconds since the epoch. */
int64_t paging_made_ms(const struct paging *p);

/*
 * Returns the position of the next row or line, which row_view_next_row() and paging_next_line()
 * move. In the history, `row` is the number of the last transition on the previous page, or 0.
 */
struct row_position *paging_position(struct paging *p);

/* Returns the next line, borrowed; `len` gets its length without newline. NULL after the last. */
const char *paging_next_line(struct paging *p, size_t *len);

/*
 * Ends the page before a position, at which the next page starts. Returns the token of the next
 * page, valid until the next call. Without this call the page is the last of its list.
 */
const char *paging_end_page(struct paging *p, struct row_position next);

/*
 * Ends the open request. Stores the list if there is a next page. Then drops the longest unused
 * lists, even this one, until at most 16 lists with at most 64 MiB of lines and orders are stored.
 */
void paging_close(struct paging *p, int64_t now_ms);

/* Drops the lists that were last stored five minutes ago or earlier. `now_ms` is a steady time. */
void paging_drop_expired(struct paging *p, int64_t now_ms);

/*
 * Drops the longest unused lists with a view until views keep at most `bytes` of outdated rows:
 * with steady changes, each view keeps nearly all rows a second time. Keeps the last used one, so
 * that a client can read a list to its end.
 */
void paging_drop_outdated(struct paging *p, size_t bytes);

/* Drops all lists, including the list of the open request. */
void paging_drop_all(struct paging *p);

/* Returns true if a stored list, or the list of the open request, has a view. */
bool paging_keeps_views(const struct paging *p);
