/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/files/json_file.h"
#include "exporter/files/manifest_file.h"
#include "metrics/model/store.h"

/*
 * Which document of which file declares which object. Of several that declare
 * the same one, the last in order is put into the store; when it goes, the file
 * of the one before it is read again.
 *
 * Objects that a file no longer declares are removed here rather than by
 * store_sweep, which would walk the whole store for each changed file and could
 * not see that another file declares the object too.
 */
struct declarations {
    struct store *store;
    /* Called when a file has to be read again though it has not changed. */
    void (*want)(void *context, struct manifest_file *file);
    void *context;
    /* All declarations, hashed by their entry. */
    struct declaration **chains;
    size_t chain_count; /* Zero or a power of two. */
    size_t count;
};

/* Free the chains, after the declarations of every file have been dropped or forgotten. */
void declarations_release(struct declarations *m);

/* A reading of the file begins: its next pass. */
void declarations_begin(struct manifest_file *file);

/*
 * The file declares an object. False with the reason if it is not a valid one;
 * then the version that the file gave before stays.
 */
bool declarations_put(struct declarations *m, struct manifest_file *file, const cJSON *object,
                      struct json_place place, struct error *err) MUST_USE;

/* The pass is complete: drop the objects that the file did not declare in it. */
void declarations_end(struct declarations *m, struct manifest_file *file);

/* The pass failed: all objects stay, but for those that the file was read again for. */
void declarations_fail(struct declarations *m, struct manifest_file *file);

/* The file is gone: drop its objects. */
void declarations_drop(struct declarations *m, struct manifest_file *file);

/* Free the file's declarations, but leave its objects in the store: for the end of the program. */
void declarations_forget(struct declarations *m, struct manifest_file *file);

/* Fill the file's `duplicates` from its declarations that are shadowed. */
void declarations_report(const struct declarations *m, struct manifest_file *file);
