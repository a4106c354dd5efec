/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/json_writer.h"
#include "metrics/rules/engine.h"
#include "metrics/simulate/plan.h"

/*
 * What the rules concluded, as JSON for programs (product contract 7): lists are
 * sorted, and two reports over the same objects are byte-equal. The engine has
 * nothing left to evaluate.
 */

/* What a source could not read, or read for nothing. Borrowed texts. */
struct report_invalid {
    const char *kind; /* "Manifest", or that of the object. */
    const char *path;
    size_t line; /* 0 if unknown, as is the column. */
    size_t column;
    const char *text;
    bool duplicate; /* A later document declares the same object. */
};

/*
 * Append the whole report; `invalid` comes before what is wrong with policies and
 * what is broken about templates and bindings, but for duplicates, which have a list of their own.
 */
void report_write(const struct engine *engine, const struct report_invalid *invalid,
                  size_t invalid_count, struct strbuf *out);

/* Lists of it. Of conflicts the entries are of their dependencies. */
enum report_list { REPORT_POLICIES, REPORT_CONFLICTS, REPORT_LEASES };

/* Call `each` for every entry that a list may have elements about, in the report's order. */
typedef void report_entry_fn(void *context, const struct entry *entry);
void report_each(const struct engine *engine, enum report_list list, report_entry_fn *each,
                 void *context);

/* Append the elements of a list about an entry, a line each. */
void report_lines(const struct engine *engine, enum report_list list, const struct entry *entry,
                  struct strbuf *out);

/*
 * Append a plan and what plan_finish() has answered as one JSON document (product contract 7). For
 * what vanishes it calls plan_undo(). CPU is in cores, memory in bytes. `fails` is the value of the
 * member of that name as JSON; NULL for no such member.
 */
void report_plan(struct plan *p, const struct plan_result *r, const struct engine *engine,
                 const char *fails, struct strbuf *out);

/* The same, without `fails`, as an object of a larger document. */
void report_put_plan(struct json_writer *w, const char *key, struct plan *p,
                     const struct plan_result *r, const struct engine *engine);

/* What stands at one moment: {state, reason, policy, clusters or undetermined}, else null. */
void report_put_outcome(struct json_writer *w, const char *key, const struct outcome *o);
