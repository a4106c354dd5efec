/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/json.h"

/*
 * Splits a JSON file, fed in pieces, into its objects: one document or several in a row, and each
 * item of a list on its own. At most one item of a list is in memory.
 */
struct json_file;

/* Start of an object. The offset is in bytes, and orders the objects of a file. */
struct json_place {
    size_t line;
    size_t offset;
};

/* Receives an object, or a JSON value in its place. May change it; valid during the call. */
typedef void json_object_fn(void *context, cJSON *object, struct json_place place);

/* `object_max` limits, in bytes, each object and each list without its items. */
struct json_file *json_file_new(size_t object_max, json_object_fn *each, void *context) MUST_USE;
/* Accepts NULL. */
void json_file_free(struct json_file *f);

/*
 * Reads the next bytes, which may end anywhere. Returns false with the reason and its position on
 * failure; do not feed more bytes then.
 */
bool json_file_feed(struct json_file *f, const char *bytes, size_t len, struct json_position *where,
                    struct error *err) MUST_USE;

/* Ends the file. Returns false with the reason and its position inside an open document. */
bool json_file_end(struct json_file *f, struct json_position *where, struct error *err) MUST_USE;

/*
 * Returns true, after the end, if the kind of a list followed items that inherit it, as in files
 * with sorted keys. For these items begin a second pass and feed the whole file again: the second
 * pass passes on only the items that the first pass skipped.
 */
bool json_file_needs_second_pass(const struct json_file *f);
void json_file_begin_second_pass(struct json_file *f);

/* ---- lists ---- */

/*
 * An object with an array `items` is a list, independent of its kind, like in kubectl. Items
 * without apiVersion and kind inherit them from a list with a typed kind such as "DeploymentList".
 */

/* Returns true for an object that has neither apiVersion nor kind. */
bool list_item_lacks_type(const cJSON *item);

/* Sets apiVersion and kind of an item that lacks both, if the kind of the list is typed. */
void list_item_set_type(cJSON *item, const char *list_api_version, const char *list_kind);

/*
 * Calls `each` for the document, or for each item if the document is a list; the same for lists in
 * lists. The line of an item is its yaml_line(); for items without one, the line of the list.
 */
typedef void list_object_fn(void *context, cJSON *object, size_t line);
void list_for_each_object(cJSON *document, size_t line, list_object_fn *each, void *context);
