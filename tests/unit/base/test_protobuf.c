/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/protobuf.h"

#include "tests/unit/suite.h"

enum { TEXT_MAX = 1 << 16 };

static const struct protobuf_field leaf_fields[] = {
    [1] = {.key = "a", .type = PROTOBUF_TEXT},
};
static const struct protobuf_message leaf = {leaf_fields, ARRAY_LEN(leaf_fields)};

/* Writes the number of bytes, which must be below 3. */
static bool write_length(const char *bytes, size_t len, struct strbuf *out, struct error *err)
{
    snprintf(err->text, sizeof(err->text), "'%.*s' is long", (int)len, bytes);
    strbuf_addf(out, "%zu", len);
    if (len < 3)
        err->text[0] = '\0';
    return len < 3;
}

static const struct protobuf_field fields[] = {
    [1] = {.key = "text", .type = PROTOBUF_TEXT},
    [2] = {.key = "int", .type = PROTOBUF_INT},
    [3] = {.key = "bool", .type = PROTOBUF_BOOL},
    [4] = {.key = "time", .type = PROTOBUF_TIME},
    [5] = {.key = "json", .type = PROTOBUF_JSON},
    [6] = {.key = "leaf", .type = PROTOBUF_MESSAGE, .message = &leaf},
    [7] = {"leaves", PROTOBUF_MESSAGE, PROTOBUF_ARRAY, &leaf, NULL},
    [8] = {.key = "map", .type = PROTOBUF_TEXT, .repeat = PROTOBUF_MAP},
    [10] = {.key = "texts", .type = PROTOBUF_TEXT, .repeat = PROTOBUF_ARRAY},
    [11] = {.key = "other", .type = PROTOBUF_OTHER, .write = write_length},
};
static const struct protobuf_message message = {fields, ARRAY_LEN(fields)};

#define BYTES(text) text, sizeof(text) - 1

static const struct message_case {
    const char *name;
    const char *bytes;
    size_t len;
    const char *json;
    const char *error; /* NULL: the message is valid. */
} messages[] = {
    {"empty", BYTES(""), "{}", NULL},
    {"text", BYTES("\x0a\x02hi"), "{\"text\":\"hi\"}", NULL},
    {"text with characters to escape", BYTES("\x0a\x07\"\\\n\0\x7f\xc3\xbc"),
     "{\"text\":\"\\u0022\\u005c\\u000a\\u0000\x7f\xc3\xbc\"}", NULL},
    {"empty text and number", BYTES("\x0a\x00\x10\x00"), "{}", NULL},
    {"numbers", BYTES("\x10\xac\x02\x18\x01"), "{\"int\":300,\"bool\":true}", NULL},
    {"a negative number and false", BYTES("\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x18\x00"),
     "{\"int\":-1,\"bool\":false}", NULL},
    {"time", BYTES("\x22\x08\x08\xdd\xfb\xac\xd8\x06\x10\x00"),
     "{\"time\":\"2026-11-28T20:47:25Z\"}", NULL},
    {"time 0 and no time", BYTES("\x22\x02\x08\x00"), "{\"time\":\"1970-01-01T00:00:00Z\"}", NULL},
    {"no time", BYTES("\x22\x00"), "{}", NULL},
    {"time before the epoch", BYTES("\x22\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
     "{\"time\":\"1969-12-31T23:59:59Z\"}", NULL},
    {"time out of range", BYTES("\x22\x0a\x08\xff\xff\xff\xff\xff\xff\xff\xff\x7f"),
     "{\"time\":", "not valid protobuf: a time is out of range"},
    {"JSON", BYTES("\x2a\x04\x0a\x02{}"), "{\"json\":{}}", NULL},
    {"empty JSON", BYTES("\x2a\x00"), "{\"json\":null}", NULL},
    {"messages", BYTES("\x32\x00\x3a\x03\x0a\x01x\x3a\x00"),
     "{\"leaf\":{},\"leaves\":[{\"a\":\"x\"},{}]}", NULL},
    {"map", BYTES("\x42\x06\x0a\x01k\x12\x01v\x42\x03\x0a\x01l\x42\x00"),
     "{\"map\":{\"k\":\"v\",\"l\":\"\",\"\":\"\"}}", NULL},
    {"texts between other fields", BYTES("\x10\x01\x52\x01x\x52\x00\x0a\x01y"),
     "{\"int\":1,\"texts\":[\"x\",\"\"],\"text\":\"y\"}", NULL},
    {"other bytes", BYTES("\x5a\x02xy"), "{\"other\":2}", NULL},
    {"other bytes that are invalid", BYTES("\x5a\x03xyz"), "{\"other\":3", "'xyz' is long"},
    {"unknown fields", BYTES("\x4a\x01x\x61\1\2\3\4\5\6\7\1\x6d\1\2\3\4\x82\x80\x04\x00\x10\x01"),
     "{\"int\":1}", NULL},
    {"a field at two places", BYTES("\x10\x01\x10\x02"), "{\"int\":1",
     "not valid protobuf: 'int' is at two places"},
    {"a repeated field at two places", BYTES("\x52\x01x\x10\x02\x52\x01y"),
     "{\"texts\":[\"x\"],\"int\":2", "not valid protobuf: 'texts' is at two places"},
    {"a text as number", BYTES("\x08\x01"), "", "not valid protobuf: 'text' has another type"},
    {"a number as text", BYTES("\x12\x01x"), "", "not valid protobuf: 'int' has another type"},
    {"a cut text", BYTES("\x10\x01\x0a\x05hi"), "{\"int\":1",
     "not valid protobuf: the message is cut"},
    {"a cut message with a whole text", BYTES("\x32\x09\x0a\x02hi"), "{\"leaf\":{\"a\":\"hi\"",
     "not valid protobuf: the message is cut"},
    {"a cut message with a cut text", BYTES("\x32\x09\x0a\x03hi"),
     "{\"leaf\":", "not valid protobuf: the message is cut"},
    {"a cut element", BYTES("\x3a\x09\x0a\x02hi"), "", "not valid protobuf: the message is cut"},
    {"a cut fixed number", BYTES("\x61\1\2\3"), "", "not valid protobuf: the message is cut"},
    {"a cut tag", BYTES("\x80"), "", "not valid protobuf: the message is cut"},
    {"a length above the bytes", BYTES("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01x"), "",
     "not valid protobuf: the message is cut"},
    {"a group", BYTES("\x0b\x0c"), "", "not valid protobuf: a tag or number is invalid"},
    {"field 0", BYTES("\x02\x00"), "", "not valid protobuf: a tag or number is invalid"},
    {"a number above 64 bits", BYTES("\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"), "",
     "not valid protobuf: a tag or number is invalid"},
    {"a number of eleven bytes", BYTES("\x10\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00"), "",
     "not valid protobuf: a tag or number is invalid"},
    {"a tag above 32 bits", BYTES("\x80\x80\x80\x80\x80\x01\x00"), "",
     "not valid protobuf: a tag or number is invalid"},
};

TEST_ROWS(message_is_converted_to_json, messages, name)
{
    const struct message_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);
    /* A copy without a NUL at the end, so that AddressSanitizer detects reads behind it. */
    CLEANUP(free_cleanup) char *bytes = xmalloc(c->len + 1);
    struct error err = {""};

    memcpy(bytes + 1, c->bytes, c->len);
    assert_int_equal(protobuf_write_object(&message, bytes + 1, c->len, &text, &err), !c->error);
    assert_string_equal(text.data, c->json);
    assert_string_equal(err.text, c->error ? c->error : "");
}

TEST(members_follow_earlier_members)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);
    struct error err;

    assert_int_equal(protobuf_write_members(&message, "\x10\x01", 2, '{', &text, &err), ',');
    assert_int_equal(protobuf_write_members(&message, "", 0, ',', &text, &err), ',');
    assert_int_equal(protobuf_write_members(&message, "\x18\x01", 2, ',', &text, &err), ',');
    protobuf_end_object(',', &text);
    assert_string_equal(text.data, "{\"int\":1,\"bool\":true}");
}

/* Each beginning of a message is invalid or another message; the text then is shorter. */
TEST(beginnings_of_a_message_are_converted_in_part)
{
    static const char bytes[] = "\x0a\x02hi\x10\xac\x02\x32\x03\x0a\x01x\x42\x06\x0a\x01k\x12\x01v";
    static const char json[] =
        "{\"text\":\"hi\",\"int\":300,\"leaf\":{\"a\":\"x\"},\"map\":{\"k\":\"v\"}}";

    for (size_t len = 0; len < sizeof(bytes); len++) {
        CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);
        struct error err;

        if (protobuf_write_object(&message, bytes, len, &text, &err))
            strbuf_cut(&text, text.len - 1);
        assert_true(len == 0 || memcmp(json, text.data, text.len) == 0);
        if (len == sizeof(bytes) - 1)
            assert_int_equal(text.len, sizeof(json) - 2);
    }
}
