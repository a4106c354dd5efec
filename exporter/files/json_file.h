/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/json.h"

/*
 * A file of JSON, fed piece by piece and handed out object by object: one
 * document or several one after another, lists (list.h) item by item. Only one
 * item of a list is in memory at a time.
 */
struct json_file;

/* Where an object begins. The offset orders the objects of a file. */
struct json_place {
    size_t line;
    size_t offset;
};

/* `object` is any value where an object should be, which may be changed; gone after the call. */
typedef void json_object_fn(void *context, cJSON *object, struct json_place place);

/* `object_max` is the ceiling, in bytes, for one object and for a list without its items. */
struct json_file *json_file_new(size_t object_max, json_object_fn *each, void *context) MUST_USE;
/* Takes NULL. */
void json_file_free(struct json_file *f);

/* The next bytes, cut anywhere. False with the reason and the place: feed no more. */
bool json_file_feed(struct json_file *f, const char *bytes, size_t len, struct json_position *where,
                    struct error *err) MUST_USE;

/* There are no more bytes. Fails if they end inside a document. */
bool json_file_end(struct json_file *f, struct json_position *where, struct error *err) MUST_USE;

/*
 * After the end: true if the kind of a list came after items that need it, as
 * writers that sort keys put it. json_file_begin_second_pass and feeding the whole file once
 * more then hands out these items, and only these.
 */
bool json_file_needs_second_pass(const struct json_file *f);
void json_file_begin_second_pass(struct json_file *f);

/*
 * Lists of objects. As for kubectl, an object with an array `items` is a list,
 * whatever its kind. Items of a typed list ("DeploymentList") that have neither
 * apiVersion nor kind inherit the list's.
 */

/* True for an object with neither apiVersion nor kind. */
bool list_item_inherits(const cJSON *item);

/* Give it those of its list. Nothing happens for other items, or if the list has none to give. */
void list_item_complete(cJSON *item, const char *list_api_version, const char *list_kind);

/*
 * Call `each` for the document, or if it is a list for each of its items, lists
 * in lists included. An item's line is its own if it has one (yaml_line), else
 * `line`.
 */
typedef void list_each_fn(void *context, cJSON *object, size_t line);
void list_each(cJSON *document, size_t line, list_each_fn *each, void *context);
