/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sys/types.h>

#include "exporter/files/file_recognition.h"
#include "metrics/base/json.h"
#include "metrics/model/store.h"

enum problem_kind {
    PROBLEM_UNREADABLE, /* File, folder or PATH that cannot be read or watched, or is too large. */
    PROBLEM_MALFORMED,  /* Invalid YAML or JSON, or an object or expanded text above a limit. */
    PROBLEM_REJECTED,   /* Document that is not a valid object, or that the receiver rejected. */
    PROBLEM_DUPLICATE,  /* Object that a later document declares again. */
    PROBLEM_NOT_RENDERED, /* Kustomization or chart whose files are read without a rendering. */
    PROBLEM_REPEATED_KEY, /* Key that a mapping has twice: the last value counts. */
    PROBLEM_SKIPPED,      /* File or document that is no object (file_recognition.h). */
    PROBLEM_KIND_COUNT,
};

/* Returns the name of a kind in reports and series, such as "unreadable". */
const char *problem_kind_name(enum problem_kind kind);

/* Returns true if a problem of this kind prevents the evaluation of an object or a file. */
bool problem_kind_blocks_evaluation(enum problem_kind kind);

/*
 * Problem of a file or PATH. The texts are borrowed from the source until its next load or pump.
 * Line and column are 0 if unknown.
 */
struct manifest_problem {
    enum problem_kind kind;
    const char *path;
    size_t line;
    size_t column;
    const char *text;
    const struct entry *object; /* PROBLEM_DUPLICATE: the object declared again; else NULL. */
    enum skipped_kind skipped;  /* PROBLEM_SKIPPED: its kind; else SKIPPED_NONE. */
};

/* Appends the place in the form of compilers, "file.yaml:3:1", without unknown parts. */
void manifest_problem_append_place(const struct manifest_problem *p, struct strbuf *out);

enum { PROBLEMS_MAX = 100 };

struct document_problem {
    enum problem_kind kind;
    char *path; /* Owned; NULL: that of the file. */
    size_t line;
    size_t column;
    char *text; /* Owned. */
    const struct entry *object;
    enum skipped_kind skipped;
};

/*
 * Problems of one file or PATH; ready to use if all bytes are 0. At most PROBLEMS_MAX problems of
 * a kind are stored; the rest is only counted.
 */
struct document_problems {
    const char *path; /* Path of problems that are added, borrowed; NULL: that of the file. */
    struct document_problem *items;
    size_t count;
    size_t capacity;
    uint32_t seen[PROBLEM_KIND_COUNT]; /* Number of problems by kind, stored or not. */
    uint32_t *skipped; /* Number of PROBLEM_SKIPPED by what they look like. NULL if all are 0. */
};

/* Returns the number of problems, stored or not, for which problem_kind_blocks_evaluation(). */
size_t document_problems_blocking(const struct document_problems *p);

/* Stores the first position with a problem that blocks the evaluation; false without one. */
bool document_problems_find_fault(const struct document_problems *p, struct json_position *where);

/* Frees the problems; the list is empty and can be used again. */
void document_problems_release(struct document_problems *p);
/*
 * Adds a problem, or counts it if the list is full. Copies `text`; `object` is NULL unless the kind
 * is PROBLEM_DUPLICATE.
 */
void document_problems_add(struct document_problems *p, enum problem_kind kind,
                           struct json_position where, const char *text,
                           const struct entry *object);

/*
 * Adds PROBLEM_SKIPPED, or only counts it if the list is full. With `strict`, the file or document
 * is PROBLEM_REJECTED.
 */
void document_problems_skip(struct document_problems *p, enum skipped_kind kind,
                            struct json_position where, bool strict);

/* Problems of all files and PATHs in order of output; ready to use if all bytes are 0. */
struct problem_view {
    struct manifest_problem *items;
    size_t count;
    size_t capacity;
    size_t broken;        /* Number of files and PATHs with a problem that blocks the evaluation. */
    size_t duplicates;    /* Number of documents with PROBLEM_DUPLICATE. */
    size_t repeated_keys; /* Number of PROBLEM_REPEATED_KEY. */
    size_t skipped[SKIPPED_KIND_COUNT]; /* Number of documents with PROBLEM_SKIPPED. */
    char **texts;                       /* Owned texts; the other texts are borrowed. */
    size_t text_count;
};

void problem_view_release(struct problem_view *v);

/*
 * Adds the problems of the file or PATH at `path`, sorted by line, and then, without a line, the
 * numbers of those that were only counted. Borrows path and texts.
 */
void problem_view_add(struct problem_view *v, const char *path, const struct document_problems *own,
                      const struct document_problems *duplicates);

struct declaration;

/* Attributes of a file: the file has changed if one of them differs. */
struct file_signature {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec modified;
    struct timespec changed;
};

struct stat;
struct file_signature file_signature_of(const struct stat *about);
bool file_signature_equal(const struct file_signature *a, const struct file_signature *b);

enum manifest_format { FORMAT_UNKNOWN, FORMAT_YAML, FORMAT_JSON };

/* One manifest file. Its PATH is the argument through which it was found. */
struct manifest_file {
    char *path;
    uint32_t path_index;    /* Index of the PATH. */
    bool is_path;           /* The file is the PATH itself. */
    bool is_chart_template; /* The file is a template of a Helm chart: it is not read. */
    bool is_definition;     /* The name is that of the definition of a package (package_set.h). */
    bool read_once; /* Pipe, /dev/null or standard input: its bytes can be read only once. */

    struct file_signature signature;
    uint32_t scan_number; /* Number of the latest walk that has found or kept the file. */
    bool changed;         /* The file has to be read. */
    bool gone;            /* The file has to be removed from the tree. */

    enum manifest_format format : 8; /* Of the latest complete reading. */

    uint32_t source; /* Number of the file as an origin in the store. */
    uint32_t pass;   /* Number of readings begun. */
    /* The next reading has to put an object into the store again; false after any reading. */
    bool reread_requested;
    bool has_custom_kinds; /* A definition may change the identity of an object in the file. */
    int spool;             /* Descriptor of a copy of a file with `read_once`; -1 without. */
    unsigned role;         /* enum file_role of the latest reading. */
    bool needs_rendering;  /* The file defines a package that has to be rendered. */
    struct manifest_file **origins; /* Files of the rendered objects, by their order. */
    size_t origin_count;            /* 0 if the objects are in the file itself. */
    size_t origin_capacity;
    struct declaration **declarations;
    size_t declaration_count;
    size_t declaration_capacity;
    size_t shadowed; /* Number of declarations of objects that a later document declares again. */
    struct document_problems problems;
    struct document_problems duplicates;
};

/*
 * Returns the file that has the object with this order: the origin of a rendered object, counted
 * from 1, else the file itself.
 */
const struct manifest_file *manifest_file_origin(const struct manifest_file *file, uint64_t order);

/* Returns a file that has not been read. Copies `path`. */
struct manifest_file *manifest_file_new(const char *path, uint32_t path_index) MUST_USE;
/* Frees a file; its declarations must have been freed before. Accepts NULL. */
void manifest_file_free(struct manifest_file *file);

/* Compares by PATH, then by path in byte order. Returns a number below, equal to or above 0. */
int manifest_file_compare(const struct manifest_file *a, const struct manifest_file *b);
