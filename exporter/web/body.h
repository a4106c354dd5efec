/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <microhttpd.h>
#include <stdatomic.h>

#include "metrics/base/base.h"

/*
 * Bytes that never change, held by whoever has use for them: what pages are put together from.
 * Raw deflate of several, each ended on a byte boundary and without a reference to what is before
 * it, is deflate of all of them: so a page is compressed piece by piece, and only once where its
 * pieces stay.
 */
struct deflated {
    char *bytes;
    size_t len;
    uint32_t crc; /* Of what it is of. */
};

struct segment;

/* What segments hold together, plain and compressed, for as long as anybody has use for them. */
struct segment_memory {
    _Atomic uint64_t bytes;
};

/* Moves the bytes in, at most 1 GiB. The sum outlives it; NULL: it is in none. One holder. */
struct segment *segment_new(char *bytes, size_t len, struct segment_memory *sum) MUST_USE;
/* One holder more, or less: the last one frees it. Any thread may call them. NULL is fine. */
struct segment *segment_ref(struct segment *s);
void segment_unref(struct segment *s);

/* Borrowed for as long as it is held. */
const char *segment_bytes(const struct segment *s);
size_t segment_len(const struct segment *s);

/* Compress several, at most 1 GiB of them, as one. The caller frees the bytes. */
void segments_deflate(struct segment *const *segments, size_t count, struct deflated *out);

/*
 * What answers carry: segments one after another, plain or gzipped. Each encoding is made when
 * somebody asks for it first and is kept. Large segments are sent, and were compressed, where they
 * are, for whatever body they are in; short ones in a row become one piece of the body's own, since
 * each by itself would compress badly.
 */
struct body;

/* Of these segments, which it holds from here on. One holder. */
struct body *body_new(struct segment *const *segments, size_t count) MUST_USE;

/* One holder more, or less: the last one frees it. Any thread may call them. NULL is fine. */
struct body *body_ref(struct body *b);
void body_unref(struct body *b);

/*
 * A response of the body, which holds it, with its Content-Encoding: gzipped if that is wanted and
 * smaller. Any thread may call it.
 */
struct MHD_Response *body_response(struct body *b, bool gzip, const char *content_type) MUST_USE;
