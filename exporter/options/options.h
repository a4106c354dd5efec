/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/options/option_value.h"
#include "metrics/base/base.h"
#include "metrics/rules/findings.h"

/*
 * THE table of verbs, in the order of --help; the first is the default. A row is a verb's bit in
 * the table of options, and the struct command that its file in exporter/cli/ defines.
 */
#define COMMANDS(COMMAND)                                                                          \
    COMMAND(SERVE, serve_command)                                                                  \
    COMMAND(CHECK, check_command)                                                                  \
    COMMAND(EXPLAIN, explain_command)                                                              \
    COMMAND(PLAN, plan_command)                                                                    \
    COMMAND(RECONCILE, reconcile_command)                                                          \
    COMMAND(METRICS, metrics_command)                                                              \
    COMMAND(HELP, help_command)                                                                    \
    COMMAND(VERSION, version_command)                                                              \
    COMMAND(COMPLETION, completion_command)                                                        \
    COMMAND(MAN, man_command)

#define COMMAND_INDEX(id, name) COMMAND_INDEX_##id,
enum command_index { COMMANDS(COMMAND_INDEX) COMMAND_COUNT };

/* Which verbs accept an option: bits. */
#define COMMAND_BIT(id, name) COMMAND_##id = 1U << COMMAND_INDEX_##id,
enum command_bit {
    COMMANDS(COMMAND_BIT)
    /* All that evaluate objects. */
    COMMAND_EVALUATES =
        COMMAND_SERVE | COMMAND_CHECK | COMMAND_EXPLAIN | COMMAND_PLAN | COMMAND_RECONCILE,
    /* Those that can ask a running exporter. */
    COMMAND_REMOTE = COMMAND_CHECK | COMMAND_EXPLAIN,
    COMMAND_ALL = (1U << COMMAND_COUNT) - 1,
};

/* In the order of --output's choices. */
enum output_format { OUTPUT_TABLE, OUTPUT_JSON, OUTPUT_YAML, OUTPUT_MARKDOWN };

/* The options by their place in the table. */
#define OPTION(type, field, ...) OPTION_OF_##field,
enum {
#include "exporter/options/option_table.h"
    OPTION_COUNT
};

#define OPTION(type, field, ...) OPTION_C_##type field;
struct options {
#include "exporter/options/option_table.h"
    char *command; /* NULL if none is named. */
    struct text_list arguments;
    bool on_command_line[OPTION_COUNT]; /* By the option's place in the table. */
};

/* A row of option_table.h as data. */
struct option_def {
    const char *name;
    const char *value; /* What --help calls the argument; NULL for flags. */
    const char *fallback;
    const char *help;
    const char *const *choices; /* Ends with NULL; NULL if anything goes. */
    enum option_type type;
    char letter;        /* The short form, '\0' if there is none. */
    bool flag_only;     /* Has no meaning in a configuration file. */
    bool needs_restart; /* A reload does not change it. */
    unsigned commands;
    size_t offset;
};

extern const struct option_def option_defs[OPTION_COUNT];

/* Every option at its default. */
void options_init(struct options *o);
void options_release(struct options *o);

/*
 * Parse the arguments after the program's name: "--name value", "--name=value",
 * "--no-name" for flags, "-o value", "--" before arguments that begin with a
 * hyphen. The first other argument is the verb. A value replaces what the option
 * holds; a list that is given again grows.
 */
bool options_parse(struct options *o, int argc, const char *const *argv,
                   struct error *err) MUST_USE;

/* False, naming the first, if the command line has a flag that this verb does not accept. */
bool options_accepted(const struct options *o, const char *command, unsigned bit,
                      struct error *err) MUST_USE;

/* The option of a name; NULL, with a suggestion, if there is none. */
const struct option_def *option_find(const char *name, struct error *err);

/* Which of an option's choices a verb accepts: bits by their place. */
unsigned option_accepted_choices(const struct option_def *def, unsigned bit);

/* True if both hold the same value of an option. */
bool option_equal(const struct options *a, const struct options *b, const struct option_def *def);

/*
 * The file of --config.file: one YAML mapping whose keys are the names of the
 * flags. An option that may be given several times, and a set of choices, may
 * have a list. A key that is unknown or occurs twice is an error that names the line.
 */

/*
 * The options that a command line means: the defaults, then what its
 * --config.file says, then its flags. Initialises `o`, which the caller releases
 * also after a failure.
 */
bool config_load(struct options *o, int argc, const char *const *argv, struct error *err) MUST_USE;

/* Set what the text of a file says; `path` is for errors. A failure may leave some of it set. */
bool config_apply(const char *path, const char *text, size_t len, struct options *o,
                  struct error *err) MUST_USE;

/* `gate`: the name as messages show it (shown.h). `nearest`: the known gate whose name differs
 * least. */
typedef void unknown_gate_fn(void *context, const char *gate, const char *nearest);

/*
 * Calls `report` once for each name in a value of --karmada.feature-gates (gates_parse()) that is
 * not a feature gate of Karmada.
 */
void unknown_gates_each(const char *gates, unknown_gate_fn *report, void *context);
