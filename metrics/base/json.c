/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/json.h"

#include "metrics/base/utf8.h"

static_assert(JSON_DEPTH_MAX == 128, "the message in check_value() contains the number");

/* ---- syntax check of JSON ---- */

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

static bool is_space(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
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
 * Checks the escape that begins with the current backslash. No check of the length is necessary:
 * the NUL at the end of the text is no part of a valid escape.
 */
static bool check_escape(struct json_checker *c)
{
    const char *at = c->json + c->at;

    if (at[1] != 'u') {
        if (at[1] == '\0' || !strchr("\"\\/bfnrt", at[1]))
            return reject(c, "an escape sequence that is not valid in JSON");
        c->at += 2;
        return true;
    }

    int unit = read_hex4(at + 2);

    if (unit < 0)
        return reject(c, "four hexadecimal digits are missing after \\u");
    if (unit == 0)
        return reject(c, "a NUL character (\\u0000) in a string");
    c->at += 6;
    if (!is_between(unit, 0xd800, 0xdfff))
        return true;
    if (unit < 0xdc00 && at[6] == '\\' && at[7] == 'u' &&
        is_between(read_hex4(at + 8), 0xdc00, 0xdfff)) {
        c->at += 6;
        return true;
    }
    c->at -= 6;
    return reject(c, "half of a surrogate pair");
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

static bool check_string(struct json_checker *c)
{
    size_t start = c->at++;

    for (;;) {
        /* A local pointer is faster than c->at. */
        const char *at = c->json + c->at;

        while (is_plain_char[(unsigned char)*at])
            at++;
        c->at = (size_t)(at - c->json);
        if (*at == '"') {
            c->at++;
            return true;
        }
        if (!check_special(c, start))
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

static bool check_number(struct json_checker *c)
{
    const char *at = c->json + c->at;
    size_t digits;

    if (*at == '-')
        at++;
    digits = count_digits(at);
    if (digits == 0)
        return reject(c, "a number that is not valid in JSON");
    at += digits;
    if (*at == '.') {
        at += 1 + count_digits(at + 1);
    }
    if (*at == 'e' || *at == 'E') {
        at += at[1] == '+' || at[1] == '-' ? 2 : 1;
        digits = count_digits(at);
        if (digits == 0)
            return reject(c, "a number without digits in its exponent");
        at += digits;
    }
    c->at = (size_t)(at - c->json);
    return true;
}

static bool check_word(struct json_checker *c)
{
    static const char *const words[] = {"true", "false", "null"};

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        size_t len = strlen(words[i]);

        if (strncmp(c->json + c->at, words[i], len) == 0) {
            c->at += len;
            return true;
        }
    }
    return reject(c, expected[c->expect]);
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
        while (is_space(json[c.at]))
            c.at++;
        if (c.at == len || json[c.at] == '\0' || !check_token(&c))
            break;
    }
    if (!c.reason && c.at < len)
        c.reason = "a NUL byte";
    else if (!c.reason && c.expect != EXPECT_NOTHING)
        c.reason = c.depth == 0 ? "no JSON value at all" : "ends in the middle of a value";
    return (struct json_fault){.reason = c.reason, .offset = c.reason ? c.at : 0};
}

/* ---- JSON texts of plain ASCII ---- */

/*
 * Returns 0x80 in each of the eight bytes that is below 0x20, a backslash, or not ASCII. The borrow
 * of a subtraction may also mark the byte above; the caller checks the bytes of a marked word.
 */
static uint64_t mark_special_bytes(uint64_t word)
{
    static const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t backslash = word ^ (ones * '\\');

    return ((word - ones * 0x20) | word | (backslash - ones)) & (ones << 7);
}

/*
 * Returns true if the text is ASCII without "\u" and, except white space, without characters below
 * 0x20. Most texts are plain. For plain texts, the checks of cJSON are sufficient, except that of
 * the depth.
 */
static bool is_plain_text(const char *json, size_t len)
{
    size_t at = 0;

    while (at < len) {
        uint64_t word;

        if (len - at >= sizeof(word)) {
            memcpy(&word, json + at, sizeof(word));
            if (!mark_special_bytes(word)) {
                at += sizeof(word);
                continue;
            }
        }
        for (size_t end = len - at < sizeof(word) ? len : at + sizeof(word); at < end; at++) {
            unsigned char byte = (unsigned char)json[at];

            if (byte == '\\' ? json[at + 1] == 'u'
                             : (byte < 0x20 || byte >= 0x80) && !is_space((char)byte))
                return false;
        }
    }
    return true;
}

/* ---- access to members of JSON objects ---- */

/* 2^53: a double represents every integer up to this number exactly. */
static const double whole_number_max = 9007199254740992;

const cJSON *json_get(const cJSON *object, const char *key)
{
    if (!cJSON_IsObject(object))
        return NULL;

    /* Most keys differ in the first character, so this is twice as fast as cJSON's look-up. */
    for (const cJSON *member = object->child; member; member = member->next) {
        if (member->string && member->string[0] == key[0] && strcmp(member->string, key) == 0)
            return cJSON_IsNull(member) ? NULL : member;
    }
    return NULL;
}

const char *json_str(const cJSON *object, const char *key, const char *fallback)
{
    const cJSON *member = json_get(object, key);

    return cJSON_IsString(member) ? member->valuestring : fallback;
}

int64_t json_int(const cJSON *object, const char *key, int64_t fallback)
{
    const cJSON *member = json_get(object, key);

    if (!cJSON_IsNumber(member))
        return fallback;

    double value = member->valuedouble;

    if (!(value >= -whole_number_max && value <= whole_number_max))
        return fallback;

    int64_t whole = (int64_t)value;

    return (double)whole == value ? whole : fallback;
}

bool json_bool(const cJSON *object, const char *key, bool fallback)
{
    const cJSON *member = json_get(object, key);

    return cJSON_IsBool(member) ? cJSON_IsTrue(member) != 0 : fallback;
}

const cJSON *json_array(const cJSON *object, const char *key)
{
    const cJSON *member = json_get(object, key);

    return cJSON_IsArray(member) ? member : NULL;
}

bool json_array_has_text(const cJSON *array, const char *text)
{
    const cJSON *item;

    cJSON_ArrayForEach (item, array) {
        if (cJSON_IsString(item) && strcmp(item->valuestring, text) == 0)
            return true;
    }
    return false;
}

const cJSON *json_object_or_null(const cJSON *item)
{
    return cJSON_IsObject(item) ? item : NULL;
}

/* ---- JSON parser ---- */

/* Returns true if arrays and objects that are not empty are nested deeper than `levels`. */
static bool is_nested_deeper(const cJSON *item, unsigned levels)
{
    if (levels == 0)
        return true;
    for (const cJSON *child = item->child; child; child = child->next) {
        if (child->child && is_nested_deeper(child, levels - 1))
            return true;
    }
    return false;
}

cJSON *json_parse(const char *json, size_t len, struct json_position *where, struct error *err)
{
    /* A plain text needs json_find_fault() only if cJSON rejects it or if it is too deep. */
    cJSON *plain =
        is_plain_text(json, len) ? cJSON_ParseWithLengthOpts(json, len + 1, NULL, true) : NULL;

    if (plain && !is_nested_deeper(plain, JSON_DEPTH_MAX))
        return plain;
    cJSON_Delete(plain);

    struct json_fault fault = json_find_fault(json, len);

    if (!fault.reason) {
        const char *end = json;
        /* With the NUL in the length, cJSON rejects text between the value and the NUL. */
        cJSON *tree = cJSON_ParseWithLengthOpts(json, len + 1, &end, true);

        if (tree)
            return tree;
        /* The text has no fault, but exceeds a limit of this cJSON version. */
        fault.reason = "a value above a limit of the parser";
        fault.offset = (size_t)(end - json);
    }
    if (where)
        *where = json_position_of(json, fault.offset);
    fail(err, "not valid JSON: %s", fault.reason);
    return NULL;
}

struct json_position json_position_of(const char *text, size_t offset)
{
    struct json_position position = {.line = 1};
    const char *line = text;
    const char *end = text + offset;
    const char *newline;

    while ((newline = memchr(line, '\n', (size_t)(end - line))) != NULL) {
        position.line++;
        line = newline + 1;
    }
    position.column = utf8_count(line, (size_t)(end - line)) + 1;
    return position;
}

void json_cleanup(cJSON **tree)
{
    cJSON_Delete(*tree);
}

/* ---- output of JSON strings ---- */

static const char replacement_character[] = "\xef\xbf\xbd"; /* U+FFFD in UTF-8. */

/* Appends the escape of the character at *at, or U+FFFD for invalid UTF-8. Moves *at past it. */
static void add_escape(struct strbuf *out, const char **at)
{
    static const char plain[] = "\"\\\b\f\n\r\t";
    static const char escape[] = "\"\\bfnrt";
    const char *found = strchr(plain, **at);
    uint32_t point = utf8_next(at);

    if (point == UTF8_BROKEN)
        strbuf_adds(out, replacement_character);
    else if (found)
        strbuf_add(out, (char[]){'\\', escape[found - plain]}, 2);
    else
        strbuf_addf(out, "\\u%04x", (unsigned)point);
}

/* Returns the length of the character at `s`; 0 if add_escape() must write it, and at the end. */
static unsigned plain_char_len(const char *s)
{
    if (*s >= 0x20 && *s < 0x7F)
        return *s != '"' && *s != '\\';

    unsigned len = utf8_char_len(s);
    const char *next = s;

    return len > 0 && !utf8_is_unsafe(utf8_next(&next)) ? len : 0;
}

/* Returns the number of bytes before the next character for add_escape(), or before the end. */
static size_t count_plain_bytes(const char *s)
{
    size_t count = 0;
    unsigned len;

    while ((len = plain_char_len(s + count)) > 0)
        count += len;
    return count;
}

void json_quote(struct strbuf *out, const char *s)
{
    strbuf_addc(out, '"');
    for (;;) {
        size_t plain = count_plain_bytes(s);

        strbuf_add(out, s, plain);
        s += plain;
        if (*s == '\0')
            break;
        add_escape(out, &s);
    }
    strbuf_addc(out, '"');
}

void json_escape(struct strbuf *out, const char *json)
{
    const char *start = json;

    while (*json != '\0') {
        const char *begin = json;
        uint32_t point = utf8_next(&json);

        if (point < 0x7F || (point != UTF8_BROKEN && !utf8_is_unsafe(point)))
            continue;
        strbuf_add(out, start, (size_t)(begin - start));
        if (point == UTF8_BROKEN)
            strbuf_adds(out, replacement_character);
        else
            strbuf_addf(out, "\\u%04x", (unsigned)point);
        start = json;
    }
    strbuf_add(out, start, (size_t)(json - start));
}
