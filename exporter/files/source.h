/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/files/limits.h"
#include "exporter/files/problems.h"
#include "exporter/kube/api_resources.h"
#include "exporter/system/file_reader.h"
#include "metrics/model/store.h"

/*
 * Manifests as a source of objects: YAML and JSON, several documents a file,
 * List kinds, files, directory trees and standard input, read again as they
 * change.
 *
 * Where several documents declare one object, order decides: PATH by PATH as
 * given, inside a directory by path in byte order, inside a file from the top.
 * The last one counts, the others are reported, and when the last one goes the
 * one before it counts again.
 *
 * A file or document that cannot be read keeps the objects that it last gave,
 * and is reported until it can be read.
 */
struct manifests;

extern const struct manifest_limits manifest_limits_default;

/*
 * PATHs are copied; "-" is standard input. Objects that are in a namespace, but name none, are
 * in `ns` (scopes.h), which is copied. The store outlives the source.
 */
struct manifests *manifests_new(struct store *store, const char *const *paths, size_t count,
                                const char *ns, const struct manifest_limits *limits) MUST_USE;
void manifests_free(struct manifests *m);

/*
 * Reads files through `reader` (NULL: in place); to be called before anything is read or watched.
 * Then no function here blocks: call manifests_begin(), and manifests_pump() until it is not busy.
 * A PATH or file that does not answer is a problem, and is read again when it answers.
 */
void manifests_use(struct manifests *m, struct file_reader *reader);
void manifests_begin(struct manifests *m);

/*
 * Whether all PATHs have been walked: MANIFESTS_MISSING, with the reason, if one does not exist or
 * cannot be opened, MANIFESTS_HANG if one does not answer.
 */
enum manifests_state { MANIFESTS_BUSY, MANIFESTS_READ, MANIFESTS_MISSING, MANIFESTS_HANG };
enum manifests_state manifests_state(const struct manifests *m, struct error *err);

/* False while changes have to wait, and the descriptor of manifests_watch() is not to be polled. */
bool manifests_listens(const struct manifests *m);

/* When manifests_pump() is due though no descriptor is ready (steady); INT64_MAX for never. */
int64_t manifests_due(const struct manifests *m);

/* Reads from now on only what the filter leaves (namespace_limit.h). The filter is borrowed. */
void manifests_limit(struct manifests *m, const struct namespace_filter *filter);

/*
 * Hand each object to `put` instead of the store, which may be NULL then. If `put` answers false,
 * the object is reported with the reason. A definition counts for the objects behind it alone.
 */
typedef bool manifest_put_fn(void *context, const cJSON *object, struct error *err);
void manifests_hand_out(struct manifests *m, manifest_put_fn *put, void *context);

/*
 * Read a text as a file of this name and content would be: each of its objects is handed out. False
 * with the first problem, its line, and how many more there are. It has no PATHs.
 */
bool manifests_read_text(struct manifests *m, const char *name, const char *text, size_t len,
                         struct error *err) MUST_USE;

/* Rely on the definitions of custom kinds among other manifests, too; before manifests_load(). */
void manifests_know(struct manifests *m, const struct manifests *others);

/* Read everything once. False only if a PATH itself does not exist or cannot be opened. */
bool manifests_load(struct manifests *m, struct error *err) MUST_USE;

/*
 * Watch for changes from now on. The descriptor to poll for reading, -1 with
 * the reason if the kernel gives none. Call before manifests_load, so that no
 * change in between is missed.
 */
int manifests_watch(struct manifests *m, struct error *err) MUST_USE;

/*
 * Read the files that have changed. True if the store or the problems may have
 * changed. One call takes about `slice_ms`; while manifests_busy(), call again.
 */
bool manifests_pump(struct manifests *m, unsigned slice_ms);
/* True while there is something to read that has not been waited for for long. */
bool manifests_busy(const struct manifests *m);

/* In the order of files and lines. */
size_t manifests_problem_count(const struct manifests *m);
struct manifest_problem manifests_problem(const struct manifests *m, size_t i);

/* How many files are being read, and in how many of them something cannot be read. */
size_t manifests_file_count(const struct manifests *m);
size_t manifests_broken_count(const struct manifests *m);
/* How many documents declare an object that a later one declares again. */
size_t manifests_duplicate_count(const struct manifests *m);
