/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/evaluation.h"
#include "exporter/text/text_table.h"
#include "metrics/base/strbuf.h"
#include "metrics/rules/engine.h"
#include "metrics/rules/findings.h"

/*
 * HTTP header of /api/v1/report with the number of findings by class, such as "conflict=2,
 * pending=1, unread=1", or "none". `check --server` derives its exit status from it.
 */
#define FINDING_COUNTS_HEADER "Karmada-Findings"

struct finding_counts {
    size_t classes[FINDING_CLASSES];
    size_t unread;  /* `unread` of struct check_result, plus 1 if the asset file has a problem. */
    size_t missing; /* Kinds that the API server did not deliver (missing_kind_is_failure). */
};

/* Appends the value of FINDING_COUNTS_HEADER, which omits counts of 0. */
void finding_counts_write(const struct finding_counts *c, struct strbuf *out);

/*
 * Parses the value of FINDING_COUNTS_HEADER. Ignores unknown classes, which an exporter of another
 * version may send. Returns false, without a change of `out`, if the value is malformed.
 */
bool finding_counts_read(const char *text, struct finding_counts *out) MUST_USE;

/* Returns true if a class in `classes` (bits by enum finding_class) has findings. */
bool finding_counts_any(const struct finding_counts *c, unsigned classes);

/* All findings of an evaluation, for the text of `check` and of /api/v1/report. */
struct check_result {
    const struct evaluation *evaluation;
    struct findings findings;
    struct finding_counts counts;
    size_t unread; /* Problems listed by manifests_problem() that block the evaluation. */
    size_t notes;  /* Other listed problems: PROBLEM_DUPLICATE and PROBLEM_FOREIGN. */
    bool complete; /* False if a file, a document or a kind could not be read. */
};

/*
 * Collects the findings. The evaluation must have no object left to evaluate; it must outlive the
 * result and stay unchanged until check_result_release().
 */
void check_result_make(struct check_result *r, const struct evaluation *e);
void check_result_release(struct check_result *r);

/*
 * Appends the findings as sections of tables, with a summary. `fail_on` contains the classes that
 * fail a check, as bits by enum finding_class; UNBOUND and UNMATCHED are listed only if among them.
 */
void check_result_print(const struct check_result *r, unsigned fail_on, struct output *o);
