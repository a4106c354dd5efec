/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/files/json_fields.h"
#include "exporter/yaml/yaml.h"
#include "metrics/base/json.h"

/*
 * Splits a JSON file, fed in pieces, into its objects: one document or several in a row, and each
 * item of a list on its own. At most one item of a list is in memory.
 */
struct json_file;

/*
 * Receives an object, or another JSON value in the place of an object. The value is valid during
 * the call, and the function may change it.
 */
typedef void json_object_fn(void *context, cJSON *object, struct json_place place);

/*
 * Returns a file without bytes. `object_max` limits, in bytes, each object and each list without
 * its items.
 */
struct json_file *json_file_new(size_t object_max, json_object_fn *each, void *context) MUST_USE;
/*
 * Sets the receiver of keys that their object has already. The last value of such a key counts, as
 * in kubectl.
 */
void json_file_receive_repeated_keys(struct json_file *f, repeated_key_fn *receive, void *context);
/* Accepts NULL. */
void json_file_free(struct json_file *f);

/*
 * Reads the next bytes, which may end anywhere, and passes on complete objects. Returns false with
 * the reason and its position if the text is invalid or an object is too large; do not feed more
 * bytes then.
 */
bool json_file_feed(struct json_file *f, const char *bytes, size_t len, struct json_position *where,
                    struct error *err) MUST_USE;

/* Ends the file. Returns false with the reason and the start of a document that is incomplete. */
bool json_file_end(struct json_file *f, struct json_position *where, struct error *err) MUST_USE;

/*
 * Returns true, after json_file_end() in the first pass, if the typed kind of a list followed items
 * without a kind, as in files with sorted keys. The first pass skips these items. To read them,
 * begin a second pass and feed the whole file again: only these items are passed on.
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

/*
 * Sets apiVersion and kind of an item that lacks both: if the kind of the list is typed, to those
 * of its items; in a List to "", because its items are meant as objects.
 */
void list_item_set_type(cJSON *item, const char *list_api_version, const char *list_kind);

typedef void list_object_fn(void *context, cJSON *object, struct json_position where);
/*
 * Calls `each` for the document, or for each item if the document is a list, after
 * list_item_set_type(). Expands also lists in lists. Skips empty lists, also without `items`. The
 * position of an item is its yaml_position(), or without one that of its list.
 */
void list_for_each_object(cJSON *document, struct json_position where, list_object_fn *each,
                          void *context);
