/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/response.h"
#include "metrics/base/frame.h"

/*
 * The body of a list or of a stream of changes, however the network cut it,
 * turned into one call per object. It holds no more than one object at a time.
 *
 * An object that cannot be read is told of as rejected, and its version still
 * counts, so that it can neither stop a stream nor be read for ever. What is no
 * list or no change at all ends the reading.
 */
enum object_news_kind {
    NEWS_OBJECT,   /* Is in the list, was added, or changed. */
    NEWS_REMOVED,  /* As it was last. */
    NEWS_BOOKMARK, /* Nothing but a version. */
    NEWS_FILLED,   /* A bookmark: all objects there were have been told of. */
    NEWS_ERROR,    /* `status`. The stream is over. */
    NEWS_REJECTED, /* `reason`; `object` is what could be made out of it, or NULL. */
};

struct object_news {
    enum object_news_kind kind;
    const cJSON *object; /* With the apiVersion and kind that were asked for. */
    const char *version; /* Of the object or the bookmark; "" if not told. Not for lists. */
    const struct status *status;
    const char *reason;
};

/* False gives up the reading. What the news points at ends with the call. */
typedef bool object_news_fn(void *context, const struct object_news *news);

struct object_stream {
    struct frame frame;
    enum frame_mode mode;
    const char *api_version; /* Borrowed; so is the kind. */
    const char *kind;
    object_news_fn *tell;
    void *context;
    bool malformed;
};

/* Read bodies that hold objects of this type. */
void object_stream_init(struct object_stream *s, enum frame_mode mode, const char *api_version,
                        const char *kind, object_news_fn *tell, void *context);
void object_stream_release(struct object_stream *s);

/* Take the next bytes. False, for good, if they are no such body or `tell` said so. */
bool object_stream_feed(struct object_stream *s, const char *bytes, size_t len,
                        struct error *err) MUST_USE;

/* What a list says of itself; texts are the caller's to free by list_facts_release(). */
struct list_facts {
    char *version;
    char *token;       /* NULL for the last page. */
    int64_t remaining; /* -1 if not told. */
};

/*
 * The list is over: what it says of itself. False with the reason unless it came whole,
 * whatever the transfer says.
 */
bool object_stream_finish_list(struct object_stream *s, struct list_facts *out,
                               struct error *err) MUST_USE;
/* True if the body ended too early to be judged. */
bool object_stream_is_cut(const struct object_stream *s);
void list_facts_release(struct list_facts *facts);
