/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/text/output.h"
#include "metrics/explain/explanation.h"

/* What `explain` prints, and /api/v1/explain answers as text. */

/* Print a finished explanation, made safe for a terminal and wrapped to the width. */
void explanation_print(const struct explanation *x, struct output *o);

/* Print one line of that. */
void explanation_print_line(struct output *o, enum explain_style style, const char *text);
