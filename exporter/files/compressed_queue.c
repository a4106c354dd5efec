/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/compressed_queue.h"

#include <zlib.h>

void compressed_queue_init(struct compressed_queue *q, size_t max)
{
    *q = (struct compressed_queue){
        .filling = STRBUF_INIT(COMPRESSED_BLOCK),
        .reading = STRBUF_INIT(COMPRESSED_BLOCK),
        .max = max,
    };
}

static void free_first(struct compressed_queue *q)
{
    struct compressed_block *block = q->first;

    q->first = block->next;
    q->len -= block->len;
    free(block);
}

void compressed_queue_release(struct compressed_queue *q)
{
    while (q->first)
        free_first(q);
    strbuf_release(&q->filling);
    strbuf_release(&q->reading);
    compressed_queue_init(q, q->max);
}

/* Compresses the block that has been filled. */
static void close_block(struct compressed_queue *q)
{
    uLongf len = compressBound(q->filling.len);
    struct compressed_block *block = xmalloc(sizeof(*block) + len);

    if (compress2(block->bytes, &len, (const Bytef *)q->filling.data, q->filling.len,
                  Z_BEST_SPEED) != Z_OK)
        memory_exhausted(0); /* zlib has no other error here. */
    /* A copy, because a block that shrinks in place leaves a hole behind it. */
    struct compressed_block *kept = xmalloc(sizeof(*kept) + len);

    *kept = (struct compressed_block){.len = len, .plain_len = q->filling.len};
    memcpy(kept->bytes, block->bytes, len);
    free(block);
    if (q->first)
        q->last->next = kept;
    else
        q->first = kept;
    q->last = kept;
    q->len += len;
    strbuf_reset(&q->filling);
}

bool compressed_queue_add(struct compressed_queue *q, const char *bytes, size_t len)
{
    while (len > 0) {
        size_t room = COMPRESSED_BLOCK - q->filling.len;
        size_t part = len < room ? len : room;

        if (room == 0) {
            close_block(q);
            continue;
        }
        strbuf_add(&q->filling, bytes, part);
        bytes += part;
        len -= part;
        if (q->len + q->filling.len > q->max)
            return false;
    }
    return true;
}

/* Begins to read the next block. Returns false at the end of the queue. */
static bool open_block(struct compressed_queue *q)
{
    q->read_len = 0;
    strbuf_reset(&q->reading);
    if (!q->first) {
        struct strbuf empty = q->reading;

        q->reading = q->filling;
        q->filling = empty;
        return q->reading.len > 0;
    }
    uLongf len = q->first->plain_len;

    strbuf_reserve(&q->reading, len);
    if (uncompress((Bytef *)q->reading.data, &len, q->first->bytes, q->first->len) != Z_OK)
        memory_exhausted(0); /* zlib has no other error here. */
    q->reading.len = len;
    free_first(q);
    return true;
}

size_t compressed_queue_read(struct compressed_queue *q, char *bytes, size_t size)
{
    size_t done = 0;

    while (done < size) {
        size_t left = q->reading.len - q->read_len;
        size_t part = left < size - done ? left : size - done;

        if (left == 0 && !open_block(q))
            break;
        if (left == 0)
            continue;
        memcpy(bytes + done, q->reading.data + q->read_len, part);
        q->read_len += part;
        done += part;
    }
    return done;
}
