/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/files/manifest_file.h"
#include "exporter/system/file_reader.h"

/*
 * Reads the bytes of files through the file reader, several files in one job: handing a job to
 * another thread takes longer than reading a small file.
 */
struct ahead {
    struct file_reader *reader; /* Borrowed. */
    struct read_job *job;       /* NULL if no file is being read. */
    const char *path;           /* The PATH of the files. Borrowed. */
    struct manifest_file **files;
    size_t count;
    size_t next;  /* Index of the file after the current one. */
    size_t ended; /* Number of files whose bytes have ended. */
    bool at_end;  /* The last bytes of the current file were handed out. */
};

enum { AHEAD_FILES = 256 };

void ahead_release(struct ahead *a);

/*
 * Adds one more file, which is borrowed, before ahead_start(). Returns false if there is no room or
 * the file belongs to another PATH: start first.
 */
bool ahead_add(struct ahead *a, struct manifest_file *file) MUST_USE;

/* Starts to read the files of `path`, which is borrowed. */
void ahead_start(struct ahead *a, const char *path);

/* Makes the next file the current one for ahead_bytes(); NULL if all have been read. */
struct manifest_file *ahead_next(struct ahead *a);

/* Returns true if the last file has been read, so that others can be added. */
bool ahead_done(struct ahead *a, int64_t now_ms);

enum ahead_state {
    AHEAD_BYTES, /* These; they stay until the next call. */
    AHEAD_END,
    AHEAD_FAILED, /* The file cannot be read. */
    AHEAD_WAITS,
    AHEAD_HANGS,
    AHEAD_LOST, /* The job was not run to its end. */
};

struct ahead_bytes {
    const char *bytes; /* After a failure: the reason, with a NUL. */
    size_t len;
    bool gone; /* The file does not exist any more. */
};
enum ahead_state ahead_bytes(struct ahead *a, int64_t now_ms, struct ahead_bytes *out);

/* Stops reading. Returns the job, which may hang, and which the caller owns from now on. */
struct read_job *ahead_stop(struct ahead *a) MUST_USE;
