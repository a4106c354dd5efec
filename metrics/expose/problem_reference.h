/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/strbuf.h"
#include "metrics/rules/problems/problem_table.h"

/* Reference of all problems, from the tables of problems, reasons, alerts and sentences. */

/* Appends a patience in the largest unit that divides it, such as "15m" or "7d". */
void problem_add_patience(struct strbuf *out, uint32_t seconds);

/* Returns the name of the alert about a problem with the severity of the table. */
const char *problem_alert_name(enum problem_id problem);

/*
 * Appends the open problems that hide instances with this reason, such as "controllers_stuck,
 * policy_invalid"; nothing if there is none. `mark` stands around each name.
 */
void problem_reason_add_causes(enum problem_reason reason, const char *mark, struct strbuf *out);

/* Appends exporter/docs/problems.md. */
void problem_reference_add_markdown(struct strbuf *out);

/* Appends all problems as a JSON array, in the order of the table. */
void problem_reference_add_json(struct strbuf *out);
