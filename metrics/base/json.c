/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/json.h"

#include "metrics/base/utf8.h"

/* ---- JSON texts of plain ASCII ---- */

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
            if (!json_mark_special_bytes(word)) {
                at += sizeof(word);
                continue;
            }
        }
        for (size_t end = len - at < sizeof(word) ? len : at + sizeof(word); at < end; at++) {
            unsigned char byte = (unsigned char)json[at];

            if (byte == '\\' ? json[at + 1] == 'u'
                             : (byte < 0x20 || byte >= 0x80) && !json_is_space((char)byte))
                return false;
        }
    }
    return true;
}

/* ---- access to members of JSON objects ---- */

/* 2^53: a double represents every integer up to this number exactly. */
static const double whole_number_max = 9007199254740992;

/* Like cJSON_IsObject() and the others, which are calls of another library. */
static bool has_type(const cJSON *item, int type)
{
    return (item->type & 0xff) == type;
}

const cJSON *json_get(const cJSON *object, const char *key)
{
    if (!object || !has_type(object, cJSON_Object))
        return NULL;

    /* Most keys differ in the first character, so this is twice as fast as cJSON's look-up. */
    for (const cJSON *member = object->child; member; member = member->next) {
        if (member->string && member->string[0] == key[0] && strcmp(member->string, key) == 0)
            return has_type(member, cJSON_NULL) ? NULL : member;
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
