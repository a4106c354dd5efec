/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/json.h"
#include "metrics/base/json_writer.h"

/* Differences of a template and its copy, after override policies have changed the copy. */

/* A value that differs. Lists are compared index by index. All owned. */
struct override_change {
    char *path;  /* JSON pointer. */
    cJSON *from; /* NULL: the value is new. */
    cJSON *to;   /* NULL: the value is removed. */
};

struct override_changes {
    struct override_change *items; /* Sorted by path. */
    size_t count;
};

/* Stores the differences of two values. Release them with override_changes_release(). */
void override_changes_find(const cJSON *from, const cJSON *to, struct override_changes *out);
void override_changes_release(struct override_changes *changes);

/* Returns true if both have the same paths and the same values after the change. */
bool override_changes_equal(const struct override_changes *a, const struct override_changes *b);

/*
 * Appends a change, such as "/spec/replicas: 2 -> 3". Long values are cut. `hidden` leaves out
 * values, such as those of Secrets.
 */
void override_change_add_text(struct strbuf *out, const struct override_change *change,
                              bool hidden);

/* Writes the array "changes" of objects with "path", "from" and "to", or "path" and "hidden". */
void override_changes_write(struct json_writer *w, const struct override_changes *changes,
                            bool hidden);
