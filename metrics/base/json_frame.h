/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/error.h"
#include "metrics/base/strbuf.h"

/*
 * Cuts a stream of JSON bytes into the objects worth parsing, wherever the
 * network or the disk happened to cut it, and holds no more than one of them.
 *
 * JSON_FRAME_EVENTS  a watch, or documents one after another: every top-level value
 *               is handed out.
 * JSON_FRAME_LIST    a list: every element of the top-level member "items" is
 *               handed out; what remains, {"kind":"List","items":[]}, is kept
 *               in `rest`. Other arrays at that level stay in `rest`.
 *
 * It balances brackets and knows strings, no more: what it hands out still has
 * to be parsed, and may turn out not to be JSON.
 */
enum json_frame_mode { JSON_FRAME_EVENTS, JSON_FRAME_LIST };

/* `offset` is where the object's first byte stood in the whole stream. False stops the feed. */
typedef bool json_frame_fn(void *context, const char *json, size_t len, size_t offset);

struct json_frame {
    enum json_frame_mode mode;
    json_frame_fn *on_object;
    void *context;
    unsigned depth;
    unsigned key_state; /* How far the top-level key being read still spells "items". */
    bool in_items;
    bool in_object;
    bool in_string;
    bool escaped;
    bool stopped;
    bool skips_large;    /* One above the ceiling is no failure (see `cut`); set after init. */
    bool cut;            /* What is handed out is the beginning of an object above the ceiling. */
    bool one_document;   /* JSON_FRAME_LIST: stop at the end of the list; set after init. */
    bool ended;          /* With one_document: that end was reached. */
    size_t offset;       /* Bytes read so far: with one_document perhaps fewer than were fed. */
    size_t object_start; /* Where the open object began. */
    struct strbuf object;
    struct strbuf rest;
};

/* `max` is the ceiling, in bytes, for one object and for the rest. Allocates nothing yet. */
void json_frame_init(struct json_frame *f, enum json_frame_mode mode, size_t max,
                     json_frame_fn *on_object, void *context);
void json_frame_release(struct json_frame *f);

/*
 * Read the next bytes. False, and from then on always, if an object (unless those are skipped) or
 * the rest is larger than the ceiling, or if on_object answered false: then `err` is untouched, for
 * on_object has the reason.
 */
bool json_frame_feed(struct json_frame *f, const char *bytes, size_t len,
                     struct error *err) MUST_USE;

/* True if the stream may end here: no object is open. */
bool json_frame_complete(const struct json_frame *f);
