/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/strbuf.h"
#include "metrics/model/store.h"

/*
 * Manifests as a source of objects: YAML and JSON, several documents a file,
 * List kinds, files, directory trees and standard input, followed as they
 * change.
 *
 * Order decides where two documents name one object: PATH by PATH as given,
 * inside a directory by path in byte order, inside a file from the top. The last
 * one counts, the others are reported, and when the last one goes the one
 * before it counts again.
 *
 * A file that cannot be read (as a whole or one document of it) keeps the
 * objects that it gave last, and is reported until it is mended.
 */
struct manifests;

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

struct manifest_limits {
    size_t file_max_bytes; /* Of one YAML document stream; JSON files are streamed and have no such
                              limit. */
    size_t object_max_bytes; /* Of one object. */
    size_t nodes_max;        /* Of one YAML document, anchors expanded. */
};
extern const struct manifest_limits manifest_limits_default;

/* PATHs are copied; "-" is standard input. The store outlives the source. */
struct manifests *manifests_new(struct store *store, const char *const *paths, size_t count,
                                const struct manifest_limits *limits) MUST_USE;
void manifests_free(struct manifests *m);

/* Read everything once. False only if a PATH itself does not exist or cannot be opened. */
bool manifests_load(struct manifests *m, struct error *err) MUST_USE;

/*
 * Follow changes from now on. The descriptor to poll for reading, -1 with the
 * reason if the kernel gives none. Call before manifests_load, so that nothing
 * that changes in between is missed.
 */
int manifests_watch(struct manifests *m, struct error *err) MUST_USE;

/*
 * Take the pending changes and re-read what they concern. True if the store or
 * the problems may have changed. `slice_ms` bounds one call; when work is left
 * over, manifests_busy() says so and the caller calls again.
 */
bool manifests_pump(struct manifests *m, unsigned slice_ms);
bool manifests_busy(const struct manifests *m);

/* In the order of files and lines. */
size_t manifests_problem_count(const struct manifests *m);
struct manifest_problem manifests_problem(const struct manifests *m, size_t i);

/* How many files are being read, and how many of them have a problem of another kind than foreign.
 */
size_t manifests_file_count(const struct manifests *m);
size_t manifests_broken_count(const struct manifests *m);
