/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/options/options.h"
#include "exporter/text/text_table.h"

enum exit_status {
    STATUS_OK = 0,
    STATUS_FOUND = 1,       /* Findings (check), differences (plan), or an end before the end. */
    STATUS_USAGE = 2,       /* A wrong command line, or input that cannot be read. */
    STATUS_UNREACHABLE = 3, /* The source does not answer. */
};

/* What a verb works with. It may move the options out; argc and argv stay for a reload. */
struct invocation {
    const struct command *const *commands; /* All there are; NULL ends them. */
    const struct command *command;         /* NULL while it is not known. */
    const struct command *default_command;
    const char *program; /* What people type to run it, for usage, examples and complaints. */
    struct options options;
    int argc;
    const char *const *argv;
    int out; /* Standard output. */
    int err; /* Standard error. */
};

/* One thing that the program does, defined by a file of its own. The table of them is VERBS
 * (options.h). */
struct command {
    const char *name;
    const char *usage;           /* What follows the name. */
    const char *summary;         /* One line. */
    const char *details;         /* A paragraph. */
    const char *permissions;     /* What it needs to be allowed beyond reading; NULL: nothing. */
    const char *const *examples; /* Command lines after the program's name; ends with NULL. */
    unsigned bit;                /* The verb's bit in the table of options. */
    bool takes_arguments;
    enum exit_status (*run)(struct invocation *invocation);
};

/* What an exit status means, for people, by its number. */
extern const char *const exit_status_texts[STATUS_UNREACHABLE + 1];

#define COMMAND_DECLARATION(id, name) extern const struct command name;
COMMANDS(COMMAND_DECLARATION)
#define COMMAND_POINTER(id, name) &(name),

/* The verb of a name; NULL, with a suggestion, if there is none. */
const struct command *command_find(const struct command *const *commands, const char *name,
                                   struct error *err);

/* Write "karmada-policy-exporter: <text>" to standard error. */
void invocation_print_error(const struct invocation *invocation, const char *text);

/* The same with a line that points to the verb's --help. Answers STATUS_USAGE. */
enum exit_status invocation_reject(const struct invocation *invocation, const char *text);

/* Print the output. Answers `status`, or STATUS_USAGE with a complaint if it cannot be written. */
enum exit_status invocation_print_output(const struct invocation *invocation, struct output *o,
                                         enum exit_status status);

/*
 * Do what the command line (after the program's name) says with one of `commands`, which ends with
 * NULL and whose first is the default; print to `out` and complain to `err`. Answers the exit
 * status.
 *
 * `program` is the file that was run, NULL if nobody says. As kubectl-karmada_policy it is a plugin
 * of kubectl: texts say "kubectl karmada-policy", and without a verb it prints help, as plugins do,
 * rather than begin to serve.
 */
enum exit_status commands_main(const struct command *const *commands, const char *program, int argc,
                               const char *const *argv, int out, int err);
