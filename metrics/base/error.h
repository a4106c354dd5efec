/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * Error message for people, one line. The caller provides the memory; no function here allocates.
 * Code must depend on return values, never on the text. A message that does not fit into `text` is
 * cut at a UTF-8 boundary and ends in "...".
 */
struct error {
    char text[512];
};

/* Sets the error text and returns false: `return fail(err, ...);`. */
bool fail(struct error *err, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Prepends "<context>: " to an error text that fail() has set; returns false. */
bool fail_in(struct error *err, const char *fmt, ...) PRINTF_LIKE(2, 3);

#ifdef __clang_analyzer__
/* Clang's static analyser does not read error.c: the macros show that the result is false. */
#define fail(...)    (fail(__VA_ARGS__), false)
#define fail_in(...) (fail_in(__VA_ARGS__), false)
#endif
