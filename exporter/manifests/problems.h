/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/json.h"

enum problem_kind {
    PROBLEM_UNREADABLE, /* The file cannot be opened, is too large, ... */
    PROBLEM_MALFORMED,  /* Not YAML or JSON, or over a limit. */
    PROBLEM_REJECTED,   /* A document that is no valid object: no kind, a wrong type, ... */
    PROBLEM_DUPLICATE,  /* An object that a later document names again. */
    PROBLEM_FOREIGN,    /* Neither apiVersion nor kind: not meant for Kubernetes, passed over. */
};

/* The name of a kind in reports and series: "unreadable", "malformed", ... */
const char *problem_kind_name(enum problem_kind kind);

/* Borrowed from the source until its next load or pump. Line and column are 0 if unknown. */
struct manifest_problem {
    enum problem_kind kind;
    const char *path;
    size_t line;
    size_t column;
    const char *text;
};

/* Append "file.yaml:3:1", as compilers and editors know it, as far as the place is known. */
void manifest_problem_place(const struct manifest_problem *p, struct strbuf *out);

/*
 * What is wrong with one file, or with a folder. However much it is, no more
 * than PROBLEMS_MAX are kept of what makes a file broken, and as many of what
 * does not; the rest is counted. Filled with zeros it is empty and ready.
 */
enum { PROBLEMS_MAX = 100 };

struct problem {
    enum problem_kind kind;
    size_t line;
    size_t column;
    char *text;
};

struct problems {
    struct problem *items;
    size_t count;
    size_t capacity;
    size_t foreign; /* Of PROBLEM_FOREIGN, those that were not kept included. */
    size_t broken;  /* Of all other kinds, likewise. */
};

void problems_release(struct problems *p);
void problems_add(struct problems *p, enum problem_kind kind, struct json_position where,
                  const char *text);

/* What all files have, as source.h shows it. Filled with zeros it is empty and ready. */
struct problem_view {
    struct manifest_problem *items;
    size_t count;
    size_t capacity;
    size_t broken; /* Files. */
    char **texts;  /* Those that belong to the view. */
    size_t text_count;
};

void problem_view_release(struct problem_view *v);

/* Add those of the file or folder at `path`, by line. The view borrows path and texts. */
void problem_view_add(struct problem_view *v, const char *path, const struct problems *own,
                      const struct problems *duplicates);
