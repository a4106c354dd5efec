/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/response_body.h"

#include <pthread.h>
#include <stdatomic.h>
#include <zlib.h>

#include "exporter/web/response.h"

enum {
    LEVEL = 1,     /* A page is replaced within seconds: speed counts more than size. */
    WINDOW = -15,  /* Negative: raw deflate, without zlib's header and checksum. */
    MEMORY = 8,    /* zlib's default. */
    FLUSH_MAX = 8, /* Bytes for Z_SYNC_FLUSH, which deflateBound() does not count. */
};

/* ---- segments ---- */

/* Raw deflate data. */
struct deflated {
    char *bytes;
    size_t len;
    uint32_t crc; /* CRC-32 of the uncompressed bytes. */
};

struct segment {
    _Atomic unsigned references;
    char *bytes;
    size_t len;
    struct segment_memory *sum;
    pthread_mutex_t lock; /* Guards `deflated`, which is constant once its bytes are set. */
    struct deflated deflated;
};

static void add_to_sum(const struct segment *s, size_t bytes)
{
    if (s->sum)
        atomic_fetch_add_explicit(&s->sum->bytes, bytes, memory_order_relaxed);
}

struct segment *segment_new(char *bytes, size_t len, struct segment_memory *sum)
{
    struct segment *s = xcalloc(1, sizeof(*s));

    atomic_init(&s->references, 1);
    pthread_mutex_init(&s->lock, NULL);
    s->bytes = bytes;
    s->len = len;
    s->sum = sum;
    add_to_sum(s, len);
    return s;
}

struct segment *segment_ref(struct segment *s)
{
    if (s)
        atomic_fetch_add(&s->references, 1);
    return s;
}

void segment_unref(struct segment *s)
{
    if (!s || atomic_fetch_sub(&s->references, 1) > 1)
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

/*
 * Compresses several segments as one, at most 1 GiB. The caller frees `out->bytes`. The output ends
 * on a byte boundary and refers to no earlier output: the concatenation of several outputs is the
 * compression of the concatenated input.
 */
static void segments_deflate(struct segment *const *segments, size_t count, struct deflated *out)
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
        /* deflate() returns Z_BUF_ERROR for empty input. */
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

/* Returns the compressed bytes, which the segment owns. Any thread may call it. */
static const struct deflated *segment_deflated(struct segment *s)
{
    pthread_mutex_lock(&s->lock);
    if (!s->deflated.bytes) {
        segments_deflate(&s, 1, &s->deflated);
        add_to_sum(s, s->deflated.len);
    }
    pthread_mutex_unlock(&s->lock);
    return &s->deflated;
}

/* ---- bodies ---- */

enum {
    SHORT_BYTES = 8192, /* Shorter segments are joined. */
    PLAIN = 0,
    GZIP = 1,
    ENCODINGS = 2,
    GZIP_END = 2 + 4 + 4, /* Empty last block, CRC-32, length. */
};

/* RFC 1952: magic number, deflate, no flags, no time, fastest compression, Unix. */
static const unsigned char gzip_head[10] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 3};

struct encoding {
    pthread_mutex_t lock; /* Guards the members below, which are constant once created. */
    struct MHD_IoVec *pieces;
    char **owned; /* Bytes of each piece, if they are freed with the encoding; else NULL. */
    unsigned count;
    size_t len;
    unsigned char end[GZIP_END];
};

struct body {
    _Atomic unsigned references;
    struct encoding encodings[ENCODINGS];
    size_t len; /* Uncompressed bytes. */
    size_t count;
    struct segment *segments[];
};

struct body *body_new(struct segment *const *segments, size_t count)
{
    struct body *b = xcalloc(1, sizeof(*b) + count * sizeof(struct segment *));

    atomic_init(&b->references, 1);
    for (size_t i = 0; i < ENCODINGS; i++)
        pthread_mutex_init(&b->encodings[i].lock, NULL);
    b->count = count;
    for (size_t i = 0; i < count; i++) {
        b->segments[i] = segment_ref(segments[i]);
        b->len += segment_len(segments[i]);
    }
    return b;
}

struct body *body_ref(struct body *b)
{
    if (b)
        atomic_fetch_add(&b->references, 1);
    return b;
}

void body_unref(struct body *b)
{
    if (!b || atomic_fetch_sub(&b->references, 1) > 1)
        return;
    for (size_t i = 0; i < ENCODINGS; i++) {
        struct encoding *e = &b->encodings[i];

        for (unsigned k = 0; k < e->count; k++)
            free(e->owned[k]);
        free(e->owned);
        free(e->pieces);
        pthread_mutex_destroy(&e->lock);
    }
    for (size_t i = 0; i < b->count; i++)
        segment_unref(b->segments[i]);
    free(b);
}

/* Returns the number of segments of the next piece: one long, or consecutive short ones. */
static size_t count_piece_segments(const struct body *b, size_t from)
{
    size_t to = from;

    while (to < b->count && segment_len(b->segments[to]) < SHORT_BYTES)
        to++;
    return to > from ? to - from : 1;
}

static void add_piece(struct encoding *e, const void *bytes, size_t len, char *owned)
{
    e->pieces[e->count] = (struct MHD_IoVec){bytes, len};
    e->owned[e->count++] = owned;
    e->len += len;
}

static void add_plain_piece(struct encoding *e, struct segment *const *segments, size_t count)
{
    size_t len = 0;

    if (count == 1) {
        add_piece(e, segment_bytes(*segments), segment_len(*segments), NULL);
        return;
    }
    for (size_t i = 0; i < count; i++)
        len += segment_len(segments[i]);
    char *bytes = xmalloc(len > 0 ? len : 1);

    add_piece(e, bytes, len, bytes);
    for (size_t i = 0; i < count; i++) {
        memcpy(bytes, segment_bytes(segments[i]), segment_len(segments[i]));
        bytes += segment_len(segments[i]);
    }
}

/* Adds the segments as one compressed piece. Returns `crc` combined with their CRC-32. */
static uLong add_deflated_piece(struct encoding *e, struct segment *const *segments, size_t count,
                                uLong crc)
{
    struct deflated own = {0};
    const struct deflated *deflated = &own;
    size_t len = 0;

    if (segment_len(*segments) < SHORT_BYTES)
        segments_deflate(segments, count, &own);
    else
        deflated = segment_deflated(*segments);
    for (size_t i = 0; i < count; i++)
        len += segment_len(segments[i]);
    add_piece(e, deflated->bytes, deflated->len, own.bytes);
    return crc32_combine(crc, deflated->crc, (z_off_t)len);
}

static void put_little_endian(unsigned char *out, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        out[i] = (unsigned char)(value >> 8 * i);
}

static void create_encoding(const struct body *b, unsigned encoding, struct encoding *e)
{
    uLong crc = crc32(0, NULL, 0);
    size_t count;

    e->pieces = xcalloc(b->count + 2, sizeof(*e->pieces));
    e->owned = xcalloc(b->count + 2, sizeof(*e->owned));
    if (encoding == GZIP)
        add_piece(e, gzip_head, sizeof(gzip_head), NULL);
    for (size_t i = 0; i < b->count; i += count) {
        count = count_piece_segments(b, i);
        if (encoding == GZIP)
            crc = add_deflated_piece(e, &b->segments[i], count, crc);
        else
            add_plain_piece(e, &b->segments[i], count);
    }
    if (encoding == PLAIN)
        return;
    e->end[0] = 3; /* Last block, fixed Huffman codes, empty. */
    put_little_endian(e->end + 2, (uint32_t)crc);
    put_little_endian(e->end + 6, (uint32_t)b->len);
    add_piece(e, e->end, sizeof(e->end), NULL);
}

static const struct encoding *get_encoding(struct body *b, unsigned encoding)
{
    struct encoding *e = &b->encodings[encoding];

    pthread_mutex_lock(&e->lock);
    if (!e->pieces)
        create_encoding(b, encoding, e);
    pthread_mutex_unlock(&e->lock);
    return e;
}

static void unref_body(void *body)
{
    body_unref(body);
}

struct MHD_Response *body_response(struct body *b, bool gzip, const char *content_type)
{
    const struct encoding *e = get_encoding(b, gzip ? GZIP : PLAIN);
    bool smaller = e->len < b->len;

    if (gzip && !smaller)
        e = get_encoding(b, PLAIN);
    struct MHD_Response *response =
        response_new_pieces(e->pieces, e->count, content_type, unref_body, body_ref(b));

    if (gzip && smaller)
        response_add_header(response, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
    return response;
}
