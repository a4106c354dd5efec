/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/options/options.h"
#include "exporter/text/text_table.h"

enum exit_status {
    STATUS_OK = 0,
    STATUS_FOUND = 1, /* Findings in --fail-on, or a `reconcile` that refused or ended early. */
    STATUS_USAGE = 2, /* Wrong command line, unusable input, failed output, failed `serve`. */
    STATUS_UNREACHABLE = 3, /* Failed request to an exporter or API server, or kinds not read. */
};

/* One run of the program: its command line, options and output descriptors. */
struct invocation {
    const struct command *const *commands; /* All commands; ends with NULL. */
    const struct command *command; /* NULL until known, and for --help or --version alone. */
    const struct command *default_command;
    const char *program;    /* Name of the program for usage, examples and error messages. */
    struct options options; /* Owned; zero after a command has moved them out. */
    int argc;               /* Number of arguments after the program's name, before parsing. */
    const char *const *argv;
    int out; /* Descriptor of standard output. */
    int err; /* Descriptor of standard error. */
};

/* A command of the program, defined in a file cmd_*.c and listed in COMMANDS (options.h). */
struct command {
    const char *name;
    const char *usage;       /* Flags and arguments after the name. */
    const char *summary;     /* One line. */
    const char *details;     /* One paragraph. */
    const char *permissions; /* Paragraph about the rights that the command needs; may be NULL. */
    const char *const *examples; /* Examples of arguments; ends with NULL. May be NULL. */
    unsigned bit;                /* The bit of enum command_bit. */
    bool takes_arguments;
    enum exit_status (*run)(struct invocation *invocation);
};

/* Meanings for people, by enum exit_status. */
extern const char *const exit_status_texts[STATUS_UNREACHABLE + 1];

#define COMMAND_DECLARATION(id, name) extern const struct command name;
COMMANDS(COMMAND_DECLARATION)
#define COMMAND_POINTER(id, name) &(name),

/* Returns the command with this name. NULL if unknown: `err` then suggests a near name, if any. */
const struct command *command_find(const struct command *const *commands, const char *name,
                                   struct error *err);

/* Writes the line "<program>: <text>" to standard error. */
void invocation_print_error(const struct invocation *invocation, const char *text);

/* Receives an error, or a warning that begins with "warning: ". */
typedef void message_fn(void *context, const char *text);
/* A message_fn: calls invocation_print_error() for the struct invocation at `context`. */
void invocation_print_message(void *context, const char *text);

/* Writes "<program>: <text>" and a hint to --help to standard error. Returns STATUS_USAGE. */
enum exit_status invocation_reject(const struct invocation *invocation, const char *text);

/* Creates an empty output for standard output; without a limit of the width for OUTPUT_WIDE. */
void invocation_begin_output(const struct invocation *invocation, enum output_format format,
                             struct output *o);

/* Writes the output and returns `status`. If that fails, prints an error, returns STATUS_USAGE. */
enum exit_status invocation_print_output(const struct invocation *invocation, struct output *o,
                                         enum exit_status status);

/*
 * Runs the command that the arguments `argv` (without the program's name) select, and returns the
 * exit status. `commands` ends with NULL; the first command is the default. Output goes to the
 * descriptor `out`, errors go to `err`.
 *
 * `program` is the path of the executable; NULL if unknown. An executable named
 * kubectl-karmada_policy is a plugin of kubectl: messages name it "kubectl karmada-policy", and the
 * default is the command help.
 */
enum exit_status commands_main(const struct command *const *commands, const char *program, int argc,
                               const char *const *argv, int out, int err);
