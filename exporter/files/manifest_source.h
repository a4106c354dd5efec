/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/files/declarations.h"
#include "exporter/files/manifest_problems.h"
#include "exporter/files/manifest_reader.h"
#include "exporter/files/manifest_tree.h"
#include "exporter/files/package_reader.h"
#include "exporter/options/namespace_filter.h"
#include "exporter/options/options.h"
#include "exporter/system/file_reader.h"
#include "metrics/model/store.h"
#include "metrics/rules/api_versions.h"
#include "metrics/rules/release_detection.h"

/*
 * Manifests as a source of objects: YAML and JSON with several documents in a file and with kinds
 * of lists, from files, folders and standard input. Changed files are read again.
 *
 * If several documents declare the same object, the last in order counts: PATHs in the order
 * of the arguments, the files of a PATH by path in byte order, the documents of a file from the
 * top. The other documents are reported as duplicates. If the last document is removed, the
 * document before it counts again.
 *
 * An object with metadata.generateName and no name gets a name as the API server would give it:
 * stable while the place of the file and the order of such objects in it stay the same.
 *
 * After a file or document becomes invalid, the objects of its last valid version stay, except
 * those before the error in a JSON file, which are replaced. The problem is reported until the file
 * or document is valid again or removed.
 */
struct manifests;

extern const struct manifest_limits manifest_limits_default;

/*
 * Returns a source of the files at `paths`, which are copied; "-" is standard input. `ns`, copied,
 * is the namespace of namespaced objects that do not set one; "" means "default". The caller frees
 * the source before the store.
 */
struct manifests *manifests_new(struct store *store, const char *const *paths, size_t count,
                                const char *ns, const struct manifest_limits *limits) MUST_USE;
/* Frees the source; the objects stay in the store. Accepts NULL. */
void manifests_free(struct manifests *m);

/*
 * Lets jobs of `reader`, which is borrowed, read all files; with NULL, the caller's thread. Call it
 * before files are read or watched. With a reader no function below blocks, except
 * manifests_load(), which must not be called: call manifests_start_reading(), then manifests_pump()
 * until manifests_state() is not MANIFESTS_BUSY. A PATH or file that does not answer is reported as
 * a problem, and is read once it answers.
 */
void manifests_set_reader(struct manifests *m, struct file_reader *reader);
void manifests_start_reading(struct manifests *m);

enum manifests_state {
    MANIFESTS_BUSY,
    MANIFESTS_READ,
    MANIFESTS_MISSING, /* Failure: a PATH never found does not exist or cannot be read. */
    MANIFESTS_HANG,    /* Failure: the walk of a PATH never found hangs or was rejected. */
};
/* Returns the progress of a source with a file reader; `err` gets the reason of a failure. */
enum manifests_state manifests_state(const struct manifests *m, struct error *err);

/* Returns false while the caller must not poll the descriptor of manifests_watch(). */
bool manifests_accept_events(const struct manifests *m);

/*
 * Returns the steady time in milliseconds of the next manifests_pump() if neither file_reader_fd()
 * nor the descriptor of manifests_watch() is ready before. 0: at once; INT64_MAX: no call needed.
 */
int64_t manifests_due(const struct manifests *m);

/* Sets the programs that may run for kustomizations and charts; RENDER_SERVER by default. */
void manifests_set_render_mode(struct manifests *m, enum render_mode mode);

/* Skips objects for which namespace_filter_reads_object() is false. The filter is borrowed. */
void manifests_set_filter(struct manifests *m, const struct namespace_filter *filter);

/*
 * Applies --strict-files, --exclude and --include. Returns false with the reason if an option is
 * invalid. Call it before any reading.
 */
bool manifests_set_options(struct manifests *m, const struct options *options,
                           struct error *err) MUST_USE;

/*
 * Keeps the bytes of a pipe or of standard input, up to `max`, so that a field_locator can read
 * them again. A source that watches its files keeps them anyway. Call it before any reading.
 */
void manifests_keep_streams(struct manifests *m, size_t max);

/* Receives how many of the files that were found have been read. */
typedef void manifest_progress_fn(void *context, size_t read, size_t found);

/* Lets manifests_load() report its progress after each file. */
void manifests_set_progress(struct manifests *m, manifest_progress_fn *progress, void *context);

typedef bool manifest_receive_fn(void *context, const cJSON *object, struct error *err);

/*
 * Passes each object to `receive` instead of the store, which may then be NULL. If `receive`
 * returns false, the object is reported with the reason in `err`. In a source with a receiver, a
 * CustomResourceDefinition applies only to the objects that are read after it.
 */
void manifests_set_receiver(struct manifests *m, manifest_receive_fn *receive, void *context);

/* `value` is NULL if the annotation is no text. Texts are valid during the call. */
typedef void manifest_annotation_fn(void *context, const char *value, const char *path,
                                    struct json_position where);

/*
 * Calls `each` with the annotation `key`, which is borrowed, of every object that has it and goes
 * to the store, in every reading of its file. `where` is the position that manifests_find_place()
 * returns if the document counts. Call it before any reading.
 */
void manifests_observe_annotation(struct manifests *m, const char *key,
                                  manifest_annotation_fn *each, void *context);

/* Returns the source of the object that the receiver gets. Call it from the receiver only. */
struct object_source manifests_received_source(const struct manifests *m);

/*
 * Reads `text` like a file called `name`, and passes its objects to the receiver, which must be
 * set. Skips nothing. Returns false with the first problem and the number of further ones; then
 * `*line` is the line of the first one, 0 if unknown.
 */
bool manifests_read_text(struct manifests *m, const char *name, const char *text, size_t len,
                         size_t *line, struct error *err) MUST_USE;

/*
 * Returns the schemas of Karmada's own kinds from the CustomResourceDefinitions in the manifests.
 * The schema of a kind stays after its definition is removed. Borrowed.
 */
const struct release_evidence *manifests_release_evidence(const struct manifests *m);

/* Copies the definitions of custom kinds that `others` has read. Call it before any reading. */
void manifests_import_definitions(struct manifests *m, const struct manifests *others);

/*
 * Sets the source of the versions that an API server prefers: an object in another version of its
 * kind is read as if it had the preferred one. Call it before any reading.
 */
void manifests_set_server_versions(struct manifests *m, struct api_version_source source);

/*
 * Returns the source of the versions that Karmada watches if it gets the objects of the files. The
 * source borrows `m`. Its answers may change with manifests_api_versions_version().
 */
struct api_version_source manifests_api_versions(const struct manifests *m);
uint64_t manifests_api_versions_version(const struct manifests *m);

/*
 * Walks the PATHs, reads all files, and blocks; for a source without a file reader. Returns false
 * with the reason if a PATH does not exist or cannot be read; the PATHs after it are not read.
 */
bool manifests_load(struct manifests *m, struct error *err) MUST_USE;

/*
 * Watches the files for changes. Call it before they are read, so that no change is missed. Returns
 * the inotify descriptor to poll for reading, which the source owns; -1 with the reason on failure.
 */
int manifests_watch(struct manifests *m, struct error *err) MUST_USE;

/*
 * Reads changed files for about `slice_ms`. While manifests_busy(), call it again. Returns true if
 * the store or the problems may have changed.
 */
bool manifests_pump(struct manifests *m, unsigned slice_ms);

/* Returns true while work is left, unless it waits for 250 ms for the file reader or a pause. */
bool manifests_busy(const struct manifests *m);

/* Problems in the order of PATHs, files and lines. Valid until the next load or pump. */
size_t manifests_problem_count(const struct manifests *m);
struct manifest_problem manifests_problem(const struct manifests *m, size_t i);

/*
 * Stores the position of the first problem of a file that blocks the evaluation; zeros if unknown.
 * Returns false without one. Faster than a search with manifests_problem().
 */
bool manifests_find_fault(const struct manifests *m, const char *path, struct json_position *where);

/* Calls declarations_find_place(). The path is valid until the next load or pump. */
bool manifests_find_place(const struct manifests *m, const struct entry *entry, const char **path,
                          struct json_position *where);

/* Calls declarations_find_source(). The file is valid until the next load or pump. */
bool manifests_find_source(const struct manifests *m, const struct entry *entry,
                           struct object_source *out);
/* Returns the limits for a file. Borrowed. */
const struct manifest_limits *manifests_limits(const struct manifests *m);

/* Calls declarations_find_earlier_place(). The path is valid until the next load or pump. */
bool manifests_find_earlier_place(const struct manifests *m, const struct entry *entry,
                                  size_t index, const char **path, struct json_position *where);

/* Packages that were rendered, in the order of their folders. Valid until the next load. */
size_t manifests_rendering_count(const struct manifests *m);
/* Returns the number of rendered documents that declare an object which a later one declares too.
 */
size_t manifests_rendered_duplicate_count(const struct manifests *m);
const struct rendering *manifests_rendering(const struct manifests *m, size_t i);

size_t manifests_file_count(const struct manifests *m);
/* Returns the number of files and PATHs of which a part or all cannot be evaluated. */
size_t manifests_broken_file_count(const struct manifests *m);
/* Returns the number of documents that declare an object which a later document declares again. */
size_t manifests_duplicate_count(const struct manifests *m);
/* Returns the number of documents, and of files as a whole, that are skipped as this kind. */
size_t manifests_skipped_count(const struct manifests *m, enum skipped_kind kind);
/* Returns what patterns excluded; files of excluded folders are not counted. */
struct manifests_excluded {
    size_t files;
    size_t folders;
};
struct manifests_excluded manifests_excluded(const struct manifests *m);

/* Returns the number of PROBLEM_REPEATED_KEY, of which manifests_problem() has the first ones. */
size_t manifests_repeated_key_count(const struct manifests *m);

/* Returns true if pattern `i` of path_filter_excludes() matches a file or a folder. */
bool manifests_pattern_is_used(const struct manifests *m, size_t i);

/* Returns the sum over all kinds. */
size_t manifests_skipped_total(const struct manifests *m);

/* Used only by manifest_source.c and tests. */

enum { HANGING_MAX = ABANDONED_MAX, HANGING_OF_PATH_MAX = ABANDONED_MAX_PER_PATH };

/*
 * Walks the PATHs with jobs of the file reader, one PATH at a time. Keeps jobs, of walks and
 * readings, that hang or were lost. After such a walk the PATH has a problem, and its files stay in
 * the store. The PATH of a kept job is walked again when the job has a result or an end, but not
 * before RETRY_MS; if too many jobs hang to keep it, after RETRY_MS.
 */
struct path_walk {
    struct file_reader *reader; /* Borrowed. NULL: the tree itself walks the PATHs. */
    struct read_job *job;       /* Current walk; NULL if no walk is in progress. */
    struct manifest_path *path; /* PATH of the current walk. */
    bool force_reread;          /* The current walk marks unchanged files, too. */
    int64_t begun_ms;           /* Start of the current walk. */
    int64_t next_walk_ms;       /* Earliest start of the next walk, after a pause or failure. */
    /* Jobs that hang or were lost. */
    struct hanging_job {
        struct read_job *job; /* Owned. */
        struct manifest_path *path;
        bool is_walk; /* The job walks the PATH; else it reads files of the PATH. */
        int64_t retry_ms;
        bool pause_over; /* retry_ms has passed: a result or the end of the job ends the hang. */
    } hanging[HANGING_MAX];
    size_t hanging_count;
};

void path_walk_release(struct path_walk *w);

/* Returns true during a walk, and if a PATH that does not hang needs one. False without reader. */
bool path_walk_is_pending(const struct path_walk *w, const struct manifest_tree *t);

/*
 * Releases jobs that no longer hang, and continues a walk or starts one that is due. Returns true
 * if a walk has made progress or was due. `now_ms` is the steady clock.
 */
bool path_walk_step(struct path_walk *w, struct manifest_tree *t, int64_t now_ms);

/* Takes ownership of a job that hangs or was lost while it read a file of the PATH. */
void path_walk_keep_job(struct path_walk *w, struct manifest_path *path, struct read_job *job,
                        int64_t now_ms);

/*
 * Returns the steady time in milliseconds of the next path_walk_step() if file_reader_fd() reports
 * nothing before; INT64_MAX: no call needed.
 */
int64_t path_walk_due(const struct path_walk *w, const struct manifest_tree *t);
