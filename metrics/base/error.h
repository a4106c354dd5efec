/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * Error message for people, one line, on the caller's stack: no function here allocates memory.
 * Code must depend on return values, never on the text. Longer texts are cut at a UTF-8 boundary
 * and end in "...".
 */
struct error {
    char text[512];
};

/* Sets the error text and returns false: `return fail(err, ...);`. */
bool fail(struct error *err, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Prepends "<context>: " to the error text and returns false. */
bool fail_in(struct error *err, const char *fmt, ...) PRINTF_LIKE(2, 3);

#ifdef __clang_analyzer__
/* The analyser does not read error.c, so it cannot infer that these functions return false. */
#define fail(...)    (fail(__VA_ARGS__), false)
#define fail_in(...) (fail_in(__VA_ARGS__), false)
#endif
