/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/segment.h"

#include <pthread.h>
#include <zlib.h>

enum {
    LEVEL = 1,     /* A page is replaced within seconds: speed counts more than size. */
    WINDOW = -15,  /* Negative: without zlib's header and checksum. */
    MEMORY = 8,    /* zlib's default. */
    FLUSH_MAX = 8, /* What the end on a byte boundary takes; deflateBound() does not count it. */
};

struct segment {
    _Atomic unsigned holders;
    char *bytes;
    size_t len;
    struct segment_sum *sum;
    pthread_mutex_t lock; /* Guards what follows until its bytes are there. */
    struct deflated deflated;
};

static void add_to_sum(const struct segment *s, size_t bytes)
{
    if (s->sum)
        atomic_fetch_add_explicit(&s->sum->bytes, bytes, memory_order_relaxed);
}

struct segment *segment_new(char *bytes, size_t len, struct segment_sum *sum)
{
    struct segment *s = xcalloc(1, sizeof(*s));

    atomic_init(&s->holders, 1);
    pthread_mutex_init(&s->lock, NULL);
    s->bytes = bytes;
    s->len = len;
    s->sum = sum;
    add_to_sum(s, len);
    return s;
}

struct segment *segment_hold(struct segment *s)
{
    if (s)
        atomic_fetch_add(&s->holders, 1);
    return s;
}

void segment_drop(struct segment *s)
{
    if (!s || atomic_fetch_sub(&s->holders, 1) > 1)
        return;
    if (s->sum)
        atomic_fetch_sub_explicit(&s->sum->bytes, s->len + s->deflated.len, memory_order_relaxed);
    pthread_mutex_destroy(&s->lock);
    free(s->deflated.bytes);
    free(s->bytes);
    free(s);
}

const char *segment_bytes(const struct segment *s)
{
    return s->bytes;
}

size_t segment_len(const struct segment *s)
{
    return s->len;
}

const struct deflated *segment_deflated(struct segment *s)
{
    pthread_mutex_lock(&s->lock);
    if (!s->deflated.bytes) {
        segments_deflate(&s, 1, &s->deflated);
        add_to_sum(s, s->deflated.len);
    }
    pthread_mutex_unlock(&s->lock);
    return &s->deflated;
}

void segments_deflate(struct segment *const *segments, size_t count, struct deflated *out)
{
    z_stream stream = {0};
    size_t len = 0;
    uLong crc = crc32(0, NULL, 0);

    for (size_t i = 0; i < count; i++)
        len += segments[i]->len;
    if (deflateInit2(&stream, LEVEL, Z_DEFLATED, WINDOW, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
        memory_exhausted(0);
    size_t room = deflateBound(&stream, len) + FLUSH_MAX;
    char *bytes = xmalloc(room);

    stream.next_out = (Bytef *)bytes;
    stream.avail_out = (uInt)room;
    for (size_t i = 0; i < count; i++) {
        stream.next_in = (Bytef *)segments[i]->bytes;
        stream.avail_in = (uInt)segments[i]->len;
        crc = crc32(crc, stream.next_in, stream.avail_in);
        /* It takes an input of nothing for a mistake. */
        if (segments[i]->len > 0 && deflate(&stream, Z_NO_FLUSH) != Z_OK)
            abort();
    }
    if (deflate(&stream, Z_SYNC_FLUSH) != Z_OK)
        abort();
    *out = (struct deflated){
        .bytes = xreallocarray(bytes, stream.total_out, 1),
        .len = stream.total_out,
        .crc = (uint32_t)crc,
    };
    deflateEnd(&stream);
}
