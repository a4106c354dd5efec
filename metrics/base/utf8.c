/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/utf8.h"

static bool is_continuation(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

unsigned utf8_char_len(const char *s)
{
    unsigned char lead = (unsigned char)s[0];

    if (lead < 0x80)
        return lead > 0 ? 1 : 0;
    if (lead < 0xc2 || lead > 0xf4 || !is_continuation(s[1]))
        return 0;
    if (lead < 0xe0)
        return 2;

    unsigned char second = (unsigned char)s[1];

    /* Too long a form for its value, half a surrogate pair, or past U+10FFFF. */
    if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) ||
        (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f))
        return 0;
    if (!is_continuation(s[2]))
        return 0;
    if (lead < 0xf0)
        return 3;
    return is_continuation(s[3]) ? 4 : 0;
}

size_t utf8_boundary(const char *text, size_t len)
{
    size_t boundary = len;

    /* A character has three continuation bytes at most; more of them is not UTF-8 at all. */
    for (unsigned steps = 0; steps < 3 && boundary > 0; steps++) {
        if (!is_continuation(text[boundary]))
            return boundary;
        boundary--;
    }
    return !is_continuation(text[boundary]) ? boundary : len;
}
