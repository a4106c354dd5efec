/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/json_frame.h"

#include "metrics/base/json.h"
#include "tests/unit/suite.h"

enum { LOG_MAX = 1 << 20 };

/* Objects as lines "<offset>:<object>"; record_object() may reject one of them. */
struct recorder {
    struct strbuf log;
    const struct json_frame *frame; /* For record_at_start(). */
    unsigned count;
    unsigned at_start; /* Objects that record_at_start() has recorded. */
    unsigned stop_at;  /* Number of the object to reject, from 1; 0 to accept all objects. */
};

static bool record_object(void *context, const char *json, size_t len, size_t offset)
{
    struct recorder *r = context;

    assert_true(json[len] == '\0');
    strbuf_addf(&r->log, "%zu:", offset);
    strbuf_add(&r->log, json, len);
    strbuf_addc(&r->log, '\n');
    return ++r->count != r->stop_at;
}

/* Records the object at the start of a text if it is complete and valid. */
static size_t record_at_start(void *context, const char *json, size_t len, bool *stopped)
{
    struct recorder *r = context;
    const char *end;

    assert_true(json[0] == '{' && json[len] == '\0');
    end = json_skip_value(json, json + len, JSON_DEPTH_MAX);
    if (!end)
        return 0;

    CLEANUP(free_cleanup) char *object = xmemdup0(json, (size_t)(end - json));

    r->at_start++;
    *stopped = !record_object(r, object, (size_t)(end - json), r->frame->object_start);
    return (size_t)(end - json);
}

struct outcome {
    struct recorder recorder;
    struct strbuf rest;
    struct error err;
    bool fine;
    bool complete;
};

static void outcome_release(struct outcome *o)
{
    strbuf_release(&o->recorder.log);
    strbuf_release(&o->rest);
}

struct run {
    enum json_frame_mode mode;
    const char *input;
    size_t len;
    size_t max;
    unsigned stop_at;
    bool at_start; /* With on_start. */
};

/* Feeds the input of `run` in pieces of `step` bytes. */
static void run_in_pieces(const struct run *run, size_t step, struct outcome *out)
{
    struct json_frame f;

    *out = (struct outcome){
        .recorder = {.log = STRBUF_INIT(LOG_MAX), .stop_at = run->stop_at},
        .rest = STRBUF_INIT(LOG_MAX),
        .fine = true,
    };
    json_frame_init(&f, run->mode, run->max, record_object, &out->recorder);
    out->recorder.frame = &f;
    f.on_start = run->at_start ? record_at_start : NULL;
    for (size_t at = 0; at < run->len && out->fine; at += step) {
        size_t left = run->len - at;

        out->fine = json_frame_feed(&f, run->input + at, left < step ? left : step, &out->err);
    }
    out->complete = json_frame_is_complete(&f);
    strbuf_add(&out->rest, f.rest.data, f.rest.len);
    json_frame_release(&f);
}

static struct frame_case {
    const char *name;
    enum json_frame_mode mode;
    const char *input;
    const char *log;
    const char *rest;
    bool incomplete;
} frame_cases[] = {
    {"no events", JSON_FRAME_EVENTS, "", "", "", false},
    {"one event", JSON_FRAME_EVENTS, "{\"a\":1}", "0:{\"a\":1}\n", "", false},
    {"events by line", JSON_FRAME_EVENTS, "{\"a\":1}\n{\"b\":[{}]}\r\n",
     "0:{\"a\":1}\n8:{\"b\":[{}]}\n", "", false},
    {"events without line breaks", JSON_FRAME_EVENTS, "{}{}[1]", "0:{}\n2:{}\n4:[1]\n", "", false},
    {"an incomplete event", JSON_FRAME_EVENTS, "{}\n{\"a\":", "0:{}\n", "", true},
    {"brackets in strings", JSON_FRAME_EVENTS, "{\"}{\":\"]\\\"}[\\\\\"}{}",
     "0:{\"}{\":\"]\\\"}[\\\\\"}\n16:{}\n", "", false},
    {"a string longer than a word", JSON_FRAME_EVENTS,
     "{\"k\":\"0123456789012345678901234567890123456789\\\"}\"}",
     "0:{\"k\":\"0123456789012345678901234567890123456789\\\"}\"}\n", "", false},
    {"words, numbers and strings count as objects", JSON_FRAME_EVENTS,
     "Internal error\n{} 12 \"a }\" ]\n", "0:Internal\n9:error\n15:{}\n18:12\n21:\"a }\"\n27:]\n",
     "", false},
    {"a word at the end of the stream", JSON_FRAME_EVENTS, "{} tru", "0:{}\n", "", true},
    {"a word right before an object", JSON_FRAME_EVENTS, "x{}", "0:x\n1:{}\n", "", false},
    {"\"items\" in an event", JSON_FRAME_EVENTS, "{\"items\":[{},{}]}", "0:{\"items\":[{},{}]}\n",
     "", false},

    {"an empty list", JSON_FRAME_LIST, "{\"items\":[]}", "", "{\"items\":[]}", false},
    {"a list", JSON_FRAME_LIST,
     "{\"kind\":\"List\",\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[{\"a\":1},{\"b\":2}]}",
     "59:{\"a\":1}\n67:{\"b\":2}\n",
     "{\"kind\":\"List\",\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[]}", false},
    {"a list with white space", JSON_FRAME_LIST, "{ \"items\" : [ {} ,\n {} ] , \"x\" : 1 }\n",
     "14:{}\n20:{}\n", "{ \"items\" : [] , \"x\" : 1 }\n", false},
    {"members after the items", JSON_FRAME_LIST, "{\"items\":[{}],\"m\":[1,2]}", "10:{}\n",
     "{\"items\":[],\"m\":[1,2]}", false},
    {"only the top-level \"items\" is emptied", JSON_FRAME_LIST,
     "{\"x\":{\"items\":[{}]},\"y\":[{\"items\":[1]}],\"items\":[{\"items\":[2]}]}",
     "49:{\"items\":[2]}\n", "{\"x\":{\"items\":[{}]},\"y\":[{\"items\":[1]}],\"items\":[]}",
     false},
    {"\"items\" as a value", JSON_FRAME_LIST, "{\"kind\":\"items\",\"a\":[{}]}", "",
     "{\"kind\":\"items\",\"a\":[{}]}", false},
    {"keys that resemble \"items\"", JSON_FRAME_LIST,
     "{\"item\":[1],\"itemss\":[2],\"Items\":[3],\"it\\u0065ms\":[4],\"\":[5]}", "",
     "{\"item\":[1],\"itemss\":[2],\"Items\":[3],\"it\\u0065ms\":[4],\"\":[5]}", false},
    {"items that are not an array", JSON_FRAME_LIST, "{\"items\":{\"a\":[{}]}}", "",
     "{\"items\":{\"a\":[{}]}}", false},
    {"items that are null", JSON_FRAME_LIST, "{\"items\":null,\"a\":[{}]}", "",
     "{\"items\":null,\"a\":[{}]}", false},
    {"items that are not objects", JSON_FRAME_LIST, "{\"items\":[1,\"a,]\",null,[2,3] ]}",
     "10:1\n12:\"a,]\"\n18:null\n23:[2,3]\n", "{\"items\":[]}", false},
    {"a list that ends inside an item", JSON_FRAME_LIST, "{\"items\":[{\"a\":", "", "{\"items\":[",
     true},
    {"a list that ends between items", JSON_FRAME_LIST, "{\"items\":[{},", "10:{}\n",
     "{\"items\":[", true},
    {"a list that ends after its items", JSON_FRAME_LIST, "{\"items\":[],\"m", "",
     "{\"items\":[],\"m", true},
    {"a status instead of a list", JSON_FRAME_LIST, "{\"kind\":\"Status\",\"code\":410}", "",
     "{\"kind\":\"Status\",\"code\":410}", false},
    {"text instead of a list", JSON_FRAME_LIST, "404 not found ]}\n", "", "404 not found ]}\n",
     false},
};

static void check_frame_case(const struct frame_case *c, size_t step, bool at_start)
{
    const struct run run = {c->mode, c->input, strlen(c->input), 4096, 0, at_start};
    CLEANUP(outcome_release) struct outcome o;

    run_in_pieces(&run, step, &o);
    assert_true(o.fine);
    assert_string_equal(o.recorder.log.data, c->log);
    assert_string_equal(o.rest.data, c->rest);
    assert_int_equal(o.complete, !c->incomplete);
}

/* Feeds the input in one piece, and in pieces of each size. */
TEST_ROWS(stream_is_framed, frame_cases, name)
{
    const struct frame_case *c = *state;

    for (int at_start = 0; at_start < 2; at_start++) {
        check_frame_case(c, SIZE_MAX / 2, at_start);
        for (size_t step = 1; step <= strlen(c->input); step++)
            check_frame_case(c, step, at_start);
    }
}

/* Checks that pieces of 1 to 20 bytes have the same outcome as the whole input without on_start. */
static void check_piece_sizes(const struct run *run)
{
    CLEANUP(outcome_release) struct outcome whole;

    run_in_pieces(run, run->len > 0 ? run->len : 1, &whole);
    for (size_t step = 1; step <= 20; step++) {
        CLEANUP(outcome_release) struct outcome pieces;
        struct run in_pieces = *run;

        in_pieces.at_start = step % 2 == 0;
        run_in_pieces(&in_pieces, step, &pieces);
        assert_string_equal(pieces.recorder.log.data, whole.recorder.log.data);
        assert_int_equal(pieces.fine, whole.fine);
        if (whole.fine) {
            assert_string_equal(pieces.rest.data, whole.rest.data);
            assert_int_equal(pieces.complete, whole.complete);
        }
    }
}

TEST(outcome_does_not_depend_on_the_size_of_pieces)
{
    static const char *const words[] = {
        "{",  "}",     "[", "]",         "\"",   "\\", ",",    ":",           " ",
        "\n", "items", "1", "\"items\"", "\\\"", "{}", "true", "\"items\":[", "[{},{}]"};
    uint64_t random = 42;

    for (unsigned round = 0; round < 3000; round++) {
        CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(4096);

        strbuf_adds(&text, round % 3 == 0 ? "{\"items\":[" : "");
        for (unsigned i = 0; i < 40; i++) {
            random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            strbuf_adds(&text, words[(random >> 40) % ARRAY_LEN(words)]);
        }
        check_piece_sizes(&(struct run){JSON_FRAME_EVENTS, text.data, text.len, 4096, 0, false});
        check_piece_sizes(&(struct run){JSON_FRAME_LIST, text.data, text.len, 4096, 0, false});
        check_piece_sizes(&(struct run){JSON_FRAME_EVENTS, text.data, text.len, 9, 0, false});
        check_piece_sizes(&(struct run){JSON_FRAME_LIST, text.data, text.len, 24, 0, false});
        check_piece_sizes(&(struct run){JSON_FRAME_LIST, text.data, text.len, 4096, 2, false});
    }
}

TEST(object_above_the_maximum_is_an_error)
{
    const struct run fits = {JSON_FRAME_EVENTS, "{\"a\":1}{\"a\":2}", 14, 7, 0, false};
    const struct run too_large = {JSON_FRAME_EVENTS, "{}{\"a\":12}{}", 12, 7, 0, false};
    CLEANUP(outcome_release) struct outcome o;
    CLEANUP(outcome_release) struct outcome p;

    run_in_pieces(&fits, 3, &o);
    assert_true(o.fine);
    assert_int_equal(o.recorder.count, 2);
    run_in_pieces(&too_large, 100, &p);
    assert_false(p.fine);
    assert_string_equal(p.recorder.log.data, "0:{}\n");
    assert_string_equal(p.err.text, "the object at byte 2 is larger than 7 bytes");
}

TEST(list_without_its_items_has_the_same_maximum)
{
    const char *list = "{\"metadata\":{\"a\":\"b\"},\"items\":[{}]}";
    const struct run run = {JSON_FRAME_LIST, list, strlen(list), 20, 0, false};
    CLEANUP(outcome_release) struct outcome o;

    run_in_pieces(&run, 100, &o);
    assert_false(o.fine);
    assert_int_equal(o.recorder.count, 0);
    assert_non_null(strstr(o.err.text, "not counting its items, is larger than 20 bytes"));
}

TEST(endless_object_buffers_at_most_the_maximum)
{
    struct recorder recorder = {.log = STRBUF_INIT(LOG_MAX)};
    struct json_frame f;
    struct error err;

    json_frame_init(&f, JSON_FRAME_EVENTS, 1000, record_object, &recorder);
    bool fine = json_frame_feed(&f, "{\"a\":\"", 6, &err);
    for (unsigned i = 0; i < 10000 && fine; i++) {
        fine = json_frame_feed(&f, "xxxxxxxx", 8, &err);
        assert_true(f.object.cap <= 1001);
    }
    assert_false(fine);
    assert_false(json_frame_is_complete(&f));
    json_frame_release(&f);
}

struct cuts {
    struct json_frame frame;
    struct strbuf log;
};

static bool log_object(void *context, const char *json, size_t len, size_t offset)
{
    struct cuts *c = context;

    strbuf_addf(&c->log, "%zu:%.*s%s\n", offset, (int)len, json, c->frame.cut ? "..." : "");
    return true;
}

/* Feeds the input in pieces of each size. */
TEST(objects_above_the_maximum_are_cut_with_cuts_large)
{
    static const struct {
        enum json_frame_mode mode;
        const char *text;
        const char *log;
    } rows[] = {
        {JSON_FRAME_EVENTS, "{}{\"a\":12345678}{\"a\":3}", "0:{}\n2:{\"a\":12...\n16:{\"a\":3}\n"},
        {JSON_FRAME_LIST, "{\"items\":[{},{\"a\":[\"}\",{}]},1]}",
         "10:{}\n13:{\"a\":[\"...\n28:1\n"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        size_t len = strlen(rows[i].text);

        for (size_t step = 1; step <= len; step++) {
            struct cuts c = {.log = STRBUF_INIT(LOG_MAX)};
            struct error err;

            json_frame_init(&c.frame, rows[i].mode, 7, log_object, &c);
            c.frame.rest.max = 100;
            c.frame.cuts_large = true;
            for (size_t at = 0; at < len; at += step)
                assert_true(json_frame_feed(&c.frame, rows[i].text + at,
                                            len - at < step ? len - at : step, &err));
            assert_string_equal(c.log.data, rows[i].log);
            assert_true(json_frame_is_complete(&c.frame));
            json_frame_release(&c.frame);
            strbuf_release(&c.log);
        }
    }
}

TEST(on_start_receives_objects_that_may_be_complete)
{
    struct recorder recorder = {.log = STRBUF_INIT(LOG_MAX)};
    struct json_frame f;
    struct error err;

    json_frame_init(&f, JSON_FRAME_EVENTS, 100, record_object, &recorder);
    recorder.frame = &f;
    f.on_start = record_at_start;
    assert_true(json_frame_feed(&f, "{\"a\":1}{}", 9, &err));
    assert_int_equal(recorder.count, 2);
    assert_int_equal(recorder.at_start, 1);
    assert_true(json_frame_feed(&f, "{}{\"a\"", 6, &err));
    assert_int_equal(recorder.at_start, 2);
    assert_true(json_frame_feed(&f, ":1}", 3, &err));
    assert_int_equal(recorder.count, 4);
    assert_string_equal(recorder.log.data, "0:{\"a\":1}\n7:{}\n9:{}\n11:{\"a\":1}\n");
    json_frame_release(&f);
    strbuf_release(&recorder.log);
}

TEST(all_calls_after_a_failure_fail)
{
    struct recorder recorder = {.log = STRBUF_INIT(LOG_MAX), .stop_at = 2};
    struct json_frame f;
    struct error err = {"the reason of on_object"};

    json_frame_init(&f, JSON_FRAME_EVENTS, 100, record_object, &recorder);
    assert_true(json_frame_feed(&f, "{}", 2, &err));
    assert_false(json_frame_feed(&f, "{}{}", 4, &err));
    assert_string_equal(err.text, "the reason of on_object");
    assert_int_equal(recorder.count, 2);
    assert_false(json_frame_feed(&f, "{}", 2, &err));
    assert_int_equal(recorder.count, 2);
    json_frame_release(&f);
    strbuf_release(&recorder.log);
}

TEST(list_without_its_items_is_valid_json)
{
    const char *list = "{\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[{\"a\":[1]},{}]}";
    const struct run run = {JSON_FRAME_LIST, list, strlen(list), 4096, 0, false};
    CLEANUP(outcome_release) struct outcome o;
    struct error err;

    run_in_pieces(&run, 5, &o);
    CLEANUP(json_cleanup) cJSON *tree = json_parse(o.rest.data, o.rest.len, NULL, &err);
    assert_string_equal(json_str(json_get(tree, "metadata"), "resourceVersion", ""), "7");
    assert_int_equal(cJSON_GetArraySize(json_get(tree, "items")), 0);
}
