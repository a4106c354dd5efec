/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/command.h"

#include "exporter/options/suggest.h"
#include "exporter/version.h"
#include "metrics/base/shown.h"

const char *const exit_status_texts[] = {
    [STATUS_OK] = "nothing found",
    [STATUS_FOUND] = "findings",
    [STATUS_USAGE] = "a wrong command line, or input that cannot be read completely",
    [STATUS_UNREACHABLE] = "the source cannot be reached",
};

static const char *next_name(void *context)
{
    const struct verb *const **next = context;

    return **next ? (*(*next)++)->name : NULL;
}

const struct verb *verb_find(const struct verb *const *verbs, const char *name, struct error *err)
{
    for (size_t i = 0; verbs[i]; i++) {
        if (strcmp(verbs[i]->name, name) == 0)
            return verbs[i];
    }
    const char *nearest = nearest_name(name, next_name, &verbs);

    if (nearest)
        fail(err, "unknown command '%s'; did you mean '%s'?", shown(name).text, nearest);
    else
        fail(err, "unknown command '%s'", shown(name).text);
    return NULL;
}

static void complain(const struct command *command, const char *text, const char *advice)
{
    CLEANUP(output_release) struct output o;
    struct error ignored;

    output_init(&o, command->err);
    output_styled(&o, STYLE_BAD, command->program);
    output_styled(&o, STYLE_BAD, ": ");
    output_safe(&o.text, text);
    strbuf_addf(&o.text, "\n%s", advice);
    /* Where standard error is closed, nobody is left to complain to. */
    if (!output_flush(&o, command->err, &ignored))
        return;
}

void command_complain(const struct command *command, const char *text)
{
    complain(command, text, "");
}

enum exit_status command_refuse(const struct command *command, const char *text)
{
    const struct verb *verb = command->verb;
    char advice[80];

    snprintf(advice, sizeof(advice), "See '%s%s%s --help'.\n", command->program, verb ? " " : "",
             verb ? verb->name : "");
    complain(command, text, advice);
    return STATUS_USAGE;
}

enum exit_status command_print(const struct command *command, struct output *o,
                               enum exit_status status)
{
    struct error err;

    if (output_flush(o, command->out, &err))
        return status;
    command_complain(command, err.text);
    return STATUS_USAGE;
}

/* kubectl runs the program of this name for `kubectl karmada-policy`. */
static const char plugin_file[] = "kubectl-karmada_policy";

static enum exit_status dispatch(struct command *command)
{
    const struct options *o = &command->options;
    const struct verb *verb = NULL;
    struct error err;
    struct error unknown;
    bool loaded = config_load(&command->options, command->argc, command->argv, &err);

    if (o->verb)
        command->verb = verb = verb_find(command->verbs, o->verb, &unknown);
    if (!loaded)
        return command_refuse(command, err.text);
    if (o->verb && !verb)
        return command_refuse(command, unknown.text);
    if (o->version)
        return version_verb.run(command);
    if (o->help)
        return help_verb.run(command);
    if (!verb)
        command->verb = verb = command->default_verb;
    if (!options_accepted(o, verb->name, verb->bit, &err))
        return command_refuse(command, err.text);
    if (!verb->takes_arguments && o->arguments.count > 0) {
        fail(&err, "'%s' takes no arguments, and '%s' is one", verb->name,
             shown(o->arguments.items[0]).text);
        return command_refuse(command, err.text);
    }
    return verb->run(command);
}

enum exit_status verbs_main(const struct verb *const *verbs, const char *program, int argc,
                            const char *const *argv, int out, int err)
{
    const char *slash = program ? strrchr(program, '/') : NULL;
    const char *file = slash ? slash + 1 : program;
    bool is_plugin = file && strcmp(file, plugin_file) == 0;
    struct command command = {
        .verbs = verbs,
        .default_verb = is_plugin ? &help_verb : verbs[0],
        .program = is_plugin ? "kubectl karmada-policy" : EXPORTER_NAME,
        .argc = argc,
        .argv = argv,
        .out = out,
        .err = err,
    };
    enum exit_status status = dispatch(&command);

    options_release(&command.options);
    return status;
}
