/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/strbuf.h"

enum { FIRST_CAPACITY = 64 };

/* Never written: `data` of all buffers that own no memory (`cap` is 0). */
char strbuf_empty[1];

/* Returns an empty buffer with the maximum and the secrecy of `b`. */
static struct strbuf empty_like(const struct strbuf *b)
{
    return (struct strbuf){.data = strbuf_empty, .max = b->max, .secret = b->secret};
}

static void resize(struct strbuf *b, size_t cap)
{
    char *data = b->cap > 0 ? b->data : NULL;

    if (data && b->secret) {
        b->data = xmalloc(cap);
        memcpy(b->data, data, b->len + 1);
        explicit_bzero(data, b->cap);
        free(data);
    } else {
        b->data = xreallocarray(data, cap, 1);
    }
    b->cap = cap;
}

void strbuf_release(struct strbuf *b)
{
    if (b->cap > 0 && b->secret)
        explicit_bzero(b->data, b->cap);
    if (b->cap > 0)
        free(b->data);
    *b = empty_like(b);
}

void strbuf_reset(struct strbuf *b)
{
    b->len = 0;
    b->full = false;
    if (b->cap > 0)
        b->data[0] = '\0';
}

void strbuf_reserve(struct strbuf *b, size_t len)
{
    size_t cap = (len < b->max ? len : b->max) + 1;

    if (cap <= b->cap)
        return;
    resize(b, cap);
    b->data[b->len] = '\0';
}

/*
 * Makes room for `extra` bytes and the NUL. Returns false and sets `full` if they exceed the
 * maximum, or if an earlier append did.
 */
static bool make_room(struct strbuf *b, size_t extra)
{
    if (b->full || extra > b->max - b->len || extra >= SIZE_MAX - b->len) {
        b->full = true;
        return false;
    }
    if (b->len + extra < b->cap)
        return true;

    size_t cap = b->cap > 0 ? b->cap : FIRST_CAPACITY;

    while (cap <= b->len + extra)
        cap = cap > SIZE_MAX / 2 ? SIZE_MAX : cap * 2;
    if (cap - 1 > b->max)
        cap = b->max + 1;
    resize(b, cap);
    return true;
}

char *strbuf_extend(struct strbuf *b, size_t len)
{
    char *bytes;

    if (!make_room(b, len))
        return NULL;
    bytes = b->data + b->len;
    b->len += len;
    b->data[b->len] = '\0';
    return bytes;
}

void strbuf_add(struct strbuf *b, const void *bytes, size_t len)
{
    char *to = len > 0 ? strbuf_extend(b, len) : NULL;

    if (to)
        memcpy(to, bytes, len);
}

void strbuf_adds(struct strbuf *b, const char *s)
{
    strbuf_add(b, s, strlen(s));
}

void strbuf_addc(struct strbuf *b, char c)
{
    strbuf_add(b, &c, 1);
}

void strbuf_addf(struct strbuf *b, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    strbuf_vaddf(b, fmt, args);
    va_end(args);
}

void strbuf_vaddf(struct strbuf *b, const char *fmt, va_list args)
{
    va_list again;

    va_copy(again, args);
    /* Most texts fit in the memory that the buffer has. */
    size_t room = b->cap > 0 && !b->full ? b->cap - b->len : 0;
    int len = vsnprintf(room > 0 ? b->data + b->len : NULL, room, fmt, args);
    if (len > 0 && (size_t)len < room) {
        b->len += (size_t)len;
    } else if (len > 0 && make_room(b, (size_t)len)) {
        vsnprintf(b->data + b->len, b->cap - b->len, fmt, again);
        b->len += (size_t)len;
    } else if (room > 0) {
        b->data[b->len] = '\0';
    }
    va_end(again);
}

char *strbuf_take(struct strbuf *b, size_t *out_len)
{
    char *bytes = b->cap > 0 ? b->data : xmemdup0("", 0);

    if (out_len)
        *out_len = b->len;
    *b = empty_like(b);
    return bytes;
}
