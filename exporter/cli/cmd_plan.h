/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/text/text_table.h"
#include "metrics/simulate/plan.h"

/* What of --fail-on a plan brings: bits by the place in fail_on_names. */
unsigned plan_findings(const struct plan_result *r);

/* Prints a section with a row for each object of each of these classes; nothing without any. */
void plan_fails_print(const struct plan_result *r, unsigned classes, struct output *o);

/* Appends the same rows as a JSON array. Call it before plan_undo(). */
void plan_fails_write(const struct plan_result *r, unsigned classes, struct strbuf *out);

/* Print a finished plan for people. */
void plan_print(const struct plan_result *r, struct output *o);
