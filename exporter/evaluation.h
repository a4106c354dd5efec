/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <poll.h>

#include "exporter/files/asset_source.h"
#include "exporter/files/manifest_source.h"
#include "exporter/kube/session.h"
#include "exporter/options/options.h"
#include "metrics/expose/list_rows.h"
#include "metrics/expose/registry.h"

/*
 * All that follows from one set of options: the sources, the objects they deliver,
 * what the rules decide about them, and the series. A reload prepares another one
 * beside it, which replaces it when it is complete.
 */
struct evaluation {
    struct options options; /* Owned. */
    struct store *store;
    struct engine *engine;
    struct registry *registry;
    struct rows *rows;           /* For lists; NULL while nobody asks for any. */
    struct manifests *manifests; /* Without a PATH where the objects come from an API server. */
    struct namespace_filter filter;
    struct kube_session *session;    /* NULL without an API server. */
    struct asset_source *assets;     /* NULL without a file of them. */
    struct file_reader *reader;      /* Borrowed. NULL: files are read in place. */
    struct engine_observer observer; /* Hears of decisions, too. Set it when nothing is left. */
    int64_t since_ms;                /* When it was made: since then its series count. */
    int changes_fd; /* Readable when manifests changed; -1 if they are not followed. */
    bool caught_up; /* No object is left to be evaluated. */
    bool begun;     /* The manifests are being read. */
};

struct evaluation_settings {
    struct options *options; /* Moved into the evaluation, also on a failure. */
    const char *const *environment;
    const struct log *log;      /* Borrowed, as is the environment. */
    struct file_reader *reader; /* Borrowed. NULL: files are read in place. */
    bool follow;                /* Follow the manifests as they change. */
    bool references; /* Read specs of workloads from an API server, for their references. */
    uint64_t seed;
};

/*
 * Open the sources; evaluation_load() reads them. NULL with the reason if an option is not
 * valid or there is no source.
 */
struct evaluation *evaluation_new(const struct evaluation_settings *settings,
                                  struct error *err) MUST_USE;
/* NULL is fine. */
void evaluation_free(struct evaluation *e);

enum loading {
    LOADING_BUSY,  /* Wait with evaluation_wait(), and call again. */
    LOADING_HANGS, /* Likewise, but what it waits for does not answer. */
    LOADING_DONE,
    LOADING_FAILED, /* A PATH or the asset file cannot be opened; the rest is read. */
};

/*
 * Read everything once: objects of an API server as they arrive, assets in slices, and manifests
 * in slices with a file reader, in one call without.
 */
enum loading evaluation_load(struct evaluation *e, struct error *err) MUST_USE;

/* Whether another one could read the same sources; else the error says why not. */
bool evaluation_can_reload(const struct evaluation *e, struct error *err) MUST_USE;

/* What of the files could not be read, the first of it; "" if all could. Borrowed. */
const char *evaluation_problem(const struct evaluation *e);

/* Evaluate up to `budget` objects. True when none is left. */
bool evaluation_run(struct evaluation *e, int64_t now_ms, size_t budget);

/* The same for about `slice_ms`, and note in the series how long it took. */
bool evaluation_run_slice(struct evaluation *e, unsigned slice_ms);

/*
 * Whether the files that are read where they are wanted (neither manifests nor assets) are not to
 * be touched for now, and when they are due to be.
 */
void evaluation_hold_files(struct evaluation *e, bool held);
int64_t evaluation_files_due(const struct evaluation *e);

/* Receive what changed in the sources, for about `slice_ms`. */
void evaluation_pump(struct evaluation *e, unsigned slice_ms);

/*
 * Returns when a turn is due even if nothing arrives: steady milliseconds, INT64_MAX for never, or
 * EVALUATION_HAS_WORK if there is work left to do at once.
 */
enum { EVALUATION_HAS_WORK = 0 };
int64_t evaluation_due(const struct evaluation *e);

/* The same as a wait: milliseconds from now on, not below 0. */
int64_t evaluation_idle_ms(const struct evaluation *e);

/*
 * Waits until something arrives, but at most `wait_ms`: from the sources of `e`, from those of a
 * second evaluation `beside`, or on `others`, whose revents are set as by poll(2). Both evaluations
 * may be NULL.
 */
void evaluation_wait(struct evaluation *e, struct evaluation *beside, struct pollfd *others,
                     size_t count, int64_t wait_ms);

/*
 * The rows of all templates, kept up to date from the first call on. It has nothing left to
 * evaluate.
 */
struct rows *evaluation_rows(struct evaluation *e);
/* No longer; no view may be left. */
void evaluation_drop_rows(struct evaluation *e);

/*
 * Append the report (metrics/expose/report.h), with what could not be read of the manifests. It has
 * nothing left to evaluate.
 */
void evaluation_write_report(const struct evaluation *e, struct strbuf *out);
