/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/yaml/yaml.h"

#include "tests/unit/suite.h"

static const struct yaml_limits roomy = {1000 * 1000, (size_t)64 << 20};

/* All documents, one a line, as JSON; then the failure, as "line:column text". */
static char *read_all(const char *text, size_t len, struct yaml_limits limits)
{
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT((size_t)64 << 20);
    struct yaml_reader *reader = yaml_reader_new(text, len, limits);
    struct json_position where = {0, 0};
    struct error err;
    enum yaml_outcome outcome;
    cJSON *tree = NULL;
    size_t ignored;

    while ((outcome = yaml_reader_next(reader, &tree, &where, &err)) == YAML_READ_DOCUMENT) {
        char *json = cJSON_PrintUnformatted(tree);

        strbuf_addf(&out, "%s%s", out.len > 0 ? "\n" : "", json);
        free(json);
        cJSON_Delete(tree);
    }
    if (outcome == YAML_READ_MALFORMED)
        strbuf_addf(&out, "%s%zu:%zu %s", out.len > 0 ? "\n" : "", where.line, where.column,
                    err.text);
    yaml_reader_free(reader);
    return strbuf_take(&out, &ignored);
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
    {"nothing", "", ""},
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
    {"words that are none", "[tRue, yEs, truex, nope, o, nUll]\n",
     "[\"tRue\",\"yEs\",\"truex\",\"nope\",\"o\",\"nUll\"]"},
    {"nulls", "[~, null, Null, NULL, ]\n", "[null,null,null,null]"},
    {"a value that is missing is null", "a:\n", "{\"a\":null}"},
    {"quoted words are texts", "[\"true\", 'no', \"1\", '~', \"\"]\n",
     "[\"true\",\"no\",\"1\",\"~\",\"\"]"},
    {"whole numbers", "[0, 12, -3, +4, 1_000]\n", "[0,12,-3,4,1000]"},
    {"other bases", "[0x1F, 0X1f, 0o17, 017, 0b101, -0x10, -0b11]\n", "[31,31,15,15,5,-16,-3]"},
    {"not quite octal is a float", "[08, 019]\n", "[8,19]"},
    {"floats", "[1.5, -2.5e3, .5, 5., 1e3, 1E-2]\n", "[1.5,-2500,0.5,5,1000,0.01]"},
    {"too large for 64 bits", "[18446744073709551616]\n", "[1.8446744073709552e+19]"},
    {"numbers that are texts", "[0x, 0b2, 1.2.3, 1:30, 1e, '+', -, +, 1e999]\n",
     "[\"0x\",\"0b2\",\"1.2.3\",\"1:30\",\"1e\",\"+\",\"-\",\"+\",\"1e999\"]"},
    {"dates are texts", "[2026-01-31, 2026-01-31T12:00:00Z]\n",
     "[\"2026-01-31\",\"2026-01-31T12:00:00Z\"]"},
    {"versions and addresses are texts", "[v1, 10.0.0.1, 1.2.3-rc.0, 500m, 1Gi]\n",
     "[\"v1\",\"10.0.0.1\",\"1.2.3-rc.0\",\"500m\",\"1Gi\"]"},
    {"infinity", "a: 1\nb: .inf\n",
     "2:4 not valid YAML: JSON has no infinity and no 'not a number'"},
    {"not a number", "[.NaN]", "1:2 not valid YAML: JSON has no infinity and no 'not a number'"},

    {"tags", "[!!str 1, !!int '2', !!float 3, !!bool 'yes', !!null '', !custom 7, ! 8]\n",
     "[\"1\",2,3,true,null,\"7\",\"8\"]"},
    {"a tag that lies", "a: !!int x\n",
     "1:4 not valid YAML: the text is not what its tag '!!int' says"},
    {"a float is no int", "a: !!int 1.5\n",
     "1:4 not valid YAML: the text is not what its tag '!!int' says"},
    {"binary", "a: !!binary aGk=\n",
     "1:4 not valid YAML: !!binary is not supported: write the base64 text without the tag"},

    {"keys that are no texts", "1: a\ntrue: b\n1.5: c\n0x10: d\n1e6: e\n0.1: f\n-.inf: g\n2.0: h\n",
     "{\"1\":\"a\",\"true\":\"b\",\"1.5\":\"c\",\"16\":\"d\",\"1e+06\":\"e\",\"0.1\":\"f\","
     "\"-.inf\":\"g\",\"2\":\"h\"}"},
    {"on is a key of its own", "on: push\n", "{\"true\":\"push\"}"},
    {"a null key", "a: 1\n~: 2\n",
     "2:1 not valid YAML: null cannot be a key: put it in quotes if the text is meant"},
    {"a mapping as a key", "? {a: b}\n: c\n",
     "1:3 not valid YAML: a key must be a text, a number or a boolean"},
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
    {"an anchor that is given again", "a: &x 1\nb: &x 2\nc: *x\n", "{\"a\":1,\"b\":2,\"c\":2}"},
    {"an alias as a key", "a: &x hi\n*x : 1\n", "{\"a\":\"hi\",\"hi\":1}"},
    {"an anchor on a key", "&x a: 1\nb: *x\n", "{\"a\":1,\"b\":\"a\"}"},
    {"an alias for a mapping as a key", "a: &x {}\n*x : 1\n",
     "2:1 not valid YAML: a key must be a text, a number or a boolean"},
    {"no such anchor", "a: *x\n",
     "1:4 not valid YAML: there is no anchor of this name before this alias"},
    {"an anchor of the document before", "a: &x 1\n---\nb: *x\n",
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
    {"a merge of what merges", "a: &x {p: 1}\nb: &y {<<: *x, q: 2}\nc: {<<: *y}\n",
     "{\"a\":{\"p\":1},\"b\":{\"q\":2,\"p\":1},\"c\":{\"q\":2,\"p\":1}}"},
    {"a merge that is written out", "a: {<<: {p: &x 1}, q: *x}\n", "{\"a\":{\"q\":1,\"p\":1}}"},
    {"an anchor in a merge that loses", "a: {<<: {p: &x [1]}, p: 2}\nb: *x\n",
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
     "1:5 not valid YAML: a key must be a text, a number or a boolean"},
    {"an error in the second document", "a: 1\n---\nb: 'x\n",
     "{\"a\":1}\n4:1 not valid YAML: while scanning a quoted scalar: found unexpected end of "
     "stream"},
    {"invalid UTF-8", "a: 1\nb: \xff\n", "2:4 not valid YAML: invalid leading UTF-8 octet"},
    {"a cut UTF-8 character", "a: \xc3", "1:4 not valid YAML: incomplete UTF-8 octet sequence"},
    {"half of a surrogate pair", "a: \xed\xa0\x80\n",
     "1:4 not valid YAML: invalid Unicode character"},
    {"a control character", "a: \x01\n", "1:4 not valid YAML: control characters are not allowed"},
    {"UTF-16",
     "\xff\xfe"
     "a",
     "1:1 not valid YAML: the text is UTF-16: save it as UTF-8"},
    {"NUL by escape", "a: \"x\\0y\"\n", "1:4 not valid YAML: a NUL character in a text"},
};

TEST_ROWS(text, text_cases, name)
{
    const struct text_case *c = *state;
    CLEANUP(free_cleanup) char *got = read_all(c->yaml, strlen(c->yaml), roomy);

    assert_string_equal(got, c->wanted);
}

TEST(a_nul_byte_is_placed)
{
    static const char yaml[] = "a: 1\nb: \0c\n";
    CLEANUP(free_cleanup) char *got = read_all(yaml, sizeof(yaml) - 1, roomy);

    assert_string_equal(got, "2:4 not valid YAML: a NUL byte");
}

TEST(documents_and_mappings_know_their_lines)
{
    static const char yaml[] = "# first\n\n---\n# second\na: 1\n---\n- x: 1\n- y: 2\n";
    struct yaml_reader *reader = yaml_reader_new(yaml, strlen(yaml), roomy);
    struct json_position where;
    struct error err;
    cJSON *tree;

    assert_int_equal(yaml_reader_next(reader, &tree, &where, &err), YAML_READ_DOCUMENT);
    assert_int_equal(where.line, 5);
    assert_int_equal(where.column, 1);
    assert_int_equal(yaml_line(tree), 5);
    cJSON_Delete(tree);
    assert_int_equal(yaml_reader_next(reader, &tree, &where, &err), YAML_READ_DOCUMENT);
    assert_int_equal(where.line, 7);
    assert_int_equal(yaml_line(tree), 0);
    assert_int_equal(yaml_line(tree->child), 7);
    assert_int_equal(yaml_line(tree->child->next), 8);
    cJSON_Delete(tree);
    assert_int_equal(yaml_reader_next(reader, &tree, &where, &err), YAML_READ_END);
    yaml_reader_free(reader);
}

/* Each level names the one before nine times; `text` is what the lowest holds. */
static void laugh(struct strbuf *out, const char *text, const char *format)
{
    strbuf_addf(out, "a0: &a0 %s\n", text);
    for (int i = 1; i < 12; i++) {
        strbuf_addf(out, "a%d: &a%d %c", i, i, format[0]);
        for (int j = 0; j < 9; j++)
            strbuf_addf(out, "%s*a%d", j > 0 ? ", " : &format[2], i - 1);
        strbuf_addf(out, "%c\n", format[1]);
    }
}

static void assert_refused(const struct strbuf *yaml, struct yaml_limits limits, const char *wanted)
{
    CLEANUP(free_cleanup) char *got = read_all(yaml->data, yaml->len, limits);

    if (!strstr(got, wanted))
        fail_msg("wanted '%s', got '%.300s'", wanted, got);
}

TEST(a_billion_laughs_stop_at_the_nodes)
{
    CLEANUP(strbuf_release) struct strbuf yaml = STRBUF_INIT(1 << 20);

    laugh(&yaml, "lol", "[]");
    assert_refused(&yaml, roomy, "8:");
    assert_refused(&yaml, roomy, "with its anchors expanded, is too large");
}

TEST(a_billion_laughs_stop_at_the_bytes)
{
    CLEANUP(strbuf_release) struct strbuf yaml = STRBUF_INIT(1 << 20);
    struct yaml_limits limits = {SIZE_MAX / 2, 1 << 20};
    char text[1001];

    memset(text, 'x', sizeof(text));
    text[1000] = '\0';
    laugh(&yaml, text, "[]");
    assert_refused(&yaml, limits, "with its anchors expanded, is too large");
}

TEST(merged_laughs_stop_too)
{
    CLEANUP(strbuf_release) struct strbuf yaml = STRBUF_INIT(1 << 20);

    laugh(&yaml, "{k: lol}", "{}<<: [");
    yaml.len = 0;
    strbuf_addf(&yaml, "a0: &a0 {k: lol}\n");
    for (int i = 1; i < 30; i++)
        strbuf_addf(&yaml, "a%d: &a%d {<<: [*a%d, *a%d], k%d: 1}\n", i, i, i - 1, i - 1, i);
    assert_refused(&yaml, roomy, "with its anchors expanded, is too large");
}

TEST(many_small_documents_share_no_limit)
{
    CLEANUP(strbuf_release) struct strbuf yaml = STRBUF_INIT(1 << 20);
    struct yaml_limits limits = {3, 100};

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

TEST(nesting_is_as_deep_as_for_json)
{
    CLEANUP(strbuf_release) struct strbuf fine = STRBUF_INIT(1 << 20);
    CLEANUP(strbuf_release) struct strbuf deep = STRBUF_INIT(1 << 20);

    add_nested(&fine, JSON_DEPTH_MAX);
    add_nested(&deep, JSON_DEPTH_MAX + 1);
    CLEANUP(free_cleanup) char *got = read_all(fine.data, fine.len, roomy);
    assert_string_equal(got, fine.data);
    assert_refused(&deep, roomy, "1:129 not valid YAML: nested deeper than 128 levels");
}

TEST(aliases_do_not_nest_deeper)
{
    CLEANUP(strbuf_release) struct strbuf yaml = STRBUF_INIT(1 << 20);

    strbuf_adds(&yaml, "a0: &a0 x\n");
    for (int i = 1; i < 140; i++)
        strbuf_addf(&yaml, "a%d: &a%d [*a%d]\n", i, i, i - 1);
    assert_refused(&yaml, roomy, "nested deeper than 128 levels");
}

TEST(an_endless_bracket_is_refused_at_once)
{
    CLEANUP(strbuf_release) struct strbuf yaml = STRBUF_INIT(8 << 20);

    for (int i = 0; i < 1 << 20; i++)
        strbuf_addc(&yaml, '[');
    assert_refused(&yaml, roomy, "nested deeper than 128 levels");
}

TEST(large_mappings_are_no_trouble)
{
    CLEANUP(strbuf_release) struct strbuf yaml = STRBUF_INIT(8 << 20);

    for (int i = 0; i < 50000; i++)
        strbuf_addf(&yaml, "key%d: v\n", i);
    strbuf_adds(&yaml, "key7: again\n");
    assert_refused(&yaml, roomy, "50001:1 not valid YAML: the key 'key7' appears twice");
}
