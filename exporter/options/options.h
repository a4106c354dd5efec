/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/options/option_value.h"
#include "metrics/base/base.h"
#include "metrics/rules/problems/problem_table.h"

/*
 * Table of all commands, in the order of --help; the first command is the default. A row has the
 * suffix of the enumerators in command_index and command_bit, and the struct command that a file of
 * exporter/cli/ defines.
 */
#define COMMANDS(COMMAND)                                                                          \
    COMMAND(SERVE, serve_command)                                                                  \
    COMMAND(CHECK, check_command)                                                                  \
    COMMAND(EXPLAIN, explain_command)                                                              \
    COMMAND(PLAN, plan_command)                                                                    \
    COMMAND(RECONCILE, reconcile_command)                                                          \
    COMMAND(TEST, test_command)                                                                    \
    COMMAND(METRICS, metrics_command)                                                              \
    COMMAND(HELP, help_command)                                                                    \
    COMMAND(VERSION, version_command)                                                              \
    COMMAND(COMPLETION, completion_command)                                                        \
    COMMAND(MAN, man_command)

#define COMMAND_INDEX(id, name) COMMAND_INDEX_##id,
enum command_index { COMMANDS(COMMAND_INDEX) COMMAND_COUNT };

/* Bits for sets of commands. */
#define COMMAND_BIT(id, name) COMMAND_##id = 1U << COMMAND_INDEX_##id,
enum command_bit {
    COMMANDS(COMMAND_BIT)
    /* Commands that evaluate objects. */
    COMMAND_EVALUATES =
        COMMAND_SERVE | COMMAND_CHECK | COMMAND_EXPLAIN | COMMAND_PLAN | COMMAND_RECONCILE,
    /* Commands that apply Karmada's rules, those with sources of their own included. */
    COMMAND_APPLIES_RULES = COMMAND_EVALUATES | COMMAND_TEST,
    /* Commands that report problems. */
    COMMAND_JUDGES = COMMAND_SERVE | COMMAND_CHECK | COMMAND_EXPLAIN | COMMAND_PLAN | COMMAND_TEST,
    /* Commands with --output wide. */
    COMMAND_PRINTS_WIDE = COMMAND_CHECK | COMMAND_EXPLAIN | COMMAND_PLAN | COMMAND_RECONCILE,
    /* Commands with --output sarif, junit, github, gitlab and markdown. */
    COMMAND_PRINTS_FINDINGS = COMMAND_CHECK | COMMAND_PLAN | COMMAND_TEST,
    /* Commands that can query a running exporter (--server). */
    COMMAND_REMOTE = COMMAND_CHECK | COMMAND_EXPLAIN | COMMAND_PLAN,
    COMMAND_ALL = (1U << COMMAND_COUNT) - 1,
};

/* Formats of --output, in the order of its choices. */
enum output_format {
    OUTPUT_TABLE,
    OUTPUT_JSON,
    OUTPUT_YAML,
    OUTPUT_MARKDOWN,
    OUTPUT_WIDE,
    OUTPUT_SARIF,
    OUTPUT_JUNIT,
    OUTPUT_GITHUB,
    OUTPUT_GITLAB,
    OUTPUT_FORMAT_COUNT,
};

/* Indexes of options, in the order of option_table.h. */
#define OPTION(type, field, ...) OPTION_OF_##field,
enum {
#include "exporter/options/option_table.h"
    OPTION_COUNT
};

/* Values of all options, one member for each row of option_table.h. */
#define OPTION(type, field, ...) OPTION_C_##type field;
struct options {
#include "exporter/options/option_table.h"
    char *command;                      /* Owned; NULL if the command line names no command. */
    struct text_list arguments;         /* Arguments except the command and flags. */
    bool on_command_line[OPTION_COUNT]; /* By option index: the flag is given. */
    struct problem_settings problems;   /* From the options of problems; set by config_load(). */
};

/* Definition of an option: a row of option_table.h. */
struct option_def {
    const char *name;           /* Flag without "--", and key in the configuration file. */
    const char *value;          /* Placeholder for the value in --help; NULL for OPTION_FLAG. */
    const char *fallback;       /* Default as text; NULL for an empty list or false. */
    const char *help;           /* Text for --help, without a full stop. */
    const char *const *choices; /* Words of a choice or set, ends with NULL; else NULL. */
    enum option_type type;
    char letter;        /* Short form; '\0' without a short form. */
    bool flag_only;     /* Not accepted in the configuration file. */
    bool needs_restart; /* Not changed by a reload. */
    unsigned commands;  /* Commands that accept the option: bits of enum command_bit. */
    size_t offset;      /* Offset of the member in struct options. */
};

extern const struct option_def option_defs[OPTION_COUNT];

/* Sets all options to their defaults. The caller releases them. */
void options_init(struct options *o);
/* Frees the values and sets all members to zero. */
void options_release(struct options *o);

/*
 * Parses the arguments after the program's name: "--name value" and "--name=value"; "--name" and
 * "--no-name" for OPTION_FLAG; "-o value", "-ovalue" and "-o=value" for options with a letter; "--"
 * before arguments that begin with a hyphen. The first argument that is no flag, if before "--", is
 * the command. A value replaces the old value of the option; further values of a list option are
 * added. Returns false and sets `err` on the first error; options before it are set.
 */
bool options_parse(struct options *o, int argc, const char *const *argv,
                   struct error *err) MUST_USE;

/*
 * Returns false and sets `err` if the command with this name and bit does not accept a flag on the
 * command line, a name in --fail-on or the format of --output.
 */
bool options_accepted(const struct options *o, const char *command, unsigned bit,
                      struct error *err) MUST_USE;

/* Returns the choices of the option that the command `bit` accepts: bits by index in `choices`. */
uint64_t option_accepted_choices(const struct option_def *def, unsigned bit);

/* Returns true if an option has the same value in `a` and `b`. */
bool option_equal(const struct options *a, const struct options *b, const struct option_def *def);

/*
 * Sets the options to the defaults, then to the values of the file of --config.file, then to the
 * flags of the command line; then sets `problems`. Returns false and sets `err` on the first error.
 * The caller releases `o`, also after a failure.
 */
bool config_load(struct options *o, int argc, const char *const *argv, struct error *err) MUST_USE;

/*
 * Callback for an unknown feature gate. `gate`: the name as messages show it (shown.h). `nearest`:
 * the known gate with the most similar name.
 */
typedef void unknown_gate_fn(void *context, const char *gate, const char *nearest);

/*
 * Calls `report` once for each name in a value of --karmada.feature-gates (gates_parse()) that is
 * not a feature gate of Karmada.
 */
void unknown_gates_each(const char *gates, unknown_gate_fn *report, void *context);

/* Used only by options.c and tests. */

/* Returns the option with this name. NULL if unknown: `err` then suggests a near name, if any. */
const struct option_def *option_find(const char *name, struct error *err);

/*
 * Sets options from the text of a configuration file: a YAML mapping with names of flags as keys.
 * The value of a list option, an OPTION_SET or an OPTION_FAIL_ON may be a YAML list. Returns false
 * and sets `err`, with `path` and usually the line, on the first error, such as an unknown or
 * repeated key; options before it stay set.
 */
bool config_apply(const char *path, const char *text, size_t len, struct options *o,
                  struct error *err) MUST_USE;
