/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/files/json_file.h"
#include "exporter/files/manifest_problems.h"
#include "exporter/options/namespace_filter.h"
#include "metrics/base/json.h"
#include "metrics/model/store.h"

/*
 * The documents that declare each object. If several documents declare the same object, the last
 * document in order is in the store. After the removal of that document, the file of the document
 * before it is read again.
 *
 * Objects that a file no longer declares are removed here, and not with store_sweep(), which would
 * check every object for each changed file, and would remove objects that another file declares.
 */
struct declarations {
    struct store *store;
    /* Called for a file that has to be read again although it is unchanged. */
    void (*request_reread)(void *context, struct manifest_file *file);
    void *context;
    struct declaration **chains; /* Hash table of all declarations by store entry. */
    size_t chain_count;          /* Zero or a power of two. */
    size_t count;
};

/* Frees the hash table. Before, drop or free the declarations of every file. */
void declarations_release(struct declarations *m);

/* Returns the column that a declaration keeps: 0 for a column of 2^24 or above. */
size_t declared_column(size_t column);

/* Begins the next pass over the documents of the file. */
void declarations_begin_pass(struct manifest_file *file);

/*
 * Notes that the file declares `object` at `place`, and puts the object into the store unless a
 * later document declares it, too. Returns false with the reason if the object is invalid; if the
 * store has the version of an earlier pass of the file, that version stays, as declared here.
 */
bool declarations_put(struct declarations *m, struct manifest_file *file, const cJSON *object,
                      struct json_place place, struct error *err) MUST_USE;

/* Ends a complete pass: drops the declarations of the file that are not from this pass. */
void declarations_end_pass(struct declarations *m, struct manifest_file *file);

/*
 * Ends a pass that failed: declarations of this and earlier passes stay. If file->reread_requested
 * is set, the store loses the objects that the pass should have put there again.
 */
void declarations_fail_pass(struct declarations *m, struct manifest_file *file);

/* Drops all declarations of a file that is gone. */
void declarations_drop_file(struct declarations *m, struct manifest_file *file);

/* Frees the declarations of a file when the source is freed. The objects stay in the store. */
void declarations_free_file(struct declarations *m, struct manifest_file *file);

/*
 * Returns true and stores path and position of the document that counts for an entry. Returns false
 * if no file declares it. The path is valid until the file is dropped. The column is that of
 * declared_column().
 */
bool declarations_find_place(const struct declarations *m, const struct entry *entry,
                             const char **path, struct json_position *where);

/* An object in a file. */
struct object_source {
    const struct manifest_file *file; /* Borrowed from the source of manifests. */
    struct json_place place;
};

/* Like declarations_find_place(), for a struct field_locator. */
bool declarations_find_source(const struct declarations *m, const struct entry *entry,
                              struct object_source *out);

/*
 * Like declarations_find_place(), for the declaration that is `index` + 1 declarations before the
 * one that counts. Returns false if there are fewer.
 */
bool declarations_find_earlier_place(const struct declarations *m, const struct entry *entry,
                                     size_t index, const char **path, struct json_position *where);

/* Fills file->duplicates: a problem for each document whose object a later one declares again. */
void declarations_report_shadowed(const struct declarations *m, struct manifest_file *file);

/* ---- namespace filter ---- */

/*
 * Returns true if an exporter with this filter reads the object. The filter applies to the
 * namespace of the object, "" for cluster-scoped objects. For Works, the filter applies to the
 * namespace of the binding; a Work without a binding is not read. Kinds with `unfiltered`
 * (metrics/model/kind.h) and kinds that no API server serves are always read. Objects with settings
 * are also read outside the filter; then their apiVersion is set to that of the settings, as the
 * watch of an API server does.
 */
bool namespace_filter_reads_object(const struct namespace_filter *filter, cJSON *object);
