/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/path_filter.h"

#include "metrics/base/strbuf.h"
#include "tests/unit/folder.h"
#include "tests/unit/suite.h"

static const struct match {
    const char *pattern;
    const char *path;
    bool is_folder;
    bool matches;
} matches[] = {
    {"a.yaml", "a.yaml", false, true},
    {"a.yaml", "x/y/a.yaml", false, true},
    {"/a.yaml", "a.yaml", false, true},
    {"/a.yaml", "x/a.yaml", false, false},
    {"x/a.yaml", "x/a.yaml", false, true},
    {"x/a.yaml", "y/x/a.yaml", false, false},
    {"*.yaml", "x/a.yaml", false, true},
    {"x/*.yaml", "x/y/a.yaml", false, false},
    {"x*a.yaml", "x/a.yaml", false, false},
    {"[ab].yaml", "b.yaml", false, true},
    {"[!ab].yaml", "b.yaml", false, false},
    {"?.yaml", "ab.yaml", false, false},
    {"x/", "x", true, true},
    {"x/", "x", false, false},
    {"x/", "y/x", true, true},
    {"x/y/", "x/y", true, true},
    {"**/a.yaml", "a.yaml", false, true},
    {"**/a.yaml", "x/y/a.yaml", false, true},
    {"x/**", "x/a.yaml", false, true},
    {"x/**", "x/y/a.yaml", false, true},
    {"x/**", "x", true, false},
    {"x/**/a.yaml", "x/a.yaml", false, true},
    {"x/**/a.yaml", "x/y/z/a.yaml", false, true},
    {"x/**/y/**/a.yaml", "x/1/y/2/y/a.yaml", false, true},
    {"x/**/y/**/a.yaml", "x/1/2/a.yaml", false, false},
    {"**", "x/a.yaml", false, true},
    {"**/x/**", "a/x/b", false, true},
    {"\\#a", "#a", false, true},
    {"\\!a", "!a", false, true},
    {"a\\ ", "a ", false, true},
    {"a ", "a", false, true},
    {"a\r", "a", false, true},
    {"a[", "a[", false, true},
    {"//", "a", false, false},
};

TEST_ROWS(patterns_match_as_those_of_gitignore, matches, pattern)
{
    const struct match *m = *state;
    CLEANUP(path_patterns_release) struct path_patterns p = {.count = 0};
    bool added = path_patterns_add(&p, m->pattern, strlen(m->pattern));

    assert_int_equal(added && path_pattern_matches(&p.items[0], m->path, m->is_folder), m->matches);
}

TEST(blank_lines_and_comments_are_no_patterns)
{
    CLEANUP(path_patterns_release) struct path_patterns p = {.count = 0};

    assert_false(path_patterns_add(&p, "", 0));
    assert_false(path_patterns_add(&p, "  ", 2));
    assert_false(path_patterns_add(&p, "# a", 3));
    assert_false(path_patterns_add(&p, "/", 1));
    assert_false(path_patterns_add(&p, "!", 1));
    assert_int_equal(p.count, 0);
}

/* A pattern with many '**' and '*' must not take exponential time. */
TEST(the_time_of_a_match_is_limited)
{
    CLEANUP(path_patterns_release) struct path_patterns p = {.count = 0};
    CLEANUP(strbuf_release) struct strbuf pattern = STRBUF_INIT(1 << 20);
    CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(1 << 20);

    for (unsigned i = 0; i < 100; i++)
        strbuf_adds(&pattern, "**/a/");
    strbuf_adds(&pattern, "*a*a*a*a*a*a*a*a*a*a*b");
    for (unsigned i = 0; i < 1000; i++)
        strbuf_adds(&path, "a/");
    for (unsigned i = 0; i < 200; i++)
        strbuf_adds(&path, "a");
    assert_true(path_patterns_add(&p, pattern.data, pattern.len));
    assert_false(path_pattern_matches(&p.items[0], path.data, false));
}

static void assert_excluded(const struct ignore_rules *rules, const char *folder, const char *name,
                            bool expected)
{
    CLEANUP(free_cleanup) char *path = folder_path(folder, name);

    assert_int_equal(ignore_rules_exclude(rules, path, false), expected);
}

TEST(the_last_pattern_of_the_deepest_ignore_file_decides)
{
    char *folder = folder_make();
    CLEANUP(free_cleanup) char *inner_path = folder_path(folder, "x");
    struct ignore_rules outer = {.above = NULL}, inner = {.above = &outer};
    struct error err;

    folder_write(folder, ".karmadapolicyignore", "\xef\xbb\xbf*.yaml\r\n!b.yaml\n# c\n/x/d.yml");
    folder_mkdir(folder, "x");
    folder_write(folder, "x/.karmadapolicyignore", "!c.yaml\nb.yaml\n");
    assert_true(ignore_rules_read(&outer, folder, &err));
    assert_true(ignore_rules_read(&inner, inner_path, &err));
    assert_excluded(&outer, folder, "a.yaml", true);
    assert_excluded(&outer, folder, "b.yaml", false);
    assert_excluded(&inner, folder, "x/a.yaml", true);
    assert_excluded(&inner, folder, "x/b.yaml", true);
    assert_excluded(&inner, folder, "x/c.yaml", false);
    assert_excluded(&inner, folder, "x/d.yml", true);
    assert_excluded(&inner, folder, "x/e.yml", false);
    path_patterns_release(&outer.patterns);
    path_patterns_release(&inner.patterns);
    folder_remove(folder);
}

TEST(an_ignore_file_above_a_limit_is_an_error)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(1 << 22);
    char *folder = folder_make();
    struct ignore_rules rules = {.above = NULL};
    struct error err;

    for (unsigned i = 0; i <= IGNORE_PATTERNS_MAX; i++)
        strbuf_adds(&text, "a\n");
    folder_write(folder, ".karmadapolicyignore", text.data);
    assert_false(ignore_rules_read(&rules, folder, &err));
    assert_non_null(strstr(err.text, "more than 10000 patterns"));
    path_patterns_release(&rules.patterns);
    folder_remove(folder);
}

/* Returns true if the filter excludes a file, directly or with a folder that contains it. */
static bool excludes(const struct path_filter *f, const char *path)
{
    bool used[8] = {false};

    return path_filter_excludes(f, path, false, used);
}

TEST(an_included_folder_includes_its_files_and_exclusion_wins)
{
    struct text_list exclude = {.count = 0}, include = {.count = 0};
    struct path_filter filter;
    struct error err;

    text_list_add(&exclude, "*.tmp.yaml");
    text_list_add(&include, "deploy/");
    text_list_add(&include, "/top.yaml");
    assert_true(path_filter_make(&filter, &exclude, &include, &err));
    assert_false(excludes(&filter, "top.yaml"));
    assert_false(excludes(&filter, "x/deploy/y/a.yaml"));
    assert_true(excludes(&filter, "deploy/a.tmp.yaml"));
    assert_true(excludes(&filter, "x/top.yaml"));
    assert_true(excludes(&filter, "other.yaml"));
    path_filter_release(&filter);
    text_list_release(&exclude);
    text_list_release(&include);
}

TEST(a_text_without_a_pattern_is_an_error)
{
    struct text_list bad = {.count = 0};
    const struct text_list none = {.count = 0};
    struct path_filter filter;
    struct error err;

    text_list_add(&bad, "!a");
    assert_false(path_filter_make(&filter, &none, &bad, &err));
    assert_string_equal(err.text, "--include '!a' is no pattern: write a GLOB such as 'charts/' or "
                                  "'*.tmp.yaml'");
    text_list_release(&bad);
}
