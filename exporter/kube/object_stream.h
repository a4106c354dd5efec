/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/server_response.h"
#include "metrics/base/json.h"
#include "metrics/base/json_frame.h"

/*
 * The body of a list or of a watch, however the network cut it, turned into one
 * event per object. It holds no more than one object at a time.
 *
 * An object that cannot be read, or is larger than any that a server accepts, is rejected, and
 * its version still counts, so that it can neither stop a stream or a list nor be read for ever.
 * A body that is no list or no
 * stream of events at all ends the reading.
 */
enum watch_event_kind {
    EVENT_OBJECT,      /* It is in the list, was added, or changed. */
    EVENT_DELETED,     /* `object` is its last state. */
    EVENT_BOOKMARK,    /* Nothing but a version. */
    EVENT_INITIAL_END, /* A bookmark that ends the initial events: all objects have come. */
    EVENT_ERROR,       /* `status`. The stream is over. */
    EVENT_REJECTED,    /* `reason`; `object` is what could be made out of it, or NULL. */
};

struct watch_event {
    enum watch_event_kind kind;
    cJSON *object;       /* With the apiVersion and kind that were asked for. It may be changed. */
    const char *version; /* Of the object or the bookmark; "" if unknown. Not for lists. */
    const struct status *status;
    const char *reason;
    bool too_large; /* Rejected for its size. */
    bool unnamed;   /* Rejected, it exists, and nobody can tell which object it is. */
};

/* False ends the reading. What the event points at ends with the call. */
typedef bool watch_event_fn(void *context, const struct watch_event *event);

struct object_stream {
    struct json_frame frame;
    enum json_frame_mode mode;
    const char *api_version; /* Borrowed; so is the kind. */
    const char *kind;
    watch_event_fn *emit;
    void *context;
    bool malformed;
};

/* Read bodies that hold objects of this type. */
void object_stream_init(struct object_stream *s, enum json_frame_mode mode, const char *api_version,
                        const char *kind, watch_event_fn *emit, void *context);
void object_stream_release(struct object_stream *s);

/* Read the next bytes. False, for good, if they are no such body or `emit` returned false. */
bool object_stream_feed(struct object_stream *s, const char *bytes, size_t len,
                        struct error *err) MUST_USE;

/*
 * The object that a body is, with the type that was asked for. NULL with the reason if it is
 * none, or another one; the caller deletes it.
 */
cJSON *object_parse(const char *api_version, const char *kind, const char *json, size_t len,
                    struct error *err) MUST_USE;

/* What a list says of itself; texts are the caller's to free by list_meta_release(). */
struct list_meta {
    char *version;
    char *token;       /* NULL for the last page. */
    int64_t remaining; /* -1 if unknown. */
};

/*
 * The body is over: what the list says of itself. False with the reason unless the list is
 * complete, whatever the transfer reports.
 */
bool object_stream_finish_list(struct object_stream *s, struct list_meta *out,
                               struct error *err) MUST_USE;
/* True if the body ended too early to be judged. */
bool object_stream_is_truncated(const struct object_stream *s);
void list_meta_release(struct list_meta *facts);
