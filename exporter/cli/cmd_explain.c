/* SPDX-License-Identifier: Apache-2.0 */

#include "exporter/cli/command.h"
#include "exporter/cli/document.h"
#include "exporter/cli/load.h"
#include "exporter/cli/remote.h"
#include "exporter/system/platform.h"
#include "exporter/text/text_table.h"
#include "metrics/explain/explain.h"

static void print_history_hint(struct output *o)
{
    explanation_print_line(o, EXPLAIN_HEADING, "History");
    explanation_print_line(o, EXPLAIN_PARAGRAPH,
                           "A running exporter keeps the history since its start. Query one "
                           "with --server URL.");
}

static enum exit_status print_explanation_of(struct evaluation *e, const char *typed,
                                             const struct invocation *invocation)
{
    CLEANUP(output_release) struct output o;
    const struct entry *entry;
    enum exit_status status;
    struct explanation x;
    struct error err;

    output_init(&o, invocation->out);
    entry = load_object(e, EXPLAIN_CLASSES, typed, &status, &err);
    if (!entry) {
        invocation_print_error(invocation, err.text);
        return status;
    }
    explanation_init(&x);
    x.locations = evaluation_locations(e);
    explain_object(e->engine, entry, platform_now_ms(), &x);
    explanation_finish(&x);
    if (document_is_requested(e->options.output)) {
        strbuf_add(&o.text, x.json.data, x.json.len);
        document_convert(&o.text, e->options.output);
    } else {
        explanation_print(&x, &o);
        if (e->options.history && entry_class(entry) == CLASS_TEMPLATE)
            print_history_hint(&o);
    }
    explanation_release(&x);
    return invocation_print_output(invocation, &o, STATUS_OK);
}

static enum exit_status run_explain(struct invocation *invocation)
{
    struct options *o = &invocation->options;
    CLEANUP(free_cleanup) char *typed = NULL;
    struct evaluation *e;
    enum exit_status status;

    if (o->arguments.count > 0)
        typed = text_list_take(&o->arguments, 0);
    if (!typed)
        return invocation_reject(invocation,
                                 "nothing to explain: name a template, a policy or a binding");
    if (remote_run_explain(invocation, typed, &status))
        return status;
    e = load_sources(invocation, &status);
    if (!e)
        return status;
    if (status != STATUS_OK)
        load_print_problems(e->manifests, invocation);
    load_judge_problems(e);
    status = print_explanation_of(e, typed, invocation);
    evaluation_free(e);
    return status;
}

static const char *const examples[] = {
    "explain deployment/default/web ./manifests",
    "explain configmaps/my-config ./manifests",
    "explain pp/default/web-policy --output yaml",
    "explain rb/default/web-deployment",
    "explain deploy/ns/web --server http://localhost:19180",
    NULL,
};

const struct command explain_command = {
    .name = "explain",
    .usage = "[FLAGS] OBJECT [PATH...]",
    .summary = "explain the decision about one template, policy or binding",
    .details =
        "Reads the manifests at each PATH, or Karmada's API server where there is no PATH, and "
        "explains one OBJECT, written KIND[.GROUP]/[NAMESPACE/]NAME. First its problems: severity, "
        "cause, action and end. Of a template: its state and "
        "what it means, the policies in question and what made each lose, whose claim stands, what "
        "its binding says otherwise, which overrides act on which member cluster and in which "
        "order, who requires it, and what comes next. Of a policy (pp/, cpp/): what it selects, on "
        "which templates it is not in force, and what is wrong with it. Of a binding (rb/, crb/): "
        "what it propagates, by whose will, and who requires it. JSON and YAML have the same in "
        "full. With --server a running exporter is asked instead, which also remembers what moved "
        "(--history).",
    .examples = examples,
    .bit = COMMAND_EXPLAIN,
    .takes_arguments = true,
    .run = run_explain,
};
