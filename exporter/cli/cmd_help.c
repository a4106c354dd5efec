/* SPDX-License-Identifier: Apache-2.0 */

#include "exporter/cli/command.h"
#include "exporter/text/text_table.h"
#include "exporter/version.h"

enum { TEXT_MAX = 4096 };

static const char program_summary[] =
    "Shows where Karmada's resources do not follow their propagation "
    "policies: as Prometheus metrics, or as a check of manifests.";

/* Appends help: text, choices of a set, the default if `with_default`, a remark about lists. */
static void add_option_help(struct strbuf *out, const struct option_def *def, bool with_default)
{
    bool has_default = with_default && def->fallback && *def->fallback != '\0';
    bool is_list = option_type_is_list(def->type);

    strbuf_adds(out, def->help);
    if (def->type == OPTION_SET || def->type == OPTION_FAIL_ON) {
        strbuf_adds(out, ": ");
        option_add_choices(out, def->choices);
    }
    if (has_default)
        strbuf_addf(out, " (default %s%s", def->fallback, is_list ? "; " : ")");
    if (is_list)
        strbuf_addf(out, "%smay be given several times)", has_default ? "" : " (");
}

/* Appends the names of the commands in `bits`, such as "check, plan"; "all" for COMMAND_ALL. */
static void add_command_names(struct strbuf *out, const struct command *const *commands,
                              unsigned bits)
{
    const char *between = "";

    if (bits == COMMAND_ALL) {
        strbuf_adds(out, "all");
        return;
    }
    for (size_t i = 0; commands[i]; i++) {
        if (!(commands[i]->bit & bits))
            continue;
        strbuf_addf(out, "%s%s", between, commands[i]->name);
        between = ", ";
    }
}

/* ---- reference in Markdown ---- */

static const char reference_head[] =
    "# Configuration\n\n"
    "Written by `karmada-policy-exporter help --output markdown`; a test fails where this file "
    "differs from what that prints.\n\n"
    "An option is a flag of the commands in its row. What has a key may also stand in the YAML "
    "file of `--config.file`, which is one mapping of such keys:\n\n"
    "```yaml\n"
    "manifests: [/etc/karmada/policies, /etc/karmada/templates]\n"
    "rules.grace: 2m\n"
    "metrics.opt-in: true\n"
    "```\n\n"
    "A flag goes before the file. An unknown flag or key, a key that occurs twice and a value "
    "that does not fit are errors, which name the line and the nearest name that exists. The "
    "file is read again on SIGHUP and by `/-/reload`; if it is wrong then, what was in force "
    "stays in force, and `karmada_policy_exporter_config_last_reload_successful` is 0.\n\n"
    "Durations are written `90s`, `1h30m` or `250ms` (units `ms`, `s`, `m`, `h`, `d`, `w`). "
    "Options without a value are switched off with `--no-` before the name, and are `true` or "
    "`false` in the file. What may be given several times is a list there.\n\n"
    "| flag | key | default | commands | what it says |\n"
    "|---|---|---|---|---|\n";

/* Appends the reference of all options: the text of exporter/docs/configuration.md. */
static void add_reference(const struct command *const *commands, struct strbuf *out)
{
    strbuf_adds(out, reference_head);
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct option_def *def = &option_defs[i];
        CLEANUP(strbuf_release) struct strbuf help = STRBUF_INIT(TEXT_MAX);
        bool has_default = def->fallback && *def->fallback != '\0';
        const char *mark = has_default ? "`" : "";

        strbuf_adds(out, "| ");
        if (def->letter != '\0')
            strbuf_addf(out, "`-%c`, ", def->letter);
        strbuf_addf(out, "`--%s%s%s` | ", def->name, def->value ? " " : "",
                    def->value ? def->value : "");
        if (!def->flag_only)
            strbuf_addf(out, "`%s`", def->name);
        strbuf_addf(out, " | %s%s%s | ", mark, has_default ? def->fallback : "", mark);
        add_command_names(out, commands, def->commands);
        strbuf_adds(out, " | ");
        add_option_help(&help, def, false);
        for (size_t at = 0; at < help.len; at++)
            strbuf_addf(out, "%s%c", help.data[at] == '|' ? "\\" : "", help.data[at]);
        strbuf_addf(out, "%s |\n", def->needs_restart ? "; changes with a restart only" : "");
    }
}

/* ---- help ---- */

enum {
    FLAG_MAX = 128,
    HELP_WIDTH_MAX = 80, /* Applies to wider terminals and files: long lines are hard to read. */
    HELP_INDENT = 30,
};

static size_t find_help_width(const struct output *o)
{
    return o->width > 0 && o->width < HELP_WIDTH_MAX ? o->width : HELP_WIDTH_MAX;
}

static void print_paragraph(struct output *o, const char *text)
{
    output_wrap(&o->text, text, 0, 0, find_help_width(o));
    strbuf_adds(&o->text, "\n\n");
}

static void print_heading(struct output *o, const char *text)
{
    output_add_styled(o, STYLE_HEADING, text);
    strbuf_addc(&o->text, '\n');
}

static void print_options(struct output *o, const char *heading, unsigned bit)
{
    print_heading(o, heading);
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct option_def *def = &option_defs[i];
        CLEANUP(strbuf_release) struct strbuf flag = STRBUF_INIT(FLAG_MAX);
        CLEANUP(strbuf_release) struct strbuf help = STRBUF_INIT(TEXT_MAX);

        if (!(def->commands & bit))
            continue;
        if (def->letter != '\0')
            strbuf_addf(&flag, "  -%c, ", def->letter);
        else
            strbuf_adds(&flag, "      ");
        strbuf_addf(&flag, "--%s%s%s", def->name, def->value ? " " : "",
                    def->value ? def->value : "");
        add_option_help(&help, def, true);

        strbuf_add(&o->text, flag.data, flag.len);
        if (flag.len + 2 > HELP_INDENT)
            strbuf_addf(&o->text, "\n%*s", HELP_INDENT, "");
        else
            strbuf_addf(&o->text, "%*s", (int)(HELP_INDENT - flag.len), "");
        output_wrap(&o->text, help.data, HELP_INDENT, HELP_INDENT, find_help_width(o));
        strbuf_addc(&o->text, '\n');
    }
}

static void print_program_help(const struct invocation *invocation, struct output *o)
{
    CLEANUP(table_release) struct table t = table_make(NULL, 2, 2);
    const struct command *const *commands = invocation->commands;
    char flags[64];

    strbuf_addf(&o->text, "Usage: %s [COMMAND] [FLAGS] [ARGUMENTS]\n\n", invocation->program);
    print_paragraph(o, program_summary);
    print_heading(o, "Commands");
    for (size_t i = 0; commands[i]; i++) {
        table_add(&t, STYLE_PLAIN, commands[i]->name);
        table_addf(&t, STYLE_PLAIN, "%s%s", commands[i]->summary,
                   commands[i] == invocation->default_command ? " (the default)" : "");
    }
    table_print(&t, o);
    strbuf_addf(&o->text, "\nEach has its own flags: %s COMMAND --help\n\n", invocation->program);
    snprintf(flags, sizeof(flags), "Flags of %s", invocation->default_command->name);
    print_options(o, flags, invocation->default_command->bit);
    strbuf_addc(&o->text, '\n');
    print_heading(o, "Exit status");
    for (size_t i = 0; i < ARRAY_LEN(exit_status_texts); i++)
        strbuf_addf(&o->text, "  %zu  %s\n", i, exit_status_texts[i]);
}

/* Prints the help of a command; NULL prints the help of the program. */
static enum exit_status print_help(struct invocation *invocation, const struct command *command)
{
    CLEANUP(output_release) struct output o;

    output_init(&o, invocation->out);
    if (!command) {
        print_program_help(invocation, &o);
        return invocation_print_output(invocation, &o, STATUS_OK);
    }
    strbuf_addf(&o.text, "Usage: %s %s %s\n\n", invocation->program, command->name, command->usage);
    print_paragraph(&o, command->details);
    if (command->permissions) {
        print_heading(&o, "Permissions");
        print_paragraph(&o, command->permissions);
    }
    print_options(&o, "Flags", command->bit);
    if (!command->examples)
        return invocation_print_output(invocation, &o, STATUS_OK);
    strbuf_addc(&o.text, '\n');
    print_heading(&o, "Examples");
    for (size_t i = 0; command->examples[i]; i++)
        strbuf_addf(&o.text, "  %s %s\n", invocation->program, command->examples[i]);
    return invocation_print_output(invocation, &o, STATUS_OK);
}

static enum exit_status run_help(struct invocation *invocation)
{
    const struct text_list *arguments = &invocation->options.arguments;
    CLEANUP(output_release) struct output o;
    const struct command *command = NULL;
    struct error err;

    output_init(&o, invocation->out);
    if (invocation->options.help)
        return print_help(invocation, invocation->command);
    if (arguments->count > 1)
        return invocation_reject(invocation, "'help' takes one command");
    if (arguments->count == 1) {
        command = command_find(invocation->commands, arguments->items[0], &err);
        if (!command)
            return invocation_reject(invocation, err.text);
    }
    if (invocation->options.output != OUTPUT_MARKDOWN)
        return print_help(invocation, command);
    if (command)
        return invocation_reject(invocation, "markdown is printed of all commands together");
    add_reference(invocation->commands, &o.text);
    return invocation_print_output(invocation, &o, STATUS_OK);
}

static const char *const help_examples[] = {
    "help check",
    "help --output markdown >configuration.md",
    NULL,
};

const struct command help_command = {
    .name = "help",
    .usage = "[FLAGS] [COMMAND]",
    .summary = "print what a command does, its flags and examples",
    .details = "Prints what COMMAND --help prints; without a COMMAND, what there are and the flags "
               "of the default one. As markdown it is the reference of all options: flag, key in "
               "the configuration file, default, commands.",
    .examples = help_examples,
    .bit = COMMAND_HELP,
    .takes_arguments = true,
    .run = run_help,
};

/* ---- manual page ---- */

enum { ROFF_LINE_WIDTH = 78 };

/* Appends a text. Escapes - and \, and . and ' at the start of a word: they begin roff requests. */
static void add_roff_text(struct strbuf *out, const char *text)
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

static void add_roff_paragraph(struct strbuf *out, const char *text)
{
    CLEANUP(strbuf_release) struct strbuf escaped = STRBUF_INIT(TEXT_MAX);

    add_roff_text(&escaped, text);
    output_wrap(out, escaped.data, 0, 0, ROFF_LINE_WIDTH);
    strbuf_addc(out, '\n');
}

static void add_roff_line(struct strbuf *out, const char *request, const char *text)
{
    strbuf_adds(out, request);
    add_roff_text(out, text);
    strbuf_addc(out, '\n');
}

static void add_roff_command(struct strbuf *out, const struct invocation *invocation,
                             const struct command *command)
{
    strbuf_adds(out, ".SS ");
    add_roff_text(out, command->name);
    add_roff_line(out, *command->usage != '\0' ? " " : "", command->usage);
    add_roff_paragraph(out, command->details);
    if (command->permissions) {
        strbuf_adds(out, ".PP\n");
        add_roff_paragraph(out, command->permissions);
    }
    if (!command->examples)
        return;
    strbuf_adds(out, ".PP\n.nf\n");
    for (size_t i = 0; command->examples[i]; i++) {
        strbuf_adds(out, "    ");
        add_roff_text(out, invocation->program);
        add_roff_line(out, " ", command->examples[i]);
    }
    strbuf_adds(out, ".fi\n");
}

static void add_roff_option(struct strbuf *out, const struct invocation *invocation,
                            const struct option_def *def)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);

    strbuf_adds(out, ".TP\n");
    if (def->letter != '\0')
        strbuf_addf(out, "\\fB\\-%c\\fR, ", def->letter);
    strbuf_adds(out, "\\fB\\-\\-");
    add_roff_text(out, def->name);
    strbuf_addf(out, "\\fR%s%s%s\n", def->value ? " \\fI" : "", def->value ? def->value : "",
                def->value ? "\\fR" : "");
    add_option_help(&text, def, true);
    strbuf_adds(&text, ". Of: ");
    add_command_names(&text, invocation->commands, def->commands);
    add_roff_paragraph(out, text.data);
}

static enum exit_status run_man(struct invocation *invocation)
{
    CLEANUP(output_release) struct output o;

    output_init(&o, invocation->out);
    strbuf_adds(&o.text, ".TH KARMADA\\-POLICY\\-EXPORTER 1 \"\" \"" EXPORTER_NAME
                         " " EXPORTER_VERSION "\"\n.SH NAME\n");
    add_roff_text(&o.text, EXPORTER_NAME);
    add_roff_line(&o.text, " \\- ", "metrics and checks of Karmada's policies");
    strbuf_adds(&o.text, ".SH SYNOPSIS\n.B ");
    add_roff_line(&o.text, "", invocation->program);
    strbuf_adds(&o.text, "[COMMAND] [FLAGS] [ARGUMENTS]\n.SH DESCRIPTION\n");
    add_roff_paragraph(&o.text, program_summary);
    strbuf_adds(&o.text, ".SH COMMANDS\n");
    for (size_t i = 0; invocation->commands[i]; i++)
        add_roff_command(&o.text, invocation, invocation->commands[i]);
    strbuf_addf(&o.text, ".SH OPTIONS\nWithout a COMMAND they are those of %s.\n",
                invocation->default_command->name);
    for (size_t i = 0; i < OPTION_COUNT; i++)
        add_roff_option(&o.text, invocation, &option_defs[i]);
    strbuf_adds(&o.text, ".SH EXIT STATUS\n");
    for (size_t i = 0; i < ARRAY_LEN(exit_status_texts); i++) {
        strbuf_addf(&o.text, ".TP\n%zu\n", i);
        add_roff_paragraph(&o.text, exit_status_texts[i]);
    }
    return invocation_print_output(invocation, &o, STATUS_OK);
}

static const char *const man_examples[] = {
    "man | man -l -",
    "man >karmada-policy-exporter.1",
    NULL,
};

const struct command man_command = {
    .name = "man",
    .usage = "[FLAGS]",
    .summary = "print the manual page",
    .details = "Prints the manual page of all commands and flags, in the language of man(7).",
    .examples = man_examples,
    .bit = COMMAND_MAN,
    .run = run_man,
};

/* ---- completion script for bash ---- */

static const char script_head[] =
    "#!/usr/bin/env bash\n"
    "# Completes commands, flags and what these may be; written by 'completion bash', from the\n"
    "# tables that the program itself uses. Read by bash (source), it is in force in that shell. "
    "As\n"
    "# an executable kubectl_complete-karmada_policy in PATH it answers kubectl's own completion.\n"
    "\n"
    "__karmada_policy_exporter()\n"
    "{\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} verb='' flag='' words='' prefix='' set='' word\n"
    "\n"
    "    # bash makes a word of its own of '='; kubectl does not.\n"
    "    for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
    "        if [ -n \"$flag\" ] && [ \"$word\" != = ]; then\n"
    "            flag=''\n"
    "            continue\n"
    "        fi\n"
    "        case $word in\n";

static const char script_value[] = "        -*) ;;\n"
                                   "        *) verb=${verb:-$word} ;;\n"
                                   "        esac\n"
                                   "    done\n"
                                   "    [ \"$cur\" != = ] || cur=''\n"
                                   "    case $cur in\n"
                                   "    --*=*)\n"
                                   "        flag=${cur%%=*}\n"
                                   "        prefix=$flag=\n"
                                   "        cur=${cur#*=}\n"
                                   "        ;;\n"
                                   "    esac\n"
                                   "    if [ -n \"$flag\" ]; then\n"
                                   "        case $verb.$flag in\n";

static const char script_flags[] = "        esac\n"
                                   "    elif [[ $cur == -* ]]; then\n"
                                   "        case $verb in\n";

static const char script_words[] = "        esac\n"
                                   "    else\n"
                                   "        case $verb in\n";

static const char script_end[] =
    "        esac\n"
    "    fi\n"
    "    # Of a list with commas the last word is completed.\n"
    "    if [ -n \"$set\" ] && [[ $cur == *,* ]]; then\n"
    "        prefix+=${cur%,*},\n"
    "        cur=${cur##*,}\n"
    "    fi\n"
    "    # Without an answer the shell completes files.\n"
    "    mapfile -t COMPREPLY < <(compgen -P \"$prefix\" -W \"$words\" -- \"$cur\")\n"
    "}\n"
    "\n"
    "if [ \"${BASH_SOURCE[0]}\" != \"$0\" ]; then\n"
    "    complete -o default -F __karmada_policy_exporter karmada-policy-exporter\n"
    "    complete -o default -F __karmada_policy_exporter kubectl-karmada_policy\n"
    "else\n"
    "    COMP_WORDS=(kubectl-karmada_policy \"$@\")\n"
    "    COMP_CWORD=$#\n"
    "    __karmada_policy_exporter\n"
    "    # What follows the colon says that files may be completed where there is nothing else.\n"
    "    printf '%s\\n' \"${COMPREPLY[@]}\" :0\n"
    "fi\n";

/* Appends cases such as "check.--output | check.-o) words='table json yaml ' ;;". */
static void add_choice_cases(struct strbuf *out, const struct command *command)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct option_def *def = &option_defs[i];
        bool is_set = def->type == OPTION_SET || def->type == OPTION_FAIL_ON;

        if (!def->choices || !(def->commands & command->bit))
            continue;
        strbuf_addf(out, "        %s.--%s", command->name, def->name);
        if (command->bit == COMMAND_SERVE)
            strbuf_addf(out, " | .--%s", def->name);
        if (def->letter != '\0')
            strbuf_addf(out, " | %s.-%c", command->name, def->letter);
        strbuf_adds(out, ") words='");
        for (unsigned j = 0; def->choices[j]; j++) {
            if (option_accepted_choices(def, command->bit) >> j & 1)
                strbuf_addf(out, "%s ", def->choices[j]);
        }
        strbuf_addf(out, "'%s ;;\n", is_set ? " set=1" : "");
    }
}

/* Appends the flags of the commands in `bits`; if `with_value`, only flags that take a value. */
static void add_flags(struct strbuf *out, unsigned bits, bool with_value, const char *separator)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct option_def *def = &option_defs[i];

        if (!(def->commands & bits) || (with_value && def->type == OPTION_FLAG))
            continue;
        if (def->letter != '\0')
            strbuf_addf(out, "-%c%s", def->letter, separator);
        strbuf_addf(out, "--%s%s", def->name, separator);
    }
}

static enum exit_status run_completion(struct invocation *invocation)
{
    const struct text_list *arguments = &invocation->options.arguments;
    CLEANUP(output_release) struct output o;
    struct error err;

    output_init(&o, invocation->out);
    if (arguments->count != 1)
        return invocation_reject(invocation, "name the shell to print a script for: bash");
    if (strcmp(arguments->items[0], "bash") != 0) {
        fail(&err, "there is no script for '%s'; there is one for: bash", arguments->items[0]);
        return invocation_reject(invocation, err.text);
    }
    strbuf_adds(&o.text, script_head);
    strbuf_adds(&o.text, "        ");
    add_flags(&o.text, COMMAND_ALL, true, " | ");
    strbuf_adds(&o.text, "=) flag=${flag:-$word} ;;\n");
    strbuf_adds(&o.text, script_value);
    for (size_t i = 0; invocation->commands[i]; i++)
        add_choice_cases(&o.text, invocation->commands[i]);
    strbuf_adds(&o.text, script_flags);
    for (size_t i = 0; invocation->commands[i]; i++) {
        const struct command *command = invocation->commands[i];

        strbuf_addf(&o.text, "        %s%s) words='", command->bit == COMMAND_SERVE ? "'' | " : "",
                    command->name);
        add_flags(&o.text, command->bit, false, " ");
        strbuf_adds(&o.text, "' ;;\n");
    }
    strbuf_adds(&o.text, script_words);
    strbuf_adds(&o.text, "        '' | help) words='");
    for (size_t i = 0; invocation->commands[i]; i++)
        strbuf_addf(&o.text, "%s ", invocation->commands[i]->name);
    strbuf_adds(&o.text, "' ;;\n");
    strbuf_adds(&o.text, "        completion) words=bash ;;\n");
    strbuf_adds(&o.text, script_end);
    return invocation_print_output(invocation, &o, STATUS_OK);
}

static const char *const completion_examples[] = {
    "completion bash >/etc/bash_completion.d/karmada-policy",
    "completion bash >kubectl_complete-karmada_policy",
    NULL,
};

const struct command completion_command = {
    .name = "completion",
    .usage = "[FLAGS] SHELL",
    .summary = "print a script that completes command lines in a shell",
    .details =
        "Prints the script for SHELL, which is bash: commands, their flags, and the words "
        "that a flag may have are completed, files elsewhere. Bash reads it as it starts, or "
        "at once: source <(karmada-policy-exporter completion bash). The same script, "
        "executable, in PATH, and named kubectl_complete-karmada_policy, is what kubectl "
        "asks for its plugin 'kubectl karmada-policy'.",
    .examples = completion_examples,
    .bit = COMMAND_COMPLETION,
    .takes_arguments = true,
    .run = run_completion,
};
