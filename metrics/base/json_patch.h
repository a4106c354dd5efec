/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/json.h"

/*
 * JSON Patch (RFC 6902) with the operations add, replace and remove, and JSON pointers (RFC 6901).
 * Deviations from the RFC follow the library that Karmada uses (evanphx/json-patch v5): negative
 * indices count from the end of an array, and replace creates a missing member with the key "".
 */

/* One operation. Texts and `value` are borrowed. */
struct json_patch_operation {
    const char *op;
    const char *path;
    const cJSON *value; /* NULL is null; ignored by remove. */
};

/*
 * Applies the operations in order to the tree `*doc`. Returns false with the reason if an operation
 * fails; the tree is then valid, but may contain earlier changes. All `op` are checked before the
 * first change. May replace the root of the tree.
 */
bool json_patch_apply(cJSON **doc, const struct json_patch_operation *operations, size_t count,
                      struct error *err) MUST_USE;

/* Appends '/' and the key, escaped, to a JSON pointer. */
void json_pointer_add_key(struct strbuf *pointer, const char *key);

/* Appends '/' and an index to a JSON pointer. */
void json_pointer_add_index(struct strbuf *pointer, size_t index);

/*
 * Decodes the next part of a JSON pointer at `*at`, which must be at a '/' or at the end, and
 * advances `*at`. Returns the part, owned by the caller; NULL at the end.
 */
char *json_pointer_next(const char **at) MUST_USE;

/*
 * Parses an array index as Go's strconv.Atoi does, with an optional sign. Returns false for other
 * texts and for numbers of more than ten digits.
 */
bool json_parse_index(const char *text, int64_t *out) MUST_USE;

/*
 * Replaces the value at a valid position: the member `key` of an object, or the element of an
 * array. Takes ownership of `value`.
 */
void json_replace(cJSON *parent, cJSON *old, cJSON *value);

/* Inserts an element before the index, or at the end. Takes ownership of `value`. */
void json_insert(cJSON *array, size_t index, cJSON *value);
