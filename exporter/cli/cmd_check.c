/* SPDX-License-Identifier: Apache-2.0 */

#include "exporter/cli/check_baseline.h"
#include "exporter/cli/check_environments.h"
#include "exporter/cli/command.h"
#include "exporter/cli/document.h"
#include "exporter/cli/load.h"
#include "exporter/cli/remote.h"
#include "exporter/cli/report_files.h"
#include "exporter/system/platform.h"
#include "exporter/text/check_findings.h"
#include "exporter/text/check_text.h"
#include "exporter/text/findings_format.h"
#include "exporter/text/suppression_text.h"

enum { LINE_MAX_BYTES = 8192, JSON_MAX_BYTES = 16 * 1024 * 1024, ENVIRONMENT_LINES = 5 };

/* One run of the command, for all environments. */
struct check {
    struct invocation *invocation;
    struct options options; /* Of the command line; those of the invocation are moved out. */
    struct environments environments;
    struct exceptions *exceptions;
    struct check_baseline *baseline; /* NULL without --baseline. */
    int64_t now_ms;
    struct output output;
    struct json_writer json;  /* For formats of document_is_requested(). */
    struct findings findings; /* If needs_findings(). */
    struct strbuf failing;    /* Names of the environments that fail. */
    size_t failing_count;
    bool complete;  /* All inputs of all environments were read. */
    bool selective; /* Some problems are not selected. */
    enum exit_status status;
};

static bool has_environments(const struct check *c)
{
    return *c->environments.items[0].name != '\0';
}

static bool needs_findings(const struct check *c)
{
    return findings_format_is(c->options.output) || c->options.reports.count > 0;
}

static void check_release(struct check *c)
{
    options_release(&c->options);
    environments_release(&c->environments);
    exceptions_free(c->exceptions);
    check_baseline_free(c->baseline);
    output_release(&c->output);
    findings_release(&c->findings);
    strbuf_release(&c->failing);
}

/* ---- output of one environment ---- */

/* Prints the files and documents that could not be read, for formats that are for programs. */
static void print_unread(const struct check *c, const struct check_result *r)
{
    const struct manifests *m = r->evaluation->manifests;

    for (size_t i = 0; i < manifests_problem_count(m); i++) {
        CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(LINE_MAX_BYTES);
        struct manifest_problem p = manifests_problem(m, i);
        bool known = check_result_is_known_unread(r, &p);

        if (!known && !check_result_is_unread(r, &p))
            continue;
        strbuf_adds(&text, known ? "warning: " : "");
        manifest_problem_append_place(&p, &text);
        strbuf_addf(&text, ": %s%s", p.text, known ? "; it is the same in the baseline" : "");
        invocation_print_error(c->invocation, text.data);
    }
}

static void write_report(struct check *c, const struct check_result *r)
{
    CLEANUP(strbuf_release) struct strbuf numbers = STRBUF_INIT(LINE_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf exceptions = STRBUF_INIT(JSON_MAX_BYTES);
    bool suppresses = c->baseline || exceptions_count(c->exceptions) > 0;

    suppression_write_numbers(r, &numbers);
    exceptions_write(c->exceptions, c->now_ms, &exceptions);
    evaluation_put_report(
        r->evaluation, &c->json, has_environments(c) ? "report" : NULL,
        &(struct report_files){
            .problems = &r->filter,
            .suppressions = suppression_source_of(r),
            .suppressed = suppresses ? numbers.data : NULL,
            .exceptions = suppresses && !has_environments(c) ? exceptions.data : NULL,
        });
}

static void write_result(struct check *c, const struct environment *environment,
                         const struct check_result *r)
{
    const struct options *o = &c->options;

    if (needs_findings(c))
        findings_add_check(&c->findings, r, &o->fail_on,
                           has_environments(c) ? environment->name : NULL);
    if (findings_format_is(o->output)) {
        print_unread(c, r);
        return;
    }
    if (document_is_requested(o->output)) {
        print_unread(c, r);
        if (has_environments(c)) {
            json_writer_open(&c->json, NULL, '{');
            json_writer_text(&c->json, "name", environment->name);
        }
        write_report(c, r);
        if (has_environments(c))
            json_writer_close(&c->json, '}');
        return;
    }
    if (has_environments(c)) {
        strbuf_adds(&c->output.text, c->output.text.len > 0 ? "\n" : "");
        output_add_styled(&c->output, STYLE_HEADING, "Environment ");
        output_add_styled(&c->output, STYLE_HEADING, environment->name);
        strbuf_addc(&c->output.text, '\n');
    }
    check_result_print(r, &o->fail_on, o->output == OUTPUT_WIDE, c->now_ms, &c->output);
}

/* ---- evaluation of one environment ---- */

/* Context of the hooks of load_sources_with(). */
struct loading_context {
    struct check *check;
    const struct environment *environment;
};

static void observe_annotations(void *context, struct evaluation *e)
{
    const struct loading_context *c = context;

    exceptions_observe(c->check->exceptions, e->manifests);
}

static bool is_known_unread(void *context, const struct manifest_problem *p)
{
    const struct loading_context *c = context;

    return c->check->baseline && baseline_has_unread(check_baseline_problems(c->check->baseline),
                                                     c->environment->name, p->path, p->text);
}

/* Returns the evaluation; NULL, with the exit status in *status, if nothing can be evaluated. */
static struct evaluation *load_environment(struct check *c, const struct environment *environment,
                                           enum exit_status *status)
{
    struct loading_context context = {c, environment};
    struct evaluation *e;
    struct error err;

    if (!check_options_of(c->invocation, environment, &c->invocation->options, &err)) {
        *status = invocation_reject(c->invocation, err.text);
        return NULL;
    }
    e = load_sources_with(c->invocation,
                          &(struct load_hooks){.opened = observe_annotations,
                                               .accepts = is_known_unread,
                                               .context = &context,
                                               .quiet = environment != c->environments.items},
                          status);
    if (!e)
        return NULL;
    load_judge_problems(e);
    evaluation_locate_problems(e);
    if (exceptions_error(c->exceptions, &err) > 0) {
        invocation_print_error(c->invocation, err.text);
        evaluation_free(e);
        *status = STATUS_USAGE;
        return NULL;
    }
    return e;
}

static enum exit_status judge_environment(struct check *c, const struct environment *environment,
                                          const struct evaluation *e, enum exit_status status)
{
    const struct options *o = &c->options;
    const struct suppressions suppressions = {
        .baseline = c->baseline ? check_baseline_problems(c->baseline) : NULL,
        .exceptions = c->exceptions,
        .environment = environment->name,
        .now_ms = c->now_ms,
    };
    struct problem_filter filter;
    struct check_result r;
    struct error err;

    /* For manifests, --namespace is where objects without a namespace are. */
    if (!problem_filter_parse(o->only_problem,
                              e->session && o->on_command_line[OPTION_OF_namespace] ? o->namespace
                                                                                    : NULL,
                              &filter, &err))
        abort();
    check_result_make(&r, e, &filter, &suppressions);
    r.complete = r.complete && status == STATUS_OK;
    c->complete = c->complete && r.complete;
    c->selective = *o->only_problem != '\0' || filter.ns;
    for (unsigned i = 0; i < NORMAL_CONDITION_COUNT; i++) {
        if (o->fail_on.conditions >> i & 1)
            evaluation_locate_names(e, &r.normal[i]);
    }
    write_result(c, environment, &r);
    if (status == STATUS_OK && check_result_has_failure(&r, &o->fail_on))
        status = STATUS_FOUND;
    check_result_release(&r);
    return status;
}

static bool run_environment(struct check *c, const struct environment *environment)
{
    enum exit_status status = STATUS_OK;
    struct evaluation *e = NULL;

    if (!c->baseline ||
        check_baseline_prepare(c->baseline, c->invocation, environment, c->now_ms, &status))
        e = load_environment(c, environment, &status);
    if (e)
        status = judge_environment(c, environment, e, status);
    if (status != STATUS_OK)
        strbuf_addf(&c->failing, "%s%s", c->failing_count++ > 0 ? ", " : "", environment->name);
    if (status > c->status)
        c->status = status;
    if (environment == &c->environments.items[c->environments.count - 1])
        evaluation_leave(e);
    else
        evaluation_free(e);
    return e != NULL;
}

/* ---- run ---- */

/* Returns false with the reason if a PATH is standard input and there are environments. */
static bool paths_are_readable_again(const struct check *c, struct error *err)
{
    for (size_t i = 0; i < c->environments.count && has_environments(c); i++) {
        struct options o = {0};
        bool fine = check_options_of(c->invocation, &c->environments.items[i], &o, err);

        for (size_t k = 0; k < o.manifests.count && fine; k++)
            fine = strcmp(o.manifests.items[k], "-") != 0 ||
                   fail(err, "standard input can be read only once: give files instead of -");
        options_release(&o);
        if (!fine)
            return false;
    }
    return true;
}

static bool begin(struct check *c, struct error *err)
{
    const struct options *o = &c->options;

    if (!config_load(&c->options, c->invocation->argc, c->invocation->argv, err))
        return false;
    if (!environments_parse(&o->environments, &c->environments, err) ||
        !paths_are_readable_again(c, err))
        return fail_in(err, "--environment");
    c->exceptions = exceptions_new(o->namespace);
    for (size_t i = 0; i < o->exceptions.count; i++) {
        if (!exceptions_read_file(c->exceptions, o->exceptions.items[i], err))
            return fail_in(err, "--exceptions");
    }
    if (*o->baseline == '\0')
        return true;
    c->baseline = check_baseline_open(c->invocation, o->baseline, &c->environments, err);
    return c->baseline || fail_in(err, "--baseline");
}

static void begin_document(struct check *c)
{
    c->json = (struct json_writer){.out = &c->output.text, .lines = 2};
    if (!has_environments(c))
        return;
    c->json.lines = ENVIRONMENT_LINES;
    json_writer_open(&c->json, NULL, '{');
    json_writer_text(&c->json, "apiVersion", "karmada-policy-exporter/v1");
    json_writer_open(&c->json, "environments", '[');
}

static void end_document(struct check *c)
{
    if (has_environments(c)) {
        CLEANUP(strbuf_release) struct strbuf exceptions = STRBUF_INIT(JSON_MAX_BYTES);

        json_writer_close(&c->json, ']');
        exceptions_write(c->exceptions, c->now_ms, &exceptions);
        json_writer_raw_json(&c->json, "exceptions", exceptions.data);
        json_writer_close(&c->json, '}');
    }
    strbuf_addc(&c->output.text, '\n');
    document_convert(&c->output.text, c->options.output);
}

/* Prints the unused exceptions, and the number of environments that fail. */
static void end_text(struct check *c)
{
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);
    size_t count = c->environments.count;

    /* An exception may be for a problem that was not selected, or that a lost file would have. */
    if (c->complete && !c->selective)
        exceptions_print_unused(c->exceptions, c->now_ms, &c->output);
    if (!has_environments(c))
        return;
    if (c->failing_count == 0)
        strbuf_addf(&line, "No environment of %zu fails this check.", count);
    else
        strbuf_addf(&line, "%zu of %zu environments fail%s this check: %s.", c->failing_count,
                    count, c->failing_count == 1 ? "s" : "", c->failing.data);
    strbuf_addc(&c->output.text, '\n');
    output_add_line(&c->output, 0, line.data);
}

static void end_findings(struct check *c)
{
    const struct findings_end end = {c->status, c->complete};
    struct error err;

    if (c->complete && !c->selective)
        findings_add_unused(&c->findings, c->exceptions, c->now_ms);
    findings_finish(&c->findings);
    if (!report_files_write(&c->options.reports, &c->findings, &end, &err)) {
        invocation_print_error(c->invocation, err.text);
        c->status = STATUS_USAGE;
    }
    if (findings_format_is(c->options.output))
        findings_write(&c->findings, c->options.output, &end, &c->output.text);
}

static enum exit_status run_environments(struct check *c)
{
    bool is_document = document_is_requested(c->options.output);

    findings_init(&c->findings, "check");
    invocation_begin_output(c->invocation, c->options.output, &c->output);
    if (is_document)
        begin_document(c);
    for (size_t i = 0; i < c->environments.count; i++) {
        if (!run_environment(c, &c->environments.items[i]))
            return c->status;
    }
    /* Before any output: the end of a reader, SIGPIPE, would leave the files of git:REF behind. */
    check_baseline_free(c->baseline);
    c->baseline = NULL;
    if (needs_findings(c))
        end_findings(c);
    if (is_document)
        end_document(c);
    else if (!findings_format_is(c->options.output))
        end_text(c);
    return invocation_print_output(c->invocation, &c->output, c->status);
}

/* Returns false with the reason if a flag needs the objects, which --server does not provide. */
static bool flags_fit_server(const struct options *o, struct error *err)
{
    if (*o->server == '\0')
        return true;
    if (*o->baseline != '\0' || o->exceptions.count > 0 || o->environments.count > 0)
        return fail(err, "--baseline, --exceptions and --environment need the objects, which "
                         "--server URL does not provide: omit the flag, or use --kubeconfig FILE");
    return true;
}

static enum exit_status run_check(struct invocation *invocation)
{
    struct check c = {
        .invocation = invocation,
        .now_ms = platform_now_ms(),
        .failing = STRBUF_INIT(LINE_MAX_BYTES),
        .complete = true,
    };
    struct problem_filter filter;
    enum exit_status status;
    struct error err;

    if (!problem_filter_parse(invocation->options.only_problem, NULL, &filter, &err)) {
        fail_in(&err, "--problem");
        return invocation_reject(invocation, err.text);
    }
    if (!flags_fit_server(&invocation->options, &err) ||
        !report_files_check(&invocation->options, &err))
        return invocation_reject(invocation, err.text);
    if (remote_run_check(invocation, &status))
        return status;
    status = begin(&c, &err) ? run_environments(&c) : invocation_reject(invocation, err.text);
    check_release(&c);
    return status;
}

static const char *const examples[] = {
    "check ./manifests",
    "check --fail-on policy_tie -o json app.yaml policies/",
    "check - <all.yaml",
    "check --baseline git:origin/main ./manifests",
    "check --environment prod=envs/prod base/",
    "check --kubeconfig karmada.config",
    "check --server https://exporter.example -n shop",
    NULL,
};

const struct command check_command = {
    .name = "check",
    .usage = "[FLAGS] [PATH...]",
    .summary = "evaluate once and print the problems",
    .details = "Evaluates manifests, or the objects of Karmada's API server if there is no PATH. A "
               "PATH is a file, a directory tree, or - for standard input. Prints the problems, "
               "the most severe first, each with cause and action. With --server, a running "
               "exporter evaluates its own objects instead. With --baseline, only new "
               "problems count; --exceptions and the annotation "
               "karmada-policy-exporter/exceptions accept problems until a date. Exit status: 0 "
               "no problem that --fail-on names; 1 at least one such problem, or an exception that "
               "has expired; 2 an input cannot be read, or there "
               "is no object; 3 the server cannot be reached or read.",
    .examples = examples,
    .bit = COMMAND_CHECK,
    .takes_arguments = true,
    .run = run_check,
};
