/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/verbs.h"

#include "exporter/cli/cmd_help.h"
#include "exporter/options/options.h"
#include "exporter/version.h"
#include "metrics/base/shown.h"

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
        return help_answer(command, verb);
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
