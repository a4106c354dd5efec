/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/* Syntax check of untrusted JSON texts, without memory for their values. */

/* Maximum nesting of JSON arrays and objects. */
enum { JSON_DEPTH_MAX = 128 };

/* Result of the syntax check of a JSON text. */
struct json_fault {
    const char *reason; /* Static text; NULL if the JSON is valid. */
    size_t offset;      /* Offset of the fault in bytes; 0 if the JSON is valid. */
};

/*
 * Checks that `len` bytes are one JSON value with optional white space around it, and returns the
 * first fault. The deviations from RFC 8259 that json_parse() names are no faults. `json[len]` must
 * be readable and NUL. Allocates no memory.
 */
struct json_fault json_find_fault(const char *json, size_t len) MUST_USE;

/* Returns true for the white space that JSON allows between tokens. */
static inline bool json_is_space(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

/* Returns the next byte that is no white space. The text ends with a NUL. */
static inline const char *json_skip_space(const char *at)
{
    while (json_is_space(*at))
        at++;
    return at;
}

/* ---- skipping of values, with a check of their syntax ---- */

/*
 * Return the end of the string, of the string, number or word, or of the value that begins at `at`;
 * NULL if it is invalid. The text ends at `end` with a NUL. `levels`: maximum depth of arrays and
 * objects in the value, up to JSON_DEPTH_MAX, which limits the recursion.
 */
const char *json_skip_string(const char *at, const char *end);
const char *json_skip_scalar(const char *at, const char *end);
const char *json_skip_value(const char *at, const char *end, unsigned levels);

/* ---- eight bytes at once ---- */

static const uint64_t json_ones = UINT64_C(0x0101010101010101);

/* Returns 0x80 in each byte of `word` that equals `byte`. Only the lowest mark is reliable. */
static inline uint64_t json_mark_bytes(uint64_t word, char byte)
{
    uint64_t zero_where_equal = word ^ (json_ones * (unsigned char)byte);

    return (zero_where_equal - json_ones) & ~zero_where_equal & (json_ones << 7);
}

/*
 * Returns 0x80 in each byte of `word` that is below 0x20, a backslash, or not ASCII. Only the
 * lowest mark is reliable.
 */
static inline uint64_t json_mark_special_bytes(uint64_t word)
{
    uint64_t backslash = word ^ (json_ones * '\\');

    return ((word - json_ones * 0x20) | word | (backslash - json_ones)) & (json_ones << 7);
}
