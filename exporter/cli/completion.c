/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/verb.h"

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

/* "check.--output | check.-o) words='table json yaml' ;;" for each flag that has choices. */
static void add_choices(struct strbuf *out, const struct verb *verb)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct option_def *def = &option_defs[i];

        if (!def->choices || !(def->verbs & verb->bit))
            continue;
        strbuf_addf(out, "        %s.--%s", verb->name, def->name);
        if (verb->bit == VERB_SERVE)
            strbuf_addf(out, " | .--%s", def->name);
        if (def->letter != '\0')
            strbuf_addf(out, " | %s.-%c", verb->name, def->letter);
        strbuf_adds(out, ") words='");
        for (unsigned j = 0; def->choices[j]; j++) {
            if (option_choices(def, verb->bit) & 1U << j)
                strbuf_addf(out, "%s ", def->choices[j]);
        }
        strbuf_addf(out, "'%s ;;\n", def->type == OPTION_SET ? " set=1" : "");
    }
}

/* Append the flags with one of the bits, letters first; or only those after which a value follows.
 */
static void add_flags(struct strbuf *out, unsigned bits, bool awaiting, const char *after)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct option_def *def = &option_defs[i];

        if (!(def->verbs & bits) || (awaiting && def->type == OPTION_FLAG))
            continue;
        if (def->letter != '\0')
            strbuf_addf(out, "-%c%s", def->letter, after);
        strbuf_addf(out, "--%s%s", def->name, after);
    }
}

static enum exit_status run_completion(struct command *command)
{
    const struct text_list *arguments = &command->options.arguments;
    CLEANUP(output_release) struct output o;
    struct error err;

    output_init(&o, command->out);
    if (arguments->count != 1)
        return command_refuse(command, "name the shell to print a script for: bash");
    if (strcmp(arguments->items[0], "bash") != 0) {
        fail(&err, "there is no script for '%s'; there is one for: bash", arguments->items[0]);
        return command_refuse(command, err.text);
    }
    strbuf_adds(&o.text, script_head);
    strbuf_adds(&o.text, "        ");
    add_flags(&o.text, VERB_ALL, true, " | ");
    strbuf_adds(&o.text, "=) flag=${flag:-$word} ;;\n");
    strbuf_adds(&o.text, script_value);
    for (size_t i = 0; command->verbs[i]; i++)
        add_choices(&o.text, command->verbs[i]);
    strbuf_adds(&o.text, script_flags);
    for (size_t i = 0; command->verbs[i]; i++) {
        const struct verb *verb = command->verbs[i];

        strbuf_addf(&o.text, "        %s%s) words='", verb->bit == VERB_SERVE ? "'' | " : "",
                    verb->name);
        add_flags(&o.text, verb->bit, false, " ");
        strbuf_adds(&o.text, "' ;;\n");
    }
    strbuf_adds(&o.text, script_words);
    strbuf_adds(&o.text, "        '' | help) words='");
    for (size_t i = 0; command->verbs[i]; i++)
        strbuf_addf(&o.text, "%s ", command->verbs[i]->name);
    strbuf_adds(&o.text, "' ;;\n");
    strbuf_adds(&o.text, "        completion) words=bash ;;\n");
    strbuf_adds(&o.text, script_end);
    return command_print(command, &o, STATUS_OK);
}

static const char *const examples[] = {
    "completion bash >/etc/bash_completion.d/karmada-policy",
    "completion bash >kubectl_complete-karmada_policy",
    NULL,
};

const struct verb completion_verb = {
    .name = "completion",
    .usage = "[FLAGS] SHELL",
    .summary = "print a script that completes command lines in a shell",
    .details =
        "Prints the script for SHELL, which is bash: commands, their flags, and the words "
        "that a flag may have are completed, files elsewhere. Bash reads it as it starts, or "
        "at once: source <(karmada-policy-exporter completion bash). The same script, "
        "executable, in PATH, and named kubectl_complete-karmada_policy, is what kubectl "
        "asks for its plugin 'kubectl karmada-policy'.",
    .examples = examples,
    .bit = VERB_COMPLETION,
    .takes_arguments = true,
    .run = run_completion,
};
