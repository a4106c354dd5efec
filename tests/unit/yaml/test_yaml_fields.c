/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/yaml/yaml_fields.h"

#include "metrics/base/strbuf.h"
#include "tests/unit/suite.h"

static const struct yaml_limits roomy = {.nodes_max = 1000, .bytes_max = 1 << 16, .by_item = true};

/* The text of each row is one file; `object` is the position of an object. */
struct field_case {
    const char *name;
    const char *yaml;
    struct json_position object;
    const char *path;
    const char *wanted; /* Position of the field; "" if the object is not found. */
};

struct found {
    const char *path;
    char text[64];
};

static void find_path(void *context, size_t index, const struct field_node *object)
{
    struct found *found = context;
    struct json_position at = field_node_find(object, found->path);

    assert_int_equal(index, 0);
    snprintf(found->text, sizeof(found->text), "%zu:%zu", at.line, at.column);
}

static const struct field_case field_cases[] = {
    {"a block mapping", "a: 1\nspec:\n  x: 1\n  place: 2\n", {1, 1}, "spec.place", "4:3"},
    {"a flow mapping", "{a: 1, spec: {x: [1, {y: 2}]}}", {1, 1}, "spec.x[1].y", "1:23"},
    {"JSON", "{\"a\": 1, \"spec\": {\"x\": [true, {\"y\": 2}]}}", {1, 1}, "spec.x[1].y", "1:32"},
    {"the object", "\n# first\n  a: 1\n", {3, 3}, "", "3:3"},
    {"an item is its value", "l:\n- a\n-   b: 1\n    c: 2\n", {1, 1}, "l[1]", "3:5"},
    {"a field of an item", "l:\n- a\n-   b: 1\n    c: 2\n", {1, 1}, "l[1].c", "4:5"},
    {"the nearest field above", "spec:\n  x:\n    y: 1\n", {1, 1}, "spec.x.z.w", "2:3"},
    {"an index behind the end", "l:\n- a\n", {1, 1}, "l[7].b", "1:1"},
    {"an index in a mapping", "l:\n  a: 1\n", {1, 1}, "l[0]", "1:1"},
    {"nothing of the path", "a: 1\n", {1, 1}, "spec.x", "1:1"},
    {"keys with dots", "labels:\n  a: 1\n  a.io/b: 2\n", {1, 1}, "labels.a.io/b", "3:3"},
    {"the deeper one of two keys", "a.b: {x: 1}\na:\n  b:\n    c: 1\n", {1, 1}, "a.b.c", "4:5"},
    {"a key is no prefix", "spec:\n  names: 1\n  name: 2\n", {1, 1}, "spec.name", "3:3"},
    {"the last of equal keys", "a: 1\nb: 2\na: 3\n", {1, 1}, "a", "3:1"},
    {"quoted keys", "'it''s': 1\n\"b\\tc\":\n  x: 1\n", {1, 1}, "b\tc.x", "3:3"},
    {"explicit keys", "? a\n: 1\n? spec\n: x: 1\n", {1, 1}, "spec.x", "4:3"},
    {"comments",
     "# spec:\na: 1 # spec: {}\nspec: # x\n  # x: 1\n  x: 2\n",
     {2, 1},
     "spec.x",
     "5:3"},
    {"block scalars",
     "t: |\n  spec:\n    x: 1\nspec:\n  x: >-\n    y: 1\n",
     {1, 1},
     "spec.x.y",
     "5:3"},
    {"multi-line texts",
     "t: \"a\n  spec:\n  b\"\nu: plain\n  text\nspec: {x: 1}\n",
     {1, 1},
     "spec.x",
     "6:8"},
    {"columns count characters",
     "t: {\"\xc3\xa4\xe2\x82\xac\": 1, \"\xf0\x9f\x98\x80\": 2, x: 3}\n",
     {1, 1},
     "t.x",
     "1:22"},
    {"a byte order mark",
     "\xef\xbb\xbf"
     "a: {x: 1}\n",
     {1, 1},
     "a.x",
     "1:5"},
    {"CRLF", "a: 1\r\nspec:\r\n  x: 1\r\n", {1, 1}, "spec.x", "3:3"},
    {"the second document", "a: 1\n---\nb: 1\n--- # x\nspec:\n  x: 1\n", {5, 1}, "spec.x", "6:3"},
    {"a document on the line of its mark",
     "--- {a: 1}\n--- {spec: {x: 1}}\n",
     {2, 5},
     "spec.x",
     "2:13"},
    {"an item of a list",
     "kind: List\nitems:\n- a: 1\n- spec:\n    x: 1\n",
     {4, 3},
     "spec.x",
     "5:5"},
    {"an item of a list in a list",
     "items:\n- items:\n  - a: 1\n  - {spec: {x: 1}}\n- b: 1\n",
     {4, 5},
     "spec.x",
     "4:13"},
    {"an item behind lists",
     "items:\n- items: []\n- b: [1, [2]]\n- spec:\n    x: 1\n",
     {4, 3},
     "spec.x",
     "5:5"},
    {"an alias", "base: &b\n  x: 1\nspec: *b\n", {1, 1}, "spec.x", "2:3"},
    {"an alias to an item", "l: [&b {x: 1}]\nspec: {y: [*b]}\n", {1, 1}, "spec.y[0].x", "1:9"},
    {"an unknown alias", "spec: *b\n", {1, 1}, "spec.x", "1:1"},
    {"an alias to the last anchor of a name",
     "a: &b {x: 1}\nc: &b {x: 2}\nspec: *b\n",
     {1, 1},
     "spec.x",
     "2:8"},
    {"an alias to a text", "a: &b {x: 1}\nc: &b text\nspec: *b\n", {1, 1}, "spec.x", "3:1"},
    {"an alias that contains itself", "spec: &b\n  x: *b\n", {1, 1}, "spec.x.x.x", "2:3"},
    {"an anchor of an earlier item",
     "items:\n- base: &b {x: 1}\n- spec: *b\n",
     {3, 3},
     "spec.x",
     "2:13"},
    {"an item of a list with an anchor",
     "--- &l\nitems:\n- a: 1\n- b: 1\n  spec: {x: 1}\n",
     {4, 3},
     "spec.x",
     "5:10"},
    {"an item of a list in a list with an anchor",
     "items:\n- &l\n  items: [1, {spec: {x: 1}}]\n",
     {3, 14},
     "spec.x",
     "3:22"},
    {"an item of items with an anchor",
     "kind: List\nitems: &i\n- a: 1\n- spec: {x: 1}\n",
     {4, 3},
     "spec.x",
     "4:10"},
    {"an object behind a list with an anchor",
     "items:\n- &l\n  items: [{a: 1}]\n- spec: {x: 1}\n",
     {4, 3},
     "spec.x",
     "4:10"},
    {"an anchor outside the object",
     "shared: &b {x: 1}\nitems:\n- spec: *b\n",
     {3, 3},
     "spec.x",
     "1:13"},
    {"an item that is an alias", "items:\n- &b {spec: {x: 1}}\n- *b\n", {3, 3}, "spec.x", "2:14"},
    {"no anchor of another document", "a: &b {x: 1}\n---\nspec: *b\n", {3, 1}, "spec.x", "3:1"},
    {"a merge key", "base: &b\n  x: 1\nspec:\n  <<: *b\n  y: 2\n", {1, 1}, "spec.x", "2:3"},
    {"a member precedes a merged one",
     "base: &b {x: {y: 1}}\nspec:\n  <<: *b\n  x: {}\n",
     {1, 1},
     "spec.x.y",
     "4:3"},
    {"the first of several merged mappings",
     "a: &a {x: 1}\nb: &b {x: 2, y: 3}\nspec:\n  <<: [*a, *b]\n",
     {1, 1},
     "spec.x",
     "1:8"},
    {"a later merged mapping",
     "a: &a {x: 1}\nb: &b {x: 2, y: 3}\nspec:\n  <<: [*a, *b]\n",
     {1, 1},
     "spec.y",
     "2:14"},
    {"a merge in a merge",
     "a: &a {x: 1}\nb: &b\n  <<: *a\nspec:\n  <<: *b\n",
     {1, 1},
     "spec.x",
     "1:8"},
    {"a quoted merge key is a key",
     "base: &b {x: 1}\nspec:\n  \"<<\": *b\n",
     {1, 1},
     "spec.x",
     "2:1"},
    {"another position", "a: 1\nb: 2\n", {2, 1}, "b", ""},
    {"invalid YAML in front", "a: [\n---\nb: 2\n", {3, 1}, "b", ""},
    {"invalid YAML behind", "b:\n  c: 2\n---\na: [}\n", {1, 1}, "b.c", "2:3"},
    {"an empty text", "", {1, 1}, "b", ""},
    {"more nodes than the limit", NULL, {1, 1}, "a", ""},
};

static void add_many_nodes(struct strbuf *yaml)
{
    for (int i = 0; i < 1001; i++)
        strbuf_adds(yaml, "- 1\n");
}

TEST_ROWS(fields_of_yaml_have_positions, field_cases, name)
{
    const struct field_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf yaml = STRBUF_INIT(1 << 16);
    struct found found = {.path = c->path};
    struct yaml_text text;

    if (c->yaml)
        strbuf_adds(&yaml, c->yaml);
    else
        strbuf_adds(&yaml, "a:\n"), add_many_nodes(&yaml);
    text = (struct yaml_text){yaml.data, yaml.len};
    yaml_fields_read(yaml_read_text, &text, roomy,
                     &(struct wanted_objects){&c->object, 1, find_path, &found});
    assert_string_equal(found.text, c->wanted);
}

struct received {
    size_t count;
    size_t indexes[8];
};

static void receive(void *context, size_t index, const struct field_node *object)
{
    struct received *r = context;

    assert_non_null(object);
    r->indexes[r->count++] = index;
}

TEST(several_objects_are_found_in_one_pass)
{
    static const struct json_position wanted[] = {{1, 1}, {2, 1}, {5, 3}, {6, 3}, {9, 9}};
    static const char yaml[] = "a: 1\n---\nitems:\n- b: 1\n- c: 1\n- d: 1\n";
    struct yaml_text text = {yaml, sizeof(yaml) - 1};
    struct received r = {0};

    yaml_fields_read(yaml_read_text, &text, roomy,
                     &(struct wanted_objects){wanted, ARRAY_LEN(wanted), receive, &r});
    assert_int_equal(r.count, 3);
    assert_int_equal(r.indexes[0], 0);
    assert_int_equal(r.indexes[1], 2);
    assert_int_equal(r.indexes[2], 3);
}

TEST(reading_ends_behind_the_last_object)
{
    CLEANUP(strbuf_release) struct strbuf yaml = STRBUF_INIT(1 << 20);
    struct json_position wanted = {1, 1};
    struct received r = {0};

    strbuf_adds(&yaml, "a: 1\n");
    for (int i = 0; i < 10000; i++)
        strbuf_adds(&yaml, "---\na: 1\n");

    struct yaml_text text = {yaml.data, yaml.len};

    yaml_fields_read(yaml_read_text, &text, roomy,
                     &(struct wanted_objects){&wanted, 1, receive, &r});
    assert_int_equal(r.count, 1);
    assert_true(text.len > yaml.len / 2);
}

TEST(deep_nesting_ends_reading)
{
    CLEANUP(strbuf_release) struct strbuf yaml = STRBUF_INIT(1 << 20);
    struct json_position wanted = {1, 1};
    struct received r = {0};

    strbuf_adds(&yaml, "a: ");
    for (int i = 0; i < 5000; i++)
        strbuf_addc(&yaml, '[');

    struct yaml_text text = {yaml.data, yaml.len};

    yaml_fields_read(yaml_read_text, &text, roomy,
                     &(struct wanted_objects){&wanted, 1, receive, &r});
    assert_int_equal(r.count, 0);
}
