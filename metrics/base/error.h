/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * One line of text that tells a person what went wrong.
 *
 * It lives on the caller's stack: making, returning and dropping an error never
 * allocates. Code decides on return values, never on this text. A text that
 * does not fit is cut on a UTF-8 boundary and ends in "...".
 */
struct error {
    char text[512];
};

/* Write the text and return false, so that a failure is one statement. */
bool fail(struct error *err, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Put "<context>: " in front of a text that is already there, and return false. */
bool fail_in(struct error *err, const char *fmt, ...) PRINTF_LIKE(2, 3);

#ifdef __clang_analyzer__
/* The analyser does not look into error.c, and must know that a failure is false. */
#define fail(...)    (fail(__VA_ARGS__), false)
#define fail_in(...) (fail_in(__VA_ARGS__), false)
#endif
