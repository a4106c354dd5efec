/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/options/fail_on.h"
#include "metrics/expose/problem_rows.h"

/*
 * Problems that are known from an earlier check. A problem is known if the baseline has one with
 * the same problem, reason and subject (group, kind, namespace and name) in the same environment,
 * in any status: a problem that was hidden before is not new when its cause ends.
 * Problems that an exception covered are not part of a baseline, so that the end of the exception
 * is noticed.
 */
struct baseline;

/* Returns an empty baseline. The caller frees it. */
struct baseline *baseline_new(void) MUST_USE;
/* Accepts NULL. */
void baseline_free(struct baseline *b);

/*
 * Adds the problems of a report of `check -o json` or `-o yaml`. Counts problems with names that
 * this version does not have. Returns false with the path and the reason if the file cannot be
 * read, or is no report that this version reads.
 */
bool baseline_read_report(struct baseline *b, const char *path, struct error *err) MUST_USE;

/* Like baseline_read_report(), for the text of a report. Used only by tests. */
bool baseline_read_text(struct baseline *b, const char *path, const char *text, size_t len,
                        struct error *err) MUST_USE;

/* Returns the number of problems that baseline_read_report() left out: their names are unknown. */
size_t baseline_unknown_count(const struct baseline *b);

/* `environment` is "" below if there are no environments. */

/* Notes that the baseline has data of the environment, even if that has no problem. */
void baseline_add_environment(struct baseline *b, const char *environment);
bool baseline_has_environment(const struct baseline *b, const char *environment);

/* Problem, or condition that is no problem, of a subject. */
struct baseline_item {
    enum problem_reason reason;      /* PROBLEM_REASON_COUNT: see `condition`. */
    enum normal_condition condition; /* Used without a `reason`. */
    struct identity subject;
};

void baseline_add(struct baseline *b, const char *environment, const struct baseline_item *item);
/* Returns true if the baseline has the item, which is then not gone. */
bool baseline_has(struct baseline *b, const char *environment, const struct baseline_item *item);

/* The same for the text of a file or document that could not be read. */
void baseline_add_unread(struct baseline *b, const char *environment, const char *path,
                         const char *text);
bool baseline_has_unread(const struct baseline *b, const char *environment, const char *path,
                         const char *text);

/*
 * Returns the number of problems of the environment for which baseline_has() was not called, and
 * which problem, reason and namespace of the filter select.
 */
size_t baseline_count_gone(const struct baseline *b, const char *environment,
                           const struct problem_filter *filter);
