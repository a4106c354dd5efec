/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/shown.h"

#include "exporter/system/secret.h"
#include "tests/unit/folder.h"

#include "tests/unit/suite.h"

#define TEN   "0123456789"
#define FORTY TEN TEN TEN TEN

static const struct row {
    const char *title, *value, *wanted;
} rows[] = {
    {"empty", "", ""},
    {"short", "abc", "abc"},
    {"forty", FORTY, FORTY},
    {"more_than_forty", FORTY "x", FORTY "..."},
    {"line_breaks", "-----BEGIN\r\nab\tc\n", "-----BEGIN\\x0d\\x0aab\\x09c\\x0a"},
    {"terminal_escape_sequence", "\x1b[31m\x7f", "\\x1b[31m\\x7f"},
    {"control_in_two_bytes", "\xc2\x9b", "\\x9b"},
    {"right_to_left_override",
     "a\xe2\x80\xae"
     "b",
     "a\\u202eb"},
    {"invalid_UTF8", "\xff\xc3", "\\xff\\xc3"},
    {"the_replacement_character", "\xef\xbf\xbd", "\xef\xbf\xbd"},
    {"characters_of_two_bytes", "\xc3\xa4\xc3\xa4", "\xc3\xa4\xc3\xa4"},
};

TEST_ROWS(value_is_shown, rows, title)
{
    const struct row *row = *state;

    assert_string_equal(shown(row->value).text, row->wanted);
}

/* The longest possible text: SHOWN_MAX escapes of six bytes each, and "...". */
TEST(forty_escapes_fit)
{
    CLEANUP(strbuf_release) struct strbuf value = STRBUF_INIT(1024);
    struct shown result;

    for (size_t i = 0; i < 2 * SHOWN_MAX; i++)
        strbuf_adds(&value, "\xe2\x80\xae");
    result = shown(value.data);
    assert_int_equal(strlen(result.text), SHOWN_BYTES - 1);
    assert_string_equal(&result.text[SHOWN_MAX * 6], "...");
}

TEST(shown_part_ends_at_the_given_length)
{
    assert_string_equal(shown_part("abcdef", 3).text, "abc");
    assert_string_equal(shown_part("abc", 40).text, "abc");
    /* The part ends inside a character of two bytes. */
    assert_string_equal(shown_part("a\xc3\xa4", 2).text, "a\\xc3");
}

TEST(existing_path_is_shown_in_full)
{
    char *folder = folder_make();
    CLEANUP(free_cleanup) char *path = folder_path(folder, FORTY FORTY);
    CLEANUP(free_cleanup) char *inside = folder_path(path, FORTY "x");
    struct error err = {""};
    char wanted[512];

    /* The path does not exist: the text is its existing folder, and 40 characters of the rest. */
    snprintf(wanted, sizeof(wanted), "%s/%s...", folder, FORTY);
    assert_string_equal(shown_path(path).text, wanted);
    assert_string_equal(shown_path(inside).text, wanted);
    assert_false(secret_path_exists(path, &err));
    assert_null(strstr(err.text, TEN));
    assert_non_null(strstr(err.text, folder));
    folder_write(folder, FORTY FORTY, "");
    assert_string_equal(shown_path(path).text, path);
    assert_true(secret_path_exists(path, &err));
    /* A path below a file cannot exist. */
    assert_string_equal(shown_path(inside).text, wanted);
    folder_remove(folder);
}

TEST(secret_in_place_of_a_path_is_not_shown)
{
    static const char *const secrets[] = {
        "eyJhbGciOiJSUzI1NiIsImtpZCI6", "-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49/AgEG\n",
        "/eyJhbGciOiJSUzI1NiIsImtpZCI6", "eyJhbGciOi/JSUzI1NiIsI/mtpZCI6", ""};

    for (size_t i = 0; i < ARRAY_LEN(secrets); i++) {
        struct error err = {""};

        assert_false(secret_path_exists(secrets[i], &err));
        assert_null(strstr(err.text, "eyJ"));
        assert_null(strstr(err.text, "BEGIN"));
        assert_null(strstr(err.text, "MIG"));
        assert_non_null(strstr(err.text, "its name is not shown"));
    }
}
