/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/problems/problem_table.h"

/*
 * Sentences about a reason of a problem, before problem_text.c replaces insertions such as
 * "{subject}" by names. A part in brackets is left out if an insertion in it has no data; brackets
 * do not nest. Names can be long, so only {field} is allowed in `action`.
 */
struct problem_sentences {
    const char *cause;
    const char *action;
    const char *end;
};
extern const struct problem_sentences problem_sentences[PROBLEM_REASON_COUNT];
