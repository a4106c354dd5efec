/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/report_files.h"

#include <unistd.h>

#include "exporter/system/file.h"
#include "tests/unit/suite.h"

enum { REPORTS_MAX = 2, TEXT_MAX = 1 << 16 };

/* Values of --report, and a part of the error; NULL if they are valid. */
static struct report_case {
    const char *name;
    const char *reports[REPORTS_MAX];
    const char *error;
} report_cases[] = {
    {"no report", {NULL}, NULL},
    {"two formats", {"sarif=a", "junit=b"}, NULL},
    {"a file with an equals sign", {"gitlab=a=b"}, NULL},
    {"a format that is no format of findings", {"json=a"}, "'json=a' is not FORMAT=FILE"},
    {"an unknown format", {"sarifs=a"}, "'sarifs=a' is not FORMAT=FILE"},
    {"the beginning of a format", {"sar=a"}, "'sar=a' is not FORMAT=FILE"},
    {"no file", {"sarif="}, "'sarif=' is not FORMAT=FILE"},
    {"no format", {"=a"}, "'=a' is not FORMAT=FILE"},
    {"no equals sign", {"sarif"}, "'sarif' is not FORMAT=FILE"},
    {"one file for two reports", {"sarif=a", "junit=a"}, "two reports have the file 'a'"},
};

static struct text_list list_of(const char *const *reports)
{
    struct text_list list = {0};

    for (size_t i = 0; i < REPORTS_MAX && reports[i]; i++)
        text_list_add(&list, reports[i]);
    return list;
}

TEST_ROWS(values_are_checked, report_cases, name)
{
    const struct report_case *c = *state;
    struct options o;
    struct error err;

    options_init(&o);
    o.reports = list_of(c->reports);
    assert_int_equal(report_files_check(&o, &err), c->error == NULL);
    if (c->error)
        assert_non_null(strstr(err.text, c->error));
    options_release(&o);
}

TEST(reports_are_written_beside_one_that_cannot_be_written)
{
    char path[] = "/tmp/report-XXXXXX";
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);
    CLEANUP(strbuf_release) struct strbuf value = STRBUF_INIT(TEXT_MAX);
    int fd = mkstemp(path);
    struct findings findings;
    struct text_list list;
    struct error err;

    assert_true(fd >= 0);
    assert_int_equal(write(fd, "old text that is longer than the report", 39), 39);
    assert_int_equal(close(fd), 0);
    findings_init(&findings, "check");
    findings_finish(&findings);
    strbuf_addf(&value, "gitlab=%s", path);
    list = list_of((const char *const[REPORTS_MAX]){"sarif=/dev/null/missing", value.data});
    assert_false(report_files_write(&list, &findings, &(struct findings_end){0, true}, &err));
    assert_non_null(strstr(err.text, "cannot write /dev/null/missing: Not a directory"));
    assert_true(file_read(path, &text, &err));
    assert_string_equal(text.data, "[]\n");
    unlink(path);
    text_list_release(&list);
    findings_release(&findings);
}
