/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/document.h"

#include "exporter/yaml/yaml.h"
#include "metrics/base/json.h"
#include "tests/unit/suite.h"

enum { TEXT_MAX = 1 << 16 };

/* JSON values and their YAML; NULL if the exact text is not checked. */
static struct text_case {
    const char *name;
    const char *json;
    const char *yaml;
} text_cases[] = {
    {"a word", "\"abc\"", "abc"},
    {"a path", "\"/a/b\"", "\"/a/b\""},
    {"several words", "\"a b\"", "a b"},
    {"an empty text", "\"\"", "\"\""},
    {"a text like a number", "\"12\"", "\"12\""},
    {"a text like a YAML 1.1 boolean", "\"Yes\"", "\"Yes\""},
    {"a text like null", "\"null\"", "\"null\""},
    {"a text like a time", "\"2026-01-01\"", "\"2026-01-01\""},
    {"a text like infinity", "\".inf\"", "\".inf\""},
    {"a text like a map", "\"a: b\"", "'a: b'"},
    {"a text like a comment", "\"a #b\"", "'a #b'"},
    {"a text with a line end", "\"a\\nb\"", NULL},
    {"a text with quotes", "\"it's \\\"it\\\"\"", NULL},
    {"a text with an escape for terminals", "\"a\\u001b[31m\"", NULL},
    {"non-ASCII letters", "\"a\u00e9\u4e2d\"", NULL},
    {"a whole number", "1000000", "1000000"},
    {"a fraction", "0.25", "0.25"},
    {"a boolean", "true", "true"},
    {"null", "null", "null"},
    {"an empty list", "[]", "[]"},
    {"an empty map", "{}", "{}"},
    {"a list of maps", "[{\"a\":1,\"b\":[\"x\"]},{}]", NULL},
};

TEST_ROWS(yaml_output_is_read_back_as_the_same_value, text_cases, name)
{
    const struct text_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);
    CLEANUP(json_cleanup) cJSON *read = NULL;
    struct json_position where;
    struct error err = {""};

    strbuf_addf(&text, "{\"key\":%s}\n", c->json);
    CLEANUP(json_cleanup) cJSON *wanted = json_parse(text.data, text.len, NULL, &err);
    assert_non_null(wanted);
    document_convert(&text, OUTPUT_YAML);
    if (c->yaml) {
        CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(TEXT_MAX);

        strbuf_addf(&line, "key: %s\n", c->yaml);
        assert_string_equal(text.data, line.data);
    }

    struct yaml_limits limits = {.nodes_max = 100, .bytes_max = TEXT_MAX};
    struct yaml_text source = {text.data, text.len};
    CLEANUP(yaml_reader_cleanup)
    struct yaml_reader *reader = yaml_reader_new(yaml_read_text, &source, limits);
    assert_int_equal(yaml_reader_next(reader, &read, &where, &err), YAML_READ_DOCUMENT);
    assert_true(cJSON_Compare(read, wanted, true));
}

TEST(json_output_is_unchanged)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);

    strbuf_adds(&text, "{\"a\": 1}\n");
    document_convert(&text, OUTPUT_JSON);
    assert_string_equal(text.data, "{\"a\": 1}\n");
    assert_true(document_is_requested(OUTPUT_JSON) && document_is_requested(OUTPUT_YAML));
    assert_false(document_is_requested(OUTPUT_TABLE) || document_is_requested(OUTPUT_MARKDOWN));
}

TEST(truncated_document_stays_an_error)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(8);

    strbuf_adds(&text, "{\"key\": [1, 2, 3]}");
    document_convert(&text, OUTPUT_YAML);
    assert_false(strbuf_ok(&text));
}
