/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/options/fail_on.h"
#include "metrics/base/strbuf.h"
#include "metrics/expose/problem_rows.h"
#include "metrics/model/metadata.h"

/*
 * Findings: the results of `check`, `plan` and `test` in one form, for the formats of CI systems
 * (findings_format.h). A list owns all its texts, so it stays valid without the evaluation.
 */

enum finding_level {
    FINDING_ERROR,   /* Fails the command. */
    FINDING_WARNING, /* Fails only with another --fail-on. */
    FINDING_NOTE,
    FINDING_LEVEL_COUNT,
};

/* Reason why a finding does not count. */
enum finding_suppression {
    FINDING_COUNTS,
    FINDING_IN_BASELINE,
    FINDING_EXCEPTED_BY_FILE,
    FINDING_EXCEPTED_BY_ANNOTATION, /* Of the object itself. */
};

/* Another place of a finding. */
struct finding_relation {
    struct location at; /* `file` is NULL if the object does not come from a file. */
    const char *text;
};

/* Optional texts may be NULL in findings_add(), and are "" in the list unless stated otherwise. */
struct finding {
    const char *rule; /* PROBLEM/REASON, or another word of finding_rule_describe(). */
    enum finding_level level;
    enum problem_severity severity; /* SEVERITY_COUNT if the finding is no problem. */
    bool passed;             /* An expectation that holds. Only junit and markdown show it. */
    bool unread;             /* An input that cannot be read. */
    struct identity object;  /* Subject; its texts may be "", but not NULL. */
    const char *subject;     /* The subject for people, such as "Deployment shop/web". */
    const char *message;     /* Sentences about the cause, which name the subject. */
    const char *action;      /* Optional sentence. */
    const char *owner;       /* Optional. */
    struct location place;   /* `file` is NULL if the subject does not come from a file. */
    const char *environment; /* Optional name of --environment. */
    enum finding_suppression suppression;
    const char *justification; /* Optional reason of the suppression. */
    bool baseline;             /* The findings are compared with those of --baseline. */

    /* Set by the functions below. */
    struct finding_relation *relations; /* Owned. */
    size_t relation_count;
    uint64_t fingerprint; /* Equal in two runs for the same rule, subject and environment. */
};

struct findings {
    struct finding *items; /* Owned. */
    size_t count;
    char **texts; /* All texts of the items. Owned. */
    size_t text_count;
    const char **environments; /* Names of --environment, also those without findings. Owned. */
    size_t environment_count;
    bool compared;         /* A finding has `baseline`: SARIF then compares all of them. */
    const char *command;   /* "check", "plan" or "test". Borrowed. */
    char *folder;          /* Working directory; "" if unknown. Owned. */
    struct strbuf summary; /* Optional sentence about the whole result. */
    struct strbuf details; /* Optional sections in Markdown, at most 32 KiB. */
    struct strbuf text;    /* Optional text for people; Markdown folds it in. */
};

/* Sets an empty list. The caller releases it. */
void findings_init(struct findings *f, const char *command);
void findings_release(struct findings *f);

/* Adds an environment, unless the list has it. Each one is a run in SARIF and a suite in JUnit. */
void findings_add_environment(struct findings *f, const char *name);

/* Returns the path without "./" at its start, and relative to the working directory if below it. */
const char *findings_relative_path(const struct findings *f, const char *path);

/*
 * Adds a copy of the finding, of its texts, and its environment. A path in `place` becomes relative
 * to the working directory. Returns the copy, which is valid until the next findings_add().
 */
struct finding *findings_add(struct findings *f, const struct finding *finding);

/* Adds another place to the finding that findings_add() returned. `at` may be NULL. */
void finding_add_relation(struct findings *f, struct finding *finding, const struct location *at,
                          const char *text);

/*
 * Sorts the findings by level, and keeps their order otherwise; makes equal fingerprints differ.
 * Call it once, after the last findings_add().
 */
void findings_finish(struct findings *f);

/* Returns the number of findings that count, without `passed` ones, of this level. */
size_t findings_count(const struct findings *f, enum finding_level level);

/* Returns true if the finding is a defect: it counts and has not passed. */
bool finding_is_defect(const struct finding *finding);

/* Names by enum finding_level: "error", "warning", "note". */
extern const char *const finding_level_names[FINDING_LEVEL_COUNT];

/* ---- rules ---- */

/* Description of a rule for people. Texts are owned. */
struct finding_rule {
    struct strbuf title;       /* Noun phrase, such as "not propagated (no_match)". */
    struct strbuf description; /* Sentence about the cause, without objects. */
    struct strbuf help;        /* Sentences about the action and the end; "" without. */
    struct strbuf help_url;    /* "" without a runbook. */
    enum finding_level level;  /* Without --fail-on. */
    const char *severity;      /* Word of the problem table; NULL if the rule is no problem. */
};

void finding_rule_describe(const char *rule, struct finding_rule *out);
void finding_rule_release(struct finding_rule *rule);
