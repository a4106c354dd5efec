/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/decode.h"

#include <math.h>

#include "tests/unit/reading.h"
#include "tests/unit/suite.h"

/* Functions under test; read_as() writes their results as text. */
enum reader { OBJECT, ARRAY, TEXT, SHARED, INT, BOOL, TIME, REPLICAS, QUANTITY, TEXTS };

static struct decode_case {
    const char *name;
    enum reader reader;
    const char *json;
    const char *answer;
    const char *error;
} cases[] = {
    {"an object", OBJECT, "{'k':{}}", "found", NULL},
    {"no object", OBJECT, "{}", "NULL", NULL},
    {"null is no object", OBJECT, "{'k':null}", "NULL", NULL},
    {"an array is no object", OBJECT, "{'k':[]}", "NULL", "must be an object, found an array"},
    {"a text is no object", OBJECT, "{'k':''}", "NULL", "must be an object, found a string"},
    {"an array", ARRAY, "{'k':[]}", "found", NULL},
    {"null is no array", ARRAY, "{'k':null}", "NULL", NULL},
    {"an object is no array", ARRAY, "{'k':{}}", "NULL", "must be an array, found an object"},
    {"a text", TEXT, "{'k':'v'}", "v", NULL},
    {"an empty text is absent", TEXT, "{'k':''}", "NULL", NULL},
    {"keys are case-sensitive", TEXT, "{'K':'v'}", "NULL", NULL},
    {"a number is no text", TEXT, "{'k':1}", "NULL", "must be a string, found a number"},
    {"a boolean is no text", TEXT, "{'k':true}", "NULL", "must be a string, found a boolean"},
    {"a shared text", SHARED, "{'k':'v'}", "v", NULL},
    {"no shared text", SHARED, "{}", "NULL", NULL},
    {"a whole number", INT, "{'k':-3}", "-3", NULL},
    {"a whole number with a dot", INT, "{'k':3.0}", "3", NULL},
    {"the largest number", INT, "{'k':9007199254740992}", "9007199254740992", NULL},
    {"no number", INT, "{'k':null}", "7", NULL},
    {"a fraction", INT, "{'k':0.5}", "7", "must be a whole number of at most 2^53"},
    {"a number beyond 2^53", INT, "{'k':-1e300}", "7", "must be a whole number of at most 2^53"},
    {"a text is no number", INT, "{'k':'1'}", "7", "must be a whole number, found a string"},
    {"true", BOOL, "{'k':true}", "2", NULL},
    {"false", BOOL, "{'k':false}", "1", NULL},
    {"no boolean", BOOL, "{}", "0", NULL},
    {"null is no boolean", BOOL, "{'k':null}", "0", NULL},
    {"a text is no boolean", BOOL, "{'k':'true'}", "0", "must be a boolean, found a string"},
    {"a time", TIME, "{'k':'1970-01-01T00:00:02.5Z'}", "2500", NULL},
    {"no time", TIME, "{'k':null}", "0", NULL},
    {"an invalid time", TIME, "{'k':'yesterday'}", "0",
     "must be a time such as 2026-01-31T12:00:00Z"},
    {"a number is no time", TIME, "{'k':5}", "0", "must be a string, found a number"},
    {"replicas", REPLICAS, "{'k':2147483647}", "2147483647", NULL},
    {"no replicas", REPLICAS, "{}", "-1", NULL},
    {"negative replicas", REPLICAS, "{'k':-1}", "-1", "must be between 0 and 2147483647"},
    {"too many replicas", REPLICAS, "{'k':2147483648}", "-1", "must be between 0 and 2147483647"},
    {"a quantity", QUANTITY, "{'k':'1500m'}", "1.5", NULL},
    {"a quantity in binary", QUANTITY, "{'k':'1Ki'}", "1024", NULL},
    {"a quantity as a number", QUANTITY, "{'k':0.25}", "0.25", NULL},
    {"no quantity", QUANTITY, "{'k':null}", "0", NULL},
    {"a quantity with an unknown unit", QUANTITY, "{'k':'1 core'}", "0",
     "must be a quantity such as 500m or 1.5Gi"},
    {"an empty text is no quantity", QUANTITY, "{'k':''}", "0",
     "must be a quantity such as 500m or 1.5Gi"},
    {"a negative quantity", QUANTITY, "{'k':'-1m'}", "0",
     "must be a quantity of at least 0 within the supported range"},
    {"a negative number", QUANTITY, "{'k':-1}", "0",
     "must be a quantity of at least 0 within the supported range"},
    {"a quantity beyond all numbers", QUANTITY, "{'k':'1e999'}", "0",
     "must be a quantity of at least 0 within the supported range"},
    {"a boolean is no quantity", QUANTITY, "{'k':false}", "0",
     "must be a quantity, found a boolean"},
    {"texts", TEXTS, "{'k':['b','','a',null]}", "b,,a,,", NULL},
    {"no texts", TEXTS, "{'k':[]}", "NULL", NULL},
    {"a number among texts", TEXTS, "{'k':['b',1]}", "b,", "must be an array of strings"},
    {"no array of texts", TEXTS, "{'k':'b'}", "NULL", "must be an array, found a string"},
};

static void read_texts(struct reading *r, const cJSON *json, struct strbuf *out)
{
    uint32_t count = 99;
    const char **texts = decode_texts(&r->decode, json, "p", "k", &count);

    for (uint32_t i = 0; i < count; i++)
        strbuf_addf(out, "%s,", texts[i]);
    if (!texts)
        strbuf_adds(out, "NULL");
    decode_texts_release(r->strings, texts, count);
}

static void read_as(struct reading *r, const cJSON *json, enum reader reader, struct strbuf *out)
{
    struct decode *d = &r->decode;
    const char *shared = reader == SHARED ? decode_interned(d, json, "p", "k") : NULL;
    const char *text = reader == TEXT ? decode_text(d, json, "p", "k") : shared;

    switch (reader) {
    case OBJECT:
        strbuf_adds(out, decode_object(d, json, "p", "k") ? "found" : "NULL");
        break;
    case ARRAY:
        strbuf_adds(out, decode_array(d, json, "p", "k") ? "found" : "NULL");
        break;
    case TEXT:
    case SHARED:
        strbuf_adds(out, text ? text : "NULL");
        break;
    case INT:
        strbuf_addf(out, "%" PRId64, decode_int(d, json, "p", "k", 7));
        break;
    case BOOL:
        strbuf_addf(out, "%d", (int)decode_bool(d, json, "p", "k"));
        break;
    case TIME:
        strbuf_addf(out, "%" PRId64, decode_time(d, json, "p", "k"));
        break;
    case REPLICAS:
        strbuf_addf(out, "%" PRId32, decode_replicas(d, json, "p", "k", -1));
        break;
    case QUANTITY:
        strbuf_addf(out, "%g", decode_quantity(d, json->child, "p"));
        break;
    case TEXTS:
        read_texts(r, json, out);
        break;
    }
    intern_drop(r->strings, shared);
}

TEST_ROWS(value_is_decoded, cases, name)
{
    const struct decode_case *c = *state;
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup) cJSON *json = json_of(c->json);
    CLEANUP(strbuf_release) struct strbuf answer = STRBUF_INIT(256);
    char error[256] = "";

    reading_init(&r);
    read_as(&r, json, c->reader, &answer);
    assert_string_equal(answer.data, c->answer);
    assert_int_equal(r.decode.failed, c->error != NULL);
    if (c->error)
        snprintf(error, sizeof(error), "'p.k' %s", c->error);
    assert_string_equal(r.err.text, error);
}

TEST(only_the_first_error_is_kept)
{
    CLEANUP(reading_release) struct reading r;

    reading_init(&r);
    decode_fail(&r.decode, "spec", "a", "is the first");
    decode_fail(&r.decode, "spec", "b", "is the second");
    assert_string_equal(r.err.text, "'spec.a' is the first");
}

TEST(empty_parts_of_a_path_are_omitted)
{
    static const struct {
        const char *prefix;
        const char *path;
        const char *key;
        const char *text;
    } rows[] = {
        {NULL, "", "metadata", "'metadata' x"},
        {NULL, "spec", "a", "'spec.a' x"},
        {NULL, "spec.list[]", "", "'spec.list[]' x"},
        {"spec.list[]", "", "", "'spec.list[]' x"},
        {"spec.list[]", "", "a", "'spec.list[].a' x"},
        {"spec.list[]", "a", "b", "'spec.list[].a.b' x"},
        {"spec.list[]", "a", "", "'spec.list[].a' x"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct error err;
        struct decode d = {.err = &err, .prefix = rows[i].prefix};

        decode_fail(&d, rows[i].path, rows[i].key, "x");
        assert_string_equal(err.text, rows[i].text);
    }
}

TEST(list_elements_are_objects_or_null)
{
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup) cJSON *json = json_of("[{},null,[]]");

    reading_init(&r);
    decode_check_element(&r.decode, cJSON_GetArrayItem(json, 0), "list[]");
    decode_check_element(&r.decode, cJSON_GetArrayItem(json, 1), "list[]");
    assert_false(r.decode.failed);
    decode_check_element(&r.decode, cJSON_GetArrayItem(json, 2), "list[]");
    assert_string_equal(r.err.text, "'list[]' must be an object, found an array");
}

TEST(deletion_at_the_epoch_counts_as_deletion)
{
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup) cJSON *dying = json_of("{'deletionTimestamp':'1970-01-01T00:00:00Z'}");
    CLEANUP(json_cleanup) cJSON *alive = json_of("{'deletionTimestamp':null}");
    CLEANUP(json_cleanup) cJSON *wrong = json_of("{'deletionTimestamp':'soon'}");

    reading_init(&r);
    assert_true(decode_is_deleting(&r.decode, dying));
    assert_false(decode_is_deleting(&r.decode, alive));
    assert_false(r.decode.failed);
    decode_is_deleting(&r.decode, wrong);
    assert_true(r.decode.failed);
}

/* Block of two members; each block owns a reference of the text. */
struct pair {
    const char *text;
    uint64_t number;
};

static const struct pair *add_pair(struct intern *strings, const char *text, uint64_t number)
{
    const struct pair pair = {intern_add(strings, text), number};
    bool added;
    const struct pair *block = intern_add_block(strings, &pair, sizeof(pair), &added);

    if (!added)
        intern_drop(strings, pair.text);
    return block;
}

static void drop_pair(struct intern *strings, const struct pair *pair)
{
    if (intern_has_one_reference(pair))
        intern_drop(strings, pair->text);
    intern_drop(strings, pair);
}

TEST(equal_blocks_are_one)
{
    struct intern *strings = intern_new(1);
    const struct pair *one = add_pair(strings, "a", 1), *two = add_pair(strings, "a", 1);
    const struct pair *other = add_pair(strings, "a", 2);

    assert_ptr_equal(one, two);
    assert_ptr_not_equal(one, other);
    assert_int_equal((uintptr_t)one % 8, 0);
    assert_int_equal(intern_len(one), sizeof(*one));
    assert_int_equal(intern_count(strings), 3);
    drop_pair(strings, one);
    assert_string_equal(two->text, "a");
    drop_pair(strings, two);
    assert_int_equal(intern_count(strings), 2);
    assert_string_equal(other->text, "a");
    drop_pair(strings, other);
    assert_int_equal(intern_count(strings), 0);
    intern_free(strings);
}

/* Their references are counted apart, because only one of them may have members to drop. */
TEST(block_and_string_of_equal_bytes_differ)
{
    struct intern *strings = intern_new(1);
    bool added;
    const char *text = intern_add(strings, "12345678");
    const char *block = intern_add_block(strings, "12345678", 8, &added);

    assert_true(added);
    assert_ptr_not_equal(text, block);
    intern_drop(strings, block);
    assert_string_equal(intern_find(strings, "12345678"), "12345678");
    intern_drop(strings, text);
    assert_int_equal(intern_count(strings), 0);
    intern_free(strings);
}

/* Lengths around the limit between the pool of small cells and malloc(). */
TEST(strings_of_any_length_are_interned)
{
    struct intern *strings = intern_new(1);
    CLEANUP(free_cleanup) char *text = xmalloc(20001);

    memset(text, 'x', 20000);
    text[20000] = '\0';
    for (size_t len = 4090; len <= 20000; len += len < 4102 ? 1 : 15898) {
        const char *one = intern_add_len(strings, text, len);
        const char *two = intern_add_len(strings, text, len);

        assert_ptr_equal(one, two);
        assert_int_equal(strlen(one), len);
        intern_drop(strings, one);
        assert_int_equal(intern_count(strings), 1);
        intern_drop(strings, two);
        assert_int_equal(intern_count(strings), 0);
    }
    intern_free(strings);
}
