/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/utf16.h"

enum { BYTE_ORDER_MARK = 0xFEFF, HIGH_FIRST = 0xD800, LOW_FIRST = 0xDC00, LOW_LAST = 0xDFFF };

struct utf16_converter utf16_detect(const char *head, size_t len)
{
    bool big = len >= 2 && memcmp(head, "\xfe\xff", 2) == 0;
    bool little = len >= 2 && memcmp(head, "\xff\xfe", 2) == 0;

    return (struct utf16_converter){.active = big || little, .big_endian = big};
}

static void add_point(struct strbuf *out, uint32_t point)
{
    char bytes[4];
    size_t len = 1;

    if (point < 0x80) {
        bytes[0] = (char)point;
    } else if (point < 0x800) {
        bytes[0] = (char)(0xC0 | point >> 6);
        bytes[1] = (char)(0x80 | (point & 0x3F));
        len = 2;
    } else if (point < 0x10000) {
        bytes[0] = (char)(0xE0 | point >> 12);
        bytes[1] = (char)(0x80 | (point >> 6 & 0x3F));
        bytes[2] = (char)(0x80 | (point & 0x3F));
        len = 3;
    } else {
        bytes[0] = (char)(0xF0 | point >> 18);
        bytes[1] = (char)(0x80 | (point >> 12 & 0x3F));
        bytes[2] = (char)(0x80 | (point >> 6 & 0x3F));
        bytes[3] = (char)(0x80 | (point & 0x3F));
        len = 4;
    }
    strbuf_add(out, bytes, len);
}

/* Appends a unit, or the character that it completes. Returns false for a lonely surrogate. */
static bool add_unit(struct utf16_converter *c, uint32_t unit, struct strbuf *out)
{
    bool is_low = unit >= LOW_FIRST && unit <= LOW_LAST;

    if (is_low != (c->high != 0))
        return false;
    if (is_low) {
        add_point(out, 0x10000 + ((c->high - HIGH_FIRST) << 10) + (unit - LOW_FIRST));
        c->high = 0;
    } else if (unit >= HIGH_FIRST && unit < LOW_FIRST) {
        c->high = unit;
    } else if (unit != BYTE_ORDER_MARK) {
        add_point(out, unit);
    }
    return true;
}

bool utf16_convert(struct utf16_converter *c, const char *bytes, size_t len, struct strbuf *out)
{
    if (len == 0)
        return !c->has_byte && c->high == 0;
    for (size_t i = 0; i < len; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        uint32_t unit =
            c->big_endian ? (uint32_t)c->byte << 8 | byte : (uint32_t)byte << 8 | c->byte;

        c->has_byte = !c->has_byte;
        c->byte = byte;
        if (!c->has_byte && !add_unit(c, unit, out))
            return false;
    }
    return true;
}
