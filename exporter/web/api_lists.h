/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/web/api.h"
#include "exporter/web/api_paging.h"
#include "exporter/web/query.h"
#include "metrics/expose/list_rows.h"
#include "metrics/expose/report.h"

/*
 * Writes lists of the API in the format that the client wants: a JSON object with "items" and,
 * where more follows, "metadata.continue"; newline-delimited JSON; or CSV. The last two have the
 * next page in the header Link.
 */

/* What a list is of. */
struct list_def {
    const char *kind;           /* "TemplateList" */
    const char *const *columns; /* Of CSV (metrics/expose/csv.h). */
};

/* Of the lines of a list, in bytes. */
enum { LIST_LINES_MAX = 256 * 1024 * 1024 };

/*
 * Have the call go on with these lines, which are moved. False if there were too many, which is
 * answered then.
 */
bool list_store_lines(struct queued_request *request, struct strbuf *lines) MUST_USE;

/*
 * Call `each` for the rows of the call's page that the filter lets through, or its lines. What
 * `continue` of the next page is, which is borrowed; NULL if it is the last one.
 */
typedef void list_row_fn(void *context, const struct row *row);
const char *list_each_row(struct queued_request *request, const struct row_filter *filter,
                          list_row_fn *each, void *context);
typedef void list_line_fn(void *context, const char *line, size_t len);
const char *list_each_line(struct queued_request *request, list_line_fn *each, void *context);

/* Answer with rows of the call's view that the filter lets through. */
void list_rows(struct queued_request *request, const struct list_def *def,
               const struct row_filter *filter);

/*
 * Answer with the transitions that the filter lets through, newest first; NULL: there are none. A
 * page goes on below the number that the last one ended with, so that nothing has to be kept for
 * it: what comes meanwhile is above, and what is forgotten is at the end. It may end early, if it
 * is too large. `history`, a JSON object, is a member of the JSON's.
 */
struct transitions;

/* Whom of a list its query asks for. */

/* Which rows of templates; the texts are the query's. False if a value is none of what there is. */
bool row_filter_from_query(const struct query *q, struct row_filter *out,
                           struct error *err) MUST_USE;

/* True if it asks for an entry of a list of the report: a policy, a dependency or a lease. */
bool query_matches_entry(const struct query *q, enum report_list list, const struct entry *entry);
