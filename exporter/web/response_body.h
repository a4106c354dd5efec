/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <microhttpd.h>
#include <stdatomic.h>

#include "metrics/base/base.h"

/* Immutable bytes with a reference count, which several pages may share. */
struct segment;

/* Total bytes of segments, plain and compressed, until the segments are freed. */
struct segment_memory {
    _Atomic uint64_t bytes;
};

/*
 * Returns a segment with one reference; takes ownership of the bytes, at most 1 GiB. `sum` has to
 * outlive the segment; NULL: the bytes are not counted.
 */
struct segment *segment_new(char *bytes, size_t len, struct segment_memory *sum) MUST_USE;
/*
 * Add and drop a reference; the last drop frees the segment. segment_ref() returns its argument.
 * Any thread may call them. NULL is allowed.
 */
struct segment *segment_ref(struct segment *s);
void segment_unref(struct segment *s);

/* Returns the bytes. Borrowed as long as the caller has a reference. */
const char *segment_bytes(const struct segment *s);
size_t segment_len(const struct segment *s);

/*
 * Body of responses: a sequence of segments, plain or as gzip. Each encoding is created at its
 * first use and then kept. Long segments are sent without a copy, and compressed once for all
 * bodies; consecutive short segments are joined, because each alone would compress badly.
 */
struct body;

/* Returns a body of these segments, with one reference. The body adds references to the segments.
 */
struct body *body_new(struct segment *const *segments, size_t count) MUST_USE;

/*
 * Add and drop a reference; the last drop frees the body. body_ref() returns its argument. Any
 * thread may call them. NULL is allowed.
 */
struct body *body_ref(struct body *b);
void body_unref(struct body *b);

/*
 * Returns a response that holds a reference to the body. With `gzip`, the response is compressed
 * if that makes it smaller, and has the header Content-Encoding. Any thread may call it.
 */
struct MHD_Response *body_response(struct body *b, bool gzip, const char *content_type) MUST_USE;
