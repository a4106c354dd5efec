/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/json_file.h"

#include "tests/unit/suite.h"

enum { OBJECT_MAX = 4096 };

/* Appends a line "line@offset json" for an object. */
static void append_object(void *context, cJSON *object, struct json_place place)
{
    struct strbuf *out = context;
    char *json = cJSON_PrintUnformatted(object);

    strbuf_addf(out, "%s%zu@%zu %s", out->len > 0 ? "\n" : "", place.line, place.offset, json);
    free(json);
}

static bool feed_all(struct json_file *f, const char *json, size_t len, size_t piece,
                     struct strbuf *out)
{
    struct json_position where = {0, 0};
    struct error err;
    bool fine = true;

    for (size_t at = 0; at < len && fine; at += piece)
        fine = json_file_feed(f, json + at, len - at < piece ? len - at : piece, &where, &err);
    fine = fine && json_file_end(f, &where, &err);
    if (!fine)
        strbuf_addf(out, "%s%zu:%zu %s", out->len > 0 ? "\n" : "", where.line, where.column,
                    err.text);
    return fine;
}

/*
 * Feeds the text in pieces of the same size, twice if the file needs a second pass. Returns the
 * objects and the failure as lines; the caller frees the result.
 */
static char *read_all(const char *json, size_t len, size_t piece)
{
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(1 << 20);
    struct json_file *f = json_file_new(OBJECT_MAX, append_object, &out);
    size_t ignored;

    if (feed_all(f, json, len, piece, &out) && json_file_needs_second_pass(f)) {
        strbuf_adds(&out, "\nagain");
        json_file_begin_second_pass(f);
        feed_all(f, json, len, piece, &out);
        assert_false(json_file_needs_second_pass(f));
    }
    json_file_free(f);
    return strbuf_take(&out, &ignored);
}

struct text_case {
    const char *name;
    const char *json;
    const char *wanted;
};

static struct text_case text_cases[] = {
    {"an empty file", "", ""},
    {"only white space", " \t\r\n\n", ""},
    {"one object", "{\"kind\":\"A\"}", "1@0 {\"kind\":\"A\"}"},
    {"a byte order mark", "\xef\xbb\xbf{\"a\":1}", "1@3 {\"a\":1}"},
    {"one object after blank lines", "\n\n  {\n\"a\": [1]}\n", "3@4 {\"a\":[1]}"},
    {"brackets in strings", "{\"a\":\"}{][\\\"}\"} {\"b\":1}",
     "1@0 {\"a\":\"}{][\\\"}\"}\n1@16 {\"b\":1}"},
    {"several documents", "{\"a\":1}{\"b\":2}\n\n{\"c\":3}\n",
     "1@0 {\"a\":1}\n1@7 {\"b\":2}\n3@16 {\"c\":3}"},
    {"a list",
     "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[\n{\"kind\":\"A\"},\n"
     "{\"kind\":\"B\"}]}",
     "2@43 {\"kind\":\"A\"}\n3@57 {\"kind\":\"B\"}"},
    {"a list in alphabetical order",
     "{\"items\":[{\"kind\":\"A\"},{\"kind\":\"B\"}],\n"
     "\"kind\":\"List\"}",
     "1@10 {\"kind\":\"A\"}\n1@23 {\"kind\":\"B\"}"},
    {"lists one after another",
     "{\"kind\":\"List\",\"items\":[{\"kind\":\"A\"}]}\n{\"kind\":\"B\"}\n"
     "{\"kind\":\"List\",\"items\":[{\"kind\":\"C\"}]}",
     "1@24 {\"kind\":\"A\"}\n2@39 {\"kind\":\"B\"}\n3@76 {\"kind\":\"C\"}"},
    {"lists in lists",
     "{\"kind\":\"List\",\"items\":[{\"kind\":\"AList\",\"apiVersion\":\"v2\","
     "\"items\":[{\"x\":1},{\"kind\":\"B\"}]}]}",
     "1@67 {\"x\":1,\"apiVersion\":\"v2\",\"kind\":\"A\"}\n1@75 {\"kind\":\"B\"}"},
    {"a typed list",
     "{\"kind\":\"DeploymentList\",\"apiVersion\":\"apps/v1\",\"items\":[{\"a\":1},"
     "{\"kind\":\"B\"},{\"apiVersion\":null,\"kind\":null}]}",
     "1@57 {\"a\":1,\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\"}\n1@65 {\"kind\":\"B\"}\n"
     "1@78 {\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\"}"},
    {"a typed list with its kind at the end",
     "{\"apiVersion\":\"apps/v1\",\"items\":[{\"a\":1},{\"kind\":\"B\"}],"
     "\"kind\":\"DeploymentList\"}{\"kind\":\"C\"}",
     "1@41 {\"kind\":\"B\"}\n1@79 {\"kind\":\"C\"}\nagain\n"
     "1@33 {\"a\":1,\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\"}"},
    {"a typed list with its apiVersion at the end",
     "{\"kind\":\"AList\",\"items\":[{\"a\":1}],\"apiVersion\":\"v\"}",
     "\nagain\n1@25 {\"a\":1,\"apiVersion\":\"v\",\"kind\":\"A\"}"},
    {"a list without a type at the end", "{\"items\":[{\"a\":1},{\"b\":1}],\"kind\":\"List\"}",
     "1@0 {\"apiVersion\":\"\",\"kind\":\"\"}"},
    {"a list without a type at the start", "{\"kind\":\"List\",\"items\":[{\"a\":1},{\"b\":1}]}",
     "1@24 {\"a\":1,\"apiVersion\":\"\",\"kind\":\"\"}\n"
     "1@32 {\"b\":1,\"apiVersion\":\"\",\"kind\":\"\"}"},
    {"empty lists",
     "{\"kind\":\"List\",\"items\":[]}{\"kind\":\"AList\",\"items\":null}"
     "{\"kind\":\"AList\",\"metadata\":{}}",
     ""},
    {"a kind that ends in List", "{\"kind\":\"AccessList\",\"metadata\":{\"name\":\"x\"}}",
     "1@0 {\"kind\":\"AccessList\",\"metadata\":{\"name\":\"x\"}}"},
    {"items that are not an array", "{\"kind\":\"A\",\"items\":{\"a\":1}}",
     "1@0 {\"kind\":\"A\",\"items\":{\"a\":1}}"},
    {"items below the top level", "{\"kind\":\"A\",\"spec\":{\"items\":[1]}}",
     "1@0 {\"kind\":\"A\",\"spec\":{\"items\":[1]}}"},
    {"items that are not objects", "{\"kind\":\"List\",\"items\":[1,\"x\",null]}",
     "1@24 1\n1@26 \"x\"\n1@30 null"},
    {"an array", "[{\"kind\":\"A\"}]", "1@0 [{\"kind\":\"A\"}]"},

    {"no JSON at all", "hello", "1:1 not valid JSON: an object is expected here"},
    {"YAML", "\na: 1", "2:1 not valid JSON: an object is expected here"},
    {"text between documents", "{}\n {} x",
     "1@0 {}\n2@4 {}\n2:5 not valid JSON: an object is "
     "expected here"},
    {"a bracket too many", "{}}", "1@0 {}\n1:3 not valid JSON: an object is expected here"},
    {"a file that ends inside a document", "{}\n  {\"a\":",
     "1@0 {}\n2:3 not valid JSON: the file ends before this "
     "document does"},
    {"a file that ends inside a list", "{\"items\":[{\"kind\":\"A\"},",
     "1@10 {\"kind\":\"A\"}\n1:1 not valid JSON: the file ends before this document does"},
    {"a bad document", "\n  {\"a\":\n  x}", "3:3 not valid JSON:"},
    {"a bad item", "{\"items\":[\n{\"kind\":\"A\"},\n  {\"a\": x}]}",
     "2@11 {\"kind\":\"A\"}\n3:9 not valid JSON:"},
    {"a bad item of several lines", "{\"items\":[\n{\n\"a\":\n  x}]}", "4:3 not valid JSON:"},
    {"a bad end of a list", "\n{\"items\":[{\"kind\":\"A\"}], x}",
     "2@11 {\"kind\":\"A\"}\n2:1 not valid JSON:"},
    {"invalid UTF-8", "{\"a\":\"\xff\"}", "1:7 not valid JSON:"},
};

TEST_ROWS(objects_and_errors_do_not_depend_on_pieces, text_cases, name)
{
    const struct text_case *c = *state;

    for (size_t piece = 1; piece < 64; piece = piece * 2 + 1) {
        CLEANUP(free_cleanup) char *got = read_all(c->json, strlen(c->json), piece);

        /* The reason after the colon is tested with json_find_fault(). */
        if (*c->wanted && c->wanted[strlen(c->wanted) - 1] == ':')
            got[strnlen(got, strlen(c->wanted))] = '\0';
        assert_string_equal(got, c->wanted);
    }
}

TEST(a_nul_byte_is_an_error)
{
    static const char json[] = "{\"a\":\0 1}";
    CLEANUP(free_cleanup) char *got = read_all(json, sizeof(json) - 1, 100);

    assert_string_equal(got, "1:6 not valid JSON: a NUL byte");
}

static void append_item(struct strbuf *out, size_t fill)
{
    strbuf_adds(out, "{\"a\":\"");
    for (size_t i = 0; i < fill; i++)
        strbuf_addc(out, 'x');
    strbuf_adds(out, "\"}");
}

TEST(a_list_may_exceed_the_object_limit)
{
    CLEANUP(strbuf_release) struct strbuf json = STRBUF_INIT(1 << 20);
    size_t lines = 1;

    strbuf_adds(&json, "{\"kind\":\"List\",\"items\":[");
    for (unsigned i = 0; i < 100; i++) {
        strbuf_adds(&json, i > 0 ? ",\n" : "\n");
        append_item(&json, 1000);
    }
    strbuf_adds(&json, "]}");
    CLEANUP(free_cleanup) char *got = read_all(json.data, json.len, 777);
    for (const char *at = got; (at = strchr(at, '\n')); at++)
        lines++;
    assert_int_equal(lines, 100);
    assert_non_null(strstr(got, "\n101@"));
}

static void assert_too_large(const char *head, const char *tail, const char *wanted)
{
    CLEANUP(strbuf_release) struct strbuf json = STRBUF_INIT(1 << 20);

    strbuf_adds(&json, head);
    append_item(&json, OBJECT_MAX);
    strbuf_adds(&json, tail);
    for (size_t piece = 7; piece < 10000; piece *= 11) {
        CLEANUP(free_cleanup) char *got = read_all(json.data, json.len, piece);

        assert_string_equal(got, wanted);
    }
}

TEST(the_error_of_a_large_object_has_its_position)
{
    assert_too_large("\n  ", "", "2:3 the object is larger than 4096 bytes");
    assert_too_large("{\"items\":[\n  ", "]}", "2:3 the object is larger than 4096 bytes");
    assert_too_large("{\"items\":[1],\n\"metadata\":", "}",
                     "1@10 1\n1:1 the object is larger than 4096 bytes");
}

/* Appends a repeated key, as "line:column key", in a line of its own. */
static void append_repeated_key(void *context, const char *key, struct json_position where)
{
    struct strbuf *out = context;

    strbuf_addf(out, "%s%zu:%zu %s", out->len > 0 ? "\n" : "", where.line, where.column, key);
}

static const struct text_case repeated_cases[] = {
    {"two values", "{\"a\":1,\n\"b\":2,\n \"a\":3}", "3:2 a\n1@0 {\"b\":2,\"a\":3}"},
    {"three values", "\n {\"a\":1,\"a\":2,\"a\":3}", "2:9 a\n2:15 a\n2@2 {\"a\":3}"},
    {"deep values of all types",
     "{\"x\":[1,\"\\\"}\",{\"y\":null,\"z\":{},\"y\":[]}],\"t\":true, \"x\" : -1.5e3}",
     "1:32 y\n1:51 x\n1@0 {\"t\":true,\"x\":-1500}"},
    {"an escaped key", "{\"a\":1,\"\\u0061\":2}", "1:8 a\n1@0 {\"a\":2}"},
    {"items of a list", "{\"kind\":\"List\",\"items\":[\n{\"kind\":\"A\",\"kind\":\"B\"}]}",
     "2:13 kind\n2@25 {\"kind\":\"B\"}"},
    {"members of a list have its place",
     "\n{\"x\":1,\"items\":[{\"kind\":\"A\"}],\n\"x\":2,\"kind\":\"L\"}",
     "2@17 {\"kind\":\"A\"}\n2:1 x"},
};

TEST_ROWS(the_last_value_of_a_repeated_key_counts, repeated_cases, name)
{
    const struct text_case *c = *state;

    for (size_t piece = 1; piece <= strlen(c->json); piece++) {
        CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(1 << 20);
        struct json_file *f = json_file_new(OBJECT_MAX, append_object, &out);

        json_file_receive_repeated_keys(f, append_repeated_key, &out);
        assert_true(feed_all(f, c->json, strlen(c->json), piece, &out));
        assert_string_equal(out.data, c->wanted);
        json_file_free(f);
    }
}

static void count_repeated_key(void *context, const char *key, struct json_position where)
{
    struct json_position *last = context;

    assert_string_equal(key, "a");
    last->line++;
    last->column = where.column;
}

/* Counting each place from the start of the text would take minutes. */
TEST(places_of_many_repeated_keys_take_linear_time)
{
    CLEANUP(strbuf_release) struct strbuf json = STRBUF_INIT(8 << 20), out = STRBUF_INIT(8 << 20);
    struct json_file *f = json_file_new(8 << 20, append_object, &out);
    struct json_position last = {0, 0};

    strbuf_adds(&json, "{");
    for (unsigned i = 0; i < 500000; i++)
        strbuf_adds(&json, i > 0 ? ",\"a\":1" : "\"a\":1");
    strbuf_adds(&json, "}");
    json_file_receive_repeated_keys(f, count_repeated_key, &last);
    assert_true(feed_all(f, json.data, json.len, json.len, &out));
    assert_int_equal(last.line, 499999);
    assert_int_equal(last.column, 499999 * 6 + 2);
    json_file_free(f);
}

TEST(repeated_keys_among_many_are_found_in_time)
{
    CLEANUP(strbuf_release) struct strbuf json = STRBUF_INIT(8 << 20), out = STRBUF_INIT(8 << 20);
    struct json_file *f = json_file_new(8 << 20, append_object, &out);

    strbuf_adds(&json, "{");
    for (unsigned i = 0; i < 100000; i++)
        strbuf_addf(&json, "%s\"%u\":%u", i > 0 ? "," : "", i % 99999, i);
    strbuf_adds(&json, "}");
    assert_true(feed_all(f, json.data, json.len, json.len, &out));
    assert_null(strstr(out.data, "\"0\":0"));
    assert_non_null(strstr(out.data, "\"0\":99999}"));
    json_file_free(f);
}
