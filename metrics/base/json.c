/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/json.h"

#include "metrics/base/utf8.h"

static const char replacement_character[] = "\xef\xbf\xbd";

/* Doubles hold every whole number up to here; beyond, a number may differ from what was sent. */
static const double whole_number_max = 9007199254740992;

const cJSON *json_get(const cJSON *object, const char *key)
{
    if (!cJSON_IsObject(object))
        return NULL;

    /* cJSON's own look-up takes twice as long: most keys differ in their first character. */
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

const cJSON *json_members(const cJSON *item)
{
    return cJSON_IsObject(item) ? item : NULL;
}

static bool is_deeper(const cJSON *item, unsigned levels)
{
    if (levels == 0)
        return true;
    for (const cJSON *child = item->child; child; child = child->next) {
        if (child->child && is_deeper(child, levels - 1))
            return true;
    }
    return false;
}

cJSON *json_parse(const char *json, size_t len, struct json_position *where, struct error *err)
{
    /* Most texts need no check first, unless cJSON refuses them or they are nested too deep. */
    cJSON *plain =
        json_is_plain(json, len) ? cJSON_ParseWithLengthOpts(json, len + 1, NULL, true) : NULL;

    if (plain && !is_deeper(plain, JSON_DEPTH_MAX))
        return plain;
    cJSON_Delete(plain);

    struct json_fault fault = json_check(json, len);

    /* cJSON accepts what json_check does, but for limits that differ by its version. */
    if (!fault.reason) {
        const char *end = json;
        /* With its NUL: cJSON then insists that nothing but white space stands before it. */
        cJSON *tree = cJSON_ParseWithLengthOpts(json, len + 1, &end, true);

        if (tree)
            return tree;
        fault.reason = "a value that the parser cannot hold";
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
    position.column = (size_t)(end - line) + 1;
    return position;
}

void json_cleanup(cJSON **tree)
{
    cJSON_Delete(*tree);
}

static void quote_point(struct strbuf *out, const char **at)
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

/* Returns the length of the character at `s` if JSON and a terminal take it as it is, else 0. */
static unsigned plain_len(const char *s)
{
    if (*s >= 0x20 && *s < 0x7F)
        return *s != '"' && *s != '\\';

    unsigned len = utf8_char_len(s);
    const char *next = s;

    return len > 0 && !utf8_is_unsafe(utf8_next(&next)) ? len : 0;
}

/* How many bytes can be copied as they are. */
static size_t count_plain(const char *s)
{
    size_t count = 0;
    unsigned len;

    while ((len = plain_len(s + count)) > 0)
        count += len;
    return count;
}

void json_quote(struct strbuf *out, const char *s)
{
    strbuf_addc(out, '"');
    for (;;) {
        size_t plain = count_plain(s);

        strbuf_add(out, s, plain);
        s += plain;
        if (*s == '\0')
            break;
        quote_point(out, &s);
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
