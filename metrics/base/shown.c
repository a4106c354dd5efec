/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/shown.h"

#include "metrics/base/utf8.h"

enum { ESCAPE_BYTES = 6 };

static const char more[] = "...";

/*
 * Writes one character to `out`, or an escape in its place. Returns the number of written bytes, at
 * most six.
 */
static size_t add_character(char *out, const char *character, size_t len)
{
    const char *at = character;
    uint32_t point = utf8_next(&at);

    /* Invalid UTF-8, or a character that `len` of shown_part() has cut. */
    if (len == 1 && (unsigned char)*character >= 0x80)
        return (size_t)snprintf(out, ESCAPE_BYTES + 1, "\\x%02x", (unsigned char)*character);
    if (utf8_is_unsafe(point))
        return (size_t)snprintf(out, ESCAPE_BYTES + 1, point > 0xFF ? "\\u%04x" : "\\x%02x",
                                (unsigned)point);
    memcpy(out, character, len);
    return len;
}

struct shown shown_part(const char *value, size_t len)
{
    struct shown result = {.text = ""};
    size_t used = 0, count = 0;
    const char *at = value;

    while (at < value + len && *at != '\0' && count < SHOWN_MAX) {
        size_t size = utf8_char_len(at);

        if (size == 0 || size > (size_t)(value + len - at))
            size = 1;
        used += add_character(&result.text[used], at, size);
        at += size;
        count++;
    }
    memcpy(&result.text[used], more, at < value + len && *at != '\0' ? sizeof(more) : 0);
    return result;
}

struct shown shown(const char *value)
{
    return shown_part(value, strlen(value));
}
