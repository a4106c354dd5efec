/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/json_syntax.h"

#include <endian.h>

#include "metrics/base/utf8.h"

static_assert(JSON_DEPTH_MAX == 128, "the message in check_value() contains the number");

/* Tokens that the JSON grammar allows at the current position. */
enum expect {
    EXPECT_VALUE,
    EXPECT_VALUE_OR_END, /* State after '['. */
    EXPECT_KEY,
    EXPECT_KEY_OR_END, /* State after '{'. */
    EXPECT_COLON,
    EXPECT_COMMA_OR_END,
    EXPECT_NOTHING,
};

static const char *const expected[] = {
    [EXPECT_VALUE] = "a value is missing here",
    [EXPECT_VALUE_OR_END] = "a value or ']' is missing here",
    [EXPECT_KEY] = "a quoted key is missing here",
    [EXPECT_KEY_OR_END] = "a quoted key or '}' is missing here",
    [EXPECT_COLON] = "':' is missing after a key",
    [EXPECT_COMMA_OR_END] = "',' or a closing bracket is missing here",
    [EXPECT_NOTHING] = "something follows after the end of the JSON value",
};

/* ASCII that is accepted in a string without an escape. RFC 8259 excludes tab and line ends. */
static const bool is_plain_char[256] = {
    ['\t'] = true,
    ['\n'] = true,
    ['\r'] = true,
    [0x20 ... '"' - 1] = true,
    ['"' + 1 ... '\\' - 1] = true,
    ['\\' + 1 ... 0x7f] = true,
};

/* Characters of escape sequences after the backslash, except 'u'. */
static const bool is_escape_letter[256] = {
    ['"'] = true, ['\\'] = true, ['/'] = true, ['b'] = true,
    ['f'] = true, ['n'] = true,  ['r'] = true, ['t'] = true,
};

struct json_checker {
    const char *json;
    size_t len;
    size_t at;
    const char *reason;
    enum expect expect;
    unsigned depth;
    char closers[JSON_DEPTH_MAX]; /* Closing brackets of the open containers. */
};

static bool reject(struct json_checker *c, const char *reason)
{
    c->reason = reason;
    return false;
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* Returns the value of four hexadecimal digits; -1 if a character is not such a digit. */
static int read_hex4(const char *at)
{
    int value = 0;

    for (unsigned i = 0; i < 4; i++) {
        char lower = (char)(at[i] | 0x20);

        if (is_digit(at[i]))
            value = value * 16 + (at[i] - '0');
        else if (lower >= 'a' && lower <= 'f')
            value = value * 16 + (lower - 'a' + 10);
        else
            return -1;
    }
    return value;
}

static bool is_between(int value, int low, int high)
{
    return value >= low && value <= high;
}

/*
 * Returns the length of the escape sequence at a backslash, both halves of a surrogate pair
 * together; 0 if it is invalid. No check of the length of the text is necessary: the NUL at its end
 * is no part of a valid escape.
 */
static unsigned escape_length(const char *at)
{
    if (at[1] != 'u')
        return is_escape_letter[(unsigned char)at[1]] ? 2 : 0;

    int unit = read_hex4(at + 2);

    if (unit <= 0)
        return 0;
    if (!is_between(unit, 0xd800, 0xdfff))
        return 6;
    return unit < 0xdc00 && at[6] == '\\' && at[7] == 'u' &&
                   is_between(read_hex4(at + 8), 0xdc00, 0xdfff)
               ? 12
               : 0;
}

/* Checks the escape that begins with the current backslash. */
static bool check_escape(struct json_checker *c)
{
    const char *at = c->json + c->at;
    unsigned len = escape_length(at);
    int unit;

    c->at += len;
    if (len > 0)
        return true;
    if (at[1] != 'u')
        return reject(c, "an escape sequence that is not valid in JSON");
    unit = read_hex4(at + 2);
    if (unit < 0)
        return reject(c, "four hexadecimal digits are missing after \\u");
    return reject(c,
                  unit == 0 ? "a NUL character (\\u0000) in a string" : "half of a surrogate pair");
}

/* Checks a character that is not in is_plain_char, in the string that begins at `start`. */
static bool check_special(struct json_checker *c, size_t start)
{
    unsigned char byte = (unsigned char)c->json[c->at];

    if (byte == '\\')
        return check_escape(c);
    if (byte >= 0x80) {
        unsigned len = utf8_char_len(c->json + c->at);

        c->at += len;
        return len > 0 || reject(c, "bytes that are not valid UTF-8");
    }
    if (c->at < c->len)
        return reject(c, byte == 0 ? "a NUL byte" : "a control character in a string");
    c->at = start;
    return reject(c, "a string that is not closed");
}

/*
 * Returns the first byte that is a quote or for check_special(), or `end`. The byte at `end` is the
 * NUL of the text.
 */
static const char *find_special_byte(const char *at, const char *end)
{
    while ((size_t)(end - at) >= sizeof(uint64_t)) {
        uint64_t word;

        memcpy(&word, at, sizeof(word));
        word = le64toh(word);

        uint64_t found = json_mark_special_bytes(word) | json_mark_bytes(word, '"');

        if (found)
            return at + __builtin_ctzll(found) / 8;
        at += sizeof(word);
    }
    while (at < end && is_plain_char[(unsigned char)*at] && (unsigned char)*at >= 0x20)
        at++;
    return at;
}

static bool check_string(struct json_checker *c)
{
    size_t start = c->at++;

    for (;;) {
        const char *at = find_special_byte(c->json + c->at, c->json + c->len);

        c->at = (size_t)(at - c->json);
        if (*at == '"') {
            c->at++;
            return true;
        }
        if (is_plain_char[(unsigned char)*at])
            c->at++;
        else if (!check_special(c, start))
            return false;
    }
}

static size_t count_digits(const char *at)
{
    size_t count = 0;

    while (is_digit(at[count]))
        count++;
    return count;
}

/* Returns the length of the number at `at`; 0 if it is invalid. */
static size_t number_length(const char *at)
{
    const char *start = at;
    size_t digits;

    if (*at == '-')
        at++;
    digits = count_digits(at);
    if (digits == 0)
        return 0;
    at += digits;
    if (*at == '.')
        at += 1 + count_digits(at + 1);
    if (*at == 'e' || *at == 'E') {
        at += at[1] == '+' || at[1] == '-' ? 2 : 1;
        digits = count_digits(at);
        if (digits == 0)
            return 0;
        at += digits;
    }
    return (size_t)(at - start);
}

static bool check_number(struct json_checker *c)
{
    const char *at = c->json + c->at;
    size_t len = number_length(at);

    c->at += len;
    if (len > 0)
        return true;
    return reject(c, count_digits(at + (*at == '-')) == 0
                         ? "a number that is not valid in JSON"
                         : "a number without digits in its exponent");
}

/* Returns the length of "true", "false" or "null" at `at`; 0 for other text. */
static size_t word_length(const char *at)
{
    static const char *const words[] = {"true", "false", "null"};

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        size_t len = strlen(words[i]);

        if (strncmp(at, words[i], len) == 0)
            return len;
    }
    return 0;
}

static bool check_word(struct json_checker *c)
{
    size_t len = word_length(c->json + c->at);

    c->at += len;
    return len > 0 || reject(c, expected[c->expect]);
}

static void end_value(struct json_checker *c)
{
    c->expect = c->depth > 0 ? EXPECT_COMMA_OR_END : EXPECT_NOTHING;
}

static bool check_value(struct json_checker *c)
{
    char byte = c->json[c->at];
    bool valid;

    if (byte == '{' || byte == '[') {
        if (c->depth == JSON_DEPTH_MAX)
            return reject(c, "nested deeper than 128 levels");
        c->closers[c->depth++] = byte == '{' ? '}' : ']';
        c->expect = byte == '{' ? EXPECT_KEY_OR_END : EXPECT_VALUE_OR_END;
        c->at++;
        return true;
    }
    if (byte == '"')
        valid = check_string(c);
    else if (byte == '-' || is_digit(byte))
        valid = check_number(c);
    else
        valid = check_word(c);
    if (valid)
        end_value(c);
    return valid;
}

static bool check_key(struct json_checker *c)
{
    if (c->json[c->at] != '"')
        return reject(c, expected[c->expect]);
    c->expect = EXPECT_COLON;
    return check_string(c);
}

static bool close_container(struct json_checker *c)
{
    c->depth--;
    c->at++;
    end_value(c);
    return true;
}

static bool check_punctuation(struct json_checker *c, char punctuation, enum expect next)
{
    if (c->json[c->at] != punctuation)
        return reject(c, expected[c->expect]);
    c->at++;
    c->expect = next;
    return true;
}

/* Checks the token that begins at the current byte. */
static bool check_token(struct json_checker *c)
{
    char closer = c->depth > 0 ? c->closers[c->depth - 1] : '\0';
    bool closes = c->json[c->at] == closer;

    switch (c->expect) {
    case EXPECT_VALUE:
        return check_value(c);
    case EXPECT_VALUE_OR_END:
        return closes ? close_container(c) : check_value(c);
    case EXPECT_KEY:
        return check_key(c);
    case EXPECT_KEY_OR_END:
        return closes ? close_container(c) : check_key(c);
    case EXPECT_COLON:
        return check_punctuation(c, ':', EXPECT_VALUE);
    case EXPECT_COMMA_OR_END:
        if (closes)
            return close_container(c);
        return check_punctuation(c, ',', closer == '}' ? EXPECT_KEY : EXPECT_VALUE);
    case EXPECT_NOTHING:
        return reject(c, expected[c->expect]);
    }
    abort();
}

struct json_fault json_find_fault(const char *json, size_t len)
{
    struct json_checker c = {.json = json, .len = len};

    for (;;) {
        c.at = (size_t)(json_skip_space(json + c.at) - json);
        if (c.at == len || json[c.at] == '\0' || !check_token(&c))
            break;
    }
    if (!c.reason && c.at < len)
        c.reason = "a NUL byte";
    else if (!c.reason && c.expect != EXPECT_NOTHING)
        c.reason = c.depth == 0 ? "no JSON value at all" : "ends in the middle of a value";
    return (struct json_fault){.reason = c.reason, .offset = c.reason ? c.at : 0};
}

/* ---- skipping of values ---- */

const char *json_skip_string(const char *at, const char *end)
{
    at++;
    for (;;) {
        at = find_special_byte(at, end);
        if (*at == '"')
            return at + 1;

        unsigned char byte = (unsigned char)*at;
        unsigned len = byte == '\\'   ? escape_length(at)
                       : byte >= 0x80 ? utf8_char_len(at)
                                      : is_plain_char[byte];

        if (len == 0)
            return NULL;
        at += len;
    }
}

const char *json_skip_scalar(const char *at, const char *end)
{
    size_t len;

    if (*at == '"')
        return json_skip_string(at, end);
    len = *at == '-' || is_digit(*at) ? number_length(at) : word_length(at);
    return len > 0 ? at + len : NULL;
}

/* Skips an array or object after its opening bracket. */
static const char *skip_container(const char *at, const char *end, unsigned levels, char closer)
{
    at = json_skip_space(at);
    if (*at == closer)
        return at + 1;
    for (;;) {
        if (closer == '}') {
            at = *at == '"' ? json_skip_string(at, end) : NULL;
            at = at ? json_skip_space(at) : NULL;
            if (!at || *at != ':')
                return NULL;
            at = json_skip_space(at + 1);
        }
        at = json_skip_value(at, end, levels);
        at = at ? json_skip_space(at) : NULL;
        if (!at || *at == closer)
            return at ? at + 1 : NULL;
        if (*at != ',')
            return NULL;
        at = json_skip_space(at + 1);
    }
}

const char *json_skip_value(const char *at, const char *end, unsigned levels)
{
    if (*at != '{' && *at != '[')
        return json_skip_scalar(at, end);
    if (levels == 0)
        return NULL;
    return skip_container(at + 1, end, levels - 1, *at == '{' ? '}' : ']');
}
