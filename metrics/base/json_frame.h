/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/error.h"
#include "metrics/base/strbuf.h"

/*
 * Framing of a JSON stream: splits bytes, fed in chunks of any size, into single objects, and
 * buffers at most one object. An object may be invalid JSON, because only brackets, strings and
 * separators are detected. A number, word or string in the place of an object counts as an object.
 */
enum json_frame_mode {
    JSON_FRAME_EVENTS, /* Watch or sequence of documents: each top-level value is an object. */
    /*
     * List: each element of the top-level member "items" is an object. The text of the list without
     * its elements is kept in `rest`, such as {"kind":"List","items":[]}.
     */
    JSON_FRAME_LIST,
};

/* Receives one object, which begins at `offset` of the stream. Returns false to stop. */
typedef bool json_frame_fn(void *context, const char *json, size_t len, size_t offset);

/*
 * Handles the object at the start of a text of `len` bytes and a NUL, before the search for its
 * end, which would read its bytes once more. Returns the length of the object; 0 if it is
 * incomplete or invalid, and on_object must receive it. Sets `stopped` to stop after the object.
 */
typedef size_t json_frame_start_fn(void *context, const char *json, size_t len, bool *stopped);

struct json_frame {
    enum json_frame_mode mode;
    json_frame_fn *on_object;
    json_frame_start_fn *on_start; /* NULL to frame all objects; set it after init. */
    void *context;
    unsigned depth;
    unsigned key_state; /* Progress of the match of a top-level key with "items". */
    bool in_items;
    bool in_object;
    bool in_string;
    bool escaped;
    bool stopped;
    bool cuts_large;     /* Objects above the maximum are cut, not an error; set it after init. */
    bool cut;            /* The object passed to on_object is only the beginning of a larger one. */
    bool one_document;   /* With JSON_FRAME_LIST: stop after the list; set it after init. */
    bool ended;          /* With one_document: the list is complete. */
    size_t offset;       /* Bytes read so far; with one_document up to the end of the list. */
    size_t object_start; /* Offset of the open or last object in the stream. */
    size_t last_len;     /* Length of the last object, the expected length of the next. */
    struct strbuf object;
    struct strbuf rest;
};

/* Initializes without allocation. `max` is the maximum of one object and of `rest`, in bytes. */
void json_frame_init(struct json_frame *f, enum json_frame_mode mode, size_t max,
                     json_frame_fn *on_object, void *context);
void json_frame_release(struct json_frame *f);

/*
 * Reads the next bytes. Returns false and sets `err` if an object (without cuts_large) or `rest`
 * exceeds the maximum. Returns false with `err` unchanged if on_object returned false. After a
 * failure, all later calls fail and set `err`.
 */
bool json_frame_feed(struct json_frame *f, const char *bytes, size_t len,
                     struct error *err) MUST_USE;

/* Returns true if no object, list or string is open, so that the stream may end here. */
bool json_frame_is_complete(const struct json_frame *f);
