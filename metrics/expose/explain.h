/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/engine.h"

/*
 * One decision, explained as a person would: what the state is and means, which
 * policies were in question and what made each lose, whose claim stands, what
 * differs from the binding, who disagrees about a dependency, and what the next
 * change of the template will do. It reads decisions and decides nothing itself.
 */

enum explain_style {
    EXPLAIN_HEADING,   /* Begins a section. */
    EXPLAIN_PARAGRAPH, /* A sentence or two. */
    EXPLAIN_DETAIL,    /* Belongs below the line before it. */
};

/* Called for each line in turn; the text is borrowed, of any length, and not made safe yet. */
typedef void explain_fn(void *context, enum explain_style style, const char *text);

/* Explain a template; the engine has nothing left to evaluate. */
void explain_template(const struct engine *e, const struct entry *template, explain_fn *line,
                      void *context);
