/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/text/check_result.h"
#include "exporter/text/findings.h"
#include "exporter/text/text_table.h"
#include "metrics/base/json_writer.h"

/* Known problems and exceptions in the output of `check`. */

/* Appends text such as "; 12 known, 3 excepted" to the summary, without numbers of 0. */
void suppression_add_counts(const struct check_result *r, struct strbuf *line);

/* Prints sentences about the baseline, the exceptions, and known files that cannot be read. */
void suppression_print_numbers(const struct check_result *r, struct output *o);

/* Adds the exceptions that have expired as findings; `fails`: as errors. */
void findings_add_expired(struct findings *f, const struct check_result *r, bool fails,
                          const char *environment);

/* Adds the exceptions that cover no problem as notes. */
void findings_add_unused(struct findings *f, const struct exceptions *x, int64_t now_ms);

/* Prints the exceptions that have expired, each with the problems that it covered. */
void suppression_print_expired(const struct check_result *r, struct output *o);

/* Prints the exceptions that cover no problem, with a heading if there are any. */
void exceptions_print_unused(const struct exceptions *x, int64_t now_ms, struct output *o);

/* Appends a JSON array of all exceptions on one line, with their state. */
void exceptions_write(const struct exceptions *x, int64_t now_ms, struct strbuf *out);

/* Appends the numbers of suppressed problems as a JSON object on one line. */
void suppression_write_numbers(const struct check_result *r, struct strbuf *out);

/* Source of the suppressions of a result for a report; it borrows the result. */
struct suppression_source suppression_source_of(const struct check_result *r);
