/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/* Decoding of UTF-8, and characters that are unsafe in output. */

/* Returns the length of the UTF-8 character at `s`, 1 to 4; 0 for NUL and invalid bytes. */
unsigned utf8_char_len(const char *s);

/* Code point U+FFFD, which replaces bytes that are not UTF-8. */
enum { UTF8_BROKEN = 0xFFFD };

/*
 * Returns the code point at *at and moves *at past it. Returns UTF8_BROKEN and moves one byte if
 * the bytes are not UTF-8. *at must not be at the NUL.
 */
uint32_t utf8_next(const char **at);

/* Returns true unless the byte continues a character of UTF-8. */
static inline bool utf8_starts_character(char byte)
{
    return ((unsigned char)byte & 0xC0) != 0x80;
}

/* Returns the number of characters in `len` bytes of UTF-8. */
size_t utf8_count(const char *text, size_t len);

/*
 * Returns true if the code point could break a line, control a terminal, or change the direction of
 * writing: C0, DEL and C1 controls, U+2028 and U+2029, the bidirectional controls, and the byte
 * order mark.
 */
bool utf8_is_unsafe(uint32_t point);

/*
 * Returns the largest length up to `len` at which a text of more than `len` bytes can be cut
 * without splitting a character; `len` if the text at that place is not UTF-8.
 */
size_t utf8_cut_length(const char *text, size_t len);
