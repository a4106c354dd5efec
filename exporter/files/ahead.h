/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/files/manifest_file.h"
#include "exporter/system/workers.h"

/*
 * The bytes of files, read ahead by a process of its own (workers.h): of several files at once, as
 * the way to another process and back takes longer than reading a small file.
 */
struct ahead {
    struct workers *workers; /* Borrowed. */
    struct job *job;         /* NULL: nothing is asked for. */
    struct manifest_file **files;
    size_t count;
    size_t next;       /* The file behind the one that is being read. */
    size_t ended;      /* Of how many the bytes have ended. */
    size_t path_bytes; /* Of all paths. */
    bool at_end;       /* The last bytes of the current file were handed out. */
};

enum { AHEAD_FILES = 256 };

void ahead_release(struct ahead *a);

/*
 * Ask for one more file, before ahead_start(). The files are borrowed. False if there is no room:
 * start first.
 */
bool ahead_add(struct ahead *a, struct manifest_file *file) MUST_USE;
void ahead_start(struct ahead *a);

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
    AHEAD_LOST, /* The process has ended. */
};

struct ahead_bytes {
    const char *bytes; /* Of a failure: why, with a NUL. */
    size_t len;
    bool gone; /* The file does not exist any more. */
};
enum ahead_state ahead_bytes(struct ahead *a, int64_t now_ms, struct ahead_bytes *out);

/* Ask for nothing any more. Answers the job, which may hang, and is the caller's from now on. */
struct job *ahead_stop(struct ahead *a) MUST_USE;
