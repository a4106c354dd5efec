/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/json_filter.h"

#include "metrics/base/json.h"
#include "tests/unit/suite.h"

enum { VALUES_MAX = 100000 };

/* Returns the tree as compact JSON, which the caller frees; NULL if the text is rejected. */
static char *filtered(const struct json_filter *filter, const char *json)
{
    CLEANUP(json_memory_release) struct json_memory memory = {0};
    cJSON *tree = json_filter_parse(filter, json, strlen(json), VALUES_MAX, &memory);

    return tree ? cJSON_PrintUnformatted(tree) : NULL;
}

/* ---- rows ---- */

static const struct json_filter_row inner_rows[] = {JSON_ROW_KEEP("a"), JSON_ROW_PRESENT("b")};
static const struct json_filter inner = JSON_FILTER_OF(inner_rows, JSON_FILTER_DROP);
static const struct json_filter reduced = {.others = JSON_FILTER_OBJECT};
static const struct json_filter_row marked_rows[] = {
    JSON_ROW_KEEP("k"),
    {.key = "generation", .condition = JSON_FILTER_MARK},
    {.key = "m",
     .action = JSON_FILTER_OBJECT,
     .inside = &inner,
     .condition = JSON_FILTER_IF_MARKED},
};
static const struct json_filter marked = JSON_FILTER_OF(marked_rows, JSON_FILTER_KEEP);
static const struct json_filter_row outer_rows[] = {
    JSON_ROW_OBJECT("object", &inner),    JSON_ROW_ELEMENTS("list", &inner),  JSON_ROW_DROP("no"),
    JSON_ROW_OBJECT("reduced", &reduced), JSON_ROW_OBJECT("marked", &marked),
};
static const struct json_filter outer = JSON_FILTER_OF(outer_rows, JSON_FILTER_KEEP);

static const struct filter_row {
    const char *title;
    const char *text;
    const char *kept;
} rows[] = {
    {"an unknown member", "{\"x\":{\"no\":[1]}}", "{\"x\":{\"no\":[1]}}"},
    {"a dropped member", "{\"no\":{\"a\":[{}]},\"x\":1,\"no\":2}", "{\"x\":1,\"no\":2}"},
    {"only a dropped member", "{\"no\":1}", "{}"},
    {"members of an object", "{\"object\":{\"a\":1,\"b\":{\"c\":1},\"c\":2}}",
     "{\"object\":{\"a\":1,\"b\":{}}}"},
    {"another value than an object", "{\"object\":[{\"c\":1}]}", "{\"object\":[{\"c\":1}]}"},
    {"objects in an array", "{\"list\":[1,{\"a\":1,\"c\":2},[{\"c\":3}],null]}",
     "{\"list\":[1,{\"a\":1},[{\"c\":3}],null]}"},
    {"another value than an array", "{\"list\":{\"c\":1}}", "{\"list\":{\"c\":1}}"},
    {"empty objects", "{\"reduced\":{\"a\":{\"x\":1},\"b\":[1],\"c\":\"t\"}}",
     "{\"reduced\":{\"a\":{},\"b\":[1],\"c\":\"t\"}}"},
    {"without a mark", "{\"marked\":{\"m\":{\"c\":1}}}", "{\"marked\":{\"m\":{\"c\":1}}}"},
    {"with a mark", "{\"marked\":{\"generation\":2,\"m\":{\"c\":1}}}",
     "{\"marked\":{\"generation\":2,\"m\":{}}}"},
    {"a mark of 0", "{\"marked\":{\"generation\":0,\"m\":{\"c\":1}}}",
     "{\"marked\":{\"generation\":0,\"m\":{\"c\":1}}}"},
    {"a mark behind the member", "{\"marked\":{\"m\":{\"c\":1},\"generation\":2}}",
     "{\"marked\":{\"m\":{\"c\":1},\"generation\":2}}"},
    {"the second of equal keys", "{\"object\":{\"a\":1},\"object\":{\"c\":1}}",
     "{\"object\":{\"a\":1},\"object\":{\"c\":1}}"},
    {"a mark in the second of equal keys",
     "{\"marked\":{},\"marked\":{\"generation\":1,\"m\":{\"c\":1}}}",
     "{\"marked\":{},\"marked\":{\"generation\":1,\"m\":{\"c\":1}}}"},
    {"an escaped key matches no row", "{\"n\\u006f\":1,\"\\u006eo\":2}", "{\"no\":1,\"no\":2}"},
    {"no mark after an escaped key",
     "{\"marked\":{\"generatio\\u006e\":0,\"generation\":1,\"m\":{\"c\":1}}}",
     "{\"marked\":{\"generation\":0,\"generation\":1,\"m\":{\"c\":1}}}"},
    {"white space", " { \"no\" : [ 1 , 2 ] , \"x\" : { } } \n", "{\"x\":{}}"},
    {"a fault in a dropped member", "{\"no\":[1,]}", NULL},
    {"an invalid text in a dropped member", "{\"no\":\"\xff\"}", NULL},
    {"a NUL character in a dropped member", "{\"no\":\"\\u0000\"}", NULL},
    {"a missing bracket", "{\"no\":1", NULL},
    {"text behind the object", "{} x", NULL},
    {"no object", "[1]", NULL},
    {"nothing", "", NULL},
};

TEST_ROWS(a_filter_keeps, rows, title)
{
    const struct filter_row *row = *state;
    CLEANUP(free_cleanup) char *kept = filtered(&outer, row->text);

    if (row->kept)
        assert_string_equal(kept, row->kept);
    else
        assert_null(kept);
}

/* ---- comparison with cJSON ---- */

static void assert_same_text(const char *a, const char *b)
{
    if (a || b)
        assert_string_equal(a, b);
}

static void assert_same_tree(const cJSON *a, const cJSON *b)
{
    const cJSON *x = a->child, *y = b->child;

    assert_int_equal(a->type & 0xff, b->type & 0xff);
    assert_same_text(a->string, b->string);
    assert_same_text(a->valuestring, b->valuestring);
    assert_true(a->valuedouble == b->valuedouble && a->valueint == b->valueint);
    for (; x && y; x = x->next, y = y->next) {
        assert_same_tree(x, y);
        assert_true(x == a->child || x->prev->next == x);
    }
    assert_true(!x && !y);
    assert_true(!a->child || !a->child->prev->next);
}

static const struct tree_row {
    const char *title;
    const char *text;
} trees[] = {
    {"numbers", "{\"a\":[0,-0,1,-1,007,1.,1.5,1e3,1E+3,1e-3,123456789,1234567890,"
                "-2147483648,2147483648,1e400,0.1,12345678901234567890]}"},
    {"words", "{\"a\":[true,false,null]}"},
    {"escapes",
     "{\"a\\\"\\n\":\"\\\\\\/\\b\\f\\n\\r\\t\\\"\",\"b\":\"\\u00e9\\ud83d\\ude00x\\\"\"}"},
    {"raw characters",
     "{\"\xc3\xa9\":\"\t\n\xf0\x9f\x98\x80 a long text of more than eight bytes\"}"},
    {"nesting", "{\"a\":[[],{},[[{\"b\":[]}]]],\"c\":{\"d\":{\"e\":{}}}}"},
};

TEST_ROWS(a_tree_without_a_filter_equals_that_of_cjson, trees, title)
{
    const struct tree_row *row = *state;
    CLEANUP(json_memory_release) struct json_memory memory = {0};
    struct error err;
    CLEANUP(json_cleanup) cJSON *expected = json_parse(row->text, strlen(row->text), NULL, &err);
    cJSON *tree = json_filter_parse(NULL, row->text, strlen(row->text), VALUES_MAX, &memory);

    assert_non_null(expected);
    assert_non_null(tree);
    assert_same_tree(tree, expected);
}

/* Replaces each byte of valid texts by bytes that are often faults. */
TEST(changed_texts_are_rejected_as_by_the_syntax_check)
{
    static const char bytes[] = "\"\\{}[],:0-e.tu \x01\xff\xc3\n";

    for (size_t t = 0; t < ARRAY_LEN(trees); t++) {
        size_t len = strlen(trees[t].text);
        CLEANUP(free_cleanup) char *text = xmemdup0(trees[t].text, len);

        for (size_t at = 1; at < len; at++) {
            for (size_t i = 0; i < sizeof(bytes); i++) {
                CLEANUP(json_memory_release) struct json_memory memory = {0};
                CLEANUP(json_memory_release) struct json_memory dropped = {0};
                char before = text[at];

                text[at] = bytes[i];
                bool valid = !json_find_fault(text, len).reason;
                const struct json_filter none = {.others = JSON_FILTER_DROP};

                assert_int_equal(valid,
                                 json_filter_parse(NULL, text, len, VALUES_MAX, &memory) != NULL);
                assert_int_equal(valid,
                                 json_filter_parse(&none, text, len, VALUES_MAX, &dropped) != NULL);
                text[at] = before;
            }
        }
    }
}

static char *nested(size_t depth)
{
    char *text = xcalloc(1, 2 * depth + sizeof("{\"a\":}"));

    memcpy(text, "{\"a\":", 5);
    memset(text + 5, '[', depth);
    memset(text + 5 + depth, ']', depth);
    text[5 + 2 * depth] = '}';
    return text;
}

TEST(nesting_is_limited_in_kept_and_dropped_members)
{
    static const struct json_filter none = {.others = JSON_FILTER_DROP};
    CLEANUP(free_cleanup) char *deepest = nested(JSON_DEPTH_MAX - 1);
    CLEANUP(free_cleanup) char *deeper = nested(JSON_DEPTH_MAX);
    CLEANUP(free_cleanup) char *kept = filtered(NULL, deepest);
    CLEANUP(free_cleanup) char *dropped = filtered(&none, deepest);

    assert_string_equal(kept, deepest);
    assert_string_equal(dropped, "{}");
    assert_null(filtered(NULL, deeper));
    assert_null(filtered(&none, deeper));
}

TEST(first_object_of_a_text_is_parsed)
{
    CLEANUP(json_memory_release) struct json_memory memory = {0};
    size_t used;

    assert_non_null(json_filter_parse_first(NULL, "{\"a\":[1]},{", 11, VALUES_MAX, &memory, &used));
    assert_int_equal(used, 9);
    assert_null(json_filter_parse_first(NULL, "{\"a\":[1]", 8, VALUES_MAX, &memory, &used));
    assert_null(json_filter_parse_first(NULL, "[1]", 3, VALUES_MAX, &memory, &used));
}

TEST(the_number_of_kept_values_is_limited)
{
    static const char text[] = "{\"no\":[1,2,3],\"x\":[4]}";
    CLEANUP(json_memory_release) struct json_memory memory = {0};

    assert_non_null(json_filter_parse(&outer, text, strlen(text), 3, &memory));
    assert_null(json_filter_parse(&outer, text, strlen(text), 2, &memory));
}

TEST(many_large_texts_need_many_blocks)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(1 << 24);
    CLEANUP(json_memory_release) struct json_memory memory = {0};

    strbuf_adds(&text, "{\"a\":[0");
    for (int i = 0; i < 1000; i++)
        strbuf_addf(&text, ",\"%0*d\"", 1 + i * 20, i);
    strbuf_adds(&text, "]}");

    cJSON *tree = json_filter_parse(NULL, text.data, text.len, VALUES_MAX, &memory);
    CLEANUP(free_cleanup) char *printed = cJSON_PrintUnformatted(tree);

    assert_string_equal(printed, text.data);
}

TEST(texts_of_members_are_set_in_both_kinds_of_trees)
{
    static const char text[] = "{\"kind\":\"A\",\"version\":null}";
    CLEANUP(json_memory_release) struct json_memory memory = {0};
    CLEANUP(json_cleanup) cJSON *other = cJSON_Parse(text);
    cJSON *const both[] = {
        json_filter_parse(NULL, text, strlen(text), VALUES_MAX, &memory),
        other,
    };

    for (size_t i = 0; i < ARRAY_LEN(both); i++) {
        json_set_member_text(&memory, both[i], "kind", "a longer text");
        json_set_member_text(&memory, both[i], "version", "v1");
        json_set_member_text(&memory, both[i], "new", "n");
        assert_string_equal(json_str(both[i], "kind", ""), "a longer text");
        assert_string_equal(json_str(both[i], "version", ""), "v1");
        assert_string_equal(json_str(both[i], "new", ""), "n");
    }
}
