/* SPDX-License-Identifier: Apache-2.0 */
#pragma read_once

#include <sys/types.h>

#include "metrics/base/json.h"

enum problem_kind {
    PROBLEM_UNREADABLE, /* The file cannot be opened, is too large, ... */
    PROBLEM_MALFORMED,  /* Not YAML or JSON, or over a limit. */
    PROBLEM_REJECTED,   /* A document that is no valid object: no kind, a wrong type, ... */
    PROBLEM_DUPLICATE,  /* An object that a later document declares again. */
    PROBLEM_FOREIGN,    /* Neither apiVersion nor kind: not meant for Kubernetes, skipped. */
};

/* The name of a kind in reports and series: "unreadable", "malformed", ... */
const char *problem_kind_name(enum problem_kind kind);

/* True if it keeps an object, or a whole file, from being evaluated. */
bool problem_kind_blocks_evaluation(enum problem_kind kind);

/* Borrowed from the source until its next load or pump. Line and column are 0 if unknown. */
struct manifest_problem {
    enum problem_kind kind;
    const char *path;
    size_t line;
    size_t column;
    const char *text;
};

/* Append "file.yaml:3:1", as compilers and editors know it, as far as the place is known. */
void manifest_problem_append_place(const struct manifest_problem *p, struct strbuf *out);

/*
 * The problems of one file or folder. At most PROBLEMS_MAX that make a file
 * broken are kept, and as many that do not; the others are only counted. Filled
 * with zeros it is empty and ready.
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
    size_t harmless; /* All of PROBLEM_DUPLICATE and PROBLEM_FOREIGN, kept or not. */
    size_t broken;   /* All of the other kinds, kept or not. */
};

void problems_release(struct problems *p);
void problems_add(struct problems *p, enum problem_kind kind, struct json_position where,
                  const char *text);

/* The problems of all files, as source.h shows them. Filled with zeros it is empty and ready. */
struct problem_view {
    struct manifest_problem *items;
    size_t count;
    size_t capacity;
    size_t broken;     /* Files. */
    size_t duplicates; /* Documents. */
    char **texts;      /* Those that belong to the view. */
    size_t text_count;
};

void problem_view_release(struct problem_view *v);

/* Add those of the file or folder at `path`, by line. The view borrows path and texts. */
void problem_view_add(struct problem_view *v, const char *path, const struct problems *own,
                      const struct problems *duplicates);

struct declaration;

/* Tells two states of a file apart without reading it. */
struct signature {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec modified;
    struct timespec changed;
};

/* One file that is read. The tree finds it; declarations and problems are what was in it. */
struct manifest_file {
    char *path;
    uint32_t path_index; /* Of the PATH, as given, that it was found under. */
    bool is_path;        /* It is that PATH itself. */
    bool read_once;      /* A pipe or the like, which can be read only once. */

    struct signature signature;
    uint32_t scan;
    bool changed; /* To be read (again). */
    bool gone;    /* To be dropped. */

    uint32_t source;
    uint32_t pass;
    bool wanted;  /* To be read again for an object in it that counts again. */
    bool guesses; /* Of an object in it a definition may yet say that it has no namespace. */
    int spool;    /* The bytes of a file with `read_once`, or -1. */
    struct declaration **declarations;
    size_t declaration_count;
    size_t declaration_capacity;
    size_t shadowed; /* How many of them a later document shadows. */
    struct problems problems;
    struct problems duplicates;
};

struct manifest_file *manifest_file_new(const char *path, uint32_t path_index) MUST_USE;
/* Takes NULL. Its declarations must have been dropped. */
void manifest_file_free(struct manifest_file *file);

/* PATH by PATH as given, then by path in byte order. */
int manifest_file_compare(const struct manifest_file *a, const struct manifest_file *b);
