/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"
#include "metrics/base/strbuf.h"

/*
 * Numbers from text, checked: the whole text is the number, or the answer is
 * false and the result is untouched. No white space anywhere.
 */

/* Decimal, with an optional '-'. */
bool parse_int64(const char *text, int64_t *out) MUST_USE;

/* Decimal digits only, at most `max`. */
bool parse_uint(const char *text, uint64_t max, uint64_t *out) MUST_USE;

/* How one text compares with another, both as decimal numbers of any length. */
enum number_order {
    NUMBER_LESS,
    NUMBER_EQUAL, /* Equal texts are, whatever they are. */
    NUMBER_GREATER,
    NUMBER_UNORDERED, /* They differ, and one of them is no number. */
};
enum number_order number_compare(const char *text, const char *other);

/*
 * A Kubernetes quantity ("500m", "1.5Gi", "2e3"), valid exactly where Kubernetes'
 * own parser says so, down to its oddities: "Ki" and "+" are zero, "Ei" is not a
 * quantity. As there, what is finer than 1n is rounded away from zero, and
 * binary suffixes stop at 2^63-1. The answer is the nearest double, infinite for
 * an exponent that no double reaches.
 */
bool parse_quantity(const char *text, double *out) MUST_USE;

/* Numbers as scrapers and people read them: whole ones in full, never as 1e+06. */

void number_add_int(struct strbuf *out, int64_t value);

/* As few digits as read back to the same double; NaN, +Inf and -Inf by those names. */
void number_add_double(struct strbuf *out, double value);

/* Milliseconds as seconds, exactly: 1500 is "1.5". */
void number_add_seconds(struct strbuf *out, int64_t ms);
