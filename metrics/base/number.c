/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/number.h"

enum {
    NANO = -9,
    FACTORS_MAX = 6, /* Factors of 1024 in the largest suffix, "Ei". */
    /* Digits that are added in front: four for each factor, and one for rounding up. */
    ROOM = FACTORS_MAX * 4 + 1,
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool parse_uint(const char *text, uint64_t max, uint64_t *out)
{
    uint64_t value = 0;

    if (*text == '\0')
        return false;
    for (; *text != '\0'; text++) {
        uint64_t digit = (uint64_t)(*text - '0');

        if (!is_digit(*text) || digit > max || value > (max - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *out = value;
    return true;
}

bool parse_int64(const char *text, int64_t *out)
{
    bool negative = *text == '-';
    uint64_t value;

    if (!parse_uint(text + (negative ? 1 : 0), (uint64_t)INT64_MAX + (negative ? 1 : 0), &value))
        return false;
    /* INT64_MIN cannot be negated without overflow. */
    *out = negative && value > 0 ? -(int64_t)(value - 1) - 1 : (int64_t)value;
    return true;
}

static bool is_number(const char *text)
{
    size_t len = strspn(text, "0123456789");

    return len > 0 && text[len] == '\0';
}

enum number_order number_compare(const char *text, const char *other)
{
    if (strcmp(text, other) == 0)
        return NUMBER_EQUAL;
    if (!is_number(text) || !is_number(other))
        return NUMBER_UNORDERED;
    text += strspn(text, "0");
    other += strspn(other, "0");

    size_t len = strlen(text), other_len = strlen(other);
    int order = len != other_len ? (len < other_len ? -1 : 1) : strcmp(text, other);

    if (order == 0)
        return NUMBER_EQUAL;
    return order < 0 ? NUMBER_LESS : NUMBER_GREATER;
}

/* ---- Kubernetes quantities ---- */

struct suffix {
    const char *text;
    int64_t exponent; /* Exponent of ten. */
    unsigned factors; /* Exponent of 1024; 0 for a decimal suffix. */
};

static const struct suffix suffixes[] = {
    {"", 0, 0},   {"n", -9, 0}, {"u", -6, 0}, {"m", -3, 0}, {"k", 3, 0},  {"M", 6, 0},
    {"G", 9, 0},  {"T", 12, 0}, {"P", 15, 0}, {"E", 18, 0}, {"Ki", 0, 1}, {"Mi", 0, 2},
    {"Gi", 0, 3}, {"Ti", 0, 4}, {"Pi", 0, 5}, {"Ei", 0, 6},
};

static bool read_suffix(const char *text, struct suffix *out)
{
    int64_t exponent;

    for (size_t i = 0; i < ARRAY_LEN(suffixes); i++) {
        if (strcmp(text, suffixes[i].text) == 0) {
            *out = suffixes[i];
            return true;
        }
    }
    if (*text != 'e' && *text != 'E')
        return false;
    text++;
    if (*text == '+' && is_digit(text[1]))
        text++;
    if (!parse_int64(text, &exponent))
        return false;
    /* Kubernetes truncates the exponent to 32 bits. */
    *out = (struct suffix){.text = text, .exponent = (int32_t)exponent};
    return true;
}

/* Decimal number of any length: the digits (values 0 to 9) as an integer, times 10^exponent. */
struct decimal {
    unsigned char *digits; /* In `block`, with up to ROOM free bytes before the first digit. */
    size_t count;
    int64_t exponent;
    char *block;
};

static void decimal_release(struct decimal *d)
{
    free(d->block);
}

/*
 * Parses digits with at most one point, and stores them without leading zeros. Returns the end.
 * Sets `out_any` to false if there is no digit, else to true.
 */
static const char *read_digits(const char *text, struct decimal *out, bool *out_any)
{
    bool fraction = false;

    out->block = xmalloc(ROOM + strlen(text) + 1);
    out->digits = (unsigned char *)out->block + ROOM;
    *out_any = false;
    for (; is_digit(*text) || (*text == '.' && !fraction); text++) {
        if (*text == '.') {
            fraction = true;
            continue;
        }
        *out_any = true;
        out->exponent -= fraction ? 1 : 0;
        if (out->count > 0 || *text != '0')
            out->digits[out->count++] = (unsigned char)(*text - '0');
    }
    return text;
}

static void prepend_digit(struct decimal *d, unsigned digit)
{
    *--d->digits = (unsigned char)digit;
    d->count++;
}

static void multiply_1024(struct decimal *d)
{
    unsigned carry = 0;

    for (size_t i = d->count; i-- > 0;) {
        unsigned value = d->digits[i] * 1024U + carry;

        d->digits[i] = (unsigned char)(value % 10);
        carry = value / 10;
    }
    for (; carry > 0; carry /= 10)
        prepend_digit(d, carry % 10);
}

/* Rounds up to a multiple of 1n, as Kubernetes does; the sign is not part of the decimal. */
static void round_up_to_nano(struct decimal *d)
{
    bool remainder = false;

    while (d->count > 0 && d->exponent < NANO) {
        remainder = remainder || d->digits[d->count - 1] != 0;
        d->count--;
        d->exponent++;
    }
    if (!remainder)
        return;
    d->exponent = NANO;
    for (size_t i = d->count; i-- > 0;) {
        if (d->digits[i] < 9) {
            d->digits[i]++;
            return;
        }
        d->digits[i] = 0;
    }
    prepend_digit(d, 1);
}

enum { EXACT_DIGITS = 15, EXACT_POWER = 22 };

/*
 * A double represents all integers of EXACT_DIGITS digits and 10^EXACT_POWER exactly, so one
 * multiplication or division rounds correctly.
 */
static double exact_decimal_to_double(const struct decimal *d)
{
    double value = 0;
    double power = 1;

    for (size_t i = 0; i < d->count; i++)
        value = value * 10 + d->digits[i];
    for (int64_t i = d->exponent < 0 ? -d->exponent : d->exponent; i > 0; i--)
        power *= 10;
    return d->exponent < 0 ? value / power : value * power;
}

static double decimal_to_double(struct decimal *d)
{
    if (d->count == 0)
        return 0;
    if (d->count <= EXACT_DIGITS && d->exponent >= -EXACT_POWER && d->exponent <= EXACT_POWER)
        return exact_decimal_to_double(d);

    CLEANUP(free_cleanup) char *text = xmalloc(d->count + 32);

    for (size_t i = 0; i < d->count; i++)
        text[i] = (char)('0' + d->digits[i]);
    snprintf(text + d->count, 32, "e%" PRId64, d->exponent);
    return strtod(text, NULL);
}

bool parse_quantity(const char *text, double *out)
{
    CLEANUP(decimal_release) struct decimal number = {0};
    bool negative = *text == '-';
    bool any_digit;
    struct suffix suffix;

    if (*text == '\0')
        return false;

    const char *end =
        read_digits(text + (*text == '-' || *text == '+' ? 1 : 0), &number, &any_digit);

    if (!read_suffix(end, &suffix))
        return false;
    /* Kubernetes accepts a suffix without a number as 0, but not "Pi", "Ei", "e-10" or less. */
    if (!any_digit && (suffix.factors > 4 || suffix.exponent < NANO))
        return false;

    for (unsigned i = 0; i < suffix.factors; i++)
        multiply_1024(&number);
    number.exponent += suffix.exponent;
    round_up_to_nano(&number);

    double value = decimal_to_double(&number);

    if (suffix.factors > 0 && value > 0x1p63)
        value = 0x1p63;
    *out = negative && value > 0 ? -value : value;
    return true;
}

/* ---- output of numbers ---- */

/* 2^53: a double represents every integer up to this number exactly. */
static const double whole_number_max = 9007199254740992;

static void append_digits(struct strbuf *out, uint64_t value)
{
    char digits[20];
    size_t at = sizeof(digits);

    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    strbuf_add(out, digits + at, sizeof(digits) - at);
}

/* Returns the absolute value; unsigned, because that of INT64_MIN exceeds INT64_MAX. */
static uint64_t absolute_value(int64_t value)
{
    return value < 0 ? -(uint64_t)value : (uint64_t)value;
}

void strbuf_add_int(struct strbuf *out, int64_t value)
{
    if (value < 0)
        strbuf_addc(out, '-');
    append_digits(out, absolute_value(value));
}

void strbuf_add_double(struct strbuf *out, double value)
{
    char text[32];

    if (value != value) {
        strbuf_adds(out, "NaN");
        return;
    }
    if (value >= -whole_number_max && value <= whole_number_max &&
        (double)(int64_t)value == value) {
        strbuf_add_int(out, (int64_t)value);
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

void strbuf_add_seconds(struct strbuf *out, int64_t ms)
{
    uint64_t whole = absolute_value(ms);
    unsigned rest = (unsigned)(whole % 1000);
    char fraction[5];

    if (ms < 0)
        strbuf_addc(out, '-');
    append_digits(out, whole / 1000);
    if (rest == 0)
        return;
    snprintf(fraction, sizeof(fraction), ".%03u", rest);
    for (size_t len = sizeof(fraction) - 2; fraction[len] == '0'; len--)
        fraction[len] = '\0';
    strbuf_adds(out, fraction);
}
