/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/system/file.h"
#include "exporter/system/file_reader.h"

/*
 * Reads one file, plain or gzip, whenever it has changed. With a file reader its thread reads and
 * unpacks the file, because a mount may hang at any byte; without one the caller blocks.
 */
struct asset_reader;

/* The path is copied; `reader` is borrowed, NULL for none. */
struct asset_reader *asset_reader_new(const char *path, struct file_reader *reader) MUST_USE;
/* NULL is fine. */
void asset_reader_free(struct asset_reader *r);

/* Look at the file: asset_reader_next() tells what comes of that. It begins, if it is no longer as
 * it was `seen`. */
void asset_reader_begin(struct asset_reader *r, const struct file_stamp *seen);

enum asset_reader_state {
    ASSET_READER_BEGINS, /* The file has changed; bytes follow. */
    ASSET_READER_BYTES,
    ASSET_READER_END,       /* The reading ends here, and with the next three states. */
    ASSET_READER_UNCHANGED, /* The file is as before. */
    ASSET_READER_FAILED,    /* The error has the reason. */
    ASSET_READER_LOST,      /* The job was not run to its end; the error has the reason. */
    ASSET_READER_WAITS,     /* No result yet: file_reader_fd() reports when to ask again. */
    ASSET_READER_HANGS,     /* No result for too long. The reading may go on later. */
};

struct asset_reader_bytes {
    const char *bytes; /* They stay until the next call. */
    size_t len;
    struct file_stamp stamp; /* Where it begins. */
};

/* What comes next; `now_ms` is steady. */
enum asset_reader_state asset_reader_next(struct asset_reader *r, int64_t now_ms,
                                          struct asset_reader_bytes *out, struct error *err);

/* When asset_reader_next() may find that it hangs; INT64_MAX for never. */
int64_t asset_reader_due(const struct asset_reader *r);
