/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/strbuf.h"
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
