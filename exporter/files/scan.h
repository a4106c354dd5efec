/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sys/stat.h>

#include "exporter/files/watches.h"
#include "exporter/system/file_reader.h"

/*
 * The side of a walk that looks at the disk, and may hang there: it tells what it sees, and knows
 * nothing of what was there before. walk.h has the other side.
 */
enum sighting_kind {
    SIGHTING_FILE,    /* A file to be read, `about` which is told. */
    SIGHTING_KEPT,    /* A folder that cannot be opened: what was found in it before stays. */
    SIGHTING_WATCH,   /* A path that is watched from now on. */
    SIGHTING_PROBLEM, /* Not a path: what is wrong, ... */
    SIGHTING_MISSING, /* ... so wrong that there is no PATH. */
};

struct sighting {
    enum sighting_kind kind;
    const char *text; /* A path or a problem. */
    struct stat about;
    bool is_path;            /* It is the PATH itself. */
    struct file_watch watch; /* Its descriptor, reason and name_at. */
};

typedef void sighting_fn(void *context, const struct sighting *s);

/* Called for each name in a folder. Returns false to end the scan. */
typedef bool scan_progress_fn(void *context);

/*
 * Scans all that a PATH stands for now. `watches_fd` is inotify's; -1 if nothing is followed.
 * `progress` may be NULL.
 */
void scan_path(const char *path, int watches_fd, sighting_fn *see, scan_progress_fn *progress,
               void *context);

/* Tell of one file in a folder, of which `about` tells. */
void scan_file(const char *path, const struct stat *about, int watches_fd, sighting_fn *see,
               void *context);

/*
 * Starts a job that runs scan_path(); scan_receive() passes its results to `see`. Returns NULL if
 * the job cannot watch what it scans, for lack of a descriptor.
 */
struct read_job *scan_start(struct file_reader *r, const char *path, int watches_fd) MUST_USE;
void scan_receive(const struct read_result *result, sighting_fn *see, void *context);

/* "<folder>/<name>", the caller's. */
char *scan_join(const char *folder, const char *name) MUST_USE;

/* True for the names that are read inside a folder. */
bool scan_is_manifest(const char *name);
