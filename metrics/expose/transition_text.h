/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/json_writer.h"
#include "metrics/rules/transitions.h"

/* What lists and explanations say of a transition (rules/transitions.h). */

/* Append it as a JSON object. Members have the names that a template's row has (row.h). */
void transition_write(struct writer *w, const struct transition *x);

/* Append what differs, for people: "state pending (no_match) to unbound (waiting); policy ...". */
void transition_say(struct strbuf *out, const struct transition *x);
