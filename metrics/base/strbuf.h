/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * Growing byte string with a maximum length. An append that would exceed the maximum is ignored, as
 * are all later appends until strbuf_reset(), strbuf_release() or strbuf_take(). Callers check
 * strbuf_ok() once after the last append. `data` is always a valid C string.
 */
struct strbuf {
    char *data;
    size_t len;
    size_t cap;
    size_t max;
    bool full;   /* An append did not fit: later appends are ignored. */
    bool secret; /* Memory is overwritten before it is freed. */
};

/* Empty buffer for at most `limit` bytes. Allocates nothing. */
#define STRBUF_INIT(limit) ((struct strbuf){.data = strbuf_empty, .max = (limit)})
extern char strbuf_empty[1];
/* Empty buffer for a secret: growth and strbuf_release() overwrite the old memory. */
#define STRBUF_SECRET(limit) ((struct strbuf){.data = strbuf_empty, .max = (limit), .secret = true})

/* Frees the memory. The buffer is then empty and can be used again. */
void strbuf_release(struct strbuf *b);

/* Makes the buffer empty and clears `full`, but keeps the memory. */
void strbuf_reset(struct strbuf *b);

/* Shortens the text to `len` bytes, which must not exceed its length. Keeps `full`. */
static inline void strbuf_cut(struct strbuf *b, size_t len)
{
    b->len = len;
    if (b->cap > 0)
        b->data[len] = '\0';
}

/* Allocates memory so that appends up to `len` bytes in all (or the maximum) do not reallocate. */
void strbuf_reserve(struct strbuf *b, size_t len);

/*
 * Appends `len` bytes that the caller sets: returns a pointer to the first, valid until the next
 * append; NULL, with nothing appended, if they do not fit.
 */
char *strbuf_extend(struct strbuf *b, size_t len);

void strbuf_add(struct strbuf *b, const void *bytes, size_t len);
void strbuf_adds(struct strbuf *b, const char *s);
void strbuf_addc(struct strbuf *b, char c);
void strbuf_addf(struct strbuf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
void strbuf_vaddf(struct strbuf *b, const char *fmt, va_list args) PRINTF_LIKE(2, 0);

/* Returns true unless an append did not fit. */
static inline bool strbuf_ok(const struct strbuf *b)
{
    return !b->full;
}

/*
 * Returns the bytes as a C string, owned by the caller and never NULL, and stores their number in
 * `*out_len` unless `out_len` is NULL. The buffer is then empty.
 */
char *strbuf_take(struct strbuf *b, size_t *out_len) MUST_USE;
