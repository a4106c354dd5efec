/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/error.h"

#include "metrics/base/strbuf.h"
#include "metrics/base/utf8.h"
#include "tests/unit/suite.h"

#undef fail /* cmocka has a macro of that name, and so have we a function. */

enum { TEXT_MAX = sizeof(((struct error *)NULL)->text) - 1 };

TEST(fail_writes_the_text_and_answers_false)
{
    struct error err;

    assert_false(fail(&err, "cannot open '%s': %d", "a.yaml", 2));
    assert_string_equal(err.text, "cannot open 'a.yaml': 2");
}

TEST(fail_in_puts_context_in_front)
{
    struct error err;

    fail(&err, "no such file");
    assert_false(fail_in(&err, "reading '%s'", "a.yaml"));
    assert_string_equal(err.text, "reading 'a.yaml': no such file");
}

TEST(arguments_may_be_the_text_itself)
{
    struct error err;

    fail(&err, "inner");
    fail(&err, "outer (%s)", err.text);
    assert_string_equal(err.text, "outer (inner)");
    fail_in(&err, "again %s", err.text);
    assert_string_equal(err.text, "again outer (inner): outer (inner)");
}

/* Lengths around the limit: what fits is kept whole, what does not ends in an ellipsis. */
TEST(a_text_is_cut_only_where_it_must)
{
    char text[TEXT_MAX + 3];
    struct error err;

    for (int len = TEXT_MAX - 2; len <= TEXT_MAX + 2; len++) {
        memset(text, 'x', sizeof(text));
        fail(&err, "%.*s", len, text);
        if (len <= TEXT_MAX) {
            assert_int_equal(strlen(err.text), len);
            assert_null(strstr(err.text, "..."));
        } else {
            assert_int_equal(strlen(err.text), TEXT_MAX);
            assert_string_equal(err.text + TEXT_MAX - 3, "...");
        }
    }
}

static struct cut_case {
    const char *name;
    const char *character;
} cut_cases[] = {
    {"a character of two bytes is never cut in half", "\xc3\xa9"},
    {"a character of three bytes is never cut in half", "\xe2\x82\xac"},
    {"a character of four bytes is never cut in half", "\xf0\x9f\x98\x80"},
};

/* Each shift puts another byte of a character at the place of the cut. */
TEST_ROWS(cut, cut_cases, name)
{
    const struct cut_case *c = *state;

    for (int shift = 0; shift < 4; shift++) {
        CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(4096);
        struct error err;
        const char *at = err.text;

        strbuf_add(&text, "abcd", (size_t)shift);
        while (text.len < 600)
            strbuf_adds(&text, c->character);
        fail(&err, "%s", text.data);

        while (*at != '\0') {
            unsigned len = utf8_char_len(at);

            assert_true(len > 0);
            at += len;
        }
        assert_string_equal(at - 3, "...");
        assert_true(at - err.text > TEXT_MAX - 4);
    }
}

TEST(bytes_that_are_no_utf8_are_cut_all_the_same)
{
    char text[600];
    struct error err;

    memset(text, 0x80, sizeof(text));
    fail(&err, "%.*s", (int)sizeof(text), text);
    assert_int_equal(strlen(err.text), TEXT_MAX);
    assert_string_equal(err.text + TEXT_MAX - 3, "...");
}

TEST(a_long_context_leaves_a_valid_text)
{
    char context[700];
    struct error err;

    memset(context, 'c', sizeof(context) - 1);
    context[sizeof(context) - 1] = '\0';
    fail(&err, "inner");
    fail_in(&err, "%s", context);
    assert_int_equal(strlen(err.text), TEXT_MAX);
    assert_string_equal(err.text + TEXT_MAX - 4, "c...");
}
