/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/manifests/json_file.h"
#include "exporter/manifests/manifest_file.h"
#include "metrics/model/store.h"

/*
 * Which document of which file names which object: of those that name the same
 * one, the last in order is put into the store, and when it goes, the file of
 * the one before it is asked for again.
 *
 * What a file named in an earlier pass and not in this one is removed by this
 * book-keeping rather than by store_sweep, which would walk the whole store for
 * each changed file, and could not tell that somebody else names the object too.
 */
struct declarations {
    struct store *store;
    /* Called when a file has to be read again, though it did not change. */
    void (*want)(void *context, struct manifest_file *file);
    void *context;
    /* All of them, by the entry that they name. */
    struct declaration **chains;
    size_t chain_count; /* Zero or a power of two. */
    size_t count;
};

/* Free the table; every file's declarations have been dropped or forgotten. */
void declarations_release(struct declarations *m);

/* A pass over the file begins. */
void declarations_begin(struct manifest_file *file);

/*
 * The file names an object. False with the reason if it is none that counts;
 * then what the file gave before under that name stays.
 */
bool declarations_put(struct declarations *m, struct manifest_file *file, const cJSON *object,
                      struct json_place place, struct error *err) MUST_USE;

/* The pass is complete: what it did not name is gone from this file. */
void declarations_end(struct declarations *m, struct manifest_file *file);

/* The pass failed: all stays, but what was to be fetched from the file cannot be had. */
void declarations_fail(struct declarations *m, struct manifest_file *file);

/* The file itself is gone. */
void declarations_drop(struct declarations *m, struct manifest_file *file);

/* Free what is known of the file and leave the store as it is: for the end of all. */
void declarations_forget(struct declarations *m, struct manifest_file *file);

/* Note the file's declarations that do not count as its `duplicates`. */
void declarations_report(const struct declarations *m, struct manifest_file *file);
