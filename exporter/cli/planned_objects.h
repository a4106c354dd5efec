/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/cli/command.h"
#include "exporter/files/field_locator.h"
#include "exporter/files/manifest_source.h"
#include "metrics/expose/problem_rows.h"

/* Objects of a planned change, read from manifests. */

struct planned_object {
    cJSON *json;        /* Owned; NULL if a later document declares the object again. */
    struct identity id; /* Texts of `json`. */
    bool identified;    /* False: the object has no identity. */
    struct object_source source;
};

struct planned_objects {
    struct manifests *source;      /* Owned. */
    struct field_locator *locator; /* Of `source`. Owned. */
    struct planned_object *items;  /* In the order of the documents. */
    /* By identity. Owned; NULL before planned_objects_sort(). */
    struct planned_object **sorted;
    size_t count;
};

/*
 * Initializes an empty list that receives the objects of the source: those of its files with
 * planned_objects_read(), and those of manifests_read_text(). The list must not be moved meanwhile.
 * The list takes over the source.
 */
void planned_objects_init(struct planned_objects *list, struct manifests *source);
void planned_objects_release(struct planned_objects *list);

/* Reads the files of the source. Reports errors and returns false if a document is not read. */
bool planned_objects_read(struct planned_objects *list, message_fn *report, void *context);

/* Sorts the objects, and drops those that a later document declares again. Reports a warning for
 * each. */
void planned_objects_drop_duplicates(struct planned_objects *list, message_fn *report,
                                     void *context);

/* Sorts the objects by their identities, which it reads anew. Call it after a change of them. */
void planned_objects_sort(struct planned_objects *list);

/*
 * Returns the object with this identity, after planned_objects_drop_duplicates(): of several
 * declarations the last one. NULL without one.
 */
const struct planned_object *planned_objects_find(const struct planned_objects *list,
                                                  const struct identity *id);

/* Stores the place of a field of that object. Returns false without such an object. */
bool planned_objects_find_field(const struct planned_objects *list, const struct identity *id,
                                const char *field, struct location *out);
