/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/number_text.h"

/* Doubles hold every whole number up to here. */
static const double whole_number_max = 9007199254740992;

static void add_digits(struct strbuf *out, uint64_t value)
{
    char digits[20];
    size_t at = sizeof(digits);

    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    strbuf_add(out, digits + at, sizeof(digits) - at);
}

/* Without its sign, the smallest number too. */
static uint64_t magnitude(int64_t value)
{
    return value < 0 ? -(uint64_t)value : (uint64_t)value;
}

void number_add_int(struct strbuf *out, int64_t value)
{
    if (value < 0)
        strbuf_addc(out, '-');
    add_digits(out, magnitude(value));
}

void number_add_double(struct strbuf *out, double value)
{
    char text[32];

    if (value != value) {
        strbuf_adds(out, "NaN");
        return;
    }
    if (value >= -whole_number_max && value <= whole_number_max &&
        (double)(int64_t)value == value) {
        number_add_int(out, (int64_t)value);
        return;
    }
    if (value - value != 0) {
        strbuf_adds(out, value > 0 ? "+Inf" : "-Inf");
        return;
    }
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(text, sizeof(text), "%.*g", precision, value);
        if (strtod(text, NULL) == value)
            break;
    }
    strbuf_adds(out, text);
}

void number_add_seconds(struct strbuf *out, int64_t ms)
{
    uint64_t whole = magnitude(ms);
    unsigned rest = (unsigned)(whole % 1000);
    char fraction[5];

    if (ms < 0)
        strbuf_addc(out, '-');
    add_digits(out, whole / 1000);
    if (rest == 0)
        return;
    snprintf(fraction, sizeof(fraction), ".%03u", rest);
    for (size_t len = sizeof(fraction) - 2; fraction[len] == '0'; len--)
        fraction[len] = '\0';
    strbuf_adds(out, fraction);
}
