/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/process.h"

#include <fcntl.h>
#include <unistd.h>

#include "exporter/system/platform.h"
#include "tests/unit/suite.h"

static struct stat_case {
    const char *name;
    const char *text;
    bool valid;
} stat_cases[] = {
    {"a line of proc",
     "42 (exporter) S 1 42 42 0 -1 4194560 100 0 0 0 11 22 0 0 20 0 3 0 333 444 55 "
     "18446744073709551615 1 1 0",
     true},
    {"a process name with parentheses and fields",
     "42 (a) R 9 9 (b c) S 1 42 42 0 -1 4194560 100 0 0 0 11 22 0 0 20 0 3 0 333 444 55 1", true},
    {"an empty text", "", false},
    {"a line without parentheses", "42 exporter S 1", false},
    {"a line that ends too early", "42 (exporter) S 1 42 42 0 -1 4194560 100 0 0 0 11 22", false},
    {"a text for a number",
     "42 (exporter) S 1 42 42 0 -1 4194560 100 0 0 0 eleven 22 0 0 20 0 3 0 333 444 55 1", false},
    {"a number that is too long",
     "42 (exporter) S 1 42 42 0 -1 4194560 100 0 0 0 99999999999999999999999999999 22 0 0 20 0 3 "
     "0 333 444 55 1",
     false},
};

TEST_ROWS(a_line_of_proc_stat_is_parsed, stat_cases, name)
{
    const struct stat_case *c = *state;
    struct process_stat stat = {0};

    assert_int_equal(process_parse_stat(c->text, &stat), c->valid);
    assert_int_equal(stat.user_ticks, c->valid ? 11 : 0);
    assert_int_equal(stat.system_ticks, c->valid ? 22 : 0);
    assert_int_equal(stat.start_ticks, c->valid ? 333 : 0);
    assert_int_equal(stat.virtual_bytes, c->valid ? 444 : 0);
    assert_int_equal(stat.resident_pages, c->valid ? 55 : 0);
}

TEST(all_facts_of_this_process_are_read)
{
    struct process_metrics facts;
    double now = (double)platform_now_ms() / 1000;

    process_metrics_read(&facts);
    assert_true(facts.cpu_seconds >= 0);
    assert_true(facts.resident_bytes > 0);
    assert_true(facts.virtual_bytes > facts.resident_bytes);
    assert_true(facts.max_fds > 0);
    assert_true(facts.virtual_max_bytes > 0);
    /* A machine's clock may be set while it runs, but hardly by a year. */
    assert_true(facts.start_seconds > now - 365.0 * 86400 && facts.start_seconds < now + 86400);
}

TEST(an_open_file_is_counted)
{
    struct process_metrics before;
    struct process_metrics after;

    process_metrics_read(&before);
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    process_metrics_read(&after);
    close(fd);
    assert_true(fd >= 0);
    assert_true(after.open_fds == before.open_fds + 1);
}
