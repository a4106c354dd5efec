/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/options/fail_on.h"
#include "exporter/text/text_table.h"
#include "metrics/simulate/plan.h"

/* The results of a plan that --fail-on can name, and the objects that have them. */

/*
 * HTTP header of /api/v1/plan with the results that the plan has, by their words in PLAN_FAILURES
 * with commas, or "none". `plan --server` derives its exit status from it.
 */
#define PLAN_RESULTS_HEADER "Karmada-Plan-Results"

/* An object that has a result of the plan. Texts and pointers are borrowed. */
struct plan_failing {
    enum plan_failure failure;
    struct identity object;
    const struct entry *entry;            /* NULL for clusters and objects of the change. */
    const struct plan_template *template; /* NULL if the object is no template of the plan. */
    const char *text;                     /* Sentence about the reason; NULL without. */
};

typedef void plan_failing_fn(void *context, const struct plan_failing *failing);

/*
 * Calls `each` once for each object of the plan and each result in `failures`, bits by enum
 * plan_failure, that the object has.
 */
void plan_each_failing(const struct plan_result *r, unsigned failures, plan_failing_fn *each,
                       void *context);

/* Returns the results of a plan that --fail-on can name: bits by enum plan_failure. */
unsigned plan_failures(const struct plan_result *r);

/* Appends the value of PLAN_RESULTS_HEADER for a set of results, bits by enum plan_failure. */
void plan_results_write(unsigned failures, struct strbuf *out);
/* Parses the value; ignores unknown words. Returns false if the value is empty or NULL. */
bool plan_results_read(const char *text, unsigned *failures) MUST_USE;

/* Appends the objects that have results in `failures` as a JSON array. Call before plan_undo(). */
void plan_write_failing_objects(const struct plan_result *r, unsigned failures, struct strbuf *out);

/*
 * Appends the names of the objects that have results in `failures`: the first ones, and the number
 * of the others. With a width, long names lose their middle.
 */
void plan_add_failing_names(const struct plan_result *r, unsigned failures, unsigned width,
                            struct strbuf *out);

/*
 * Appends a section with a row for each object that has results in `failures`, and a last line with
 * the reason of the exit status; nothing without such an object.
 */
void plan_print_failing_objects(const struct plan_result *r, unsigned failures, struct output *o);
