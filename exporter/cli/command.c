/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/command.h"

#include "exporter/version.h"
#include "metrics/base/shown.h"
#include "metrics/base/suggest.h"

const char *const exit_status_texts[] = {
    [STATUS_OK] = "nothing found",
    [STATUS_FOUND] = "problems that --fail-on names",
    [STATUS_USAGE] = "a wrong command line, or input that cannot be read completely",
    [STATUS_UNREACHABLE] = "the source cannot be reached",
};

/* Callback of suggest_name(): returns the name at `context` and advances it; NULL at the end. */
static const char *next_command_name(void *context)
{
    const struct command *const **next = context;

    return **next ? (*(*next)++)->name : NULL;
}

const struct command *command_find(const struct command *const *commands, const char *name,
                                   struct error *err)
{
    for (size_t i = 0; commands[i]; i++) {
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    }
    const char *nearest = suggest_name(name, next_command_name, &commands);

    if (nearest)
        fail(err, "unknown command '%s'; did you mean '%s'?", shown(name).text, nearest);
    else
        fail(err, "unknown command '%s'", shown(name).text);
    return NULL;
}

static void print_error_and_advice(const struct invocation *invocation, const char *text,
                                   const char *advice)
{
    CLEANUP(output_release) struct output o;
    struct error ignored;

    output_init(&o, invocation->err);
    output_add_styled(&o, STYLE_BAD, invocation->program);
    output_add_styled(&o, STYLE_BAD, ": ");
    output_escape(&o.text, text);
    strbuf_addf(&o.text, "\n%s", advice);
    /* A failed write to standard error cannot be reported. */
    if (!output_flush(&o, invocation->err, &ignored))
        return;
}

void invocation_print_error(const struct invocation *invocation, const char *text)
{
    print_error_and_advice(invocation, text, "");
}

void invocation_print_message(void *context, const char *text)
{
    invocation_print_error(context, text);
}

enum exit_status invocation_reject(const struct invocation *invocation, const char *text)
{
    const struct command *command = invocation->command;
    char advice[80];

    snprintf(advice, sizeof(advice), "See '%s%s%s --help'.\n", invocation->program,
             command ? " " : "", command ? command->name : "");
    print_error_and_advice(invocation, text, advice);
    return STATUS_USAGE;
}

void invocation_begin_output(const struct invocation *invocation, enum output_format format,
                             struct output *o)
{
    output_init(o, invocation->out);
    if (format == OUTPUT_WIDE)
        o->width = 0;
}

enum exit_status invocation_print_output(const struct invocation *invocation, struct output *o,
                                         enum exit_status status)
{
    struct error err;

    if (output_flush(o, invocation->out, &err))
        return status;
    invocation_print_error(invocation, err.text);
    return STATUS_USAGE;
}

/* Name of the executable that kubectl runs for `kubectl karmada-policy`. */
static const char plugin_file[] = "kubectl-karmada_policy";

static enum exit_status run_selected_command(struct invocation *invocation)
{
    const struct options *o = &invocation->options;
    const struct command *command = NULL;
    struct error err;
    struct error unknown;
    bool loaded = config_load(&invocation->options, invocation->argc, invocation->argv, &err);

    if (o->command)
        invocation->command = command = command_find(invocation->commands, o->command, &unknown);
    if (!loaded)
        return invocation_reject(invocation, err.text);
    if (o->command && !command)
        return invocation_reject(invocation, unknown.text);
    if (o->version)
        return version_command.run(invocation);
    if (o->help)
        return help_command.run(invocation);
    if (!command)
        invocation->command = command = invocation->default_command;
    if (!options_accepted(o, command->name, command->bit, &err))
        return invocation_reject(invocation, err.text);
    if (!command->takes_arguments && o->arguments.count > 0) {
        fail(&err, "'%s' takes no arguments, and '%s' is one", command->name,
             shown(o->arguments.items[0]).text);
        return invocation_reject(invocation, err.text);
    }
    return command->run(invocation);
}

enum exit_status commands_main(const struct command *const *commands, const char *program, int argc,
                               const char *const *argv, int out, int err)
{
    const char *slash = program ? strrchr(program, '/') : NULL;
    const char *file = slash ? slash + 1 : program;
    bool is_plugin = file && strcmp(file, plugin_file) == 0;
    struct invocation invocation = {
        .commands = commands,
        .default_command = is_plugin ? &help_command : commands[0],
        .program = is_plugin ? "kubectl karmada-policy" : EXPORTER_NAME,
        .argc = argc,
        .argv = argv,
        .out = out,
        .err = err,
    };
    enum exit_status status = run_selected_command(&invocation);

    options_release(&invocation.options);
    return status;
}
