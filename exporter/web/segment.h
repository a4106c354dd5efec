/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

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
struct segment_sum {
    _Atomic uint64_t bytes;
};

/* Moves the bytes in, at most 1 GiB. The sum outlives it; NULL: it is in none. One holder. */
struct segment *segment_new(char *bytes, size_t len, struct segment_sum *sum) MUST_USE;
/* One holder more, or less: the last one frees it. Any thread may call them. NULL is fine. */
struct segment *segment_hold(struct segment *s);
void segment_drop(struct segment *s);

/* Borrowed for as long as it is held. */
const char *segment_bytes(const struct segment *s);
size_t segment_len(const struct segment *s);

/* Compressed when somebody asks first, and kept. Any thread may call it. */
const struct deflated *segment_deflated(struct segment *s);

/* Compress several, at most 1 GiB of them, as one. The caller frees the bytes. */
void segments_deflate(struct segment *const *segments, size_t count, struct deflated *out);
