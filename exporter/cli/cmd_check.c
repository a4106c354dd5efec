/* SPDX-License-Identifier: Apache-2.0 */

#include "exporter/cli/command.h"
#include "exporter/cli/document.h"
#include "exporter/cli/load.h"
#include "exporter/cli/remote.h"
#include "exporter/system/platform.h"
#include "exporter/text/check_findings.h"
#include "exporter/text/check_text.h"
#include "exporter/text/findings_format.h"

static void write_findings(const struct check_result *r, enum exit_status status,
                           struct strbuf *out)
{
    const struct options *options = &r->evaluation->options;
    struct findings findings;

    findings_init(&findings, "check");
    findings_add_check(&findings, r, &options->fail_on, NULL);
    findings_finish(&findings);
    findings_write(&findings, options->output, &(struct findings_end){status, r->complete}, out);
    findings_release(&findings);
}

static enum exit_status print_check_result(const struct check_result *r, enum exit_status status,
                                           const struct invocation *invocation)
{
    const struct options *options = &r->evaluation->options;
    CLEANUP(output_release) struct output o;

    if (status == STATUS_OK && problem_counts_fail(&r->counts, &options->fail_on))
        status = STATUS_FOUND;
    invocation_begin_output(invocation, options->output, &o);
    if (findings_format_is(options->output))
        write_findings(r, status, &o.text);
    else if (document_is_requested(options->output))
        evaluation_write_report(r->evaluation, &r->filter, &o.text);
    else
        check_result_print(r, &options->fail_on, options->output == OUTPUT_WIDE, platform_now_ms(),
                           &o);
    document_convert(&o.text, options->output);
    return invocation_print_output(invocation, &o, status);
}

static enum exit_status run_check(struct invocation *invocation)
{
    const struct options *given = &invocation->options;
    struct problem_filter filter;
    enum exit_status status;
    struct error err;
    struct evaluation *e;
    struct check_result r;

    if (!problem_filter_parse(given->only_problem, NULL, &filter, &err)) {
        fail_in(&err, "--problem");
        return invocation_reject(invocation, err.text);
    }
    if (remote_run_check(invocation, &status))
        return status;
    e = load_sources(invocation, &status);
    if (!e)
        return status;
    /* Documents are for programs, so people get the problems as errors; the text lists them. */
    if (document_is_requested(e->options.output) || findings_format_is(e->options.output))
        load_print_problems(e->manifests, invocation);
    load_judge_problems(e);
    evaluation_locate_problems(e);
    /* For manifests, --namespace is where objects without a namespace are. */
    if (!problem_filter_parse(e->options.only_problem,
                              e->session && e->options.on_command_line[OPTION_OF_namespace]
                                  ? e->options.namespace
                                  : NULL,
                              &filter, &err))
        abort();
    check_result_make(&r, e, &filter);
    r.complete = r.complete && status == STATUS_OK;
    status = print_check_result(&r, status, invocation);
    check_result_release(&r);
    evaluation_free(e);
    return status;
}

static const char *const examples[] = {
    "check ./manifests",
    "check --fail-on policy_tie -o json app.yaml policies/",
    "check - <all.yaml",
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
               "exporter evaluates its own objects instead. Exit status: 0 no problem that "
               "--fail-on names; 1 at least one such problem; 2 an input cannot be read, or there "
               "is no object; 3 the server cannot be reached or read.",
    .examples = examples,
    .bit = COMMAND_CHECK,
    .takes_arguments = true,
    .run = run_check,
};
