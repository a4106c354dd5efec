/* SPDX-License-Identifier: Apache-2.0 */
#pragma read_once

#include "exporter/files/declarations.h"
#include "exporter/files/json_file.h"
#include "exporter/files/manifest_problems.h"
#include "exporter/files/manifest_reader.h"
#include "exporter/files/manifest_tree.h"
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
 * Then no function here blocks: call manifests_start_reading(), and manifests_pump() until it is
 * not busy. A PATH or file that does not answer is a problem, and is read again when it answers.
 */
void manifests_set_reader(struct manifests *m, struct file_reader *reader);
void manifests_start_reading(struct manifests *m);

/*
 * Whether all PATHs have been walked: MANIFESTS_MISSING, with the reason, if one does not exist or
 * cannot be opened, MANIFESTS_HANG if one does not answer.
 */
enum manifests_state { MANIFESTS_BUSY, MANIFESTS_READ, MANIFESTS_MISSING, MANIFESTS_HANG };
enum manifests_state manifests_state(const struct manifests *m, struct error *err);

/* False while changes have to wait, and the descriptor of manifests_watch() is not to be polled. */
bool manifests_accept_events(const struct manifests *m);

/* When manifests_pump() is due though no descriptor is ready (steady); INT64_MAX for never. */
int64_t manifests_due(const struct manifests *m);

/* Reads from now on only what the filter leaves (namespace_limit.h). The filter is borrowed. */
void manifests_set_filter(struct manifests *m, const struct namespace_filter *filter);

/*
 * Hand each object to `put` instead of the store, which may be NULL then. If `put` answers false,
 * the object is reported with the reason. A definition counts for the objects behind it alone.
 */
typedef bool manifest_receive_fn(void *context, const cJSON *object, struct error *err);
void manifests_set_receiver(struct manifests *m, manifest_receive_fn *put, void *context);

/*
 * Read a text as a file of this name and content would be: each of its objects is handed out. False
 * with the first problem, its line, and how many more there are. It has no PATHs.
 */
bool manifests_read_text(struct manifests *m, const char *name, const char *text, size_t len,
                         struct error *err) MUST_USE;

/* Rely on the definitions of custom kinds among other manifests, too; before manifests_load(). */
void manifests_import_definitions(struct manifests *m, const struct manifests *others);

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
size_t manifests_broken_file_count(const struct manifests *m);
/* How many documents declare an object that a later one declares again. */
size_t manifests_duplicate_count(const struct manifests *m);

/*
 * Walks PATHs with jobs of the file reader, one at a time, and keeps the jobs that hang. A PATH
 * that does not answer is a problem and keeps its files. It is walked again when its job returns.
 */
enum { HANGING_MAX = ABANDONED_MAX, HANGING_OF_PATH_MAX = ABANDONED_OF_PATH_MAX };

struct path_walk {
    struct file_reader *reader; /* Borrowed. NULL: the caller walks PATHs itself. */
    struct read_job *job;       /* Of the walk under way; NULL without one. */
    struct tree_path *path;
    bool force_reread;
    int64_t begun_ms;
    int64_t rest_ms; /* Until then there is no other walk: they are not to keep a disk busy. */
    /* Jobs that hang or were lost. */
    struct hanging_job {
        struct read_job *job;
        struct tree_path *path;
        bool is_walk;
        int64_t retry_ms; /* Not before. */
        bool rested;      /* retry_ms has passed: only the job itself is waited for. */
    } hanging_job[HANGING_MAX];
    size_t hanging_count;
};

void path_walk_release(struct path_walk *r);

/* True while a PATH is walked, or is to be. */
bool path_walk_is_pending(const struct path_walk *r, const struct manifest_tree *t);

/* Go on with the walk, or begin one. False if there is nothing to do for now. */
bool path_walk_step(struct path_walk *r, struct manifest_tree *t, int64_t now_ms);

/* Keeps the job that hangs while it reads a file of this PATH; takes ownership of the job. */
void path_walk_keep_job(struct path_walk *r, struct tree_path *path, struct read_job *job,
                        int64_t now_ms);

/* When path_walk_step() is due though nothing has arrived; INT64_MAX for never. */
int64_t path_walk_due(const struct path_walk *r, const struct manifest_tree *t);

/* What source.h is about, seen from inside this folder. */
struct manifests {
    struct manifest_limits limits;
    struct manifest_tree tree;
    struct scopes scopes;
    const struct namespace_filter *filter; /* NULL: objects of all namespaces. Borrowed. */
    struct declarations declarations;
    bool (*put)(void *context, const cJSON *object, struct error *err); /* NULL: declare. */
    void *put_context;
    struct reading *reading;       /* The file that is being read, if any, ... */
    struct manifest_file *current; /* ... which one it is, ... */
    struct problems found;         /* ... and what is wrong with it so far. */
    struct problem_view view;
    bool view_is_old;
    struct path_walk path_walk;
    struct prefetch prefetch;
    int64_t waits_ms; /* Since when there is only waiting; 0: there is work, or nothing to do. */
    int64_t due_ms;   /* When to go on though nothing has arrived. */
};
