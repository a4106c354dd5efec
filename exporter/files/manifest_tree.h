/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sys/stat.h>

#include "exporter/files/manifest_problems.h"
#include "exporter/files/manifest_scan.h"

/*
 * State of a PATH, which is an argument with manifests: a file of any name, a pipe, "-" for
 * standard input, or a folder. A PATH that does not exist or cannot be read keeps the files that it
 * had before, and is reported.
 *
 * In a folder, at any depth, the files *.yaml, *.yml and *.json are read. Names that begin with a
 * dot are skipped: the files of a mounted ConfigMap live in "..data" and are found through the
 * symbolic links beside it. Links are followed. A folder that is reached twice is walked once, so
 * that loops end. Ignore files and the filter of the tree exclude files and folders.
 */
struct manifest_path {
    char *path;           /* Without '/' at the end, except "/" itself. */
    uint32_t scan_number; /* Number of the latest walk. */
    bool missing;         /* At the latest walk the PATH did not exist or could not be read. */
    bool needs_walk;
    bool force_reread; /* The next walk marks unchanged files, too. */
    bool hangs;     /* Its walk hangs or was rejected: neither walk the PATH nor read its files. */
    bool has_rules; /* The latest walk read an ignore file. */
    size_t excluded_files;   /* At the latest walk. */
    size_t excluded_folders; /* At the latest walk; their files are not counted. */
    bool was_found; /* Any walk by a job of the file reader has found the PATH; never reset. */
    struct document_problems problems;
};

/* Files of all PATHs, and which of them to read again. */
struct manifest_tree {
    struct path_filter filter; /* Owned. Set it before the first walk. */
    bool *used_patterns;       /* Patterns that a walk has found to match; NULL without filter. */
    struct manifest_path *paths;
    size_t path_count;
    struct manifest_file **files; /* Owned; the first `sorted` files are in order. */
    size_t count;
    size_t capacity;
    size_t sorted;
    size_t changed;             /* Number of files with the mark `changed`. */
    size_t changed_definitions; /* Number of them with is_definition. */
    size_t gone;                /* Number of files with the mark `gone`. */
    size_t cursor;              /* Index at which the search for the next changed file starts. */
    uint32_t last_source;       /* Store origin number of the latest new file. */
    bool uses_reader;           /* Jobs of the file reader walk the PATHs. */
    struct file_watches watches;
};

/* Sets the patterns of files to read, before the first walk. The tree takes them over. */
void manifest_tree_set_filter(struct manifest_tree *t, struct path_filter filter);

/* Initializes a tree with copies of the paths, and without files. */
void manifest_tree_init(struct manifest_tree *t, const char *const *paths, size_t count);
/* Frees the tree and its files. Free the declarations of the files before. */
void manifest_tree_release(struct manifest_tree *t);

/*
 * Watches everything that later walks find. Returns the inotify descriptor, which the tree owns; -1
 * with the reason on failure.
 */
int manifest_tree_watch(struct manifest_tree *t, struct error *err) MUST_USE;

/*
 * Walks all PATHs in the caller's thread, and marks all their files as changed, except those that
 * can be read only once and were read. Returns false with the reason at the first PATH that does
 * not exist or cannot be read; the PATHs after it are not walked.
 */
bool manifest_tree_walk_all(struct manifest_tree *t, struct error *err) MUST_USE;

/*
 * Reads inotify events. Without a file reader, then walks the changed PATHs and marks changed and
 * removed files. With a file reader, only marks known files that have changed, and PATHs to be
 * walked. Returns false if there was no event.
 */
bool manifest_tree_pump_events(struct manifest_tree *t);

/*
 * Returns the next changed file and clears its mark; NULL if no file has changed. Definitions of
 * packages come first.
 */
struct manifest_file *manifest_tree_take_changed(struct manifest_tree *t);
/* Removes a file with the mark `gone` from the tree, for the caller to free; NULL without one. */
struct manifest_file *manifest_tree_take_gone(struct manifest_tree *t);

void manifest_tree_mark_changed(struct manifest_tree *t, struct manifest_file *file);
void manifest_tree_mark_gone(struct manifest_tree *t, struct manifest_file *file);

/*
 * Returns the file of the PATH with this path; NULL without one. Ignores files that a walk has
 * added and that are not sorted yet.
 */
struct manifest_file *manifest_tree_find_file(const struct manifest_tree *t, uint32_t path_index,
                                              const char *path);

/* Sorts the files: PATH by PATH, then by path in byte order. */
void manifest_tree_sort(struct manifest_tree *t);

/*
 * Applies a walk by a job (scan_start_job) to the tree: begin, receive each result of the job, end.
 * If the job hangs or is lost, fail the walk with the reason: no file is then marked as gone.
 * `force_reread` marks unchanged files as changed, too.
 */
void manifest_tree_begin_walk(struct manifest_tree *t, struct manifest_path *path);
void manifest_tree_receive_result(struct manifest_tree *t, struct manifest_path *path,
                                  bool force_reread, const struct read_result *result);
void manifest_tree_end_walk(struct manifest_tree *t, struct manifest_path *path);
void manifest_tree_fail_walk(struct manifest_tree *t, struct manifest_path *path, const char *why);
