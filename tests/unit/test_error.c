/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/error.h"

#include <setjmp.h>

#include <cmocka.h>

#include "metrics/base/strbuf.h"
#include "metrics/base/utf8.h"

#undef fail /* cmocka has a macro of that name, and so have we a function. */

enum { TEXT_MAX = sizeof(((struct error *)NULL)->text) - 1 };

static void fail_writes_the_text_and_answers_false(void **state)
{
    struct error err;

    (void)state;
    assert_false(fail(&err, "cannot open '%s': %d", "a.yaml", 2));
    assert_string_equal(err.text, "cannot open 'a.yaml': 2");
}

static void fail_in_puts_context_in_front(void **state)
{
    struct error err;

    (void)state;
    fail(&err, "no such file");
    assert_false(fail_in(&err, "reading '%s'", "a.yaml"));
    assert_string_equal(err.text, "reading 'a.yaml': no such file");
}

static void arguments_may_be_the_text_itself(void **state)
{
    struct error err;

    (void)state;
    fail(&err, "inner");
    fail(&err, "outer (%s)", err.text);
    assert_string_equal(err.text, "outer (inner)");
    fail_in(&err, "again %s", err.text);
    assert_string_equal(err.text, "again outer (inner): outer (inner)");
}

/* Lengths around the limit: what fits is kept whole, what does not ends in an ellipsis. */
static void a_text_is_cut_only_where_it_must(void **state)
{
    char text[TEXT_MAX + 3];
    struct error err;

    (void)state;
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
static void cut(void **state)
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

static void bytes_that_are_no_utf8_are_cut_all_the_same(void **state)
{
    char text[600];
    struct error err;

    (void)state;
    memset(text, 0x80, sizeof(text));
    fail(&err, "%.*s", (int)sizeof(text), text);
    assert_int_equal(strlen(err.text), TEXT_MAX);
    assert_string_equal(err.text + TEXT_MAX - 3, "...");
}

static void a_long_context_leaves_a_valid_text(void **state)
{
    char context[700];
    struct error err;

    (void)state;
    memset(context, 'c', sizeof(context) - 1);
    context[sizeof(context) - 1] = '\0';
    fail(&err, "inner");
    fail_in(&err, "%s", context);
    assert_int_equal(strlen(err.text), TEXT_MAX);
    assert_string_equal(err.text + TEXT_MAX - 4, "c...");
}

int main(void)
{
    const struct CMUnitTest fixed[] = {
        cmocka_unit_test(fail_writes_the_text_and_answers_false),
        cmocka_unit_test(fail_in_puts_context_in_front),
        cmocka_unit_test(arguments_may_be_the_text_itself),
        cmocka_unit_test(a_text_is_cut_only_where_it_must),
        cmocka_unit_test(bytes_that_are_no_utf8_are_cut_all_the_same),
        cmocka_unit_test(a_long_context_leaves_a_valid_text),
    };
    struct CMUnitTest tests[ARRAY_LEN(fixed) + ARRAY_LEN(cut_cases)];
    size_t n = ARRAY_LEN(fixed);

    memcpy(tests, fixed, sizeof(fixed));
    for (size_t i = 0; i < ARRAY_LEN(cut_cases); i++)
        tests[n++] = (struct CMUnitTest){cut_cases[i].name, cut, NULL, NULL, &cut_cases[i]};
    return cmocka_run_group_tests_name("error", tests, NULL, NULL);
}
