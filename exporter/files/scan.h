/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sys/stat.h>

#include "exporter/files/watches.h"
#include "exporter/system/job.h"

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
    bool is_path;       /* It is the PATH itself. */
    struct watch watch; /* Its descriptor, reason and name_at. */
};

typedef void sighting_fn(void *context, const struct sighting *s);

/* Look at all that a PATH stands for now. `watches_fd` is inotify's; -1 if nothing is followed. */
void scan_path(const char *path, int watches_fd, sighting_fn *see, void *context);

/* Tell of one file in a folder, of which `about` tells. */
void scan_file(const char *path, const struct stat *about, int watches_fd, sighting_fn *see,
               void *context);

/* scan_path() as a job (workers.h): its input is the PATH, its descriptor inotify's. */
void scan_job(struct job_output *out, const char *input, size_t len, int fd);

/* What such a job has emitted. False if it is none of that. */
bool scan_receive(const char *bytes, size_t len, sighting_fn *see, void *context) MUST_USE;

/* "<folder>/<name>", the caller's. */
char *scan_join(const char *folder, const char *name) MUST_USE;

/* True for the names that are read inside a folder. */
bool scan_is_manifest(const char *name);
