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
 * writers that sort keys put it. json_file_rewind and feeding the whole file once
 * more then hands out these items, and only these.
 */
bool json_file_wants_again(const struct json_file *f);
void json_file_rewind(struct json_file *f);
