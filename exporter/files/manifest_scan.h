/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sys/stat.h>

#include "exporter/files/path_filter.h"
#include "exporter/system/file_reader.h"
#include "metrics/base/error.h"
#include "metrics/base/map.h"

/* ---- inotify watches ---- */

/* Reason for a watch. PATH is an argument with manifests (struct manifest_path). */
enum watch_reason {
    INOTIFY_FOLDER, /* Folder with files that are read. */
    INOTIFY_PARENT, /* Folder that contains the PATH: a rename may replace the PATH. */
    INOTIFY_ABOVE,  /* Folder above the parent: a rename may replace a folder on the way to PATH. */
    INOTIFY_TARGET, /* PATH that is a file, or target of a symbolic link to a file. */
};

/* One reason of one PATH for a watch. The kernel has one descriptor for each inode. */
struct file_watch {
    int descriptor;
    enum watch_reason reason;
    uint32_t path_index;  /* Index of the PATH. */
    uint32_t scan_number; /* Number of the latest walk that needed the watch. */
    size_t name_at; /* INOTIFY_PARENT, INOTIFY_ABOVE: offset in the PATH of a name in the folder. */
    struct file_watch *next_reason; /* Next reason for the same descriptor; NULL at the end. */
    char *path;                     /* Owned. */
};

struct file_watches {
    int fd; /* inotify descriptor; -1 if nothing is watched. */
    struct map by_descriptor;
};

void file_watches_init(struct file_watches *w);
void file_watches_release(struct file_watches *w);

/* Opens inotify, unless it is open. Returns false with the reason on failure. */
bool file_watches_open(struct file_watches *w, struct error *err) MUST_USE;

/*
 * Adds a reason for a watch that the kernel already has; if the reason is known, updates its scan
 * number. Copies `path` and the members of `wanted` except `path` and `next_reason`.
 */
void file_watches_add(struct file_watches *w, const char *path, const struct file_watch *wanted);

/* Removes reasons of the PATH that have another scan number, and watches without a reason left. */
void file_watches_remove_stale(struct file_watches *w, uint32_t path_index, uint32_t scan_number);

/* Returns the list of all reasons for a descriptor, borrowed; NULL if the descriptor is unknown. */
const struct file_watch *file_watches_find(const struct file_watches *w, int descriptor);

/* Removes all reasons for a descriptor after the kernel has removed its watch. */
void file_watches_remove(struct file_watches *w, int descriptor);

/* Returns true if `path` has a watch with the reason INOTIFY_FOLDER. */
bool file_watches_has_folder(const struct file_watches *w, const char *path);

/* ---- scan of a PATH ---- */

/* Result of a scan. `text` is a path, or with a problem or a missing PATH an error message. */
enum scan_result_kind {
    SCAN_FILE,              /* File to read, with `about` and `is_path`. */
    SCAN_UNREADABLE_FOLDER, /* Existing folder that cannot be opened: its known files stay. */
    SCAN_EXCLUDED,          /* File or folder that a pattern excludes, with `is_folder`. */
    SCAN_IGNORE_FILE,       /* Ignore file that was read. */
    SCAN_PATTERN_USED,      /* First match of the pattern `pattern`, in the order of
                               path_filter_excludes(). */
    SCAN_WATCH,             /* Path that the kernel watches from now on, with `watch`. */
    SCAN_PROBLEM,           /* A part of the PATH cannot be read or watched. */
    SCAN_PATH_MISSING,      /* The PATH itself does not exist or cannot be read. */
};

struct scan_result {
    enum scan_result_kind kind;
    const char *text;
    struct stat about;
    bool is_path; /* The file is the PATH itself. */
    bool is_folder;
    size_t pattern;
    bool is_chart_template;  /* The file in a folder is below templates/ beside a Chart.yaml. */
    struct file_watch watch; /* Only descriptor, reason and name_at are set. */
};

typedef void scan_result_fn(void *context, const struct scan_result *s);

/* Reports progress before each name in a folder. Returns false to end the scan. */
typedef bool scan_progress_fn(void *context);

/*
 * Passes the files, watches and problems of a PATH to `receive`, without regard to earlier scans.
 * Blocks on a mount that does not answer. `inotify_fd` is -1 if files are not watched. `progress`
 * may be NULL. Files and folders that `filter` or an ignore file excludes are not read or walked;
 * a PATH that is a file is always read.
 */
void scan_path(const char *path, const struct path_filter *filter, int inotify_fd,
               scan_result_fn *receive, scan_progress_fn *progress, void *context);

/*
 * Passes one file in a folder to `receive`, and the watch of its target if the file is a symbolic
 * link. `about` describes the target.
 */
void scan_file(const char *path, const struct stat *about, int inotify_fd, scan_result_fn *receive,
               void *context);

/*
 * Returns a started job that runs scan_path(), owned by the caller; NULL if `inotify_fd` cannot be
 * duplicated for the job. Copies path and filter. scan_decode_result() passes a result of the job
 * to `receive`.
 */
struct read_job *scan_start_job(struct file_reader *r, const char *path,
                                const struct path_filter *filter, int inotify_fd) MUST_USE;
void scan_decode_result(const struct read_result *result, scan_result_fn *receive, void *context);

/* Returns "<folder>/<name>", owned by the caller. A '/' at the end of `folder` is not repeated. */
char *scan_join_path(const char *folder, const char *name) MUST_USE;

/* Returns true if a file of this name inside a folder is a manifest. */
bool scan_is_manifest_name(const char *name);
