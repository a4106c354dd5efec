/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/label_text.h"

#include "metrics/base/map.h"
#include "metrics/base/utf8.h"

static const char replacement_character[] = "\xef\xbf\xbd";

enum { REPLACEMENT_LEN = 3, HASH_MARK_LEN = 3 + 16 };

/* C0, DEL, and C1 as UTF-8 writes it. */
static bool is_control(const char *s)
{
    unsigned char first = (unsigned char)s[0];

    return first < 0x20 || first == 0x7f || (first == 0xc2 && (unsigned char)s[1] < 0xa0);
}

/*
 * The next character of `*s`, which is moved on: how many bytes it takes in the
 * value, and in `out` where they are.
 */
static unsigned next_character(const char **s, const char **out)
{
    const char *from = *s;
    unsigned len = utf8_char_len(from);

    if (len == 0) {
        *s = from + 1;
        *out = replacement_character;
        return REPLACEMENT_LEN;
    }
    *s = from + len;
    *out = is_control(from) ? replacement_character : from;
    return *out == from ? len : REPLACEMENT_LEN;
}

/* How many bytes of the value are kept: all, or what leaves room for the mark of a cut. */
static size_t value_room(const char *value)
{
    const char *bytes;
    size_t len = 0;

    if (strlen(value) <= LABEL_VALUE_MAX / REPLACEMENT_LEN)
        return LABEL_VALUE_MAX;
    while (*value && len <= LABEL_VALUE_MAX)
        len += next_character(&value, &bytes);
    return len <= LABEL_VALUE_MAX ? LABEL_VALUE_MAX : LABEL_VALUE_MAX - HASH_MARK_LEN;
}

/* Names of Kubernetes are almost always made of these only. */
static size_t count_plain(const char *s)
{
    size_t count = 0;

    while ((unsigned char)s[count] >= 0x20 && (unsigned char)s[count] < 0x7f && s[count] != '"' &&
           s[count] != '\\')
        count++;
    return count;
}

void label_text_add(struct strbuf *out, const char *value)
{
    const char *from = value ? value : "";
    size_t plain = count_plain(from);

    if (from[plain] == '\0' && plain <= LABEL_VALUE_MAX) {
        strbuf_add(out, from, plain);
        return;
    }

    size_t room = value_room(from);
    const char *at = from;

    while (*at) {
        const char *bytes;
        const char *next = at;
        unsigned len = next_character(&next, &bytes);

        if (len > room)
            break;
        if (*bytes == '"' || *bytes == '\\')
            strbuf_addc(out, '\\');
        strbuf_add(out, bytes, len);
        room -= len;
        at = next;
    }
    if (*at)
        strbuf_addf(out, "...%016" PRIx64, map_hash(from, strlen(from), 0));
}
