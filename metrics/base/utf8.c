/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/utf8.h"

unsigned utf8_char_len(const char *s)
{
    unsigned char lead = (unsigned char)s[0];

    if (lead < 0x80)
        return lead > 0 ? 1 : 0;
    if (lead < 0xc2 || lead > 0xf4 || utf8_starts_character(s[1]))
        return 0;
    if (lead < 0xe0)
        return 2;

    unsigned char second = (unsigned char)s[1];

    /* A longer form than necessary, half of a surrogate pair, or above U+10FFFF. */
    if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) ||
        (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f))
        return 0;
    if (utf8_starts_character(s[2]))
        return 0;
    if (lead < 0xf0)
        return 3;
    return !utf8_starts_character(s[3]) ? 4 : 0;
}

uint32_t utf8_next(const char **at)
{
    const unsigned char *s = (const unsigned char *)*at;
    unsigned len = utf8_char_len(*at);
    uint32_t point = len > 1 ? s[0] & (0x7FU >> len) : s[0];

    for (unsigned i = 1; i < len; i++)
        point = point << 6 | (s[i] & 0x3F);
    *at += len > 0 ? len : 1;
    return len > 0 ? point : UTF8_BROKEN;
}

bool utf8_is_unsafe(uint32_t point)
{
    return point < 0x20 || (point >= 0x7F && point <= 0x9F) || point == 0x061C || point == 0x200E ||
           point == 0x200F || (point >= 0x2028 && point <= 0x202E) ||
           (point >= 0x2066 && point <= 0x2069) || point == 0xFEFF;
}

size_t utf8_cut_length(const char *text, size_t len)
{
    size_t boundary = len;

    /* A character has at most three continuation bytes. */
    for (unsigned steps = 0; steps < 3 && boundary > 0; steps++) {
        if (utf8_starts_character(text[boundary]))
            return boundary;
        boundary--;
    }
    return utf8_starts_character(text[boundary]) ? boundary : len;
}

size_t utf8_count(const char *text, size_t len)
{
    size_t count = 0;

    for (size_t i = 0; i < len; i++)
        count += utf8_starts_character(text[i]);
    return count;
}
