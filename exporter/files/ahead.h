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
    size_t next;  /* The file behind the one that is being read. */
    size_t ended; /* Of how many the bytes have ended. */
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

/* The next of the files, whose bytes come from now on; NULL if there is none left. */
struct manifest_file *ahead_next(struct ahead *a);

/* After the last file: true once there is room for others. */
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
    const char *bytes; /* Of a failure: why, with a NUL. */
    size_t len;
    bool gone; /* The file does not exist any more. */
};
enum ahead_state ahead_bytes(struct ahead *a, int64_t now_ms, struct ahead_bytes *out);

/* Stops reading. Returns the job, which may hang, and which the caller owns from now on. */
struct read_job *ahead_stop(struct ahead *a) MUST_USE;
