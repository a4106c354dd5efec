/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/error.h"

#include "metrics/base/strbuf.h"
#include "metrics/base/utf8.h"
#include "tests/unit/suite.h"

#undef fail /* cmocka defines a macro fail(), which would hide the function fail() of error.h. */

enum { TEXT_MAX = sizeof(((struct error *)NULL)->text) - 1 };

TEST(fail_sets_the_text_and_returns_false)
{
    struct error err;

    assert_false(fail(&err, "cannot open '%s': %d", "a.yaml", 2));
    assert_string_equal(err.text, "cannot open 'a.yaml': 2");
}

TEST(fail_in_prepends_the_context)
{
    struct error err;

    fail(&err, "no such file");
    assert_false(fail_in(&err, "reading '%s'", "a.yaml"));
    assert_string_equal(err.text, "reading 'a.yaml': no such file");
}

TEST(text_of_the_error_may_be_an_argument)
{
    struct error err;

    fail(&err, "inner");
    fail(&err, "outer (%s)", err.text);
    assert_string_equal(err.text, "outer (inner)");
    fail_in(&err, "again %s", err.text);
    assert_string_equal(err.text, "again outer (inner): outer (inner)");
}

TEST(text_above_the_maximum_ends_in_an_ellipsis)
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
    {"characters of two bytes", "\xc3\xa9"},
    {"characters of three bytes", "\xe2\x82\xac"},
    {"characters of four bytes", "\xf0\x9f\x98\x80"},
};

/* Each `shift` moves another byte of a character to the end of the text. */
TEST_ROWS(long_text_is_cut_between, cut_cases, name)
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

TEST(invalid_utf8_is_cut_at_the_maximum)
{
    char text[600];
    struct error err;

    memset(text, 0x80, sizeof(text));
    fail(&err, "%.*s", (int)sizeof(text), text);
    assert_int_equal(strlen(err.text), TEXT_MAX);
    assert_string_equal(err.text + TEXT_MAX - 3, "...");
}

TEST(long_context_is_cut_and_ends_in_an_ellipsis)
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
