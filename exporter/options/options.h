/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/findings.h"
#include "exporter/options/option_value.h"

/*
 * THE table of options. A row is the whole option: its flag, its key in
 * --config.file, its default, its place in struct options, the verbs that take
 * it and its help. Adding an option is one row in options.c.
 */

/* Which verbs take an option: bits. */
enum verb_bit {
    VERB_SERVE = 1U << 0,
    VERB_CHECK = 1U << 1,
    VERB_EXPLAIN = 1U << 2,
    VERB_PLAN = 1U << 3,
    VERB_METRICS = 1U << 4,
    /* All that look at objects. */
    VERB_LOOKS = VERB_SERVE | VERB_CHECK | VERB_EXPLAIN | VERB_PLAN,
    VERB_ALL = VERB_LOOKS | VERB_METRICS,
};

/* In the order of the texts that --output takes. */
enum output_format { OUTPUT_TABLE, OUTPUT_JSON, OUTPUT_YAML, OUTPUT_MARKDOWN };

enum { OPTION_ROOM = 64 };

struct options {
    struct text_list manifests;
    char *kubeconfig; /* "" if none is told. */
    char *context;
    struct text_list namespaces; /* Empty: all. */
    struct text_list namespaces_denied;
    uint64_t shard;
    uint64_t total_shards;
    struct text_list changes; /* --filename of plan. */
    struct text_list deletions;
    struct text_list listen_addresses;
    char *telemetry_path;
    char *config_file; /* "" if none. */
    char *asset_file;  /* "" if none. */
    int64_t lease_skew_ms;
    char *skipped_namespaces;
    char *skipped_apis;
    int64_t grace_ms;
    int64_t stale_age_ms; /* These three alerts compare with. */
    int64_t pending_age_ms;
    int64_t unbound_age_ms;
    uint64_t detail_limit;
    bool opt_in;
    unsigned log_level;  /* enum log_level */
    unsigned log_format; /* enum log_format */
    unsigned takeover;   /* enum takeover */
    unsigned output;     /* enum output_format */
    unsigned fail_on;    /* Bits by enum finding_class. */
    bool help;
    bool version;
    char *verb; /* NULL if none is named. */
    struct text_list arguments;
    bool given[OPTION_ROOM]; /* By the place in option_defs: it has another value than its default.
                              */
    bool on_command_line[OPTION_ROOM];
};

struct option_def {
    const char *name;
    const char *value; /* What --help calls the argument; NULL for flags. */
    const char *fallback;
    const char *help;
    const char *const *choices; /* Ends with NULL; NULL if anything goes. */
    enum option_type type;
    char letter;        /* The short form, '\0' if there is none. */
    bool flag_only;     /* Makes no sense in a configuration file. */
    bool needs_restart; /* A reload does not change it. */
    unsigned verbs;
    size_t offset;
};

extern const struct option_def option_defs[];
extern const size_t option_def_count;
extern const char *const finding_class_names[FINDING_CLASSES + 1];

/* Every option at its default. */
void options_init(struct options *o);
void options_release(struct options *o);

/*
 * Take the arguments after the program's name: "--name value", "--name=value",
 * "--no-name" for flags, "-o value", "--" before arguments that begin with a
 * hyphen. The first other argument is the verb. What is given replaces what
 * the options hold; lists then grow.
 */
bool options_parse(struct options *o, int argc, const char *const *argv,
                   struct error *err) MUST_USE;

/* False, naming the first, if a flag was given that belongs to other verbs than this one. */
bool options_accepted(const struct options *o, const char *verb, unsigned bit,
                      struct error *err) MUST_USE;

/* The row of a name, NULL with a suggestion if there is none. */
const struct option_def *option_find(const char *name, struct error *err);

/* True if both hold the same value of an option. */
bool options_same(const struct options *a, const struct options *b, const struct option_def *def);

/* Set one option by its row. `is_first` empties a list before. */
bool options_set(struct options *o, const struct option_def *def, const char *text, bool is_first,
                 struct error *err) MUST_USE;
