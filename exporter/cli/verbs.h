/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/options/options.h"

/* THE table of verbs, in verbs.c: a new verb is one file in this folder and one row there. */

enum exit_status {
    STATUS_OK = 0,
    STATUS_FOUND = 1,       /* Findings (check) or differences (plan). */
    STATUS_USAGE = 2,       /* A wrong command line, or input that cannot be read. */
    STATUS_UNREACHABLE = 3, /* The source does not answer. */
};

/* What a verb works with. The options are the verb's to take; the arguments are there to be parsed
 * again on a reload. */
struct command {
    struct options options;
    int argc;
    const char *const *argv;
    int out; /* Standard output. */
    int err; /* Standard error. */
};

struct verb {
    const char *name;
    const char *usage;           /* What follows the name. */
    const char *summary;         /* One line. */
    const char *details;         /* A paragraph. */
    const char *const *examples; /* Command lines after the program's name; ends with NULL. */
    unsigned bit;                /* The verb's bit in the table of options. */
    bool takes_paths;
    enum exit_status (*run)(struct command *command);
};

extern const struct verb verbs[];
extern const size_t verb_count;

/* The verb of a name; NULL, with a suggestion, if there is none. */
const struct verb *verb_find(const char *name, struct error *err);

/* Do what the command line (after the program's name) says, and answer the exit status. */
enum exit_status verbs_main(int argc, const char *const *argv, int out, int err);

/* Write "karmada-policy-exporter: <text>" and, if not NULL, a line of advice to `fd`. */
void verbs_complain(int fd, const char *text, const char *advice);
