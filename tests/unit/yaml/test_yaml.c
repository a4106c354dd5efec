/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/yaml/yaml.h"

#include "tests/unit/suite.h"

static const struct yaml_limits roomy = {.nodes_max = 1000 * 1000, .bytes_max = (size_t)64 << 20};
static const struct yaml_limits items = {
    .nodes_max = 1000, .bytes_max = 1000 * 1000, .by_item = true};

/*
 * Returns all documents as JSON, one in a line, with "- " before items; then the failure, if any,
 * as "line:column text". The caller frees the result.
 */
static char *read_all(const char *text, size_t len, struct yaml_limits limits)
{
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT((size_t)64 << 20);
    struct yaml_text source = {text, len};
    struct yaml_reader *reader = yaml_reader_new(yaml_read_text, &source, limits);
    struct json_position where = {0, 0};
    struct error err;
    enum yaml_outcome outcome;
    cJSON *tree = NULL;
    size_t ignored;

    for (;;) {
        outcome = yaml_reader_next(reader, &tree, &where, &err);
        if (outcome != YAML_READ_DOCUMENT && outcome != YAML_READ_ITEM)
            break;
        char *json = cJSON_PrintUnformatted(tree);

        strbuf_addf(&out, "%s%s%s", out.len > 0 ? "\n" : "", outcome == YAML_READ_ITEM ? "- " : "",
                    json);
        free(json);
        cJSON_Delete(tree);
    }
    if (outcome == YAML_READ_MALFORMED)
        strbuf_addf(&out, "%s%zu:%zu %s", out.len > 0 ? "\n" : "", where.line, where.column,
                    err.text);
    yaml_reader_free(reader);
    return strbuf_take(&out, &ignored);
}

/* Appends a repeated key, as "line:column key", in a line of its own. */
static void append_repeated_key(void *context, const char *key, struct json_position where)
{
    struct strbuf *out = context;

    strbuf_addf(out, "%zu:%zu %s\n", where.line, where.column, key);
}

/* Reads one document whose repeated keys are no error. Returns the keys, and the document. */
static char *read_with_repeated_keys(const char *text, size_t len)
{
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT((size_t)64 << 20);
    struct yaml_text source = {text, len};
    struct yaml_reader *reader = yaml_reader_new(yaml_read_text, &source, roomy);
    struct json_position where;
    struct error err;
    cJSON *tree = NULL;
    size_t ignored;

    yaml_reader_receive_repeated_keys(reader, append_repeated_key, &out);
    assert_int_equal(yaml_reader_next(reader, &tree, &where, &err), YAML_READ_DOCUMENT);

    char *json = cJSON_PrintUnformatted(tree);
    strbuf_adds(&out, json);
    free(json);
    cJSON_Delete(tree);
    yaml_reader_free(reader);
    return strbuf_take(&out, &ignored);
}

static void assert_refused(const struct strbuf *yaml, struct yaml_limits limits, const char *wanted)
{
    CLEANUP(free_cleanup) char *got = read_all(yaml->data, yaml->len, limits);

    if (!strstr(got, wanted))
        fail_msg("wanted '%s', got '%.300s'", wanted, got);
}

struct text_case {
    const char *name;
    const char *yaml;
    const char *wanted;
};

static struct text_case text_cases[] = {
    {"a mapping", "a: b\nc: 1\n", "{\"a\":\"b\",\"c\":1}"},
    {"a sequence", "- 1\n- a: b\n", "[1,{\"a\":\"b\"}]"},
    {"flow style, which is JSON", "{\"a\": [1, \"x\", null, true]}", "{\"a\":[1,\"x\",null,true]}"},
    {"an empty text", "", ""},
    {"only comments", "# nothing\n# here\n", ""},
    {"several documents", "a: 1\n---\nb: 2\n...\n---\nc: 3\n", "{\"a\":1}\n{\"b\":2}\n{\"c\":3}"},
    {"empty documents are skipped", "---\n---\n# c\n---\na: 1\n---\nnull\n---\n~\n---\n",
     "{\"a\":1}"},
    {"a directive", "%YAML 1.2\n---\na: 1\n", "{\"a\":1}"},
    {"a byte order mark",
     "\xef\xbb\xbf"
     "a: 1\n",
     "{\"a\":1}"},
    {"carriage returns", "a: 1\r\nb: 2\r\n", "{\"a\":1,\"b\":2}"},
    {"a literal block", "a: |\n  x\n  y\n", "{\"a\":\"x\\ny\\n\"}"},
    {"a folded block", "a: >-\n  x\n  y\n", "{\"a\":\"x y\"}"},

    {"words that are booleans", "[true, True, TRUE, yes, Yes, YES, on, On, ON, y, Y]\n",
     "[true,true,true,true,true,true,true,true,true,true,true]"},
    {"words that are false", "[false, False, FALSE, no, No, NO, off, Off, OFF, n, N]\n",
     "[false,false,false,false,false,false,false,false,false,false,false]"},
    {"words that are not booleans", "[tRue, yEs, truex, nope, o, nUll]\n",
     "[\"tRue\",\"yEs\",\"truex\",\"nope\",\"o\",\"nUll\"]"},
    {"nulls", "[~, null, Null, NULL, ]\n", "[null,null,null,null]"},
    {"a missing value is null", "a:\n", "{\"a\":null}"},
    {"quoted words are strings", "[\"true\", 'no', \"1\", '~', \"\"]\n",
     "[\"true\",\"no\",\"1\",\"~\",\"\"]"},
    {"whole numbers", "[0, 12, -3, +4, 1_000]\n", "[0,12,-3,4,1000]"},
    {"other bases", "[0x1F, 0X1f, 0o17, 017, 0b101, -0x10, -0b11]\n", "[31,31,15,15,5,-16,-3]"},
    {"not quite octal is a float", "[08, 019]\n", "[8,19]"},
    {"floats", "[1.5, -2.5e3, .5, 5., 1e3, 1E-2]\n", "[1.5,-2500,0.5,5,1000,0.01]"},
    {"too large for 64 bits", "[18446744073709551616]\n", "[1.8446744073709552e+19]"},
    {"invalid numbers are strings", "[0x, 0b2, 1.2.3, 1:30, 1e, '+', -, +, 1e999]\n",
     "[\"0x\",\"0b2\",\"1.2.3\",\"1:30\",\"1e\",\"+\",\"-\",\"+\",\"1e999\"]"},
    {"dates are strings", "[2026-01-31, 2026-01-31T12:00:00Z]\n",
     "[\"2026-01-31\",\"2026-01-31T12:00:00Z\"]"},
    {"versions and addresses are strings", "[v1, 10.0.0.1, 1.2.3-rc.0, 500m, 1Gi]\n",
     "[\"v1\",\"10.0.0.1\",\"1.2.3-rc.0\",\"500m\",\"1Gi\"]"},
    {"infinity", "a: 1\nb: .inf\n",
     "2:4 not valid YAML: JSON has no infinity and no 'not a number'"},
    {"not a number", "[.NaN]", "1:2 not valid YAML: JSON has no infinity and no 'not a number'"},

    {"tags", "[!!str 1, !!int '2', !!float 3, !!bool 'yes', !!null '', !custom 7, ! 8]\n",
     "[\"1\",2,3,true,null,\"7\",\"8\"]"},
    {"a tag that contradicts the text", "a: !!int x\n",
     "1:4 not valid YAML: the text does not fit its tag '!!int'"},
    {"a float is no int", "a: !!int 1.5\n",
     "1:4 not valid YAML: the text does not fit its tag '!!int'"},
    {"binary", "a: !!binary aGk=\n",
     "1:4 not valid YAML: !!binary is not supported: write the base64 text without the tag"},

    {"keys that are not strings",
     "1: a\ntrue: b\n1.5: c\n0x10: d\n1e6: e\n0.1: f\n-.inf: g\n2.0: h\n",
     "{\"1\":\"a\",\"true\":\"b\",\"1.5\":\"c\",\"16\":\"d\",\"1e+06\":\"e\",\"0.1\":\"f\","
     "\"-.inf\":\"g\",\"2\":\"h\"}"},
    {"on as a key is true", "on: push\n", "{\"true\":\"push\"}"},
    {"a null key", "a: 1\n~: 2\n",
     "2:1 not valid YAML: null cannot be a key: put it in quotes if it is a string"},
    {"a mapping as a key", "? {a: b}\n: c\n",
     "1:3 not valid YAML: a key must be a string, a number or a boolean"},
    {"an empty key in quotes", "'': 1\n", "{\"\":1}"},
    {"a key that appears twice", "a: 1\nb:\n  c: 1\n  c: 2\n",
     "4:3 not valid YAML: the key 'c' appears twice in one mapping"},
    {"two spellings of one key", "yes: 1\ntrue: 2\n",
     "2:1 not valid YAML: the key 'true' appears twice in one mapping"},
    {"the same key in two mappings", "a: {x: 1}\nb: {x: 1}\n", "{\"a\":{\"x\":1},\"b\":{\"x\":1}}"},
    {"a key that appears twice among many",
     "{a: 1, b: 1, c: 1, d: 1, e: 1, f: 1, g: 1, h: 1, i: 1, j: 1, k: 1, l: 1, m: 1, o: 1, p: 1, "
     "q: 1, r: 1, s: 1, c: 2}\n",
     "1:110 not valid YAML: the key 'c' appears twice in one mapping"},

    {"an alias", "a: &x [1, 2]\nb: *x\n", "{\"a\":[1,2],\"b\":[1,2]}"},
    {"an alias for a text", "a: &x hi\nb: *x\n", "{\"a\":\"hi\",\"b\":\"hi\"}"},
    {"an anchor that is defined twice", "a: &x 1\nb: &x 2\nc: *x\n", "{\"a\":1,\"b\":2,\"c\":2}"},
    {"an alias as a key", "a: &x hi\n*x : 1\n", "{\"a\":\"hi\",\"hi\":1}"},
    {"an anchor on a key", "&x a: 1\nb: *x\n", "{\"a\":1,\"b\":\"a\"}"},
    {"an alias for a mapping as a key", "a: &x {}\n*x : 1\n",
     "2:1 not valid YAML: a key must be a string, a number or a boolean"},
    {"an unknown anchor", "a: *x\n",
     "1:4 not valid YAML: there is no anchor of this name before this alias"},
    {"an anchor of the previous document", "a: &x 1\n---\nb: *x\n",
     "{\"a\":1}\n3:4 not valid YAML: there is no anchor of this name before this alias"},
    {"an anchor that contains itself", "a: &x [1, *x]\n",
     "1:11 not valid YAML: the anchor of this alias contains itself"},

    {"a merge", "a: &x {p: 1, q: 2}\nb:\n  <<: *x\n  q: 3\n",
     "{\"a\":{\"p\":1,\"q\":2},\"b\":{\"q\":3,\"p\":1}}"},
    {"a merge after the key that wins", "a: &x {q: 2}\nb:\n  q: 3\n  <<: *x\n",
     "{\"a\":{\"q\":2},\"b\":{\"q\":3}}"},
    {"a merge of several, the earlier wins",
     "a: &x {p: 1}\nb: &y {p: 2, q: 2}\nc: {<<: [*x, *y]}\n",
     "{\"a\":{\"p\":1},\"b\":{\"p\":2,\"q\":2},\"c\":{\"p\":1,\"q\":2}}"},
    {"a merge of a mapping with a merge", "a: &x {p: 1}\nb: &y {<<: *x, q: 2}\nc: {<<: *y}\n",
     "{\"a\":{\"p\":1},\"b\":{\"q\":2,\"p\":1},\"c\":{\"q\":2,\"p\":1}}"},
    {"a merge of a mapping without an alias", "a: {<<: {p: &x 1}, q: *x}\n",
     "{\"a\":{\"q\":1,\"p\":1}}"},
    {"an anchor in an overridden merge", "a: {<<: {p: &x [1]}, p: 2}\nb: *x\n",
     "{\"a\":{\"p\":2},\"b\":[1]}"},
    {"a merge in quotes is a key", "'<<': 1\n", "{\"<<\":1}"},
    {"a merge of a text", "<<: x\n",
     "1:5 not valid YAML: '<<' needs a mapping or a list of mappings"},
    {"a merge of a list of texts", "<<: [{a: 1}, x]\n",
     "1:5 not valid YAML: '<<' needs a mapping or a list of mappings"},

    {"a bad indent", "a:\n  b: 1\n c: 2\n",
     "3:2 not valid YAML: while parsing a block mapping: did not find expected key"},
    {"an open bracket", "a: [1, 2\n",
     "2:1 not valid YAML: while parsing a flow sequence: did not find expected ',' or ']'"},
    {"a tab as indent", "a:\n\tb: 1\n",
     "2:1 not valid YAML: while scanning for the next token: found character that cannot start any "
     "token"},
    {"a template of Helm", "a: {{ .Values.a }}\n",
     "1:5 not valid YAML: a key must be a string, a number or a boolean"},
    {"an error in the second document", "a: 1\n---\nb: 'x\n",
     "{\"a\":1}\n4:1 not valid YAML: while scanning a quoted scalar: found unexpected end of "
     "stream"},
    {"invalid UTF-8", "a: 1\nb: \xff\n", "2:4 not valid YAML: invalid leading UTF-8 octet"},
    {"a truncated UTF-8 character", "a: \xc3",
     "1:4 not valid YAML: incomplete UTF-8 octet sequence"},
    {"half of a surrogate pair", "a: \xed\xa0\x80\n",
     "1:4 not valid YAML: invalid Unicode character"},
    {"a control character", "a: \x01\n", "1:4 not valid YAML: control characters are not allowed"},
    {"UTF-16",
     "\xff\xfe"
     "a",
     "1:1 not valid YAML: the text is UTF-16: save it as UTF-8"},
    {"NUL by escape", "a: \"x\\0y\"\n", "1:4 not valid YAML: a NUL character in a text"},
};

TEST_ROWS(yaml_is_converted_to_json, text_cases, name)
{
    const struct text_case *c = *state;
    CLEANUP(free_cleanup) char *got = read_all(c->yaml, strlen(c->yaml), roomy);

    assert_string_equal(got, c->wanted);
}

static struct text_case item_cases[] = {
    {"items", "kind: List\nitems:\n- 1\n- {a: b}\n",
     "- 1\n- {\"a\":\"b\"}\n{\"kind\":\"List\",\"items\":[]}"},
    {"members on both sides", "a: 1\nitems: [{b: 2}, null]\nkind: List\n",
     "- {\"b\":2}\n- null\n{\"a\":1,\"items\":[],\"kind\":\"List\"}"},
    {"no items", "items: []\n", "{\"items\":[]}"},
    {"a key in quotes", "'items': [1]\n", "- 1\n{\"items\":[]}"},
    {"items that are not a list", "items: {a: 1}\n", "{\"items\":{\"a\":1}}"},
    {"items further down", "a: {items: [1]}\n", "{\"a\":{\"items\":[1]}}"},
    {"items of items", "items: [{items: [1]}]\n", "- {\"items\":[1]}\n{\"items\":[]}"},
    {"a sequence with an anchor stays whole", "items: &x [1]\na: *x\n",
     "{\"items\":[1],\"a\":[1]}"},
    {"an alias for the sequence", "a: &x [1]\nitems: *x\n", "{\"a\":[1],\"items\":[1]}"},
    {"an anchor before the items", "a: &x 1\nitems: [*x]\n", "- 1\n{\"a\":1,\"items\":[]}"},
    {"an anchor in an earlier item", "items: [&x {b: 1}, [*x], {<<: *x}]\na: *x\n",
     "- {\"b\":1}\n- [{\"b\":1}]\n- {\"b\":1}\n{\"items\":[],\"a\":{\"b\":1}}"},
    {"an anchor on a key of an item", "items: [{&x b: 1}, *x]\n",
     "- {\"b\":1}\n- \"b\"\n{\"items\":[]}"},
    {"an anchor in a merge of an item", "items: [{<<: {b: &x [1]}}, *x]\n",
     "- {\"b\":[1]}\n- [1]\n{\"items\":[]}"},
    {"the anchor of a document", "&x\nitems: [1, *x]\n",
     "- 1\n2:12 not valid YAML: the anchor of this alias contains itself"},
    {"several lists", "items: [1]\n---\nitems: [2]\n---\na\n---\n---\nb: c\n",
     "- 1\n{\"items\":[]}\n- 2\n{\"items\":[]}\n\"a\"\n{\"b\":\"c\"}"},
    {"an anchor of the previous list", "items: [&x 1]\n---\nitems: [*x]\n",
     "- 1\n{\"items\":[]}\n3:9 not valid YAML: there is no anchor of this name before this alias"},
    {"items twice", "items: [1]\nitems: [2]\n",
     "- 1\n2:1 not valid YAML: the key 'items' appears twice in one mapping"},
    {"a key twice around items", "a: 1\nitems: [1]\na: 2\n",
     "- 1\n3:1 not valid YAML: the key 'a' appears twice in one mapping"},
    {"a truncated item", "items:\n- 1\n- {a: b\n",
     "- 1\n4:1 not valid YAML: while parsing a flow mapping: did not find expected ',' or '}'"},
    {"a truncated list", "{items: [1, 2",
     "- 1\n- 2\n2:1 not valid YAML: while parsing a flow sequence: did not find expected ',' or "
     "']'"},
    {"a merge with items", "<<: {items: [1]}\n", "{\"items\":[1]}"},
};

TEST_ROWS(items_are_returned_one_by_one, item_cases, name)
{
    const struct text_case *c = *state;
    CLEANUP(free_cleanup) char *got = read_all(c->yaml, strlen(c->yaml), items);

    assert_string_equal(got, c->wanted);
}

/* The limit applies to trees in memory. An item without an anchor is freed before the next one. */
TEST(many_items_share_no_limit)
{
    CLEANUP(strbuf_release) struct strbuf yaml = STRBUF_INIT(1 << 20);

    strbuf_adds(&yaml, "items:\n");
    for (int i = 0; i < 2000; i++)
        strbuf_adds(&yaml, "- {a: [1, 2], <<: {b: c}}\n");
    CLEANUP(free_cleanup) char *got = read_all(yaml.data, yaml.len, items);
    assert_null(strstr(got, "too large"));
    assert_non_null(strstr(got, "{\"items\":[]}"));
}

/* Items with an anchor stay in memory until the document ends, so their sizes add up. */
TEST(many_items_with_anchors_share_a_limit)
{
    CLEANUP(strbuf_release) struct strbuf yaml = STRBUF_INIT(1 << 20);

    strbuf_adds(&yaml, "items:\n");
    for (int i = 0; i < 2000; i++)
        strbuf_adds(&yaml, "- {a: &x [1, 2]}\n");
    assert_refused(&yaml, items, "with its anchors expanded, is too large");
}

/* Each document alone is within the limits; the copies by aliases of all documents are not. */
TEST(copies_are_limited_over_all_documents)
{
    CLEANUP(strbuf_release) struct strbuf yaml = STRBUF_INIT(1 << 20);

    for (int i = 0; i < 100; i++) {
        strbuf_adds(&yaml, "---\na: &x [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]\nb: [");
        for (int j = 0; j < 40; j++)
            strbuf_adds(&yaml, "*x,");
        strbuf_adds(&yaml, "]\n");
    }
    assert_refused(&yaml, items, "the text, with its anchors expanded, is too large");
}

/* The error comes after more bytes than the reader buffers. */
TEST(positions_are_exact_after_many_bytes)
{
    CLEANUP(strbuf_release) struct strbuf yaml = STRBUF_INIT(1 << 20);

    for (int i = 0; i < 5000; i++)
        strbuf_adds(&yaml, "- some words\n");
    strbuf_adds(&yaml, "- \"");
    for (int i = 0; i < 9000; i++)
        strbuf_adds(&yaml, "\xc3\xa9");
    strbuf_adds(&yaml, "\xff\"\n");
    assert_refused(&yaml, roomy, "5001:9004 not valid YAML: invalid leading UTF-8 octet");
}

TEST(directives_are_limited)
{
    CLEANUP(strbuf_release) struct strbuf few = STRBUF_INIT(1 << 20);
    CLEANUP(strbuf_release) struct strbuf many = STRBUF_INIT(1 << 20);
    CLEANUP(strbuf_release) struct strbuf endless = STRBUF_INIT(1 << 20);

    for (int i = 0; i < 10000; i++) {
        strbuf_addf(i < 100 ? &few : &endless, "%%TAG !a%d! x\n", i);
        if (i < 101)
            strbuf_addf(&many, "%%TAG !a%d! x\n", i);
    }
    strbuf_adds(&few, "--- !a7!y z\n");
    strbuf_adds(&many, "--- z\n");
    CLEANUP(free_cleanup) char *got = read_all(few.data, few.len, roomy);
    assert_string_equal(got, "\"z\"");
    assert_refused(&many, roomy, "1:1 not valid YAML: more than 100 %TAG directives");
    assert_refused(&endless, roomy, ":1 not valid YAML: more than 100 %TAG directives");
    strbuf_reset(&few);
    strbuf_adds(&few, "%TAG ! x");
    for (int i = 0; i < 256; i++)
        strbuf_addc(&few, 'x');
    strbuf_adds(&few, "\n--- z\n");
    assert_refused(&few, roomy,
                   "1:1 not valid YAML: a %TAG directive with a prefix of more than 256 bytes");
}

TEST(runs_of_blanks_are_limited)
{
    CLEANUP(strbuf_release) struct strbuf yaml = STRBUF_INIT(1 << 20);

    strbuf_adds(&yaml, "a: 1\nb: 'x");
    for (int i = 0; i < YAML_INPUT_BLANKS_MAX; i++)
        strbuf_addc(&yaml, ' ');
    size_t len = yaml.len;
    strbuf_adds(&yaml, "y'\n");
    CLEANUP(free_cleanup) char *got = read_all(yaml.data, yaml.len, roomy);
    assert_non_null(strstr(got, " y\"}"));
    strbuf_cut(&yaml, len);
    strbuf_adds(&yaml, "\ty'\n");
    assert_refused(&yaml, roomy, "2:16390 not valid YAML: more than 16,384 spaces");
}

/* Without this limit libyaml would store a string or comment of any length. */
TEST(strings_and_comments_are_limited)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(2 << 20);
    CLEANUP(strbuf_release) struct strbuf comment = STRBUF_INIT(2 << 20);

    strbuf_adds(&text, "a: 1\nb: ");
    strbuf_adds(&comment, "a: 1\n# ");
    for (int i = 0; i < 1200 * 1000; i++) {
        strbuf_addc(&text, 'x');
        strbuf_addc(&comment, 'x');
    }
    assert_refused(&text, items, "2:107");
    assert_refused(&text, items, "not valid YAML: a text or comment of more than 1065536 bytes");
    assert_refused(&comment, items, "not valid YAML: a text or comment of more than 1065536 bytes");
}

static bool count_down(void *context)
{
    int *calls_left = context;

    return --*calls_left < 0;
}

TEST(a_time_limit_ends_reading)
{
    CLEANUP(strbuf_release) struct strbuf events = STRBUF_INIT(8 << 20);
    CLEANUP(strbuf_release) struct strbuf scalar = STRBUF_INIT(8 << 20);
    struct yaml_limits limits = roomy;
    int calls_left = 5;

    for (int i = 0; i < 1 << 20; i++) {
        strbuf_adds(&events, "- 1\n");
        strbuf_addc(&scalar, 'x');
    }
    limits.term = (struct yaml_time_limit){count_down, &calls_left};
    assert_refused(&events, limits, "reading it takes too long");
    calls_left = 5;
    assert_refused(&scalar, limits, "reading it takes too long");
    assert_int_equal(calls_left, -1);
}

TEST(the_error_of_a_nul_byte_has_its_position)
{
    static const char yaml[] = "a: 1\nb: \0c\n";
    CLEANUP(free_cleanup) char *got = read_all(yaml, sizeof(yaml) - 1, roomy);

    assert_string_equal(got, "2:4 not valid YAML: a NUL byte");
}

TEST(documents_and_mappings_have_line_numbers)
{
    static const char yaml[] = "# first\n\n---\n# second\na: 1\n---\n- x: 1\n- y: 2\n";
    struct yaml_text source = {yaml, strlen(yaml)};
    struct yaml_reader *reader = yaml_reader_new(yaml_read_text, &source, roomy);
    struct json_position where;
    struct error err;
    cJSON *tree;

    assert_int_equal(yaml_reader_next(reader, &tree, &where, &err), YAML_READ_DOCUMENT);
    assert_int_equal(where.line, 5);
    assert_int_equal(where.column, 1);
    assert_int_equal(yaml_position(tree).line, 5);
    assert_int_equal(yaml_position(tree).column, 1);
    cJSON_Delete(tree);
    assert_int_equal(yaml_reader_next(reader, &tree, &where, &err), YAML_READ_DOCUMENT);
    assert_int_equal(where.line, 7);
    assert_int_equal(yaml_position(tree).line, 0);
    assert_int_equal(yaml_position(tree->child).line, 7);
    assert_int_equal(yaml_position(tree->child->next).line, 8);
    assert_int_equal(yaml_position(tree->child->next).column, 3);
    cJSON_Delete(tree);
    assert_int_equal(yaml_reader_next(reader, &tree, &where, &err), YAML_READ_END);
    yaml_reader_free(reader);
}

/* Appends a line for a node and each node below it: indent by depth, position, key, and text. */
static void add_node(struct strbuf *out, const cJSON *node, unsigned depth)
{
    struct error err = {""};
    const cJSON *child;

    yaml_fail("", node, &err);
    strbuf_addf(out, "%*s%.*s", (int)depth, "", (int)strlen(err.text) - 3, err.text + 1);
    strbuf_addf(out, " %s %s%s\n", node->string ? node->string : "-",
                node->valuestring ? node->valuestring : "-", cJSON_IsNull(node) ? " null" : "");
    cJSON_ArrayForEach (child, node)
        add_node(out, child, depth + 1);
}

TEST(a_configuration_keeps_texts_and_positions)
{
    static const char yaml[] = "# first\n"
                               "010: 0x1F\n"
                               "yes:\n"
                               "  - on\n"
                               "  - {a: ~, b: '~', c: !!int x}\n"
                               "~: &m\n"
                               "  <<: {d: .nan}\n"
                               "  e:\n"
                               "'<<': *m\n";
    CLEANUP(strbuf_release) struct strbuf got = STRBUF_INIT(1 << 16);
    cJSON *tree = NULL;
    struct error err = {""};

    assert_true(yaml_read_config("x.yaml", yaml, strlen(yaml), &tree, &err));
    add_node(&got, tree, 0);
    cJSON_Delete(tree);
    assert_string_equal(got.data, "2:1 - -\n"
                                  " 2:1 010 0x1F\n"
                                  " 3:1 yes -\n"
                                  "  4:5 - on\n"
                                  "  5:5 - -\n"
                                  "   5:6 a ~ null\n"
                                  "   5:12 b ~\n"
                                  "   5:20 c x\n"
                                  " 6:1 ~ -\n"
                                  "  8:3 e  null\n"
                                  "  7:8 d .nan\n"
                                  " 9:1 << -\n"
                                  "  8:3 e  null\n"
                                  "  7:8 d .nan\n");
}

TEST(an_empty_configuration_has_no_tree)
{
    static const char *const texts[] = {"", "# a\n", "---\n", "~\n"};
    cJSON *tree = NULL;
    struct error err = {""};

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        assert_true(yaml_read_config("x.yaml", texts[i], strlen(texts[i]), &tree, &err));
        assert_null(tree);
    }
}

/*
 * Appends 12 levels: first `text`, then each with nine aliases of the level before. The first two
 * characters of `format` surround a level, the others stand before its first alias.
 */
static void add_nested_aliases(struct strbuf *out, const char *text, const char *format)
{
    strbuf_addf(out, "a0: &a0 %s\n", text);
    for (int i = 1; i < 12; i++) {
        strbuf_addf(out, "a%d: &a%d %c", i, i, format[0]);
        for (int j = 0; j < 9; j++)
            strbuf_addf(out, "%s*a%d", j > 0 ? ", " : &format[2], i - 1);
        strbuf_addf(out, "%c\n", format[1]);
    }
}

TEST(nested_aliases_are_limited_by_nodes)
{
    CLEANUP(strbuf_release) struct strbuf yaml = STRBUF_INIT(1 << 20);

    add_nested_aliases(&yaml, "lol", "[]");
    assert_refused(&yaml, roomy, "8:");
    assert_refused(&yaml, roomy, "with its anchors expanded, is too large");
}

TEST(nested_aliases_are_limited_by_bytes)
{
    CLEANUP(strbuf_release) struct strbuf yaml = STRBUF_INIT(1 << 20);
    struct yaml_limits limits = {.nodes_max = SIZE_MAX / 2, .bytes_max = 1 << 20};
    char text[1001];

    memset(text, 'x', sizeof(text));
    text[1000] = '\0';
    add_nested_aliases(&yaml, text, "[]");
    assert_refused(&yaml, limits, "with its anchors expanded, is too large");
}

TEST(nested_merges_are_limited)
{
    CLEANUP(strbuf_release) struct strbuf yaml = STRBUF_INIT(1 << 20);

    add_nested_aliases(&yaml, "{k: lol}", "{}<<: [");
    yaml.len = 0;
    strbuf_addf(&yaml, "a0: &a0 {k: lol}\n");
    for (int i = 1; i < 30; i++)
        strbuf_addf(&yaml, "a%d: &a%d {<<: [*a%d, *a%d], k%d: 1}\n", i, i, i - 1, i - 1, i);
    assert_refused(&yaml, roomy, "with its anchors expanded, is too large");
}

TEST(many_small_documents_share_no_limit)
{
    CLEANUP(strbuf_release) struct strbuf yaml = STRBUF_INIT(1 << 20);
    struct yaml_limits limits = {.nodes_max = 3, .bytes_max = 100};

    for (int i = 0; i < 50; i++)
        strbuf_adds(&yaml, "---\n[1, 2]\n");
    CLEANUP(free_cleanup) char *got = read_all(yaml.data, yaml.len, limits);
    assert_null(strstr(got, "larger"));
}

static void add_nested(struct strbuf *out, size_t depth)
{
    for (size_t i = 0; i < depth; i++)
        strbuf_addc(out, '[');
    for (size_t i = 0; i < depth; i++)
        strbuf_addc(out, ']');
}

TEST(the_depth_limit_is_that_of_json)
{
    CLEANUP(strbuf_release) struct strbuf fine = STRBUF_INIT(1 << 20);
    CLEANUP(strbuf_release) struct strbuf deep = STRBUF_INIT(1 << 20);

    add_nested(&fine, JSON_DEPTH_MAX);
    add_nested(&deep, JSON_DEPTH_MAX + 1);
    CLEANUP(free_cleanup) char *got = read_all(fine.data, fine.len, roomy);
    assert_string_equal(got, fine.data);
    assert_refused(&deep, roomy, "1:129 not valid YAML: nested deeper than 128 levels");
}

TEST(the_depth_limit_applies_to_aliases)
{
    CLEANUP(strbuf_release) struct strbuf yaml = STRBUF_INIT(1 << 20);

    strbuf_adds(&yaml, "a0: &a0 x\n");
    for (int i = 1; i < 140; i++)
        strbuf_addf(&yaml, "a%d: &a%d [*a%d]\n", i, i, i - 1);
    assert_refused(&yaml, roomy, "nested deeper than 128 levels");
}

TEST(a_million_open_brackets_are_refused)
{
    CLEANUP(strbuf_release) struct strbuf yaml = STRBUF_INIT(8 << 20);

    for (int i = 0; i < 1 << 20; i++)
        strbuf_addc(&yaml, '[');
    assert_refused(&yaml, roomy, "nested deeper than 128 levels");
}

TEST(a_duplicate_key_among_50000_keys_is_found)
{
    CLEANUP(strbuf_release) struct strbuf yaml = STRBUF_INIT(8 << 20);

    for (int i = 0; i < 50000; i++)
        strbuf_addf(&yaml, "key%d: v\n", i);
    strbuf_adds(&yaml, "key7: again\n");
    assert_refused(&yaml, roomy, "50001:1 not valid YAML: the key 'key7' appears twice");
}

static const struct text_case repeated_cases[] = {
    {"two values", "a: 1\nb: 2\na: 3\n", "3:1 a\n{\"b\":2,\"a\":3}"},
    {"three values", "{a: 1, a: 2, a: 3}", "1:8 a\n1:14 a\n{\"a\":3}"},
    {"in a nested mapping", "- b:\n    a: 1\n    a: 2\n", "3:5 a\n[{\"b\":{\"a\":2}}]"},
    {"an alias of a value that does not count", "a: &x [1]\na: 2\nb: *x\n",
     "2:1 a\n{\"a\":2,\"b\":[1]}"},
    {"a value that refers to the one before", "a: &x {c: 1}\na: {d: *x}\n",
     "2:1 a\n{\"a\":{\"d\":{\"c\":1}}}"},
    {"a merge key does not repeat", "x: &x {a: 1}\nz: {a: 2, <<: *x}\n",
     "{\"x\":{\"a\":1},\"z\":{\"a\":2}}"},
    {"keys that become the same text", "1: a\n'1': b\n", "2:1 1\n{\"1\":\"b\"}"},
};

TEST_ROWS(the_last_value_of_a_repeated_key_counts, repeated_cases, name)
{
    const struct text_case *c = *state;
    CLEANUP(free_cleanup) char *got = read_with_repeated_keys(c->yaml, strlen(c->yaml));

    assert_string_equal(got, c->wanted);
}

/* Around the number of keys from which a hash map is used, and with very many keys. */
TEST(repeated_keys_among_many_are_found_in_time)
{
    static const unsigned counts[] = {15, 16, 17, 18, 50000};

    for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
        CLEANUP(strbuf_release) struct strbuf yaml = STRBUF_INIT(8 << 20);

        for (unsigned k = 0; k < counts[i] * 2; k++)
            strbuf_addf(&yaml, "key%u: %u\n", k % counts[i], k);
        CLEANUP(free_cleanup) char *got = read_with_repeated_keys(yaml.data, yaml.len);
        CLEANUP(json_cleanup) cJSON *tree = cJSON_Parse(strchr(got, '{'));

        assert_int_equal(cJSON_GetArraySize(tree), counts[i]);
        assert_int_equal(json_int(tree, "key3", 0), counts[i] + 3);
    }
}

TEST(items_that_were_returned_must_not_be_repeated)
{
    static const char text[] = "items: [1]\nitems: [2]\n";
    struct yaml_text source = {text, sizeof(text) - 1};
    struct yaml_reader *reader = yaml_reader_new(yaml_read_text, &source, items);
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(1024);
    struct json_position where;
    struct error err;
    cJSON *tree = NULL;

    yaml_reader_receive_repeated_keys(reader, append_repeated_key, &out);
    assert_int_equal(yaml_reader_next(reader, &tree, &where, &err), YAML_READ_ITEM);
    cJSON_Delete(tree);
    assert_int_equal(yaml_reader_next(reader, &tree, &where, &err), YAML_READ_MALFORMED);
    assert_string_equal(err.text, "not valid YAML: the key 'items' appears twice in one mapping");
    yaml_reader_free(reader);
}
