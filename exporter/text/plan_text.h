/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/options/options.h"
#include "exporter/text/plan_failures.h"
#include "exporter/text/text_table.h"
#include "metrics/simulate/plan.h"

/* Text of a plan for people. */

/* Classes of the objects that plan_delete_typed() finds: bits by enum object_class. */
enum { PLAN_DELETABLE_CLASSES = ~(1U << CLASS_OTHER) };

/*
 * Replaces `err`, the text that there is no such object to delete, if the store has the object and
 * a plan does not simulate its deletion.
 */
void plan_explain_missing(const struct store *store, const char *typed, struct error *err);

/*
 * Deletes the object that a user typed (object_name.h) in the plan. Returns false and sets `err` if
 * there is no such object, or more than one.
 */
bool plan_delete_typed(struct plan *p, const struct store *store, const char *typed,
                       struct error *err) MUST_USE;

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

/* Appends the summary of plan_print(). */
void plan_print_summary(const struct plan_result *r, struct output *o);

/*
 * Appends what changes, such as "member1 -> member2": with `all`, or with the first names only.
 * Equal texts with all names are equal changes.
 */
void plan_add_change(struct strbuf *out, const struct plan_template *t, bool all);
