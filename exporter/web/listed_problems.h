/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/web/api_lists.h"
#include "exporter/web/html.h"
#include "metrics/rules/engine.h"

/* Table of problems, and the limits of the data that it is made of. */

/* Statuses that pages list unless a request selects others. */
enum {
    PROBLEMS_LISTED = 1U << PROBLEM_OPEN | 1U << PROBLEM_RESOLVING | 1U << PROBLEM_PENDING,
};

/* Instances that a page lists. */
struct listed_problems {
    const struct engine *engine;
    const struct problems *problems; /* NULL before engine_judge_problems(). */
    int64_t now_ms;                  /* Milliseconds since the epoch. */
    const struct problem **rows;     /* Owned. */
    size_t count;
    bool one_subject; /* All instances are about one object: the table has no column for it. */
};

/* Selects instances, in the order of problem_query_run(). */
void listed_problems_make(struct listed_problems *view, const struct health *h,
                          const struct problem_query *q);
/*
 * Selects the instances about an object (problem_is_about), and of a policy also those about its
 * templates: open and resolving ones, then pending ones, then hidden ones.
 */
void listed_problems_make_about(struct listed_problems *view, const struct health *h,
                                const struct entry *entry);
void listed_problems_release(struct listed_problems *view);

/*
 * Appends a table with at most HTML_SHOWN_MAX instances from `first` on; nothing without one.
 * Unless `query` is NULL, the headings are links that sort.
 */
void problem_table_write(const struct listed_problems *view, size_t first,
                         const struct query *query, struct strbuf *out);

/* Appends a cell with problem, reason and a link to the runbook. */
void problem_cell_write(enum problem_reason reason, struct html_table *t);

/* Appends the owner of a subject; nothing if `owner` is NULL. */
void problem_owner_write(const char *owner, struct strbuf *out);

/*
 * Appends that there are no open problems if `open` is 0, and the limits of that statement: data
 * that cannot be read, disabled problems, and `pending` problems whose patience has not passed.
 */
void problem_limits_write(const struct listed_problems *view, size_t open, size_t pending,
                          struct strbuf *out);

/*
 * Appends the limits and the table of the first instances; nothing before engine_judge_problems().
 * Returns the number of open instances.
 */
size_t problem_verdict_write(const struct listed_problems *view, struct strbuf *out);
