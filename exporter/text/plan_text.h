/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/options/fail_on.h"
#include "exporter/options/options.h"
#include "exporter/text/text_table.h"
#include "metrics/simulate/plan.h"

/* Text of a plan for people, and the results of a plan that --fail-on can name. */

/*
 * HTTP header of /api/v1/plan with the results that the plan has, by their words in PLAN_FAILURES
 * with commas, or "none". `plan --server` derives its exit status from it.
 */
#define PLAN_RESULTS_HEADER "Karmada-Plan-Results"

/* Returns the results of a plan that --fail-on can name: bits by enum plan_failure. */
unsigned plan_failures(const struct plan_result *r);

/* Appends the value of PLAN_RESULTS_HEADER for a set of results, bits by enum plan_failure. */
void plan_results_write(unsigned failures, struct strbuf *out);
/* Parses the value; ignores unknown words. Returns false if the value is empty or NULL. */
bool plan_results_read(const char *text, unsigned *failures) MUST_USE;

/*
 * Deletes the object that a user typed (object_name.h) in the plan. Returns false and sets `err` if
 * there is no such object, or more than one.
 */
bool plan_delete_typed(struct plan *p, const struct store *store, const char *typed,
                       struct error *err) MUST_USE;

/* Appends the objects that have results in `failures` as a JSON array. Call before plan_undo(). */
void plan_write_failing_objects(const struct plan_result *r, unsigned failures, struct strbuf *out);

/*
 * Appends the names of the objects that have results in `failures`: the first ones, and the number
 * of the others. With a width, long names lose their middle.
 */
void plan_add_failing_names(const struct plan_result *r, unsigned failures, unsigned width,
                            struct strbuf *out);

enum plan_layout {
    PLAN_LAYOUT_GROUPS,  /* One line for all templates with equal changes. */
    PLAN_LAYOUT_DETAILS, /* Each template with its differences. */
    PLAN_LAYOUT_WIDE,    /* A table with one row for each template. */
};

/* Returns the layout for --details and --output wide. */
enum plan_layout plan_layout_of(const struct options *o);

/*
 * Appends a finished plan: the summary, the templates, the conflicts, the sums of the member
 * clusters, the assumptions, and the release of Karmada. Then the objects that have results in
 * `failures`, bits by enum plan_failure, and a last line with the reason of the exit status, unless
 * there is no such object.
 */
void plan_print(const struct plan_result *r, enum plan_layout layout, unsigned failures,
                struct output *o);
