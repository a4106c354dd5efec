/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/evaluation.h"
#include "exporter/text/finding_counts.h"
#include "exporter/text/output.h"

/* What one look at everything finds: what `check` prints, and /api/v1/report answers as text. */
struct review {
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
void review_make(struct review *r, const struct evaluation *e);
void review_release(struct review *r);

/* Print the findings as sections of tables; `fail_on` has the bits of what counts in the end. */
void review_print(const struct review *r, unsigned fail_on, struct output *o);
