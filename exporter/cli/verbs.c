/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/verbs.h"

#include "exporter/cli/help.h"
#include "exporter/options/config.h"
#include "exporter/options/nearest.h"

static const char *next_name(void *context)
{
    const struct verb *const **next = context;

    return **next ? (*(*next)++)->name : NULL;
}

/* The verb of a name; NULL, with a suggestion, if there is none. */
static const struct verb *find_verb(const struct verb *const *verbs, const char *name,
                                    struct error *err)
{
    for (size_t i = 0; verbs[i]; i++) {
        if (strcmp(verbs[i]->name, name) == 0)
            return verbs[i];
    }
    const char *nearest = nearest_name(name, next_name, &verbs);

    if (nearest)
        fail(err, "unknown command '%s'; did you mean '%s'?", name, nearest);
    else
        fail(err, "unknown command '%s'", name);
    return NULL;
}

static enum exit_status dispatch(const struct verb *const *verbs, struct command *command)
{
    const struct options *o = &command->options;
    CLEANUP(output_release) struct output about;
    struct error err;
    struct error unknown;

    output_init(&about, command->out);

    bool loaded = config_load(&command->options, command->argc, command->argv, &err);

    if (o->verb)
        command->verb = find_verb(verbs, o->verb, &unknown);
    if (!loaded)
        return command_refuse(command, err.text);
    if (o->verb && !command->verb)
        return command_refuse(command, unknown.text);
    if (o->version)
        version_print(&about);
    else if (o->help && command->verb)
        help_print(command->verb, &about);
    else if (o->help)
        help_print_all(verbs, &about);
    if (o->help || o->version)
        return command_print(command, &about, STATUS_OK);
    if (!command->verb)
        command->verb = verbs[0];
    if (!options_accepted(o, command->verb->name, command->verb->bit, &err))
        return command_refuse(command, err.text);
    if (!command->verb->takes_paths && o->arguments.count > 0) {
        fail(&err, "'%s' takes no arguments, and '%s' is one", command->verb->name,
             o->arguments.items[0]);
        return command_refuse(command, err.text);
    }
    return command->verb->run(command);
}

enum exit_status verbs_main(const struct verb *const *verbs, int argc, const char *const *argv,
                            int out, int err)
{
    struct command command = {.argc = argc, .argv = argv, .out = out, .err = err};
    enum exit_status status = dispatch(verbs, &command);

    options_release(&command.options);
    return status;
}
