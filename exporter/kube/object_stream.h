/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/server_response.h"
#include "metrics/base/json.h"
#include "metrics/base/json_filter.h"
#include "metrics/base/json_frame.h"
#include "metrics/base/protobuf_frame.h"

/*
 * Parser of lists and watch streams in JSON or protobuf: takes pieces of a body and emits one event
 * for each object. Holds one object at a time in memory. Protobuf has metadata of objects only.
 *
 * Objects that are invalid, larger than 8 MiB (API servers accept 3 MiB) or with more than 200,000
 * values in the members that `fields` keeps are emitted as EVENT_REJECTED, with their version if it
 * can be read; their deletions as EVENT_DELETED if the name can be read. Objects of another kind
 * are always EVENT_REJECTED. The parser then continues. With another body than a list or a stream
 * of watch events, object_stream_feed() or object_stream_finish_list() fails.
 */
enum watch_event_kind {
    EVENT_OBJECT,      /* Object of a list, or an added or changed object. */
    EVENT_DELETED,     /* `object` is the last state, or only its name. */
    EVENT_BOOKMARK,    /* Only `version` is set. */
    EVENT_INITIAL_END, /* Bookmark that ends the initial events of WatchList. */
    EVENT_ERROR,       /* `status` is set. The server ends the stream. */
    EVENT_REJECTED,    /* `reason` is set; `object` is NULL or the part that could be parsed. */
};

struct watch_event {
    enum watch_event_kind kind;
    cJSON *object; /* Has the requested apiVersion and kind. Change it with json_set_text(). */
    const char *version; /* resourceVersion of the object or bookmark; "" if unknown. */
    const struct status *status;
    const char *reason;
    bool too_large; /* EVENT_REJECTED because of the object's size or number of values. */
    bool unnamed;   /* EVENT_REJECTED: unparsable text without a known name, not a deletion. */
};

/* Receives an event; its pointers are valid during the call. Returns false to end the parsing. */
typedef bool watch_event_fn(void *context, const struct watch_event *event);

struct object_stream {
    enum json_frame_mode mode;
    bool is_protobuf; /* `protobuf` is in use, else `json`. */
    struct json_frame json;
    struct protobuf_frame protobuf;
    const char *api_version; /* Borrowed. */
    const char *kind;        /* Borrowed. */
    watch_event_fn *emit;
    void *context;
    const struct json_filter *fields; /* Of objects; NULL keeps all members. Set it after init. */
    struct json_memory memory;        /* Of the current object. */
    bool malformed;                   /* The watch stream has a JSON value that is not an object. */
};

/* `mode`: JSON_FRAME_LIST or JSON_FRAME_EVENTS. `api_version` and `kind` are borrowed. */
void object_stream_init(struct object_stream *s, enum json_frame_mode mode, const char *api_version,
                        const char *kind, watch_event_fn *emit, void *context);
void object_stream_release(struct object_stream *s);

/* Expects a body in protobuf instead of JSON. Call it before the first byte. */
void object_stream_expect_protobuf(struct object_stream *s);

/*
 * Parses the next bytes. Returns false with the reason in `err` if the body is malformed or `emit`
 * returned false; later calls fail, too.
 */
bool object_stream_feed(struct object_stream *s, const char *bytes, size_t len,
                        struct error *err) MUST_USE;

/*
 * Parses the members of one object that `fields` keeps (NULL: all), and sets the requested
 * apiVersion and kind. Returns NULL with the reason in `err` if the text is no object, has another
 * kind or too many values. The caller deletes the result.
 */
cJSON *object_parse(const char *api_version, const char *kind, const struct json_filter *fields,
                    const char *json, size_t len, struct error *err) MUST_USE;

/* Metadata of a list (ListMeta). Owns its texts. */
struct list_meta {
    char *version;     /* resourceVersion */
    char *token;       /* continue; NULL for the last page. */
    int64_t remaining; /* remainingItemCount; -1 if absent. */
    /*
     * shardInfo.selector; NULL if absent. Kubernetes 1.36 sets it in lists of full objects of
     * built-in kinds only, although it selects by shard in all lists.
     */
    char *shard_selector;
};

/*
 * Sets `out` after the end of a list's body; the caller calls list_meta_release(). Returns false
 * with the reason in `err` if the list is truncated, malformed or without a resourceVersion, even
 * if the transfer succeeded.
 */
bool object_stream_finish_list(struct object_stream *s, struct list_meta *out,
                               struct error *err) MUST_USE;

/* Returns true if the bytes so far end in the middle of a list or of an event. */
bool object_stream_is_cut(const struct object_stream *s);

/* Returns true if the list's body so far is empty or incomplete. */
bool object_stream_is_truncated(const struct object_stream *s);
void list_meta_release(struct list_meta *meta);
