/* SPDX-License-Identifier: Apache-2.0 */

#include <regex.h>

#include "exporter/cli/command.h"
#include "exporter/cli/document.h"
#include "exporter/cli/test_run.h"
#include "exporter/text/check_result.h"
#include "exporter/text/findings_format.h"
#include "metrics/base/json_writer.h"

enum { INDENT = 2, DETAIL_INDENT = 8, LINE_MAX_BYTES = 64 * 1024 * 1024 };

/* The test files of the command line, and the results of their cases. */
struct test_report {
    struct test_suite *suites;
    size_t suite_count;
    struct test_result *results; /* In the order of files, cases and releases. */
    size_t result_count;
    size_t counts[TEST_STATUS_COUNT];
    struct text_list errors; /* Files that cannot be read. */
};

static void test_report_release(struct test_report *r)
{
    for (size_t i = 0; i < r->result_count; i++)
        test_result_release(&r->results[i]);
    for (size_t i = 0; i < r->suite_count; i++)
        test_suite_release(&r->suites[i]);
    free(r->results);
    free(r->suites);
    text_list_release(&r->errors);
}

/* ---- runs ---- */

static void run_case(struct test_report *r, struct test_runner *runner,
                     const struct test_suite *suite, const struct test_case *c)
{
    const cJSON *release = test_first_text(test_case_setting(c, "karmada"));

    do {
        r->results = xreallocarray(r->results, r->result_count + 1, sizeof(*r->results));
        r->results[r->result_count] = test_run(runner, suite, c, release);
        r->counts[r->results[r->result_count++].status]++;
        release = release ? test_next_text(release) : NULL;
    } while (release);
}

/* Reads all files, so that their errors are known before the first case runs. */
static void read_suites(struct test_report *r, const struct text_list *paths,
                        const struct invocation *invocation)
{
    struct error err;

    r->suites = xcalloc(paths->count, sizeof(*r->suites));
    for (size_t i = 0; i < paths->count; i++) {
        if (test_suite_read(&r->suites[r->suite_count], paths->items[i], &err)) {
            r->suite_count++;
            continue;
        }
        test_suite_release(&r->suites[r->suite_count]);
        text_list_add(&r->errors, err.text);
        invocation_print_error(invocation, err.text);
    }
}

/* Runs the cases with a name that the expression matches; all with NULL. */
static void run_suites(struct test_report *r, const regex_t *only,
                       const struct invocation *invocation)
{
    struct test_runner *runner = test_runner_new(invocation);

    for (size_t i = 0; i < r->suite_count; i++) {
        const struct test_suite *suite = &r->suites[i];

        for (size_t k = 0; k < suite->case_count; k++) {
            if (!only || regexec(only, suite->cases[k].name, 0, NULL, 0) == 0)
                run_case(r, runner, suite, &suite->cases[k]);
        }
    }
    test_runner_free(runner);
}

/* ---- text ---- */

static const struct {
    const char *word;
    enum output_style style;
} status_texts[TEST_STATUS_COUNT] = {
    [TEST_PASSED] = {"ok", STYLE_GOOD},
    [TEST_FAILED] = {"FAIL", STYLE_BAD},
    [TEST_BROKEN] = {"ERROR", STYLE_BAD},
};

static void print_detail(struct output *o, const char *title, const char *text)
{
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);

    strbuf_addf(&line, "%s: %s", title, text);
    output_add_line(o, DETAIL_INDENT, line.data);
}

/* Prints a failure; without the cause if that is the cause of the failure before it. */
static void print_failure(struct output *o, const struct test_result *r, size_t index)
{
    const struct failed_expectation *f = &r->failures.items[index];
    const char *last = index > 0 ? r->failures.items[index - 1].why : NULL;
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);

    strbuf_addf(&line, "%s:%zu:%zu: %s%s%s", r->suite->path, f->where.line, f->where.column,
                f->object ? f->object : "", f->object ? ": " : "", f->field);
    output_add_line(o, DETAIL_INDENT - INDENT, line.data);
    print_detail(o, "expected", f->expected);
    print_detail(o, "got", f->got);
    if (f->why && (!last || strcmp(last, f->why) != 0))
        print_detail(o, "why", f->why);
}

/* Appends the name of the case, with the release if the file sets it. */
static void add_name(const struct test_result *r, struct strbuf *out)
{
    strbuf_adds(out, r->test_case->name);
    if (r->release)
        strbuf_addf(out, " (Karmada %s)", r->release);
}

static void print_result(struct output *o, const struct test_result *r)
{
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(LINE_MAX_BYTES);
    char word[16];

    snprintf(word, sizeof(word), "%-5s ", status_texts[r->status].word);
    output_add_styled(o, status_texts[r->status].style, word);
    add_name(r, &name);
    output_add_line(o, 0, name.data);
    for (size_t i = 0; i < r->failures.count; i++)
        print_failure(o, r, i);
    for (size_t i = 0; i < r->errors.count; i++)
        output_add_line(o, DETAIL_INDENT - INDENT, r->errors.items[i]);
}

/* Appends the numbers of cases by result, as one line. */
static void add_summary(const struct test_report *r, struct strbuf *out)
{
    strbuf_addf(out, "%zu passed, %zu failed", r->counts[TEST_PASSED], r->counts[TEST_FAILED]);
    if (r->counts[TEST_BROKEN] > 0)
        strbuf_addf(out, ", %zu with an error", r->counts[TEST_BROKEN]);
    if (r->errors.count > 0)
        strbuf_addf(out, ", %zu file%s not read", r->errors.count, r->errors.count == 1 ? "" : "s");
}

static void print_report(const struct test_report *r, struct output *o)
{
    const struct test_suite *last = NULL;

    for (size_t i = 0; i < r->result_count; i++) {
        if (r->suite_count > 1 && r->results[i].suite != last) {
            strbuf_adds(&o->text, last ? "\n" : "");
            output_add_line(o, 0, r->results[i].suite->path);
        }
        last = r->results[i].suite;
        print_result(o, &r->results[i]);
    }
    strbuf_adds(&o->text, r->result_count > 0 ? "\n" : "");
    add_summary(r, &o->text);
    strbuf_addc(&o->text, '\n');
}

/* ---- JSON ---- */

static void write_texts(struct json_writer *w, const char *key, const struct text_list *list)
{
    json_writer_open(w, key, '[');
    for (size_t i = 0; i < list->count; i++)
        json_writer_text(w, NULL, list->items[i]);
    json_writer_close(w, ']');
}

static void write_location(struct json_writer *w, const struct test_result *r,
                           struct json_position where)
{
    json_writer_open(w, "location", '{');
    json_writer_text(w, "file", r->suite->path);
    json_writer_int(w, "line", (int64_t)where.line);
    json_writer_int(w, "column", (int64_t)where.column);
    json_writer_close(w, '}');
}

static void write_failure(struct json_writer *w, const struct test_result *r,
                          const struct failed_expectation *f)
{
    json_writer_open(w, NULL, '{');
    json_writer_text(w, "object", f->object);
    json_writer_text(w, "field", f->field);
    json_writer_text(w, "expected", f->expected);
    json_writer_text(w, "got", f->got);
    json_writer_text(w, "why", f->why);
    write_location(w, r, f->where);
    json_writer_close(w, '}');
}

static void write_result(struct json_writer *w, const struct test_result *r)
{
    json_writer_open(w, NULL, '{');
    json_writer_text(w, "name", r->test_case->name);
    json_writer_text(w, "karmada", r->release);
    json_writer_text(w, "status", test_status_names[r->status]);
    write_location(w, r, yaml_written_position(r->test_case->node));
    json_writer_open(w, "failures", '[');
    for (size_t i = 0; i < r->failures.count; i++)
        write_failure(w, r, &r->failures.items[i]);
    json_writer_close(w, ']');
    write_texts(w, "errors", &r->errors);
    json_writer_close(w, '}');
}

static void write_report(const struct test_report *r, struct strbuf *out)
{
    struct json_writer w = {.out = out, .lines = 2};

    json_writer_open(&w, NULL, '{');
    json_writer_text(&w, "apiVersion", "karmada-policy-exporter/v1");
    json_writer_text(&w, "kind", "TestResult");
    json_writer_open(&w, "summary", '{');
    for (unsigned i = 0; i < TEST_STATUS_COUNT; i++)
        json_writer_int(&w, test_status_names[i], (int64_t)r->counts[i]);
    json_writer_close(&w, '}');
    json_writer_open(&w, "tests", '[');
    for (size_t i = 0; i < r->result_count; i++)
        write_result(&w, &r->results[i]);
    json_writer_close(&w, ']');
    write_texts(&w, "errors", &r->errors);
    json_writer_close(&w, '}');
    strbuf_addc(out, '\n');
}

/* ---- findings ---- */

/* Adds a finding about a case. `detail` tells it from the other findings of the case; "" without.
 */
static void add_finding(struct findings *f, const struct test_result *r, const char *detail,
                        struct json_position where, struct finding finding)
{
    CLEANUP(strbuf_release) struct strbuf subject = STRBUF_INIT(LINE_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(LINE_MAX_BYTES);

    add_name(r, &subject);
    strbuf_addf(&subject, "%s%s", *detail ? ": " : "", detail);
    strbuf_addf(&name, "%s: %s", r->suite->path, subject.data);
    finding.object = (struct identity){"", "Test", "", name.data};
    finding.subject = subject.data;
    finding.level = FINDING_ERROR;
    finding.place = (struct location){r->suite->path, where.line, where.column};
    findings_add(f, &finding);
}

static void add_failure_finding(struct findings *f, const struct test_result *r,
                                const struct failed_expectation *failure)
{
    CLEANUP(strbuf_release) struct strbuf detail = STRBUF_INIT(LINE_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf message = STRBUF_INIT(LINE_MAX_BYTES);

    strbuf_addf(&detail, "%s%s%s", failure->object ? failure->object : "",
                failure->object ? ": " : "", failure->field);
    strbuf_addf(&message, "Test '");
    add_name(r, &message);
    strbuf_addf(&message, "': %s%sexpected %s %s, got %s.%s%s",
                failure->object ? failure->object : "", failure->object ? ": " : "", failure->field,
                failure->expected, failure->got, failure->why ? " " : "",
                failure->why ? failure->why : "");
    add_finding(f, r, detail.data, failure->where,
                (struct finding){.rule = "expectation",
                                 .severity = SEVERITY_COUNT,
                                 .message = message.data,
                                 .action = "Correct the manifests, or the expectation."});
}

static void add_result_findings(struct findings *f, const struct test_result *r)
{
    CLEANUP(strbuf_release) struct strbuf unread = STRBUF_INIT(LINE_MAX_BYTES);
    struct json_position where = yaml_written_position(r->test_case->node);

    problem_reason_name_add(&unread, PROBLEM_REASON_DATA_INCOMPLETE_BROKEN_FILE);
    if (r->status == TEST_PASSED)
        add_finding(f, r, "", where,
                    (struct finding){.rule = "expectation",
                                     .severity = SEVERITY_COUNT,
                                     .passed = true,
                                     .message = "All expectations hold."});
    for (size_t i = 0; i < r->failures.count; i++)
        add_failure_finding(f, r, &r->failures.items[i]);
    for (size_t i = 0; i < r->errors.count; i++)
        add_finding(f, r, "", where,
                    (struct finding){.rule = unread.data,
                                     .severity = SEVERITY_WARNING,
                                     .unread = true,
                                     .message = r->errors.items[i],
                                     .action = "Correct the input of the test."});
}

static void add_file_finding(struct findings *f, const char *error)
{
    CLEANUP(strbuf_release) struct strbuf rule = STRBUF_INIT(LINE_MAX_BYTES);

    problem_reason_name_add(&rule, PROBLEM_REASON_DATA_INCOMPLETE_BROKEN_FILE);
    findings_add(f, &(struct finding){.rule = rule.data,
                                      .level = FINDING_ERROR,
                                      .severity = SEVERITY_WARNING,
                                      .unread = true,
                                      .object = {"", "Test", "", error},
                                      .subject = "test file",
                                      .message = error,
                                      .action = "Correct the test file."});
}

static void write_findings(const struct test_report *r, enum exit_status status,
                           enum output_format format, struct strbuf *out)
{
    struct findings findings;

    findings_init(&findings, "test");
    for (size_t i = 0; i < r->errors.count; i++)
        add_file_finding(&findings, r->errors.items[i]);
    for (size_t i = 0; i < r->result_count; i++)
        add_result_findings(&findings, &r->results[i]);
    add_summary(r, &findings.summary);
    strbuf_addc(&findings.summary, '.');
    findings_finish(&findings);
    findings_write(&findings, format, &(struct findings_end){status, status != STATUS_USAGE}, out);
    findings_release(&findings);
}

/* ---- command ---- */

static enum exit_status print_results(const struct test_report *r,
                                      const struct invocation *invocation)
{
    enum output_format format = invocation->options.output;
    CLEANUP(output_release) struct output o;
    enum exit_status status = STATUS_OK;

    if (r->counts[TEST_FAILED] > 0)
        status = STATUS_FOUND;
    if (r->counts[TEST_BROKEN] + r->errors.count > 0)
        status = STATUS_USAGE;
    invocation_begin_output(invocation, format, &o);
    if (findings_format_is(format))
        write_findings(r, status, format, &o.text);
    else if (document_is_requested(format))
        write_report(r, &o.text);
    else
        print_report(r, &o);
    document_convert(&o.text, format);
    return invocation_print_output(invocation, &o, status);
}

/* Runs the cases of --run, or all. Returns STATUS_USAGE if the expression is invalid. */
static enum exit_status run_selected(struct test_report *r, const struct invocation *invocation)
{
    const char *text = invocation->options.only_tests;
    char reason[256];
    struct error err;
    regex_t only;
    int code;

    if (*text == '\0') {
        run_suites(r, NULL, invocation);
        return print_results(r, invocation);
    }
    code = regcomp(&only, text, REG_EXTENDED | REG_NOSUB);
    if (code != 0) {
        regerror(code, &only, reason, sizeof(reason));
        fail(&err, "--run: '%s' is no regular expression: %s", text, reason);
        return invocation_reject(invocation, err.text);
    }
    run_suites(r, &only, invocation);
    regfree(&only);
    if (r->result_count == 0 && r->errors.count == 0) {
        invocation_print_error(invocation, "--run selects no test: correct the expression");
        return STATUS_USAGE;
    }
    return print_results(r, invocation);
}

static enum exit_status run_test(struct invocation *invocation)
{
    CLEANUP(test_report_release) struct test_report r = {0};

    if (invocation->options.arguments.count == 0)
        return invocation_reject(invocation, "nothing to test: name a test file");
    read_suites(&r, &invocation->options.arguments, invocation);
    return run_selected(&r, invocation);
}

static const char *const examples[] = {
    "test tests/propagation.yaml",
    "test --run frontend tests/*.yaml",
    "test --output junit tests/*.yaml",
    NULL,
};

const struct command test_command = {
    .name = "test",
    .usage = "[FLAGS] FILE...",
    .summary = "check expectations about propagation, as a test suite",
    .details =
        "Runs the test cases of each FILE, in YAML. A case names manifests, an optional change, "
        "and "
        "expectations: policy, member clusters, replicas, state and problems of templates. Prints "
        "one line for each case, and for each expectation that does not hold its place, the "
        "expected value, the actual value and the cause. Without a change, the values are those "
        "of explain; with a change, those of plan. Exit status: 0 all expectations hold; 1 an "
        "expectation does not hold; 2 a test file or its input cannot be read.",
    .examples = examples,
    .bit = COMMAND_TEST,
    .takes_arguments = true,
    .run = run_test,
};
