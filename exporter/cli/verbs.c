/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/verbs.h"

#include "exporter/cli/check.h"
#include "exporter/cli/explain.h"
#include "exporter/cli/help.h"
#include "exporter/cli/metrics.h"
#include "exporter/cli/plan.h"
#include "exporter/cli/serve.h"
#include "exporter/options/nearest.h"
#include "exporter/version.h"

static const char *const serve_examples[] = {
    "--kubeconfig karmada.config",
    "serve --manifests ./manifests --log.format json",
    NULL,
};
static const char *const check_examples[] = {
    "check ./manifests",
    "check --fail-on conflict -o json app.yaml policies/",
    "check - <all.yaml",
    "check --kubeconfig karmada.config",
    NULL,
};
static const char *const explain_examples[] = {
    "explain deployment/default/web ./manifests",
    "explain configmaps/my-config ./manifests",
    NULL,
};
static const char *const plan_examples[] = {
    "plan -f new-policy.yaml ./manifests",
    "plan --delete pp/default/web ./manifests",
    NULL,
};
static const char *const metrics_examples[] = {
    "metrics",
    "metrics --output markdown >METRICS.md",
    NULL,
};

const struct verb verbs[] = {
    {
        .name = "serve",
        .usage = "[FLAGS]",
        .summary = "run the exporter: follow changes, serve metrics over HTTP",
        .details = "Reads Karmada's API server (--kubeconfig) or manifests (--manifests), follows "
                   "them as they change, and serves what it finds as Prometheus metrics and on a "
                   "page for people, until SIGTERM or SIGINT. SIGHUP reads the configuration file "
                   "and everything else again.",
        .examples = serve_examples,
        .bit = VERB_SERVE,
        .run = serve_run,
    },
    {
        .name = "check",
        .usage = "[FLAGS] [PATH...]",
        .summary = "evaluate once and print what is found",
        .details = "Reads the manifests at each PATH (a file, a folder with all below it, - for "
                   "standard input), or Karmada's API server where there is no PATH, and prints "
                   "the findings. Exits with 1 if there are any of a class in --fail-on, with 2 if "
                   "something could not be read, with 3 if the server could not, else with 0.",
        .examples = check_examples,
        .bit = VERB_CHECK,
        .takes_paths = true,
        .run = check_run,
    },
    {
        .name = "explain",
        .usage = "[FLAGS] TEMPLATE [PATH...]",
        .summary = "tell how the decision about one template came about",
        .details = "Reads the manifests at each PATH, or Karmada's API server where there is no "
                   "PATH, and tells, about one TEMPLATE, written KIND[.GROUP]/[NAMESPACE/]NAME: "
                   "its state and what it means, the policies in question and what made each lose, "
                   "whose claim stands, what its binding says otherwise, who requires it, and what "
                   "its next change will do.",
        .examples = explain_examples,
        .bit = VERB_EXPLAIN,
        .takes_paths = true,
        .run = explain_run,
    },
    {
        .name = "plan",
        .usage = "[FLAGS] [-f CHANGE] [PATH...]",
        .summary = "tell what a change of policies or templates would do",
        .details = "Reads the manifests at each PATH, or Karmada's API server where there is no "
                   "PATH, then once more with each CHANGE applied and each OBJECT deleted, and "
                   "prints what differs: templates gained, lost, moved or out of date, replicas by "
                   "member cluster, and conflicts. Exits with 1 if anything differs.",
        .examples = plan_examples,
        .bit = VERB_PLAN,
        .takes_paths = true,
        .run = plan_run,
    },
    {
        .name = "metrics",
        .usage = "[FLAGS]",
        .summary = "list the families of metrics",
        .details = "Prints the table of metric families that all pages come from: name, type, "
                   "labels with what they may be, what it says, and what limits its series.",
        .examples = metrics_examples,
        .bit = VERB_METRICS,
        .run = metrics_run,
    },
};
const size_t verb_count = ARRAY_LEN(verbs);

static const char *next_name(void *context)
{
    size_t *at = context;

    return *at < verb_count ? verbs[(*at)++].name : NULL;
}

const struct verb *verb_find(const char *name, struct error *err)
{
    size_t at = 0;

    for (size_t i = 0; i < verb_count; i++) {
        if (strcmp(verbs[i].name, name) == 0)
            return &verbs[i];
    }
    const char *nearest = nearest_name(name, next_name, &at);

    if (nearest)
        fail(err, "unknown command '%s'; did you mean '%s'?", name, nearest);
    else
        fail(err, "unknown command '%s'", name);
    return NULL;
}

void verbs_complain(int fd, const char *text, const char *advice)
{
    CLEANUP(output_release) struct output o;
    struct error ignored;

    output_init(&o, fd);
    output_styled(&o, STYLE_BAD, EXPORTER_NAME ": ");
    output_safe(&o.text, text);
    strbuf_addc(&o.text, '\n');
    if (advice)
        strbuf_addf(&o.text, "%s\n", advice);
    /* There is nobody left to tell that standard error is closed. */
    if (!output_flush(&o, fd, &ignored))
        return;
}

static enum exit_status refuse(const struct verb *verb, int fd, const struct error *err)
{
    char advice[80];

    snprintf(advice, sizeof(advice), "See '%s%s%s --help'.", EXPORTER_NAME, verb ? " " : "",
             verb ? verb->name : "");
    verbs_complain(fd, err->text, advice);
    return STATUS_USAGE;
}

static enum exit_status print_about(const struct options *o, const struct verb *verb,
                                    const struct command *command)
{
    CLEANUP(output_release) struct output output;
    struct error err;

    output_init(&output, command->out);
    if (o->version)
        version_print(&output);
    else
        help_print(verb, &output);
    if (output_flush(&output, command->out, &err))
        return STATUS_OK;
    verbs_complain(command->err, err.text, NULL);
    return STATUS_USAGE;
}

static enum exit_status run(const struct verb *verb, struct command *command)
{
    const struct options *o = &command->options;
    struct error err;

    if (!options_accepted(o, verb->name, verb->bit, &err))
        return refuse(verb, command->err, &err);
    if (!verb->takes_paths && o->arguments.count > 0) {
        fail(&err, "'%s' takes no arguments, and '%s' is one", verb->name, o->arguments.items[0]);
        return refuse(verb, command->err, &err);
    }
    return verb->run(command);
}

static enum exit_status dispatch(struct command *command)
{
    const struct options *o = &command->options;
    struct error err;
    struct error unknown;
    bool loaded = options_load(&command->options, command->argc, command->argv, &err);
    const struct verb *verb = o->verb ? verb_find(o->verb, &unknown) : &verbs[0];

    if (!loaded)
        return refuse(o->verb ? verb : NULL, command->err, &err);
    if (!verb)
        return refuse(NULL, command->err, &unknown);
    if (o->help || o->version)
        return print_about(o, o->verb ? verb : NULL, command);
    return run(verb, command);
}

enum exit_status verbs_main(int argc, const char *const *argv, int out, int err)
{
    struct command command = {.argc = argc, .argv = argv, .out = out, .err = err};
    enum exit_status status = dispatch(&command);

    options_release(&command.options);
    return status;
}
