/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/* Length of the valid UTF-8 character at `s` (1 to 4), or 0. Stops at NUL: needs no length. */
unsigned utf8_char_len(const char *s);

/* What stands for bytes that are not UTF-8. */
enum { UTF8_BROKEN = 0xFFFD };

/*
 * The code point at *at, which moves past it; UTF8_BROKEN, and past one byte, where there is none.
 * It is not at the end.
 */
uint32_t utf8_next(const char **at);

/*
 * Returns true if the code point could break a line, control a terminal, or change the direction of
 * writing: C0, DEL and C1 controls, U+2028 and U+2029, the bidirectional controls, and the byte
 * order mark. All output to people uses this definition.
 */
bool utf8_is_unsafe(uint32_t point);

/*
 * Where to cut a text of more than `len` bytes: the largest length up to `len` that does not end
 * inside a character; `len` itself in what is no UTF-8.
 */
size_t utf8_boundary(const char *text, size_t len);
