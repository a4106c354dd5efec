/* SPDX-License-Identifier: Apache-2.0 */
#pragma read_once

#include <sys/stat.h>

#include "exporter/files/manifest_problems.h"
#include "exporter/files/manifest_scan.h"

/*
 * Which files the PATHs stand for now, and which of them are to be read again.
 *
 * In a folder, at any depth: *.yaml, *.yml and *.json. Names that begin with a
 * dot are skipped: the files of a mounted ConfigMap live in "..data" and are
 * found through the links beside it. Links are followed; a folder that can be
 * reached twice is walked once, so loops end. A PATH that is a file may have any
 * name, and may be a pipe; "-" is standard input.
 *
 * A PATH that does not exist (any more) keeps its files and is reported.
 */
struct tree_path {
    char *path;
    uint32_t scan;
    bool missing;
    bool needs_walk;   /* To be walked again ... */
    bool force_reread; /* ... and its files read again even if they look unchanged. */
    bool hangs;        /* What walks it does not return: it is not to be touched. */
    bool walked;       /* It was there once. */
    struct problems problems;
};

struct manifest_tree {
    struct tree_path *paths;
    size_t path_count;
    struct manifest_file **files; /* In order, up to `sorted`. */
    size_t count;
    size_t capacity;
    size_t sorted;
    size_t changed;
    size_t gone;
    size_t cursor; /* Where to look for the next changed or gone file. */
    uint32_t last_source;
    bool apart; /* The file reader looks at the disk, not the caller. */
    struct watches watches;
};

void manifest_tree_init(struct manifest_tree *t, const char *const *paths, size_t count);
void manifest_tree_release(struct manifest_tree *t);

/* Watch for changes from now on. The descriptor to poll; -1 with the reason on failure. */
int manifest_tree_watch(struct manifest_tree *t, struct error *err) MUST_USE;

/* The next file to read, and unmark it. NULL if there is none. */
struct manifest_file *manifest_tree_take_changed(struct manifest_tree *t);
/* Remove a file that is gone from the tree; the caller frees it. NULL if there is none. */
struct manifest_file *manifest_tree_take_gone(struct manifest_tree *t);

/* Mark the file to be read. */
void tree_mark(struct manifest_tree *t, struct manifest_file *file);
/* Mark the file as gone. */
void tree_lose(struct manifest_tree *t, struct manifest_file *file);

/*
 * A walk has found a file. It is marked to be read if it is new or has changed,
 * and always with `force_reread`.
 */
struct found {
    uint32_t path_index;
    const char *path;
    const struct stat *about;
    bool is_path;
    bool force_reread;
};
/* Put the files in order. */
void tree_sort(struct manifest_tree *t);

/*
 * The same with a job of the file reader (scan_start): begin, receive each result of the job, and
 * end; or fail with the reason if the job hangs: then no file is removed.
 */
void walk_begin(struct manifest_tree *t, struct tree_path *path);
void walk_receive(struct manifest_tree *t, struct tree_path *path, bool force_reread,
                  const struct read_result *result);
void walk_end(struct manifest_tree *t, struct tree_path *path);
void walk_fail(struct manifest_tree *t, struct tree_path *path, const char *why);

/* Walk all PATHs and mark all files to be read. Fails if a PATH cannot be opened. */
bool manifest_tree_walk_all(struct manifest_tree *t, struct error *err) MUST_USE;

/*
 * Read inotify's events and look again at what they concern; with `apart` only mark what is to be
 * walked or read. False if there was no event.
 */
bool manifest_tree_pump_events(struct manifest_tree *t);
