/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/files/manifest_source.h"
#include "exporter/options/fail_on.h"
#include "metrics/base/json.h"
#include "metrics/model/store.h"

/*
 * Exceptions: problems that a team accepts until a date, for a reason. They come from files, and
 * from annotations of the objects themselves.
 *
 * A file is a YAML list of mappings, all members required:
 *
 *     - problem: policy_tie                  # PROBLEM or PROBLEM/REASON
 *       object: PropagationPolicy/shop/web-? # KIND[.GROUP]/[NAMESPACE/]NAME; globs in each part
 *       reason: The new policy replaces the old one.
 *       until: 2027-01-31                    # End of this day in UTC.
 *
 * The annotation EXCEPTION_ANNOTATION has one exception on each line, for the annotated object:
 * "policy_tie until 2027-01-31: The new policy replaces the old one."
 */
struct exceptions;

#define EXCEPTION_ANNOTATION "karmada-policy-exporter/exceptions"

enum {
    EXCEPTIONS_MAX = 10000,          /* All files and annotations together. */
    EXCEPTION_TEXT_MAX_BYTES = 1024, /* Length of a reason, or of an object. */
};

struct exception {
    char *file;           /* Owned, as are all texts. */
    size_t line;          /* Line of the exception, or of the annotated object. */
    size_t column;        /* 0 if unknown. */
    char *problem;        /* PROBLEM or PROBLEM/REASON. */
    char *object;         /* As written; NULL for an annotation. */
    char *reason;         /* Justification. */
    char until[11];       /* YYYY-MM-DD. */
    int64_t end_ms;       /* First millisecond after that day; since the epoch. */
    struct fail_on names; /* The problems, and conditions that are no problem. */
    size_t covered;       /* Problems that exceptions_find() has returned the exception for. */
    bool object_exists;   /* exceptions_note_object() was called for an object that fits. */
    bool superseded;      /* Expired, and another exception is in force for its problem. */
};

/*
 * Returns an empty list. `ns`, which is copied, is the namespace of namespaced objects if an
 * exception does not name one. The caller frees the list.
 */
struct exceptions *exceptions_new(const char *ns) MUST_USE;
/* Accepts NULL. */
void exceptions_free(struct exceptions *x);

/* Adds the exceptions of a file. Returns false with path, line and column of the first error. */
bool exceptions_read_file(struct exceptions *x, const char *path, struct error *err) MUST_USE;

/* Like exceptions_read_file(), for the text of a file. Used only by tests. */
bool exceptions_read_text(struct exceptions *x, const char *path, const char *text, size_t len,
                          struct error *err) MUST_USE;

/*
 * Adds the exceptions of an annotation of the object at `path` and `where`; a NULL `value` is an
 * annotation that is no text. A second call for the same place has no effect: files may be read
 * twice. An invalid annotation is kept for exceptions_error().
 */
void exceptions_add_annotation(struct exceptions *x, const char *value, const char *path,
                               struct json_position where);

/* Adds the annotations of all objects that `m` reads from now on; `x` must outlive the reading. */
void exceptions_observe(struct exceptions *x, struct manifests *m);

/* Returns the number of invalid annotations, and copies the first error. */
size_t exceptions_error(const struct exceptions *x, struct error *err);

/* Problem, or condition that is no problem, that an exception may cover. */
struct exception_query {
    enum problem_reason reason;      /* PROBLEM_REASON_COUNT: see `condition`. */
    enum normal_condition condition; /* Used without a `reason`. */
    struct identity subject;
    const char *path; /* File that declares the subject; NULL without one. */
    struct json_position where;
    int64_t now_ms; /* Since the epoch. */
};

/*
 * Returns an exception that covers the problem: one in force, else one that has expired, which
 * *expired says; NULL without one. Counts the problem in `covered` of every exception that fits,
 * except that expired ones only become `superseded` by one that is in force.
 */
const struct exception *exceptions_find(struct exceptions *x, const struct exception_query *query,
                                        bool *expired);

/* Sets `object_exists` of the exceptions that fit the object and cover no problem so far. */
void exceptions_note_object(struct exceptions *x, const struct identity *object);

/* Exceptions in the order of files and lines as they were added. */
size_t exceptions_count(const struct exceptions *x);
const struct exception *exceptions_at(const struct exceptions *x, size_t i);

/* Returns true if the exception has ended at `now_ms`. */
bool exception_is_expired(const struct exception *e, int64_t now_ms);
