/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/control_plane.h"

#include "tests/unit/suite.h"

static struct release_case {
    const char *name;
    const char *text;
    unsigned major;
    unsigned minor;
    bool resolves;
} release_cases[] = {
    {"an unknown release counts as the newest", "", 0, 0, true},
    {"two numbers", "1.15", 1, 15, false},
    {"a tag", "v1.15.12", 1, 15, false},
    {"the first release that resolves dependencies", "v1.16.0-beta.0", 1, 16, true},
    {"a later release", "1.19", 1, 19, true},
    {"an early release", "1.7", 1, 7, false},
    {"another major release", "2.0.1", 2, 0, true},
};

TEST_ROWS(releases_are_parsed, release_cases, name)
{
    const struct release_case *row = *state;
    struct release release;
    struct error err;

    assert_true(release_parse(row->text, &release, &err));
    assert_int_equal(release.major, row->major);
    assert_int_equal(release.minor, row->minor);
    assert_int_equal(release_resolves_dependencies(release), row->resolves);
}

TEST(an_invalid_release_is_rejected)
{
    static const char *const texts[] = {"v",     "1",      "1.",    "1.x",   "v1.15x",
                                        "0.9",   "latest", "v.1.2", "-1.15", "1.99999",
                                        " 1.15", "1.15 ",  "vv1.15"};

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct release release;
        struct error err;
        char message[128];

        assert_false(release_parse(texts[i], &release, &err));
        snprintf(message, sizeof(message),
                 "'%s' is not a release of Karmada, such as 'v1.15.2' or '1.16'", texts[i]);
        assert_string_equal(err.text, message);
    }
}
