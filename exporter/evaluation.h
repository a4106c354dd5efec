/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <poll.h>

#include "exporter/files/asset_source.h"
#include "exporter/files/field_locator.h"
#include "exporter/files/manifest_source.h"
#include "exporter/kube/session.h"
#include "exporter/options/options.h"
#include "exporter/source_problems.h"
#include "metrics/expose/list_rows.h"
#include "metrics/expose/problem_rows.h"
#include "metrics/expose/registry.h"
#include "metrics/expose/report.h"
#include "metrics/rules/release_detection.h"
#include "metrics/simulate/plan.h"

/*
 * State that results from one set of options: the sources, the objects that they deliver, the
 * decisions of the rules, and the series. A reload prepares a second evaluation, which replaces the
 * current one once complete. Only one thread at a time uses an evaluation.
 */
struct evaluation {
    struct options options; /* Owned, as are all pointers below that are not marked as borrowed. */
    struct store *store;
    struct engine *engine;
    struct registry *registry; /* NULL without `series`. */
    struct rows *rows; /* Rows of list endpoints; NULL unless evaluation_rows() has made them. */
    struct manifests *manifests; /* Has no PATH if the objects come from an API server. */
    struct namespace_filter filter;
    struct kube_session *session;            /* NULL without an API server. */
    struct field_locator *locator;           /* NULL before evaluation_locate_fields(). */
    struct asset_source *assets;             /* NULL without --configconnector.asset-file. */
    struct source_problems *source_problems; /* NULL before evaluation_judge_problems(). */
    int64_t sources_due_ms;     /* Next update of it without a known change; since the epoch. */
    uint64_t restores;          /* kube_source_restores() that the problems took note of. */
    uint64_t health_version;    /* kube_source_health_version() of the last update of it. */
    struct file_reader *reader; /* Borrowed. NULL: the calling thread reads all files itself. */
    struct engine_observer observer; /* Called after other updates; only `decided` is used. */
    const struct log *log;           /* Borrowed. */
    struct release_finding release;  /* Releases of Karmada, as update_release() found them last. */
    int64_t since_ms;                /* Time of creation; since the epoch. */
    int changes_fd; /* Readable after manifests change; -1 without `follow`. Borrowed. */
    bool caught_up; /* No object is left to evaluate. Cleared when sources or ages may change. */
    bool manifests_started;        /* manifests_start_reading() was called. */
    uint64_t api_versions_version; /* Version of the API version source in the engine. */
};

struct evaluation_settings {
    struct options *options;        /* Taken over and left empty, also on failure. */
    const char *const *environment; /* Borrowed; NULL ends the list. */
    const struct log *log;          /* Borrowed. */
    struct file_reader *reader;     /* See struct evaluation. */
    bool follow; /* Watch manifest files for changes; read the Leases of Karmada's components. */
    bool series; /* Keep the series of the metrics page. */
    bool references; /* Read full objects of kinds with references, such as workloads. */
    bool renders;    /* Run programs for kustomizations and charts, unless --render forbids it. */
    bool documents;  /* Keep whole objects from an API server, too: for override policies. */
    uint64_t seed;   /* Seed of hash maps and random delays. */
};

/*
 * Checks the options and opens the sources; evaluation_load() then reads objects. Returns NULL with
 * the reason if an option is invalid, no source is configured, or a source cannot be opened.
 */
struct evaluation *evaluation_new(const struct evaluation_settings *settings,
                                  struct error *err) MUST_USE;
/* Frees the evaluation and its parts. Accepts NULL. */
void evaluation_free(struct evaluation *e);
/*
 * Like evaluation_free(), for an evaluation that the process uses until it ends: leaves the memory
 * to the kernel, which frees it faster. Builds that search for leaks free it. Accepts NULL.
 */
void evaluation_leave(struct evaluation *e);

enum loading {
    LOADING_BUSY,  /* Call evaluation_wait() and evaluation_load() again. */
    LOADING_HANGS, /* The error names what hangs or was rejected: go on as with LOADING_BUSY. */
    LOADING_DONE,
    LOADING_FAILED, /* A PATH or the asset file cannot be read, and never was; see the error. */
};

/*
 * Continues the first read of all sources. Objects of an API server arrive between the calls. With
 * a file reader a call takes a few milliseconds; without one it blocks while manifests are read.
 */
enum loading evaluation_load(struct evaluation *e, struct error *err) MUST_USE;

/*
 * Calls `warn` for each doubt about the release of Karmada and the feature gates: a release that is
 * not known, schemas of several releases, and gates of --karmada.feature-gates that this release
 * does not have. Texts are valid during the call.
 */
void evaluation_each_release_warning(const struct evaluation *e,
                                     void (*warn)(void *context, const char *text), void *context);

/* Returns false with the reason if manifests come from standard input: it is read only once. */
bool evaluation_can_reload(const struct evaluation *e, struct error *err) MUST_USE;

/*
 * Returns the first problem of manifests that blocks the evaluation, else that of the asset file;
 * "" without one. Borrowed.
 */
const char *evaluation_problem(const struct evaluation *e);

/*
 * Adds to the plan each file, and each kind of the API server that the rules need, that cannot be
 * read, with the reason.
 */
void evaluation_note_unread_sources(const struct evaluation *e, struct plan *plan);

/*
 * Evaluates changed objects in at most about `budget` steps. Returns true if no object is left.
 * `now_ms`, milliseconds since the epoch, is the reference for ages.
 */
bool evaluation_run(struct evaluation *e, int64_t now_ms, size_t budget);

/*
 * Calls evaluation_run() until no object is left, for about `slice_ms` at most, and returns its
 * last result. Adds the duration to OWN_EVALUATION_DURATION if an object was evaluated.
 */
bool evaluation_run_slice(struct evaluation *e, unsigned slice_ms);

/* Call kube_session_hold_files() and kube_session_files_due(); INT64_MAX without a session. */
void evaluation_hold_files(struct evaluation *e, bool held);
int64_t evaluation_files_due(const struct evaluation *e);

/* Calls kube_session_turn(), and reads manifests and the asset file for about `slice_ms` each. */
void evaluation_pump(struct evaluation *e, unsigned slice_ms);

/*
 * Judges problems (metrics/rules/problems/problems.h) from now on; call it once all objects have
 * been read and evaluated, then evaluation_run(). `once`: for a command that evaluates once.
 * `last`, which may be NULL, is the evaluation before a reload: its problems are taken over.
 */
void evaluation_judge_problems(struct evaluation *e, bool once, const struct evaluation *last);

enum { EVALUATION_HAS_WORK = 0 };

/*
 * Returns the steady time in milliseconds of the next evaluation_pump() and evaluation_run() if no
 * descriptor is ready before. EVALUATION_HAS_WORK: at once; INT64_MAX: no call needed.
 */
int64_t evaluation_due(const struct evaluation *e);

/* Returns the milliseconds until evaluation_due(): at least 0, INT64_MAX for no limit. */
int64_t evaluation_idle_ms(const struct evaluation *e);

/*
 * Waits at most `wait_ms` for the API servers of `e` and of a second evaluation `beside`, and for
 * the `count` descriptors of `others`, as poll(2) does; sets their revents. Both evaluations may be
 * NULL. The caller adds changes_fd and file_reader_fd() to `others` if needed. `count` is at most
 * KUBE_SESSION_EXTRA_FDS_MAX.
 */
void evaluation_wait(struct evaluation *e, struct evaluation *beside, struct pollfd *others,
                     size_t count, int64_t wait_ms);

/*
 * Returns the rows of all templates. The first call creates the rows, and evaluation_run() keeps
 * them up to date. All objects must have been evaluated. Owned by the evaluation.
 */
struct rows *evaluation_rows(struct evaluation *e);
/* Frees the rows, if any. All views must have been dropped. */
void evaluation_drop_rows(struct evaluation *e);

/*
 * Returns the source of the places of objects in manifests; it borrows the evaluation. The place of
 * a field is that of its object, unless evaluation_locate_fields() was called.
 */
struct location_source evaluation_locations(const struct evaluation *e);

/*
 * From now on evaluation_locations() has the places of fields. It reads a file again when it is
 * first asked for a field in it, and blocks: for commands, not for `serve`. The sources must not
 * change any more.
 */
void evaluation_locate_fields(struct evaluation *e);
/*
 * Calls evaluation_locate_fields(), and reads each file with the field of a problem once. All
 * objects must have been evaluated.
 */
void evaluation_locate_problems(struct evaluation *e);
/* Notes the names of objects, so that each file is read once for all of them. */
void evaluation_locate_names(const struct evaluation *e, const struct entry_list *objects);

/*
 * Appends the report (metrics/expose/report.h), including the problems of manifests; of
 * skipped documents the first 1,000. `problems` selects elements of its list of problems; NULL:
 * all. All objects must have been evaluated.
 */
void evaluation_write_report(const struct evaluation *e, const struct problem_filter *problems,
                             struct strbuf *out);

/*
 * Like evaluation_write_report(), as a member or element. `settings` has the filter and the members
 * about suppression; the function sets its other members.
 */
void evaluation_put_report(const struct evaluation *e, struct json_writer *w, const char *key,
                           const struct report_files *settings);
