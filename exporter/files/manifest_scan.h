/* SPDX-License-Identifier: Apache-2.0 */
#pragma read_once

#include <sys/stat.h>

#include "exporter/system/file_reader.h"
#include "metrics/base/error.h"
#include "metrics/base/map.h"

/*
 * inotify's watches, and why each of them is there. A watch of the kernel can
 * have several reasons and is removed with the last of them.
 */
enum watch_reason {
    WATCH_FOLDER, /* A folder that is walked. */
    WATCH_PARENT, /* The folder that holds a PATH: a rename may replace the PATH. */
    WATCH_ABOVE,  /* A folder above that one, likewise: "current" in "current/manifests". */
    WATCH_TARGET, /* What a symbolic link leads to, which may be in no folder that is walked. */
};

struct file_watch {
    int descriptor;
    enum watch_reason reason;
    uint32_t path_index;      /* Of the PATH that it is watched for. */
    uint32_t scan;            /* The last one that asked for it. */
    size_t name_at;           /* PARENT, ABOVE: where the name of interest begins in the PATH. */
    struct file_watch *other; /* The next reason for the same descriptor. */
    char *path;
};

struct watches {
    int fd; /* inotify's; -1 while nothing is watched. */
    struct map by_descriptor;
};

void watches_init(struct watches *w);
void watches_release(struct watches *w);

/* Watch from now on. Fails if the kernel gives no descriptor. */
bool watches_start(struct watches *w, struct error *err) MUST_USE;

/*
 * Note that the kernel watches `path`, which is copied, for the descriptor, the reason, the PATH,
 * the scan and the name in `wanted`.
 */
void watches_note(struct watches *w, const char *path, const struct file_watch *wanted);

/* Forget the reasons of a PATH that no scan since `scan` asked for. */
void watches_sweep(struct watches *w, uint32_t path_index, uint32_t scan);

/* All reasons for a descriptor; NULL if there are none. */
const struct file_watch *watches_of(const struct watches *w, int descriptor);

/* The kernel has removed this watch. */
void watches_forget(struct watches *w, int descriptor);

/* True if the folder at `path` is walked. */
bool watches_has_folder(const struct watches *w, const char *path);

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
