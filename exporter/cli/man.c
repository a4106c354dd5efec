/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/help.h"
#include "exporter/cli/option_text.h"
#include "exporter/version.h"

enum { TEXT_MAX = 4096, LINE_WIDTH = 78 };

/* A text as roff takes it: hyphens that are copied as such, and no word that is a request. */
static void add_text(struct strbuf *out, const char *text)
{
    char before = ' ';

    for (; *text != '\0'; before = *text++) {
        if (before == ' ' && (*text == '.' || *text == '\''))
            strbuf_adds(out, "\\&");
        if (*text == '-')
            strbuf_adds(out, "\\-");
        else if (*text == '\\')
            strbuf_adds(out, "\\e");
        else
            strbuf_addc(out, *text);
    }
}

static void add_paragraph(struct strbuf *out, const char *text)
{
    CLEANUP(strbuf_release) struct strbuf escaped = STRBUF_INIT(TEXT_MAX);

    add_text(&escaped, text);
    output_wrap(out, escaped.data, 0, 0, LINE_WIDTH);
    strbuf_addc(out, '\n');
}

static void add_line(struct strbuf *out, const char *request, const char *text)
{
    strbuf_adds(out, request);
    add_text(out, text);
    strbuf_addc(out, '\n');
}

static void add_verb(struct strbuf *out, const struct command *command, const struct verb *verb)
{
    strbuf_adds(out, ".SS ");
    add_text(out, verb->name);
    add_line(out, *verb->usage != '\0' ? " " : "", verb->usage);
    add_paragraph(out, verb->details);
    if (verb->permissions) {
        strbuf_adds(out, ".PP\n");
        add_paragraph(out, verb->permissions);
    }
    if (!verb->examples)
        return;
    strbuf_adds(out, ".PP\n.nf\n");
    for (size_t i = 0; verb->examples[i]; i++) {
        strbuf_adds(out, "    ");
        add_text(out, command->program);
        add_line(out, " ", verb->examples[i]);
    }
    strbuf_adds(out, ".fi\n");
}

static void add_option(struct strbuf *out, const struct command *command,
                       const struct option_def *def)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);

    strbuf_adds(out, ".TP\n");
    if (def->letter != '\0')
        strbuf_addf(out, "\\fB\\-%c\\fR, ", def->letter);
    strbuf_adds(out, "\\fB\\-\\-");
    add_text(out, def->name);
    strbuf_addf(out, "\\fR%s%s%s\n", def->value ? " \\fI" : "", def->value ? def->value : "",
                def->value ? "\\fR" : "");
    option_describe(&text, def, true);
    strbuf_adds(&text, ". Of: ");
    option_verbs_add(&text, command->verbs, def->verbs);
    add_paragraph(out, text.data);
}

static enum exit_status run_man(struct command *command)
{
    CLEANUP(output_release) struct output o;

    output_init(&o, command->out);
    strbuf_adds(&o.text, ".TH KARMADA\\-POLICY\\-EXPORTER 1 \"\" \"" EXPORTER_NAME
                         " " EXPORTER_VERSION "\"\n.SH NAME\n");
    add_text(&o.text, EXPORTER_NAME);
    add_line(&o.text, " \\- ", "metrics and checks of Karmada's policies");
    strbuf_adds(&o.text, ".SH SYNOPSIS\n.B ");
    add_line(&o.text, "", command->program);
    strbuf_adds(&o.text, "[COMMAND] [FLAGS] [ARGUMENTS]\n.SH DESCRIPTION\n");
    add_paragraph(&o.text, help_about);
    strbuf_adds(&o.text, ".SH COMMANDS\n");
    for (size_t i = 0; command->verbs[i]; i++)
        add_verb(&o.text, command, command->verbs[i]);
    strbuf_addf(&o.text, ".SH OPTIONS\nWithout a COMMAND they are those of %s.\n",
                command->default_verb->name);
    for (size_t i = 0; i < OPTION_COUNT; i++)
        add_option(&o.text, command, &option_defs[i]);
    strbuf_adds(&o.text, ".SH EXIT STATUS\n");
    for (size_t i = 0; i < ARRAY_LEN(exit_status_texts); i++) {
        strbuf_addf(&o.text, ".TP\n%zu\n", i);
        add_paragraph(&o.text, exit_status_texts[i]);
    }
    return command_print(command, &o, STATUS_OK);
}

static const char *const examples[] = {
    "man | man -l -",
    "man >karmada-policy-exporter.1",
    NULL,
};

const struct verb man_verb = {
    .name = "man",
    .usage = "[FLAGS]",
    .summary = "print the manual page",
    .details = "Prints the manual page of all commands and flags, in the language of man(7).",
    .examples = examples,
    .bit = VERB_MAN,
    .run = run_man,
};
