/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/yaml/yaml_scalar.h"

#include <ctype.h>
#include <math.h>

#include "metrics/base/shown.h"

static const char digits_of_bases[] = "0123456789abcdef";
static const char core_tag[] = "tag:yaml.org,2002:";

static const struct word {
    const char *text;
    struct scalar meaning;
} words[] = {
    {"", {.type = SCALAR_NULL}},
    {"~", {.type = SCALAR_NULL}},
    {"null", {.type = SCALAR_NULL}},
    {"Null", {.type = SCALAR_NULL}},
    {"NULL", {.type = SCALAR_NULL}},
    {"true", {.type = SCALAR_BOOL, .boolean = true}},
    {"True", {.type = SCALAR_BOOL, .boolean = true}},
    {"TRUE", {.type = SCALAR_BOOL, .boolean = true}},
    {"y", {.type = SCALAR_BOOL, .boolean = true}},
    {"Y", {.type = SCALAR_BOOL, .boolean = true}},
    {"yes", {.type = SCALAR_BOOL, .boolean = true}},
    {"Yes", {.type = SCALAR_BOOL, .boolean = true}},
    {"YES", {.type = SCALAR_BOOL, .boolean = true}},
    {"on", {.type = SCALAR_BOOL, .boolean = true}},
    {"On", {.type = SCALAR_BOOL, .boolean = true}},
    {"ON", {.type = SCALAR_BOOL, .boolean = true}},
    {"false", {.type = SCALAR_BOOL}},
    {"False", {.type = SCALAR_BOOL}},
    {"FALSE", {.type = SCALAR_BOOL}},
    {"n", {.type = SCALAR_BOOL}},
    {"N", {.type = SCALAR_BOOL}},
    {"no", {.type = SCALAR_BOOL}},
    {"No", {.type = SCALAR_BOOL}},
    {"NO", {.type = SCALAR_BOOL}},
    {"off", {.type = SCALAR_BOOL}},
    {"Off", {.type = SCALAR_BOOL}},
    {"OFF", {.type = SCALAR_BOOL}},
    {".nan", {.type = SCALAR_FLOAT, .number = NAN}},
    {".NaN", {.type = SCALAR_FLOAT, .number = NAN}},
    {".NAN", {.type = SCALAR_FLOAT, .number = NAN}},
    {".inf", {.type = SCALAR_FLOAT, .number = INFINITY}},
    {".Inf", {.type = SCALAR_FLOAT, .number = INFINITY}},
    {".INF", {.type = SCALAR_FLOAT, .number = INFINITY}},
    {"+.inf", {.type = SCALAR_FLOAT, .number = INFINITY}},
    {"+.Inf", {.type = SCALAR_FLOAT, .number = INFINITY}},
    {"+.INF", {.type = SCALAR_FLOAT, .number = INFINITY}},
    {"-.inf", {.type = SCALAR_FLOAT, .number = -INFINITY}},
    {"-.Inf", {.type = SCALAR_FLOAT, .number = -INFINITY}},
    {"-.INF", {.type = SCALAR_FLOAT, .number = -INFINITY}},
};

/* Maximum lengths of words and, without '_', of numbers. A number with '.' first has no maximum. */
enum { WORD_MAX = 5, NUMBER_MAX = 400 };

/* Returns the first digit and stores the base of the number. */
static const char *skip_prefix(const char *text, unsigned *base)
{
    *base = 10;
    if (text[0] != '0' || text[1] == '\0')
        return text;
    switch (text[1] | 0x20) {
    case 'x':
        *base = 16;
        return text + 2;
    case 'b':
        *base = 2;
        return text + 2;
    case 'o':
        *base = 8;
        return text + 2;
    default:
        *base = 8;
        return text + 1;
    }
}

/*
 * Parses an integer as Go's ParseInt and ParseUint with base 0 do, but without underscores. Beyond
 * int64_t, out->fits_integer is false; beyond uint64_t, out->number is rounded at each digit.
 * Returns false if the text is no integer.
 */
static bool parse_int(const char *text, struct scalar *out)
{
    bool negative = *text == '-';
    bool wraps = false;
    uint64_t magnitude = 0;
    double number = 0;
    unsigned base;
    const char *digits = skip_prefix(text + (*text == '-' || *text == '+'), &base);

    if (*digits == '\0')
        return false;
    for (const char *at = digits; *at; at++) {
        const char *found = memchr(digits_of_bases, tolower((unsigned char)*at), base);
        unsigned digit;

        if (!found)
            return false;
        digit = (unsigned)(found - digits_of_bases);
        wraps = wraps || magnitude > (UINT64_MAX - digit) / base;
        magnitude = magnitude * base + digit;
        number = number * base + digit;
    }
    /* -2^63 does not fit either: it is exact as a double, and an error as a key. */
    bool fits = !wraps && magnitude <= INT64_MAX;
    int64_t integer = fits ? (int64_t)magnitude : 0;

    /* Rounds once. The sum of the digits, which rounds at each, is used only beyond 64 bits. */
    if (!wraps)
        number = (double)magnitude;
    *out = (struct scalar){
        .type = SCALAR_INT,
        .fits_integer = fits,
        .integer = negative ? -integer : integer,
        .number = negative ? -number : number,
    };
    return true;
}

static size_t count_digits(const char *text)
{
    return strspn(text, "0123456789");
}

/* Parses [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)? */
static bool parse_float(const char *text, struct scalar *out)
{
    const char *at = text + (*text == '-' || *text == '+');
    size_t before = count_digits(at);

    at += before;
    if (*at == '.') {
        size_t after = count_digits(at + 1);

        if (before + after == 0)
            return false;
        at += 1 + after;
    } else if (before == 0) {
        return false;
    }
    if (*at == 'e' || *at == 'E') {
        at++;
        at += *at == '-' || *at == '+';
        if (count_digits(at) == 0)
            return false;
        at += count_digits(at);
    }
    if (*at != '\0')
        return false;

    double number = strtod(text, NULL);

    /* Go returns a range error here, and go-yaml a text. */
    if (isinf(number))
        return false;
    *out = (struct scalar){.type = SCALAR_FLOAT, .number = number};
    return true;
}

static bool parse_number(const char *text, struct scalar *out)
{
    char plain[NUMBER_MAX + 1];
    size_t len = 0;

    if (*text == '.')
        return parse_float(text, out);
    for (const char *at = text; *at; at++) {
        if (len == NUMBER_MAX)
            return false;
        if (*at != '_')
            plain[len++] = *at;
    }
    plain[len] = '\0';

    struct scalar integer;
    bool is_int = parse_int(plain, &integer);

    if (is_int && (integer.fits_integer || integer.number <= 0x1p64)) {
        *out = integer;
        return true;
    }
    if (parse_float(plain, out))
        return true;
    if (is_int)
        *out = integer;
    return is_int;
}

/* Resolves a scalar without quotes and tag. */
static struct scalar resolve_plain(const char *text)
{
    struct scalar out = {.type = SCALAR_TEXT};

    if (strnlen(text, WORD_MAX + 1) <= WORD_MAX) {
        for (size_t i = 0; i < ARRAY_LEN(words); i++) {
            if (strcmp(words[i].text, text) == 0)
                return words[i].meaning;
        }
    }
    if ((*text >= '0' && *text <= '9') || *text == '+' || *text == '-' || *text == '.') {
        if (!parse_number(text, &out))
            out.type = SCALAR_TEXT;
    }
    return out;
}

bool scalar_is_null(const char *text)
{
    return resolve_plain(text).type == SCALAR_NULL;
}

bool scalar_resolve(const char *text, const char *tag, bool plain, struct scalar *out,
                    struct error *err)
{
    size_t core = sizeof(core_tag) - 1;
    const char *name = tag && strncmp(tag, core_tag, core) == 0 ? tag + core : "";
    struct scalar found = resolve_plain(text);
    bool matches = true;

    if (strcmp(name, "int") == 0)
        matches = found.type == SCALAR_INT;
    else if (strcmp(name, "float") == 0)
        matches = found.type == SCALAR_FLOAT || found.type == SCALAR_INT;
    else if (strcmp(name, "bool") == 0)
        matches = found.type == SCALAR_BOOL;
    else if (strcmp(name, "null") == 0)
        matches = found.type == SCALAR_NULL;
    else if (strcmp(name, "binary") == 0)
        return fail(err, "!!binary is not supported: write the base64 text without the tag");
    else if (tag || !plain)
        found = (struct scalar){.type = SCALAR_TEXT};
    if (!matches)
        return fail(err, "the text does not fit its tag '!!%s'", name);
    *out = found;
    return true;
}

/* Appends like Go's FormatFloat(number, 'g', -1, 32): the fewest digits that identify a float. */
static void add_float(double number, struct strbuf *out)
{
    float value = (float)number;
    char digits[32];
    int precision = 0;

    for (; precision < 9; precision++) {
        snprintf(digits, sizeof(digits), "%.*e", precision, (double)value);
        if (strtof(digits, NULL) == value)
            break;
    }
    double magnitude = fabs((double)value);
    int decimals = precision - (value == 0 ? 0 : (int)floor(log10(magnitude)));

    if (magnitude != 0 && (magnitude < 1e-4 || magnitude >= 1e6))
        strbuf_adds(out, digits);
    else
        strbuf_addf(out, "%.*f", decimals > 0 ? decimals : 0, (double)value);
}

bool scalar_append_key(const struct scalar *scalar, const char *text, struct strbuf *out,
                       struct error *err)
{
    float single = (float)scalar->number;

    switch (scalar->type) {
    case SCALAR_TEXT:
        strbuf_adds(out, text);
        return true;
    case SCALAR_NULL:
        return fail(err, "null cannot be a key: put it in quotes if it is a string");
    case SCALAR_BOOL:
        strbuf_adds(out, scalar->boolean ? "true" : "false");
        return true;
    case SCALAR_INT:
        if (!scalar->fits_integer)
            return fail(err, "'%s' cannot be a key: put it in quotes if it is a string",
                        shown(text).text);
        strbuf_addf(out, "%" PRId64, scalar->integer);
        return true;
    case SCALAR_FLOAT:
        if (isnan(single))
            strbuf_adds(out, ".nan");
        else if (isinf(single))
            strbuf_adds(out, single > 0 ? ".inf" : "-.inf");
        else
            add_float(scalar->number, out);
        return true;
    }
    abort();
}
