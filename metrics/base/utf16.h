/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/strbuf.h"

/*
 * Converts UTF-16 with a byte order mark, as tools on Windows write it, to UTF-8. The bytes arrive
 * in pieces that may end anywhere. A struct filled with zeros converts nothing.
 */
struct utf16_converter {
    bool active;
    bool big_endian;
    bool has_byte; /* `byte` is the first half of the next unit. */
    unsigned char byte;
    uint32_t high; /* High surrogate that waits for the low one; 0 without. */
};

/* Returns a converter for the text that begins with `head`; inactive without the mark of UTF-16. */
struct utf16_converter utf16_detect(const char *head, size_t len);

/*
 * Appends the next bytes as UTF-8, without the mark; with `len` 0 ends the text. Returns false if
 * the text is no valid UTF-16.
 */
bool utf16_convert(struct utf16_converter *c, const char *bytes, size_t len,
                   struct strbuf *out) MUST_USE;
