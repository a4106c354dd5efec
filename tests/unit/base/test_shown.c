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
    {"lines", "-----BEGIN\r\nab\tc\n", "-----BEGIN\\x0d\\x0aab\\x09c\\x0a"},
    {"escape_of_a_terminal", "\x1b[31m\x7f", "\\x1b[31m\\x7f"},
    {"control_in_two_bytes", "\xc2\x9b", "\\x9b"},
    {"direction",
     "a\xe2\x80\xae"
     "b",
     "a\\u202eb"},
    {"no_UTF8", "\xff\xc3", "\\xff\\xc3"},
    {"the_replacement_character", "\xef\xbf\xbd", "\xef\xbf\xbd"},
    {"characters_of_two_bytes", "\xc3\xa4\xc3\xa4", "\xc3\xa4\xc3\xa4"},
};

TEST_ROWS(a_value, rows, title)
{
    const struct row *row = *state;

    assert_string_equal(shown(row->value).text, row->wanted);
}

/* The longest text that a value can make. */
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

TEST(a_part_ends_where_it_says)
{
    assert_string_equal(shown_part("abcdef", 3).text, "abc");
    assert_string_equal(shown_part("abc", 40).text, "abc");
    /* Half a character is no character. */
    assert_string_equal(shown_part("a\xc3\xa4", 2).text, "a\\xc3");
}

TEST(a_path_is_whole_if_it_leads_somewhere)
{
    char *folder = folder_make();
    CLEANUP(free_cleanup) char *path = folder_path(folder, FORTY FORTY);
    CLEANUP(free_cleanup) char *inside = folder_path(path, FORTY "x");
    struct error err = {""};
    char wanted[512];

    /* The path leads nowhere yet: the folder that exists, and forty characters. */
    snprintf(wanted, sizeof(wanted), "%s/%s...", folder, FORTY);
    assert_string_equal(shown_path(path).text, wanted);
    assert_string_equal(shown_path(inside).text, wanted);
    assert_false(secret_path_exists(path, &err));
    assert_null(strstr(err.text, TEN));
    assert_non_null(strstr(err.text, folder));
    folder_write(folder, FORTY FORTY, "");
    assert_string_equal(shown_path(path).text, path);
    assert_true(secret_path_exists(path, &err));
    /* A path through a file leads nowhere. */
    assert_string_equal(shown_path(inside).text, wanted);
    folder_remove(folder);
}

TEST(a_secret_in_the_place_of_a_path_is_not_shown)
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
