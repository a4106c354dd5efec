/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/help.h"

#include "exporter/cli/option_text.h"
#include "exporter/cli/reference.h"
#include "exporter/text/text_table.h"

enum {
    FLAG_MAX = 128,
    HELP_MAX = 4096,
    HELP_WIDTH = 80, /* Also on wider terminals: long lines are hard to read. */
    HELP_INDENT = 30,
};

const char help_about[] = "Shows where Karmada's resources do not follow their propagation "
                          "policies: as Prometheus metrics, or as a check of manifests.";

static size_t help_width(const struct output *o)
{
    return o->width > 0 && o->width < HELP_WIDTH ? o->width : HELP_WIDTH;
}

static void print_paragraph(struct output *o, const char *text)
{
    output_wrap(&o->text, text, 0, 0, help_width(o));
    strbuf_adds(&o->text, "\n\n");
}

static void print_heading(struct output *o, const char *text)
{
    output_styled(o, STYLE_HEADING, text);
    strbuf_addc(&o->text, '\n');
}

static void print_options(struct output *o, const char *heading, unsigned bit)
{
    print_heading(o, heading);
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct option_def *def = &option_defs[i];
        CLEANUP(strbuf_release) struct strbuf flag = STRBUF_INIT(FLAG_MAX);
        CLEANUP(strbuf_release) struct strbuf help = STRBUF_INIT(HELP_MAX);

        if (!(def->verbs & bit))
            continue;
        if (def->letter != '\0')
            strbuf_addf(&flag, "  -%c, ", def->letter);
        else
            strbuf_adds(&flag, "      ");
        strbuf_addf(&flag, "--%s%s%s", def->name, def->value ? " " : "",
                    def->value ? def->value : "");
        option_describe(&help, def, true);

        strbuf_add(&o->text, flag.data, flag.len);
        if (flag.len + 2 > HELP_INDENT)
            strbuf_addf(&o->text, "\n%*s", HELP_INDENT, "");
        else
            strbuf_addf(&o->text, "%*s", (int)(HELP_INDENT - flag.len), "");
        output_wrap(&o->text, help.data, HELP_INDENT, HELP_INDENT, help_width(o));
        strbuf_addc(&o->text, '\n');
    }
}

static void print_all(const struct command *command, struct output *o)
{
    CLEANUP(table_release) struct table t = table_make(NULL, 2, 2);
    const struct verb *const *verbs = command->verbs;
    char flags[64];

    strbuf_addf(&o->text, "Usage: %s [COMMAND] [FLAGS] [ARGUMENTS]\n\n", command->program);
    print_paragraph(o, help_about);
    print_heading(o, "Commands");
    for (size_t i = 0; verbs[i]; i++) {
        table_add(&t, STYLE_PLAIN, verbs[i]->name);
        table_addf(&t, STYLE_PLAIN, "%s%s", verbs[i]->summary,
                   verbs[i] == command->default_verb ? " (the default)" : "");
    }
    table_print(&t, o);
    strbuf_addf(&o->text, "\nEach has its own flags: %s COMMAND --help\n\n", command->program);
    snprintf(flags, sizeof(flags), "Flags of %s", command->default_verb->name);
    print_options(o, flags, command->default_verb->bit);
    strbuf_addc(&o->text, '\n');
    print_heading(o, "Exit status");
    for (size_t i = 0; i < ARRAY_LEN(exit_status_texts); i++)
        strbuf_addf(&o->text, "  %zu  %s\n", i, exit_status_texts[i]);
}

enum exit_status help_answer(struct command *command, const struct verb *verb)
{
    CLEANUP(output_release) struct output o;

    output_init(&o, command->out);
    if (!verb) {
        print_all(command, &o);
        return command_print(command, &o, STATUS_OK);
    }
    strbuf_addf(&o.text, "Usage: %s %s %s\n\n", command->program, verb->name, verb->usage);
    print_paragraph(&o, verb->details);
    if (verb->permissions) {
        print_heading(&o, "Permissions");
        print_paragraph(&o, verb->permissions);
    }
    print_options(&o, "Flags", verb->bit);
    if (!verb->examples)
        return command_print(command, &o, STATUS_OK);
    strbuf_addc(&o.text, '\n');
    print_heading(&o, "Examples");
    for (size_t i = 0; verb->examples[i]; i++)
        strbuf_addf(&o.text, "  %s %s\n", command->program, verb->examples[i]);
    return command_print(command, &o, STATUS_OK);
}

static enum exit_status run_help(struct command *command)
{
    const struct text_list *arguments = &command->options.arguments;
    CLEANUP(output_release) struct output o;
    const struct verb *verb = NULL;
    struct error err;

    output_init(&o, command->out);
    if (arguments->count > 1)
        return command_refuse(command, "'help' takes one command");
    if (arguments->count == 1) {
        verb = verb_find(command->verbs, arguments->items[0], &err);
        if (!verb)
            return command_refuse(command, err.text);
    }
    if (command->options.output != OUTPUT_MARKDOWN)
        return help_answer(command, verb);
    if (verb)
        return command_refuse(command, "markdown is printed of all commands together");
    reference_markdown(command->verbs, &o.text);
    return command_print(command, &o, STATUS_OK);
}

static const char *const examples[] = {
    "help check",
    "help --output markdown >configuration.md",
    NULL,
};

const struct verb help_verb = {
    .name = "help",
    .usage = "[FLAGS] [COMMAND]",
    .summary = "print what a command does, its flags and examples",
    .details = "Prints what COMMAND --help prints; without a COMMAND, what there are and the flags "
               "of the default one. As markdown it is the reference of all options: flag, key in "
               "the configuration file, default, commands.",
    .examples = examples,
    .bit = VERB_HELP,
    .takes_arguments = true,
    .run = run_help,
};
