/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/json.h"

#include "metrics/base/utf8.h"
#include "tests/unit/suite.h"

static const char members[] =
    "{\"s\":\"text\",\"empty\":\"\",\"i\":42,\"neg\":-7,\"big\":9007199254740992,"
    "\"toobig\":9007199254740994,\"huge\":1e300,\"half\":1.5,\"t\":true,\"f\":false,\"n\":null,"
    "\"a\":[1],\"o\":{\"deep\":{\"er\":\"yes\"}},\"S\":\"capital\"}";

static int parse_members(void **state)
{
    struct error err;

    *state = json_parse(members, strlen(members), NULL, &err);
    return *state ? 0 : -1;
}

static int drop_members(void **state)
{
    cJSON_Delete(*state);
    return 0;
}

TEST_WITH(accessors_return_present_members, parse_members, drop_members)
{
    const cJSON *o = *state;

    assert_string_equal(json_str(o, "s", "x"), "text");
    assert_string_equal(json_str(o, "empty", "x"), "");
    assert_string_equal(json_str(o, "S", "x"), "capital");
    assert_true(json_int(o, "i", 0) == 42);
    assert_true(json_int(o, "neg", 0) == -7);
    assert_true(json_int(o, "big", 0) == INT64_C(9007199254740992));
    assert_true(json_bool(o, "t", false));
    assert_false(json_bool(o, "f", true));
    assert_string_equal(json_str(json_get(json_get(o, "o"), "deep"), "er", "x"), "yes");
    assert_true(cJSON_IsArray(json_get(o, "a")));
    assert_ptr_equal(json_array(o, "a"), json_get(o, "a"));
}

TEST_WITH(accessors_return_the_fallback_for_other_types, parse_members, drop_members)
{
    static const char *const not_numbers[] = {"s", "half", "huge", "toobig", "t", "n", "a", "none"};
    const cJSON *o = *state;

    for (size_t i = 0; i < ARRAY_LEN(not_numbers); i++)
        assert_true(json_int(o, not_numbers[i], -1) == -1);
    assert_string_equal(json_str(o, "i", "x"), "x");
    assert_string_equal(json_str(o, "n", "x"), "x");
    assert_string_equal(json_str(o, "none", "x"), "x");
    assert_null(json_str(o, "none", NULL));
    assert_true(json_bool(o, "i", true));
    assert_true(json_bool(o, "s", true));
    assert_null(json_array(o, "o"));
    assert_null(json_array(o, "n"));
    assert_null(json_get(o, "n"));
    assert_null(json_get(o, "I"));
}

TEST_WITH(lookups_in_other_values_return_the_fallback, parse_members, drop_members)
{
    const cJSON *o = *state;

    assert_null(json_get(NULL, "s"));
    assert_null(json_get(json_get(json_get(o, "none"), "x"), "y"));
    assert_null(json_get(json_get(o, "a"), "s"));
    assert_null(json_get(json_get(o, "s"), "s"));
    assert_string_equal(json_str(json_get(o, "a"), "x", "fallback"), "fallback");
    assert_true(json_int(NULL, "i", 3) == 3);
    assert_true(json_bool(NULL, "t", true));
}

struct text {
    const char *bytes;
    size_t len;
};
#define TEXT(literal)                                                                              \
    {                                                                                              \
        literal, sizeof(literal) - 1                                                               \
    }

static struct accept_case {
    const char *name;
    struct text json;
} accept_cases[] = {
    {"an object", TEXT("{\"a\":[1,2,{\"b\":null}],\"c\":{}}")},
    {"white space around", TEXT(" \t\r\n[ ] \n")},
    {"white space everywhere", TEXT("{ \"a\" : [ 1 , 2 ] , \"b\" : { } }")},
    {"a bare string", TEXT("\"x\"")},
    {"bare words", TEXT("[true,false,null]")},
    {"numbers", TEXT("[0,-0,10,1.5,-1.25e10,1E-3,2e+2]")},
    {"all escapes", TEXT("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uABCD\"")},
    {"a surrogate pair", TEXT("\"\\ud83d\\ude00\"")},
    {"an escaped backslash before u0000", TEXT("\"\\\\u0000\"")},
    {"UTF-8 of every length", TEXT("\"a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"")},
    {"the first and last character of each UTF-8 length",
     TEXT("\"\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xf0\x90\x80"
          "\x80\xf4\x8f\xbf\xbf\"")},
    {"DEL", TEXT("\"\x7f\"")},
    /*
     * Invalid JSON that the parser accepts, in plain ASCII and beside UTF-8: each uses its own
     * checks.
     */
    {"a leading zero", TEXT("[01]")},
    {"a leading zero beside UTF-8", TEXT("[01,\"\xc3\xa9\"]")},
    {"a point without digits", TEXT("[1.]")},
    {"a point without digits beside UTF-8", TEXT("[1.,\"\xc3\xa9\"]")},
    {"a raw tab in a string", TEXT("\"a\tb\"")},
    {"a raw tab beside UTF-8", TEXT("\"a\t\xc3\xa9\"")},
    {"brackets in a string do not nest", TEXT("\"[[[[[[{{{{{\"")},
};

TEST_ROWS(valid_json_is_parsed, accept_cases, name)
{
    const struct accept_case *c = *state;
    struct error err;
    CLEANUP(json_cleanup) cJSON *tree = json_parse(c->json.bytes, c->json.len, NULL, &err);

    assert_non_null(tree);
}

static struct refuse_case {
    const char *name;
    struct text json;
    struct json_position where;
    const char *reason; /* Part of the error text. */
} refuse_cases[] = {
    {"an empty text", TEXT(""), {1, 1}, "no JSON value"},
    {"white space alone", TEXT(" \n "), {2, 2}, "no JSON value"},
    {"an open object", TEXT("{\"a\":1"), {1, 7}, "in the middle"},
    {"an open array", TEXT("[1,\n"), {2, 1}, "in the middle"},
    {"an open string", TEXT("[\n \"abc"), {2, 2}, "not closed"},
    {"a string that ends in a backslash", TEXT("\"\\"), {1, 2}, "escape"},
    {"text after the value", TEXT("{}\n x"), {2, 2}, "after the end"},
    {"a second value", TEXT("{}{}"), {1, 3}, "after the end"},
    {"a trailing comma in an array", TEXT("[1,]"), {1, 4}, "a value"},
    {"a trailing comma in an object", TEXT("{\"a\":1,}"), {1, 8}, "quoted key"},
    {"a comma alone", TEXT("[,]"), {1, 2}, "a value"},
    {"a missing comma", TEXT("[1 2]"), {1, 4}, "','"},
    {"a missing colon", TEXT("{\"a\" 1}"), {1, 6}, "':'"},
    {"a key without quotes", TEXT("{a:1}"), {1, 2}, "quoted key"},
    {"the wrong bracket", TEXT("[1}"), {1, 3}, "closing bracket"},
    {"a closing bracket alone", TEXT("]"), {1, 1}, "a value"},
    {"an incomplete word", TEXT("[tru]"), {1, 2}, "a value"},
    {"a word in capitals", TEXT("[True]"), {1, 2}, "a value"},
    {"a leading plus", TEXT("[+1]"), {1, 2}, "a value"},
    {"a bare minus", TEXT("[-]"), {1, 2}, "number"},
    {"an exponent without digits", TEXT("[1e+]"), {1, 2}, "exponent"},
    {"a raw NUL in a string", TEXT("[\"a\0b\"]"), {1, 4}, "NUL byte"},
    {"a raw NUL outside", TEXT("[1,\0 2]"), {1, 4}, "NUL byte"},
    {"a raw NUL at the end", TEXT("[1]\0"), {1, 4}, "NUL byte"},
    {"an escaped NUL", TEXT("[\"a\\u0000\"]"), {1, 4}, "NUL character"},
    {"an escape with a digit that is not hexadecimal", TEXT("\"\\u00g0\""), {1, 2}, "hexadecimal"},
    {"an unknown escape", TEXT("\"\\x41\""), {1, 2}, "escape"},
    {"the first half of a pair alone", TEXT("\"\\ud83d\""), {1, 2}, "surrogate"},
    {"the second half of a pair alone", TEXT("\"\\ude00\""), {1, 2}, "surrogate"},
    {"a control character in a string", TEXT("\"a\bb\""), {1, 3}, "control character"},
    {"a control character outside", TEXT("[\x01]"), {1, 2}, "a value"},
    {"a byte order mark", TEXT("\xef\xbb\xbf{}"), {1, 1}, "a value"},
    {"a lone continuation byte", TEXT("\"\x80\""), {1, 2}, "UTF-8"},
    {"an overlong slash", TEXT("\"\xc0\xaf\""), {1, 2}, "UTF-8"},
    {"an overlong three", TEXT("\"\xe0\x9f\xbf\""), {1, 2}, "UTF-8"},
    {"a surrogate in UTF-8", TEXT("\"\xed\xa0\x80\""), {1, 2}, "UTF-8"},
    {"an overlong four", TEXT("\"\xf0\x8f\xbf\xbf\""), {1, 2}, "UTF-8"},
    {"past U+10FFFF", TEXT("\"\xf4\x90\x80\x80\""), {1, 2}, "UTF-8"},
    {"a character cut short", TEXT("\"\xe2\x82\""), {1, 2}, "UTF-8"},
    {"UTF-8 outside a string", TEXT("[\xc3\xa9]"), {1, 2}, "a value"},
};

TEST_ROWS(invalid_json_is_rejected, refuse_cases, name)
{
    const struct refuse_case *c = *state;
    struct json_position where = {0};
    struct error err;

    assert_null(json_parse(c->json.bytes, c->json.len, &where, &err));
    assert_non_null(strstr(err.text, c->reason));
    assert_int_equal(where.line, c->where.line);
    assert_int_equal(where.column, c->where.column);
}

static void write_nested(struct strbuf *out, unsigned depth, const char *open, const char *close)
{
    strbuf_reset(out);
    for (unsigned i = 0; i < depth; i++)
        strbuf_adds(out, open);
    strbuf_adds(out, "1");
    for (unsigned i = 0; i < depth; i++)
        strbuf_adds(out, close);
}

TEST(nesting_above_the_maximum_is_rejected)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(4096);
    struct json_position where;
    struct error err;

    write_nested(&text, JSON_DEPTH_MAX, "[", "]");
    CLEANUP(json_cleanup) cJSON *arrays = json_parse(text.data, text.len, NULL, &err);
    assert_non_null(arrays);
    write_nested(&text, JSON_DEPTH_MAX, "{\"a\":", "}");
    CLEANUP(json_cleanup) cJSON *objects = json_parse(text.data, text.len, NULL, &err);
    assert_non_null(objects);
    write_nested(&text, JSON_DEPTH_MAX + 1, "[", "]");
    assert_null(json_parse(text.data, text.len, &where, &err));
    assert_int_equal(where.column, JSON_DEPTH_MAX + 1);
    assert_non_null(strstr(err.text, "128 levels"));
}

static struct quote_case {
    const char *name;
    const char *text;
    const char *quoted;
} quote_cases[] = {
    {"an empty text", "", "\"\""},
    {"plain", "a/b <c> 'd'", "\"a/b <c> 'd'\""},
    {"quotes and backslashes", "\"\\", "\"\\\"\\\\\""},
    {"short escapes", "\b\f\n\r\t", "\"\\b\\f\\n\\r\\t\""},
    {"other control characters", "\x01\x1f\x7f", "\"\\u0001\\u001f\\u007f\""},
    {"valid UTF-8 stays", "\xc3\xa9\xf0\x9f\x98\x80", "\"\xc3\xa9\xf0\x9f\x98\x80\""},
    {"invalid bytes are replaced one by one", "a\xff\xe2\x82z",
     "\"a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz\""},
};

TEST_ROWS(text_is_quoted, quote_cases, name)
{
    const struct quote_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(4096);

    json_quote(&out, c->text);
    assert_string_equal(out.data, c->quoted);
}

/* Writes a code point below U+10000 as UTF-8, terminated by NUL. */
static void write_code_point(char out[4], uint32_t point)
{
    size_t len = 0;

    if (point >= 0x800)
        out[len++] = (char)(0xE0 | point >> 12);
    if (point >= 0x80)
        out[len++] = (char)(point >= 0x800 ? 0x80 | (point >> 6 & 0x3F) : 0xC0 | point >> 6);
    out[len++] = (char)(point >= 0x80 ? 0x80 | (point & 0x3F) : point);
    out[len] = '\0';
}

/* Code points 1 to U+FFFF except surrogates. */
TEST(quoted_code_point_is_terminal_safe_and_parses_back)
{
    for (uint32_t point = 1; point < 0x10000; point++) {
        CLEANUP(strbuf_release) struct strbuf quoted = STRBUF_INIT(4096);
        char raw[4] = "", escape[16];
        struct error err;

        if (point >= 0xD800 && point < 0xE000)
            continue;
        write_code_point(raw, point);
        json_quote(&quoted, raw);
        for (const char *at = quoted.data; *at != '\0';)
            assert_false(utf8_is_unsafe(utf8_next(&at)));
        snprintf(escape, sizeof(escape), "\"\\u%04x\"", (unsigned)point);
        if (point >= 0x7F && utf8_is_unsafe(point))
            assert_string_equal(quoted.data, escape);

        CLEANUP(json_cleanup) cJSON *tree = json_parse(quoted.data, quoted.len, NULL, &err);

        assert_string_equal(tree->valuestring, raw);
    }
}

static struct escape_case {
    const char *name;
    const char *json;
    const char *escaped;
} escape_cases[] = {
    {"safe characters are unchanged", "{\n\t\"a\": \"gr\xC3\xBC\xC3\x9F\"\r\n}",
     "{\n\t\"a\": \"gr\xC3\xBC\xC3\x9F\"\r\n}"},
    {"an unsafe character", "{\"\xC2\x9B\":\"\xE2\x80\xAE\x7F\"}",
     "{\"\\u009b\":\"\\u202e\\u007f\"}"},
    {"an unsafe character after an escaped backslash", "\"\\\\\xE2\x80\xAE\"", "\"\\\\\\u202e\""},
    {"invalid UTF-8 is replaced", "\"\xFF\"", "\"\xEF\xBF\xBD\""},
};

TEST_ROWS(json_text_is_escaped, escape_cases, name)
{
    const struct escape_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(4096);

    json_escape(&out, c->json);
    assert_string_equal(out.data, c->escaped);
}

TEST(json_position_counts_lines_and_characters)
{
    struct json_position p;

    p = json_position_of("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80x", 9);
    assert_int_equal(p.column, 4);
    p = json_position_of("ab\n\ncd", 0);
    assert_true(p.line == 1 && p.column == 1);
    p = json_position_of("ab\n\ncd", 2);
    assert_true(p.line == 1 && p.column == 3);
    p = json_position_of("ab\n\ncd", 3);
    assert_true(p.line == 2 && p.column == 1);
    p = json_position_of("ab\n\ncd", 6);
    assert_true(p.line == 3 && p.column == 3);
}
