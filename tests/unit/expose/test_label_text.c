/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/series.h"

#include "tests/unit/suite.h"

#define BAD "\xef\xbf\xbd"

struct value_case {
    const char *name;
    const char *value;
    const char *expect;
};

static struct value_case value_cases[] = {
    {"no value", NULL, ""},
    {"a plain name", "my-config.v1", "my-config.v1"},
    {"quote and backslash are escaped", "a\"b\\c", "a\\\"b\\\\c"},
    {"other scripts are unchanged", "d\xc3\xbcsseldorf \xe2\x82\xac \xf0\x9f\x98\x80",
     "d\xc3\xbcsseldorf \xe2\x82\xac \xf0\x9f\x98\x80"},
    {"a line feed does not end the line", "a\nb", "a" BAD "b"},
    {"control characters", "\t\r\x01\x1f\x7f", BAD BAD BAD BAD BAD},
    {"control characters of C1", "\xc2\x80\xc2\x9f\xc2\xa0", BAD BAD "\xc2\xa0"},
    {"a byte that begins no character", "a\xff\x80z", "a" BAD BAD "z"},
    {"an incomplete character", "a\xe2\x82", "a" BAD BAD},
    {"a surrogate", "\xed\xa0\x80", BAD BAD BAD},
    {"an overlong slash", "\xc0\xaf", BAD BAD},
};

TEST_ROWS(label_value_is_escaped, value_cases, name)
{
    const struct value_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(1 << 12);

    label_text_add(&out, c->value);
    assert_string_equal(out.data, c->expect);
}

struct length_case {
    const char *name;
    const char *unit; /* Text that is repeated `count` times. */
    size_t count;
    size_t expect; /* Length of the result in bytes. */
    bool cut;
};

static struct length_case length_cases[] = {
    {"the maximum", "x", 1024, 1024, false},
    {"one byte above the maximum", "x", 1025, 1024, true},
    {"far above the maximum", "x", 100000, 1024, true},
    {"euro signs that fit", "\xe2\x82\xac", 341, 1023, false},
    {"a cut is between characters", "\xe2\x82\xac", 342, 3 * 335 + 19, true},
    {"replacements count with their own length", "\x01", 342, 3 * 335 + 19, true},
    {"escapes do not count", "\"", 1024, 2048, false},
};

TEST_ROWS(length_of_a_label_value_is_limited, length_cases, name)
{
    const struct length_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf in = STRBUF_INIT(1 << 20);
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(1 << 20);

    for (size_t i = 0; i < c->count; i++)
        strbuf_adds(&in, c->unit);
    label_text_add(&out, in.data);
    assert_int_equal(out.len, c->expect);
    assert_int_equal(strstr(out.data, "...") != NULL, c->cut);
}

TEST(cut_label_values_stay_different)
{
    CLEANUP(strbuf_release) struct strbuf in = STRBUF_INIT(1 << 12);
    CLEANUP(strbuf_release) struct strbuf one = STRBUF_INIT(1 << 12);
    CLEANUP(strbuf_release) struct strbuf other = STRBUF_INIT(1 << 12);

    for (size_t i = 0; i < 1200; i++)
        strbuf_addc(&in, 'x');
    label_text_add(&one, in.data);
    in.data[1199] = 'y';
    label_text_add(&other, in.data);
    assert_string_not_equal(one.data, other.data);
}
