/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"
#include "metrics/base/strbuf.h"

/*
 * Parsing, comparison and output of numbers. The parsers return false and leave `out` unchanged
 * unless the whole text is one number in the range, without white space.
 */

/* Parses a decimal number with an optional '-'. */
bool parse_int64(const char *text, int64_t *out) MUST_USE;

/* Parses decimal digits; the number must not exceed `max`. */
bool parse_uint(const char *text, uint64_t max, uint64_t *out) MUST_USE;

/* Order of two texts as decimal numbers without sign, of any length. */
enum number_order {
    NUMBER_LESS,
    NUMBER_EQUAL, /* The numbers are equal, or the texts are equal but no numbers. */
    NUMBER_GREATER,
    NUMBER_UNORDERED, /* The texts differ, and at least one is no number. */
};
enum number_order number_compare(const char *text, const char *other);

/*
 * Parses a Kubernetes quantity ("500m", "1.5Gi", "2e3") with the same result as Kubernetes' parser,
 * also for odd texts: "Ki" and "+" are zero, "Ei" is not valid. Rounds to multiples of 1n, away
 * from zero. The absolute value of a number with a binary suffix is at most 2^63-1. The result is
 * the nearest double, or infinity if the exponent is too large.
 */
bool parse_quantity(const char *text, double *out) MUST_USE;

/* Appends an integer in decimal digits. */
void strbuf_add_int(struct strbuf *out, int64_t value);

/*
 * Appends a text that parses to the same double: a whole number up to 2^53 in full; another number
 * with 15 to 17 digits, as few as suffice, without trailing zeros; or "NaN", "+Inf" or "-Inf".
 */
void strbuf_add_double(struct strbuf *out, double value);

/* Appends milliseconds as exact seconds: 1500 is "1.5". */
void strbuf_add_seconds(struct strbuf *out, int64_t ms);
