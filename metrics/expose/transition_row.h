/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/expose/row.h"
#include "metrics/rules/transitions.h"

/* What lists say of a transition. Members have the names of a template's row. */

/* Append it as a JSON object on one line. */
void transition_write(struct writer *w, const struct transition *x);

/* True if the row of the template before it or after it is what the filter asks for. */
bool transition_matches(const struct transition *x, const struct row_filter *filter);
