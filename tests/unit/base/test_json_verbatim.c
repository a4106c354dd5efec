/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/json_verbatim.h"

#include "metrics/base/strbuf.h"

#include "tests/unit/suite.h"

static const struct text_row {
    const char *title, *text;
    const char *written; /* NULL: the text is refused. */
} rows[] = {
    {"white space", " { \"a\" : [ 1 , true ] }\n", "{\"a\":[1,true]}"},
    {"numbers keep their spelling", "[1.0,1e3,-0,12345678901234567890]",
     "[1.0,1e3,-0,12345678901234567890]"},
    {"texts keep their spelling", "[\"\\u00e9\\/\"]", "[\"\\u00e9\\/\"]"},
    {"characters that Go escapes", "[\"<a>&\"]", "[\"\\u003ca\\u003e\\u0026\"]"},
    {"line separators", "[\"\xe2\x80\xa8\"]", "[\"\\u2028\"]"},
    {"null", "{\"a\":null}", "{\"a\":null}"},
    {"empty containers", "[{},[]]", "[{},[]]"},
    {"the last of equal keys", "{\"a\":1,\"a\":2}", "{\"a\":2}"},
    {"equal keys apart", "{\"a\":1,\"b\":3,\"a\":2,\"a\":4}", "{\"b\":3,\"a\":4}"},
    {"a leading zero", "[01]", NULL},
    {"a number without digits", "[-]", NULL},
    {"a fraction without digits", "[1.]", NULL},
    {"a comma at the end", "[1,]", NULL},
    {"a missing bracket", "[1", NULL},
    {"a control character", "[\"\t\"]", NULL},
    {"an unknown escape", "[\"\\x\"]", NULL},
    {"text behind the value", "{} x", NULL},
    {"nothing", "", NULL},
    {"a key that is no text", "{a:1}", NULL},
};

TEST_ROWS(a_text_is_written_as_it_was, rows, title)
{
    const struct text_row *row = *state;
    struct error err = {""};
    CLEANUP(json_cleanup) cJSON *tree = json_verbatim_parse(row->text, &err);
    CLEANUP(free_cleanup) char *written = tree ? json_verbatim_write(tree) : NULL;

    assert_int_equal(tree != NULL, row->written != NULL);
    if (row->written)
        assert_string_equal(written, row->written);
    else
        assert_string_not_equal(err.text, "");
}

/* Takes minutes if each key is compared with all keys before it. */
TEST(many_keys_are_read_in_a_short_time)
{
    enum { KEYS = 200000 };
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(1 << 24);
    CLEANUP(json_cleanup) cJSON *tree = NULL;
    struct error err;

    strbuf_adds(&text, "{\"key\":0");
    for (int i = 1; i < KEYS; i++)
        strbuf_addf(&text, ",\"key%d\":%d", i, i);
    strbuf_addc(&text, '}');
    tree = json_verbatim_parse(text.data, &err);
    assert_int_equal(cJSON_GetArraySize(tree), KEYS);
}

TEST(deep_texts_are_refused)
{
    char text[2 * JSON_DEPTH_MAX + 4] = "";
    struct error err;

    memset(text, '[', JSON_DEPTH_MAX + 1);
    memset(text + JSON_DEPTH_MAX + 1, ']', JSON_DEPTH_MAX + 1);
    assert_null(json_verbatim_parse(text, &err));
}
