/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/base64.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* The next character that is not a line end; NUL at the end. */
static char next(const char **text)
{
    while (**text == '\n' || **text == '\r')
        (*text)++;
    return **text ? *(*text)++ : '\0';
}

/* A '=' came after `digits` characters of a group of four: the group and the text must end. */
static bool ends(const char **text, unsigned digits)
{
    if (digits < 2 || (digits == 2 && next(text) != '='))
        return false;
    return next(text) == '\0';
}

bool base64_decode(const char *text, struct strbuf *out)
{
    uint32_t bits = 0;
    unsigned digits = 0;

    for (char c = next(&text); c; c = next(&text)) {
        const char *digit = strchr(alphabet, c);

        if (!digit)
            return c == '=' && ends(&text, digits);
        bits = bits << 6 | (uint32_t)(digit - alphabet);
        /* Two digits hold a whole byte; the third and fourth complete one with the bits left over.
         */
        if (digits > 0)
            strbuf_addc(out, (char)(bits >> (6 - 2 * digits)));
        digits = (digits + 1) % 4;
        if (digits == 0)
            bits = 0;
    }
    return digits == 0;
}

void base64_encode(const void *bytes, size_t len, struct strbuf *out)
{
    const unsigned char *at = bytes;

    for (size_t i = 0; i < len; i += 3) {
        size_t left = len - i;
        uint32_t bits = (uint32_t)at[i] << 16 | (left > 1 ? (uint32_t)at[i + 1] << 8 : 0) |
                        (left > 2 ? at[i + 2] : 0);

        strbuf_addc(out, alphabet[bits >> 18]);
        strbuf_addc(out, alphabet[bits >> 12 & 63]);
        strbuf_addc(out, left > 1 ? alphabet[bits >> 6 & 63] : '=');
        strbuf_addc(out, left > 2 ? alphabet[bits & 63] : '=');
    }
}
