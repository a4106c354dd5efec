/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/child_process.h"

#include "tests/unit/suite.h"

/* Runs a shell script; the output is limited to `max` bytes and the time to one second. */
static bool run_script(const char *script, const char *folder, size_t max, struct strbuf *out,
                       struct error *err)
{
    const char *const arguments[] = {"sh", "-c", script, NULL};
    const struct child_command command = {"sh", arguments, folder, 1, NULL};

    *out = STRBUF_INIT(max);
    return child_run(&command, out, err);
}

TEST(output_and_working_folder)
{
    struct strbuf out;
    struct error err;

    assert_true(
        run_script("pwd; seq 1 50000 | tail -n 1; echo warning >&2", "/tmp", 1000, &out, &err));
    assert_string_equal(out.data, "/tmp\n50000\n");
    strbuf_release(&out);
}

TEST(failures_name_the_cause)
{
    static const struct {
        const char *script;
        size_t max;
        const char *error;
    } cases[] = {
        {"echo first >&2; echo 'Error: no such chart' >&2; exit 3", 1000,
         "exit code 3: Error: no such chart"},
        {"kill -9 $$", 1000, "ended by signal 9"},
        {"sleep 10", 1000, "it has not ended after 1 seconds"},
        {"sleep 10 & exec 1>&- 2>&-; sleep 10", 1000, "it has not ended after 1 seconds"},
        {"seq 1 100000", 1000, "it prints more than 1000 bytes"},
        {"seq 1 100000 >&2; exit 1", 1000, "exit code 1: 100000"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct strbuf out;
        struct error err;

        assert_false(run_script(cases[i].script, NULL, cases[i].max, &out, &err));
        assert_string_equal(err.text, cases[i].error);
        strbuf_release(&out);
    }
}

TEST(messages_are_kept_for_the_caller)
{
    const char *const arguments[] = {"sh", "-c", "echo out; echo one >&2; echo two >&2", NULL};
    CLEANUP(strbuf_release) struct strbuf messages = STRBUF_INIT(100);
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(100);
    const struct child_command command = {"sh", arguments, NULL, 1, &messages};
    struct error err;

    assert_true(child_run(&command, &out, &err));
    assert_string_equal(out.data, "out\n");
    assert_string_equal(messages.data, "one\ntwo\n");
}

TEST(missing_program_and_folder)
{
    const char *const arguments[] = {"no-such-program", NULL};
    const struct child_command command = {arguments[0], arguments, NULL, 1, NULL};
    struct strbuf out = STRBUF_INIT(10);
    struct error err;

    assert_false(child_run(&command, &out, &err));
    assert_string_equal(err.text, "No such file or directory");
    assert_false(run_script("true", "/no/such/folder", 10, &out, &err));
    assert_string_equal(err.text, "No such file or directory");
}
