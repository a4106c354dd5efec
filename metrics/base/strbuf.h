/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * A growing byte string with a ceiling.
 *
 * Appending never fails at the call: once the ceiling would be passed the
 * buffer accepts no more bytes and remembers that, so a writer asks strbuf_ok()
 * once, at the end. `data` is always a valid C string.
 */
struct strbuf {
    char *data;
    size_t len;
    size_t cap;
    size_t max;
    bool full;
    bool secret; /* Memory is overwritten before it is given back. */
};

/* An empty buffer that will hold at most `limit` bytes. Allocates nothing. */
#define STRBUF_INIT(limit) ((struct strbuf){.data = strbuf_empty, .max = (limit)})
extern char strbuf_empty[1];
/* The same for a secret: neither growth nor strbuf_release() leaves a copy behind. */
#define STRBUF_SECRET(limit) ((struct strbuf){.data = strbuf_empty, .max = (limit), .secret = true})

/* Free the bytes; the buffer is empty and usable again. */
void strbuf_release(struct strbuf *b);

/* Forget the bytes and that it was full; keep the memory. */
void strbuf_reset(struct strbuf *b);

/* Forget all but the first `len` bytes, of at least so many. */
static inline void strbuf_cut(struct strbuf *b, size_t len)
{
    b->len = len;
    if (b->cap > 0)
        b->data[len] = '\0';
}

/* Have room for `len` bytes at once, up to the ceiling: what is appended up to there is not moved.
 */
void strbuf_reserve(struct strbuf *b, size_t len);

void strbuf_add(struct strbuf *b, const void *bytes, size_t len);
void strbuf_adds(struct strbuf *b, const char *s);
void strbuf_addc(struct strbuf *b, char c);
void strbuf_addf(struct strbuf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
void strbuf_vaddf(struct strbuf *b, const char *fmt, va_list args) PRINTF_LIKE(2, 0);

/* False if any append since the last reset did not fit. */
static inline bool strbuf_ok(const struct strbuf *b)
{
    return !b->full;
}

/* Hand the bytes to the caller, who frees them; the buffer is empty again. Never NULL. */
char *strbuf_take(struct strbuf *b, size_t *out_len) MUST_USE;
