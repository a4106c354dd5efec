/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/text/text_table.h"

#include <fcntl.h>
#include <unistd.h>

#include "tests/unit/suite.h"

enum { TEXT_MAX = 64 * 1024 };

static struct safe_case {
    const char *name;
    const char *text;
    const char *safe;
    size_t columns;
} safe_cases[] = {
    {"plain text is unchanged", "app-a", "app-a", 5},
    {"non-ASCII letters are unchanged, one column each", "gr\xC3\xBC\xC3\x9F", "gr\xC3\xBC\xC3\x9F",
     4},
    {"an escape sequence is escaped", "\033[31mred", "\\x1b[31mred", 11},
    {"control characters are escaped", "a\nb\tc\r", "a\\x0ab\\x09c\\x0d", 15},
    {"DEL is escaped", "\x7F", "\\x7f", 4},
    {"C1 controls are escaped",
     "\xC2\x9B"
     "31m",
     "\\xc2\\x9b31m", 11},
    {"a right-to-left override is escaped",
     "\xE2\x80\xAE"
     "a",
     "\\xe2\\x80\\xaea", 13},
    {"an isolate is escaped", "\xE2\x81\xA6", "\\xe2\\x81\\xa6", 12},
    {"an Arabic letter mark is escaped", "\xD8\x9C", "\\xd8\\x9c", 8},
    {"a line separator is escaped", "\xE2\x80\xA8", "\\xe2\\x80\\xa8", 12},
    {"an en dash is unchanged", "\xE2\x80\x93", "\xE2\x80\x93", 1},
    {"invalid UTF-8 is replaced",
     "a\xFF"
     "b\xC3",
     "a\xEF\xBF\xBD"
     "b\xEF\xBF\xBD",
     4},
};

TEST_ROWS(unsafe_characters_are_escaped, safe_cases, name)
{
    const struct safe_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(TEXT_MAX);

    output_escape(&out, c->text);
    assert_string_equal(out.data, c->safe);
    assert_int_equal(output_count_columns(out.data), c->columns);
}

static struct wrap_case {
    const char *name;
    const char *text;
    size_t at;
    size_t indent;
    size_t width;
    const char *wrapped;
} wrap_cases[] = {
    {"no limit, no break", "one two three", 0, 0, 0, "one two three"},
    {"a line that fits exactly", "one two", 0, 0, 7, "one two"},
    {"a line that is one too long", "one two", 0, 0, 6, "one\ntwo"},
    {"the start column counts", "one two", 4, 2, 10, "one\n  two"},
    {"a word that is too long stays whole", "a incomprehensible b", 0, 1, 8,
     "a\n incomprehensible\n b"},
    {"runs of blanks are one", "  one   two ", 0, 0, 0, "one two"},
    {"empty text", "", 0, 4, 10, ""},
};

TEST_ROWS(text_wraps_at_the_width, wrap_cases, name)
{
    const struct wrap_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(TEXT_MAX);

    output_wrap(&out, c->text, c->at, c->indent, c->width);
    assert_string_equal(out.data, c->wrapped);
}

static struct shorten_case {
    const char *name;
    const char *text;
    size_t width;
    const char *shortened;
} shorten_cases[] = {
    {"no limit", "Deployment shop/web", 0, "Deployment shop/web"},
    {"a text that fits exactly", "Deployment shop/web", 19, "Deployment shop/web"},
    {"one column too long", "Deployment shop/web", 18, "Deployme...hop/web"},
    {"the beginning gets the odd column", "abcdefghij", 8, "abc...ij"},
    {"characters are not cut",
     "gr\xC3\xBC\xC3\x9F"
     "gr\xC3\xBC\xC3\x9F",
     7, "gr...\xC3\xBC\xC3\x9F"},
    {"a width below the dots", "abcdef", 2, "..."},
    {"an empty text", "", 5, ""},
};

TEST_ROWS(long_text_loses_its_middle, shorten_cases, name)
{
    const struct shorten_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(TEXT_MAX);

    output_shorten(&out, c->text, c->width);
    assert_string_equal(out.data, c->shortened);
}

static const char *const headings[] = {"TEMPLATE", "REASON", "WHY"};

/* Layouts of a table with two rows. */
static struct table_case {
    const char *name;
    const char *const *headings;
    unsigned width;
    bool colour;
    const char *text;
} table_cases[] = {
    {"columns line up", headings, 0, false,
     "  TEMPLATE         REASON    WHY\n"
     "  Deployment ns/a  no_match  no policy selects it at all\n"
     "  Job ns/longer    excluded\n"},
    {"no headings", NULL, 0, false,
     "  Deployment ns/a  no_match  no policy selects it at all\n"
     "  Job ns/longer    excluded\n"},
    {"the last column wraps", headings, 54, false,
     "  TEMPLATE         REASON    WHY\n"
     "  Deployment ns/a  no_match  no policy selects it at\n"
     "                             all\n"
     "  Job ns/longer    excluded\n"},
    {"a narrow width moves the last column to its own line", headings, 40, false,
     "  TEMPLATE         REASON\n"
     "  Deployment ns/a  no_match\n"
     "      no policy selects it at all\n"
     "  Job ns/longer    excluded\n"},
    {"colour does not move columns", headings, 0, true,
     "  \033[2mTEMPLATE\033[0m         \033[2mREASON\033[0m    \033[2mWHY\033[0m\n"
     "  Deployment ns/a  \033[31mno_match\033[0m  no policy selects it at all\n"
     "  Job ns/longer    \033[31mexcluded\033[0m\n"},
};

TEST_ROWS(table_columns_are_aligned, table_cases, name)
{
    const struct table_case *c = *state;
    CLEANUP(table_release) struct table t = table_make(c->headings, 3, 2);
    struct output o = {.text = STRBUF_INIT(TEXT_MAX), .width = c->width, .colour = c->colour};

    table_addf(&t, STYLE_PLAIN, "%s %s/%s", "Deployment", "ns", "a");
    table_add(&t, STYLE_BAD, "no_match");
    table_add(&t, STYLE_PLAIN, "no policy selects it at all");
    table_add(&t, STYLE_PLAIN, "Job ns/longer");
    table_add(&t, STYLE_BAD, "excluded");
    table_add(&t, STYLE_PLAIN, "");
    table_print(&t, &o);
    assert_string_equal(o.text.data, c->text);
    output_release(&o);
}

/* Layouts of a table with shortened columns: bits by index. */
static struct shortened_case {
    const char *name;
    unsigned shortened;
    unsigned width;
    const char *text;
} shortened_cases[] = {
    {"a wide terminal has whole names", 1, 72,
     "TEMPLATE                              REASON    WHY\n"
     "Deployment payments/gateway-zone-b-1  no_match  no policy selects it\n"},
    {"the name becomes narrower", 1, 56,
     "TEMPLATE                  REASON    WHY\n"
     "Deployment ...y-zone-b-1  no_match  no policy selects it\n"},
    {"the last column is shortened, too", 1 | 1 << 2, 50,
     "TEMPLATE             REASON    WHY\n"
     "Deployme...zone-b-1  no_match  no polic...lects it\n"},
};

TEST_ROWS(long_cells_lose_their_middle, shortened_cases, name)
{
    const struct shortened_case *c = *state;
    CLEANUP(table_release) struct table t = table_make(headings, 3, 0);
    struct output o = {.text = STRBUF_INIT(TEXT_MAX), .width = c->width};

    t.shortened = c->shortened;
    table_add_object(&t, "Deployment", "payments", "gateway-zone-b-1");
    table_add(&t, STYLE_PLAIN, "no_match");
    table_add(&t, STYLE_PLAIN, "no policy selects it");
    table_print(&t, &o);
    assert_string_equal(o.text.data, c->text);
    output_release(&o);
}

TEST(table_without_rows_prints_its_headings)
{
    CLEANUP(table_release) struct table t = table_make(headings, 3, 0);
    struct output o = {.text = STRBUF_INIT(TEXT_MAX)};

    table_print(&t, &o);
    assert_string_equal(o.text.data, "TEMPLATE  REASON  WHY\n");
    output_release(&o);
}

TEST(a_long_heading_is_wrapped)
{
    struct output o = {.text = STRBUF_INIT(TEXT_MAX), .width = OUTPUT_WIDTH_MIN};

    output_add_section(&o, "Member clusters, sums over these templates", 5);
    assert_string_equal(o.text.data, "Member clusters, sums over these\ntemplates (5)\n");
    output_release(&o);
}

TEST(output_to_a_file_has_no_width_and_no_colour)
{
    struct output o;
    int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

    unsetenv("COLUMNS");
    output_init(&o, fd);
    assert_int_equal(o.width, 0);
    assert_false(o.colour);
    output_release(&o);
    close(fd);
}

/* Environment variables, and the width and colour of the output to a terminal. */
static struct terminal_case {
    const char *name;
    const char *columns;
    const char *no_color;
    const char *term;
    unsigned width;
    bool colour;
} terminal_cases[] = {
    {"a terminal of unknown size has 80 columns", NULL, NULL, "xterm", 80, true},
    {"COLUMNS sets the width", "120", NULL, "xterm", 120, true},
    {"COLUMNS has a lower limit", "3", NULL, "xterm", 40, true},
    {"COLUMNS that is no number is ignored", "wide", NULL, "xterm", 80, true},
    {"NO_COLOR is respected", NULL, "1", "xterm", 80, false},
    {"an empty NO_COLOR is ignored", NULL, "", "xterm", 80, true},
    {"a dumb terminal has no colours", NULL, NULL, "dumb", 80, false},
};

static void set_or_unset(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

TEST_ROWS(environment_sets_width_and_colour, terminal_cases, name)
{
    const struct terminal_case *c = *state;
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    struct output o;

    if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
        skip();
    int fd = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);

    assert_true(fd >= 0);
    set_or_unset("COLUMNS", c->columns);
    set_or_unset("NO_COLOR", c->no_color);
    set_or_unset("TERM", c->term);
    output_init(&o, fd);
    assert_int_equal(o.width, c->width);
    assert_int_equal(o.colour, c->colour);
    output_release(&o);
    close(fd);
    close(master);
}

TEST(full_disk_is_an_error)
{
    struct output o = {.text = STRBUF_INIT(TEXT_MAX)};
    struct error err;
    int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

    assert_true(fd >= 0);
    strbuf_adds(&o.text, "findings\n");
    assert_false(output_flush(&o, fd, &err));
    assert_string_equal(err.text, "cannot write the output: No space left on device");
    output_release(&o);
    close(fd);
}

TEST(output_over_the_limit_is_an_error)
{
    struct output o = {.text = STRBUF_INIT(4)};
    struct error err;

    strbuf_adds(&o.text, "findings\n");
    assert_false(output_flush(&o, -1, &err));
    output_release(&o);
}
