/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/verb.h"

#include "exporter/version.h"

static void complain(const struct command *command, const char *text, const char *advice)
{
    CLEANUP(output_release) struct output o;
    struct error ignored;

    output_init(&o, command->err);
    output_styled(&o, STYLE_BAD, EXPORTER_NAME ": ");
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

    snprintf(advice, sizeof(advice), "See '%s%s%s --help'.\n", EXPORTER_NAME, verb ? " " : "",
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
