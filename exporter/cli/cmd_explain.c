/* SPDX-License-Identifier: Apache-2.0 */

#include "exporter/cli/command.h"
#include "exporter/cli/document.h"
#include "exporter/cli/load.h"
#include "exporter/cli/remote.h"
#include "exporter/system/platform.h"
#include "exporter/text/object_name.h"
#include "exporter/text/text_table.h"
#include "metrics/base/shown.h"
#include "metrics/explain/explain.h"

enum { OBJECT_MAX_BYTES = 64 * 1024 };

static void print_history_hint(struct output *o)
{
    explanation_print_line(o, EXPLAIN_HEADING, "History");
    explanation_print_line(o, EXPLAIN_PARAGRAPH,
                           "A running exporter keeps the history since its start. Query one "
                           "with --server URL.");
}

/*
 * Explains the object or namespace that the user typed. Returns STATUS_OK, and in *template whether
 * it is a template; else the exit status with the reason in `err`.
 */
static enum exit_status explain_typed(struct evaluation *e, const char *typed,
                                      struct explanation *x, bool *template, struct error *err)
{
    const struct entry *entry;
    enum exit_status status;
    const char *ns;

    *template = false;
    if (object_name_is_namespace(typed, &ns)) {
        if (explain_namespace(e->engine, ns, platform_now_ms(), x))
            return STATUS_OK;
        fail(err, "there is no template, policy or problem in the namespace '%s'", ns);
        return STATUS_USAGE;
    }
    entry = load_object(e, EXPLAIN_CLASSES, typed, &status, err);
    if (!entry)
        return status;
    *template = entry_class(entry) == CLASS_TEMPLATE;
    explain_object(e->engine, entry, platform_now_ms(), x);
    return STATUS_OK;
}

static enum exit_status print_explanation_of(struct evaluation *e, const char *typed,
                                             const struct invocation *invocation)
{
    CLEANUP(output_release) struct output o;
    enum exit_status status;
    struct explanation x;
    struct error err;
    bool template;

    invocation_begin_output(invocation, e->options.output, &o);
    explanation_init(&x);
    x.locations = evaluation_locations(e);
    status = explain_typed(e, typed, &x, &template, &err);
    explanation_finish(&x);
    if (status != STATUS_OK) {
        invocation_print_error(invocation, err.text);
        explanation_release(&x);
        return status;
    }
    if (document_is_requested(e->options.output)) {
        strbuf_add(&o.text, x.json.data, x.json.len);
        document_convert(&o.text, e->options.output);
    } else {
        explanation_print(&x, &o);
        if (e->options.history && template)
            print_history_hint(&o);
    }
    explanation_release(&x);
    return invocation_print_output(invocation, &o, STATUS_OK);
}

/*
 * Removes the OBJECT from the arguments and returns it as KIND/NAME. An argument with '/' is an
 * OBJECT; one without '/' is a KIND, and the next one the NAME. Returns NULL without an argument,
 * and an invalid OBJECT without a NAME.
 */
static char *take_object(struct text_list *arguments)
{
    CLEANUP(strbuf_release) struct strbuf object = STRBUF_INIT(OBJECT_MAX_BYTES);
    CLEANUP(free_cleanup) char *kind = NULL;
    CLEANUP(free_cleanup) char *name = NULL;
    size_t len;

    if (arguments->count > 0 && strchr(arguments->items[0], '/'))
        return text_list_take(arguments, 0);
    if (arguments->count < 2)
        return arguments->count > 0 ? text_list_take(arguments, 0) : NULL;
    kind = text_list_take(arguments, 0);
    name = text_list_take(arguments, 0);
    strbuf_addf(&object, "%s/%s", kind, name);
    return strbuf_take(&object, &len);
}

static enum exit_status run_explain(struct invocation *invocation)
{
    struct options *o = &invocation->options;
    CLEANUP(free_cleanup) char *typed = NULL;
    struct evaluation *e;
    enum exit_status status;

    typed = take_object(&o->arguments);
    if (!typed)
        return invocation_reject(invocation, "nothing to explain: name an object, as KIND/NAME or "
                                             "as KIND NAME");
    if (!strchr(typed, '/')) {
        struct error err;

        fail(&err, "'%s' names no object: write KIND[.GROUP]/[NAMESPACE/]NAME, or KIND NAME",
             shown(typed).text);
        return invocation_reject(invocation, err.text);
    }
    if (remote_run_explain(invocation, typed, &status))
        return status;
    e = load_sources(invocation, &status);
    if (!e)
        return status;
    load_print_problems(e->manifests, invocation);
    load_judge_problems(e);
    evaluation_locate_fields(e);
    status = print_explanation_of(e, typed, invocation);
    evaluation_free(e);
    return status;
}

static const char *const examples[] = {
    "explain deployment/default/web ./manifests",
    "explain configmaps/my-config ./manifests",
    "explain pp/default/web-policy --output yaml",
    "explain rb/default/web-deployment",
    "explain deployment web -n shop",
    "explain cluster/member1",
    "explain ns/shop",
    "explain deploy/ns/web --server http://localhost:19180",
    NULL,
};

const struct command explain_command = {
    .name = "explain",
    .usage = "[FLAGS] OBJECT [PATH...]",
    .summary = "explain one template, policy, binding, override, cluster or namespace",
    .details =
        "Explains one OBJECT of the manifests at each PATH, or of Karmada's API server if there is "
        "no PATH. OBJECT is KIND[.GROUP]/[NAMESPACE/]NAME, KIND.VERSION.GROUP/[NAMESPACE/]NAME, "
        "or, as in kubectl, the two arguments KIND NAME with -n for the namespace. An argument "
        "without '/' is a KIND; the next argument is the NAME. Prints the problems first: "
        "severity, cause, action and end. For a template: why it is or is not placed in each "
        "member "
        "cluster, policy, binding, the stage in each member cluster, state, other policies, "
        "overrides, references and next change. For a policy (pp/, "
        "cpp/): selected templates, templates on which the policy is not in force, and defects. "
        "For a binding (rb/, crb/): template, policy and referrers. For an override policy (op/, "
        "cop/): templates, member clusters, policies and Works. For a member cluster (cluster/): "
        "condition, templates, templates that are not placed there, movements and capacity. For a "
        "namespace (ns/): templates by state, "
        "and policies. JSON and YAML contain the same data. With --server, a running exporter "
        "explains the object, and can add its history (--history).",
    .examples = examples,
    .bit = COMMAND_EXPLAIN,
    .takes_arguments = true,
    .run = run_explain,
};
