/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/json_frame.h"
#include "metrics/base/protobuf.h"

/*
 * Framing of Kubernetes' protobuf with metadata of objects: splits the body of a list
 * (PartialObjectMetadataList) or of a watch stream, fed in pieces of any size, into single objects
 * or watch events. Buffers at most one of them, and converts it to the JSON text that an API server
 * would send, with the members of the metadata that rules read. Untrusted like JSON: the receiver
 * parses and checks the text.
 */
/* An item of a list, or a watch event. */
struct protobuf_object {
    const char *json; /* Valid during the call. */
    size_t len;
    bool cut;          /* The object is too large: `json` is the beginning of its text. */
    const char *fault; /* Why the object is invalid, with `json` as for `cut`; NULL: it is valid. */
};

/* Receives an object. Returns false to stop. */
typedef bool protobuf_frame_fn(void *context, const struct protobuf_object *object);

struct protobuf_frame {
    enum json_frame_mode mode;
    protobuf_frame_fn *on_object;
    void *context;
    enum protobuf_frame_state {
        PROTOBUF_FRAME_MAGIC,  /* List: before the four bytes "k8s\0". */
        PROTOBUF_FRAME_LENGTH, /* Watch: before the length of an event, four bytes, big-endian. */
        PROTOBUF_FRAME_TAG,    /* List: before the tag and length of a field. */
        PROTOBUF_FRAME_VALUE,  /* In the value of a field, or in an event. */
    } state;
    char head[20]; /* Bytes of an incomplete magic, length or tag. */
    unsigned head_len;
    bool in_list;       /* In the list message, a field of the envelope. */
    bool ended;         /* The list message is complete. */
    uint64_t list_left; /* Bytes of the list message that have not arrived. */
    uint32_t field;     /* Number of the field of the value. */
    uint64_t size;      /* Length of the value. */
    uint64_t left;      /* Bytes of the value that have not arrived. */
    bool stopped;
    struct strbuf value; /* Beginning of a value that continues in the next piece. */
    struct strbuf text;  /* JSON of one object. */
    struct strbuf rest;  /* JSON of the list without its items; complete if `ended`. */
};

/* Initializes without allocation. `max` is the maximum of an object, in bytes of both formats. */
void protobuf_frame_init(struct protobuf_frame *f, enum json_frame_mode mode, size_t max,
                         protobuf_frame_fn *on_object, void *context);
void protobuf_frame_release(struct protobuf_frame *f);

/*
 * Reads the next bytes. Returns false with the reason in `err` if the body is no protobuf of this
 * kind. Returns false with `err` unchanged if on_object returned false. After a failure, all later
 * calls fail and set `err`.
 */
bool protobuf_frame_feed(struct protobuf_frame *f, const char *bytes, size_t len,
                         struct error *err) MUST_USE;

/* Returns true if the body may end here: the list is complete, or no event is incomplete. */
bool protobuf_frame_is_complete(const struct protobuf_frame *f);
