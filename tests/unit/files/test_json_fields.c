/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/json_fields.h"

#include "metrics/base/strbuf.h"
#include "tests/unit/suite.h"

enum { BYTES_MAX = 4096 };

struct field_case {
    const char *name;
    const char *json; /* The value begins at line 3, column 5. */
    const char *path;
    const char *wanted; /* "" if the value is not read. */
};

static const struct field_case field_cases[] = {
    {"one line", "{\"a\":1,\"spec\":{\"x\":[true,{\"y\":null}]}}", "spec.x[1].y", "3:31"},
    {"several lines", "{\n  \"a\": 1,\r\n  \"spec\" :\n    {\"x\": 2}}", "spec.x", "6:6"},
    {"an item", "{\"l\":[1,\n 2]}", "l[1]", "4:2"},
    {"the object", "{}", "", "3:5"},
    {"behind a blank", "  {\"a\": 1}", "a", "3:8"},
    {"strings with brackets", "{\"t\":\"{[\\\"\\\\\",\"x\":1}", "x", "3:19"},
    {"keys with escapes", "{\"\\u0061\\/b\":1,\"c\":2}", "a/b", "3:6"},
    {"columns count characters", "{\"\xc3\xa4\xe2\x82\xac\":\"\xf0\x9f\x98\x80\",\"x\":1}", "x",
     "3:15"},
    {"the last of equal keys", "{\"x\":1,\"x\":2}", "x", "3:12"},
    {"the nearest field above", "{\"a\":{\"b\":1}}", "a.c.d", "3:6"},
    {"a key with dots", "{\"a\":{\"b.io/c\":1}}", "a.b.io/c", "3:11"},
    {"lenient numbers", "{\"a\":007,\"b\":1.,\"x\":1}", "x", "3:21"},
    {"the value ends the reading", "{\"x\":1} garbage", "x", "3:6"},
    {"no end", "{\"x\":1", "x", ""},
    {"no value", "{\"x\":,\"y\":1}", "x", ""},
    {"no colon", "{\"x\" 1}", "x", ""},
    {"no comma", "{\"x\":1 \"y\":2}", "x", ""},
    {"a key without quotes", "{x:1}", "x", ""},
    {"an open string", "{\"x\":\"1}", "x", ""},
    {"nothing", "", "x", ""},
};

static void find(const char *json, size_t len, const char *path, char text[64])
{
    struct yaml_text source = {json, len};
    CLEANUP(field_node_cleanup)
    struct field_node *root =
        json_fields_read(yaml_read_text, &source, (struct json_place){3, 5, 100}, BYTES_MAX);
    struct json_position at = root ? field_node_find(root, path) : (struct json_position){0, 0};

    *text = '\0';
    if (root)
        snprintf(text, 64, "%zu:%zu", at.line, at.column);
}

TEST_ROWS(fields_of_json_have_positions, field_cases, name)
{
    const struct field_case *c = *state;
    char text[64];

    find(c->json, strlen(c->json), c->path, text);
    assert_string_equal(text, c->wanted);
}

TEST(values_have_offsets)
{
    static const char json[] = "{\"items\":[{\"a\":1}, {}]}";
    struct yaml_text source = {json, sizeof(json) - 1};
    CLEANUP(field_node_cleanup)
    struct field_node *root =
        json_fields_read(yaml_read_text, &source, (struct json_place){1, 1, 100}, BYTES_MAX);
    const struct field_node *items = field_node_member(root, "items");

    assert_int_equal(root->offset, 100);
    assert_int_equal(items->first->offset, 110);
    assert_int_equal(items->first->next->offset, 119);
}

TEST(limits_end_the_reading)
{
    CLEANUP(strbuf_release) struct strbuf json = STRBUF_INIT(1 << 20);
    char text[64];

    strbuf_adds(&json, "{\"x\":1,\"t\":\"");
    for (int i = 0; i < BYTES_MAX; i++)
        strbuf_addc(&json, 'a');
    strbuf_adds(&json, "\"}");
    find(json.data, json.len, "x", text);
    assert_string_equal(text, "");
    strbuf_reset(&json);
    for (int i = 0; i < JSON_DEPTH_MAX + 1; i++)
        strbuf_addc(&json, '[');
    for (int i = 0; i < JSON_DEPTH_MAX + 1; i++)
        strbuf_addc(&json, ']');
    find(json.data, json.len, "x", text);
    assert_string_equal(text, "");
}
