/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/strbuf.h"

/*
 * Bytes in the order of writing, compressed in blocks; the first and the last block are plain, so
 * a short queue is never compressed. Reading frees what it has read.
 */
struct compressed_block {
    struct compressed_block *next;
    size_t len;       /* Length of `bytes`, which are compressed. */
    size_t plain_len; /* Length before compression. */
    unsigned char bytes[];
};

struct compressed_queue {
    struct compressed_block *first;
    struct compressed_block *last;
    struct strbuf filling; /* The block that is being written. */
    struct strbuf reading; /* The block that is being read. */
    size_t read_len;       /* Bytes of `reading` that have been read. */
    size_t len;            /* Compressed bytes of the blocks between `first` and `last`. */
    size_t max;
};

enum { COMPRESSED_BLOCK = 256 * 1024 };

/* `max` is the ceiling for the bytes that are held, compressed. Allocates nothing yet. */
void compressed_queue_init(struct compressed_queue *q, size_t max);
/* Frees all bytes; the queue is empty and usable again. */
void compressed_queue_release(struct compressed_queue *q);

/* Appends bytes. False once there are more than the ceiling: append no more. */
bool compressed_queue_add(struct compressed_queue *q, const char *bytes, size_t len) MUST_USE;

/* Takes the next bytes. Returns how many: fewer than `size` only at the end. */
size_t compressed_queue_read(struct compressed_queue *q, char *bytes, size_t size);
