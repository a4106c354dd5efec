/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/control_plane.h"

#include "tests/unit/suite.h"

static struct release_case {
    const char *name;
    const char *text;
    enum release release;
    enum release_origin origin;
    bool known;
} release_cases[] = {
    {"no text: the newest, assumed", "", RELEASE_1_19, RELEASE_ASSUMED, true},
    {"two numbers", "1.15", RELEASE_1_15, RELEASE_GIVEN, true},
    {"a tag", "v1.15.12", RELEASE_1_15, RELEASE_GIVEN, true},
    {"a beta counts as its release", "v1.16.0-beta.0", RELEASE_1_16, RELEASE_GIVEN, true},
    {"a release candidate of 1.19", "v1.19.0-rc.1", RELEASE_1_19_RC, RELEASE_GIVEN, true},
    {"the newest release", "1.19.0", RELEASE_1_19, RELEASE_GIVEN, true},
    {"an early release", "1.7", RELEASE_1_13, RELEASE_GIVEN, false},
    {"a later release", "1.99", RELEASE_1_19, RELEASE_GIVEN, false},
    {"another major release", "2.0.1", RELEASE_1_19, RELEASE_GIVEN, false},
};

TEST_ROWS(releases_are_parsed, release_cases, name)
{
    const struct release_case *row = *state;
    struct release_range range;
    struct error err;
    bool known;

    assert_true(release_parse(row->text, &range, &known, &err));
    assert_int_equal(range.oldest, row->release);
    assert_int_equal(range.newest, row->release);
    assert_int_equal(range.origin, row->origin);
    assert_int_equal(known, row->known);
}

TEST(a_name_of_the_table_is_the_text_of_its_release)
{
    for (enum release release = 0; release < RELEASE_COUNT; release++) {
        struct release_range range;
        struct error err;
        bool known;

        assert_true(release_parse(release_name(release), &range, &known, &err));
        assert_int_equal(range.oldest, release);
        assert_true(known);
    }
}

TEST(a_behaviour_inside_a_range_differs)
{
    const struct release_range range = {RELEASE_1_15, RELEASE_1_16, RELEASE_OF_SERVER, false};
    const struct release_range old = {RELEASE_1_13, RELEASE_1_15, RELEASE_OF_SERVER, false};
    const struct release_range fresh = {RELEASE_1_16, RELEASE_1_19, RELEASE_OF_SERVER, false};

    assert_int_equal(release_range_has(range, BEHAVIOUR_WEBSTER_DIVISION), RELEASE_ANSWER_DIFFERS);
    assert_int_equal(release_range_has(old, BEHAVIOUR_WEBSTER_DIVISION), RELEASE_ANSWER_NO);
    assert_int_equal(release_range_has(fresh, BEHAVIOUR_WEBSTER_DIVISION), RELEASE_ANSWER_YES);
}

TEST(an_invalid_release_is_rejected)
{
    static const char *const texts[] = {"v",     "1",      "1.",    "1.x",   "v1.15x",
                                        "0.9",   "latest", "v.1.2", "-1.15", "1.99999",
                                        " 1.15", "1.15 ",  "vv1.15"};

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct release_range range;
        struct error err;
        bool known;
        char message[128];

        assert_false(release_parse(texts[i], &range, &known, &err));
        snprintf(message, sizeof(message),
                 "'%s' is not a release of Karmada, such as 'v1.15.2' or '1.16'", texts[i]);
        assert_string_equal(err.text, message);
    }
}

static struct described {
    const char *text;
    struct release_range range;
} described[] = {
    {"Karmada 1.19 (assumed; set --karmada.version)",
     {RELEASE_1_19, RELEASE_1_19, RELEASE_ASSUMED, false}},
    {"Karmada 1.16 (from --karmada.version)", {RELEASE_1_16, RELEASE_1_16, RELEASE_GIVEN, false}},
    {"Karmada 1.15 to 1.16 (from the schemas of the API server)",
     {RELEASE_1_15, RELEASE_1_16, RELEASE_OF_SERVER, false}},
    {"Karmada 1.19.0-rc.0 (from the CustomResourceDefinitions in the files)",
     {RELEASE_1_19_RC, RELEASE_1_19_RC, RELEASE_OF_FILES, false}},
};

TEST_ROWS(a_range_is_described_with_its_origin, described, text)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(4096);
    const struct described *row = *state;

    release_range_describe(row->range, &text);
    assert_string_equal(text.data, row->text);
}

static struct outside {
    const char *value, *warning;
} outsides[] = {
    {"1.99", "--karmada.version: 1.99 is newer than 1.19, the newest release that this exporter "
             "knows; the rules of 1.19 apply"},
    {"v2.0.1", "--karmada.version: v2.0.1 is newer than 1.19, the newest release that this "
               "exporter knows; the rules of 1.19 apply"},
    {"1.7", "--karmada.version: 1.7 is older than 1.13, the oldest release that this exporter "
            "knows; the rules of 1.13 apply"},
};

TEST_ROWS(a_release_outside_the_table_is_warned_of, outsides, value)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(4096);
    const struct outside *row = *state;
    struct release_range range;
    struct error err;
    bool known;

    assert_true(release_parse(row->value, &range, &known, &err));
    assert_false(known);
    release_warn_unknown(row->value, range, &text);
    assert_string_equal(text.data, row->warning);
}
