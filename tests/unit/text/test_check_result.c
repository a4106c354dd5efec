/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/text/check_result.h"

#include "tests/unit/suite.h"

enum { TEXT_MAX = 4096 };

TEST(nonzero_counts_are_written_and_parsed)
{
    const struct finding_counts counts = {
        .classes = {[FINDING_CONFLICT] = 2, [FINDING_PLACED_NOWHERE] = 1, [FINDING_DUPLICATE] = 17},
        .unread = 3,
        .missing = SIZE_MAX,
    };
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);
    struct finding_counts read;

    finding_counts_write(&counts, &text);
    assert_string_equal(text.data, "conflict=2, placed_nowhere=1, duplicate=17, unread=3, "
                                   "missing=18446744073709551615");
    assert_true(finding_counts_read(text.data, &read));
    assert_true(memcmp(&read, &counts, sizeof(read)) == 0);
}

TEST(zero_counts_are_written_as_none)
{
    const struct finding_counts nothing = {.unread = 0};
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);
    struct finding_counts read = {.unread = 7};

    finding_counts_write(&nothing, &text);
    assert_string_equal(text.data, "none");
    assert_true(finding_counts_read(text.data, &read));
    assert_true(memcmp(&read, &nothing, sizeof(read)) == 0);
}

TEST(unknown_class_is_ignored)
{
    struct finding_counts read;

    assert_true(finding_counts_read("novelty=4, pending=1,unread=2", &read));
    assert_int_equal(read.classes[FINDING_PENDING], 1);
    assert_int_equal(read.unread, 2);
    assert_true(finding_counts_any(&read, 1U << FINDING_PENDING | 1U << FINDING_STALE));
    assert_false(finding_counts_any(&read, 1U << FINDING_STALE));
    assert_false(finding_counts_any(&read, 0));
}

static const struct bad_case {
    const char *name;
    const char *text;
} bad_cases[] = {
    {"empty text", ""},
    {"no number", "conflict"},
    {"an empty number", "conflict="},
    {"no class", "=2"},
    {"a fraction", "conflict=2.5"},
    {"a negative number", "conflict=-1"},
    {"zero", "conflict=0"},
    {"a number over SIZE_MAX", "conflict=18446744073709551616"},
    {"a duplicate class", "conflict=1, conflict=2"},
    {"a comma at the end", "conflict=1,"},
    {"an empty item", "conflict=1,,pending=1"},
    {"a blank before the sign", "conflict =1"},
    {"none and a class", "none, conflict=1"},
    {"a class that is too long",
     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa=1"},
    {"a class without a number before a comma", "conflict,pending=1"},
};

TEST_ROWS(invalid_counts_are_refused, bad_cases, name)
{
    const struct bad_case *c = *state;
    struct finding_counts read = {.unread = 7};

    assert_false(finding_counts_read(c->text, &read));
    assert_int_equal(read.unread, 7);
}
