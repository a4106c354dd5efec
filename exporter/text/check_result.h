/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/evaluation.h"
#include "exporter/text/text_table.h"
#include "metrics/base/strbuf.h"
#include "metrics/rules/engine.h"
#include "metrics/rules/findings.h"

/*
 * How many findings there are of each class, as the exit status of `check` follows from them, and
 * as /api/v1/report has them in a header: "conflict=2, pending=1, unread=1", or "none".
 */
#define FINDING_COUNTS_HEADER "Karmada-Findings"

struct finding_counts {
    size_t classes[FINDING_CLASSES];
    size_t unread;  /* Files and documents that could not be read, of the cloud's assets too. */
    size_t missing; /* Kinds that the API server does not let be read. */
};

/* Append the header's value: what is not zero. */
void finding_counts_write(const struct finding_counts *c, struct strbuf *out);

/*
 * Read such a value; a class of another release, which nobody here asks about, is passed over.
 * False if it is none.
 */
bool finding_counts_read(const char *text, struct finding_counts *out) MUST_USE;

/* True if there are findings of a class in `classes`, bits by enum finding_class. */
bool finding_counts_any(const struct finding_counts *c, unsigned classes);

/* What one look at everything finds: what `check` prints, and /api/v1/report answers as text. */
struct check_result {
    const struct evaluation *evaluation;
    struct findings findings;
    struct finding_counts counts;
    size_t unread; /* Files and documents of manifests that could not be read. */
    size_t notes;  /* Documents that count for nothing: declared again, or not Kubernetes'. */
    bool complete; /* Everything there is was read. */
};

/*
 * Look at all that the evaluation has, which has nothing left to evaluate and outlives the review,
 * as it is until then.
 */
void check_result_make(struct check_result *r, const struct evaluation *e);
void check_result_release(struct check_result *r);

/* Print the findings as sections of tables; `fail_on` has the bits of what counts in the end. */
void check_result_print(const struct check_result *r, unsigned fail_on, struct output *o);

/* Print "Title (2)" as the heading of a section. */
void output_add_section(struct output *o, const char *title, size_t count);
