/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/web/api.h"
#include "exporter/web/api_paging.h"
#include "exporter/web/query.h"
#include "metrics/expose/list_rows.h"
#include "metrics/expose/problem_rows.h"
#include "metrics/expose/report.h"

/*
 * Lists of the API, as JSON, NDJSON, CSV and HTML. A response has one part of a list, a page; the
 * paging of the request has the position and the maximum length of this page.
 */

/* Maximum size of all lines of a list, in bytes. */
enum { LIST_LINES_MAX = 256 * 1024 * 1024 };

/*
 * Stores the lines of a list for this page and further pages; takes over the text, also on failure.
 * Writes an error response and returns false if the text is overfull.
 */
bool list_store_lines(struct queued_request *request, struct strbuf *lines) MUST_USE;

/*
 * Calls `each` for the rows of the page: those of paging_set_order(), else the rows of the view
 * that match the filter. Returns the value of `continue` for the next page, borrowed from the
 * paging; NULL on the last page.
 */
typedef void page_row_fn(void *context, const struct row *row);
const char *page_each_row(struct queued_request *request, const struct list_filter *filter,
                          page_row_fn *each, void *context);

/*
 * Calls `each` for the stored lines of the page; `line` does not end with a newline or NUL. Returns
 * the value of `continue` for the next page, borrowed from the paging; NULL on the last page.
 */
typedef void page_line_fn(void *context, const char *line, size_t len);
const char *page_each_line(struct queued_request *request, page_line_fn *each, void *context);

/* Returns all rows of a view, which must outlive them. */
struct list_selection view_rows(const struct row_view *view) MUST_USE;

/* Columns by which problems are sorted; the first is the order of the contract. */
enum problem_sort {
    PROBLEM_SORT_SEVERITY,
    PROBLEM_SORT_SINCE,     /* Oldest first. */
    PROBLEM_SORT_NAMESPACE, /* Of the subject. */
    PROBLEM_SORT_COUNT,
};

/* Filter of problems, and the statuses to list. */
struct problem_query {
    struct problem_filter filter;
    unsigned statuses; /* Bits by enum problem_status; 0 if `resolved`. */
    bool resolved;     /* Resolved instances, from the history, and no others: newest first. */
    enum problem_sort sort;
    bool reverse; /* The order of `sort` is reversed. */
    char *cause;  /* Owned; the filter borrows parts of it. NULL if not given. */
};

/*
 * Makes a filter of problems from the query of a request; texts are borrowed from the request. The
 * caller releases the filter even if the function returns false: a value is not valid then, and the
 * request has an error response.
 */
bool problem_query_from_request(struct queued_request *request, struct problem_query *out) MUST_USE;
void problem_query_release(struct problem_query *q);

/*
 * Returns an array of `*count` instances that the query selects, in its order: open and resolving
 * ones, then pending ones, then hidden ones. `ps` may be NULL. Valid until the engine runs again;
 * the caller frees the array.
 */
const struct problem **problem_query_run(const struct problem_query *q, const struct problems *ps,
                                         size_t *count) MUST_USE;
