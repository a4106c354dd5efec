/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/error.h"

/*
 * Reads files outside the event loop. A read from a mount that does not respond (NFS, FUSE) blocks
 * its thread in the kernel, where no signal ends it.
 *
 * A thread runs the jobs of a queue one after another. If a job blocks for too long, its thread is
 * abandoned, and a new thread runs the next jobs. With ABANDONED_MAX abandoned threads and no idle
 * one, queued and new jobs are rejected; with ABANDONED_MAX_PER_PATH hanging jobs of a path, queued
 * and new jobs of that path. A job that waits until its results are read does not delay the others.
 *
 * The functions file_reader_*(), and read_job_start() to read_job_free(), are for the caller: one
 * thread, usually the event loop. A job calls read_job_emit(), read_job_progress() and
 * read_job_set_file() in the thread of the reader.
 */
struct file_reader;

/* Returns a reader; NULL with the reason on errors. The first job starts a thread. */
struct file_reader *file_reader_new(struct error *err) MUST_USE;

/*
 * Ends the threads and frees the reader. All jobs must have been freed. Returns false if a thread
 * is still blocked after 100 ms: the process must then end with _exit(), because exit() would free
 * memory that this thread uses. Accepts NULL.
 */
bool file_reader_free(struct file_reader *r) MUST_USE;

/*
 * Returns a descriptor that becomes readable when a job has a result, ends or is rejected, and when
 * a queued job starts for which read_job_next() has returned JOB_WAITS.
 */
int file_reader_fd(const struct file_reader *r);

/*
 * Makes the descriptor unreadable; the caller then takes all results with read_job_next(). Also
 * abandons the job that delays the queue if it had neither result nor progress for JOB_TIMEOUT_MS,
 * even if the caller does not call read_job_next() for it.
 */
void file_reader_handle_event(struct file_reader *r);

/* Polls file_reader_fd() up to `wait_ms`, and calls file_reader_handle_event(). */
void file_reader_wait(struct file_reader *r, int64_t wait_ms);

/* Returns the number of abandoned threads: their job hangs, or was freed before it ended. */
unsigned file_reader_abandoned(struct file_reader *r);

enum {
    ABANDONED_MAX = 8, /* Maximum number of abandoned threads. */
    ABANDONED_MAX_PER_PATH = 3,
    READ_FILE_NAME_MAX = 512, /* Bytes of a file name in messages, including NUL. */

    /*
     * A job hangs after JOB_TIMEOUT_MS without a result in total, plus 1 ms for each
     * JOB_BYTES_PER_MS bytes of its results. Each result counts JOB_RESULT_OVERHEAD more bytes.
     * From a read_job_next() without a result to the next call, at most 2.5 s count.
     */
    JOB_TIMEOUT_MS = 5000,
    JOB_BYTES_PER_MS = 100,
    JOB_RESULT_OVERHEAD = 4096,
};

/* Copies the file name of the latest abandoned job. Returns false if no job is abandoned. */
bool file_reader_blocked_file(struct file_reader *r, char file[READ_FILE_NAME_MAX]);

struct read_job;

/*
 * Reads files in a thread of the reader. The function must not use data of other threads except
 * `input`, and must return soon after read_job_emit() or read_job_progress() has returned false.
 */
typedef void read_job_fn(struct read_job *job, void *input);

/*
 * Adds a result for the caller: a tag that the job chooses, and a copy of `len` bytes. Blocks while
 * more than 256 KiB of results, each with JOB_RESULT_OVERHEAD more bytes, are unread. Returns false
 * if the caller has freed the job.
 */
bool read_job_emit(struct read_job *job, int tag, const void *bytes, size_t len) MUST_USE;

/*
 * Reports progress of a job without a result: the time from the latest read_job_next() to the next
 * one does not count for JOB_TIMEOUT_MS if both return no result. Returns false if the caller has
 * freed the job.
 */
bool read_job_progress(struct read_job *job) MUST_USE;

/* Sets the name of the file that the job reads next, for messages. */
void read_job_set_file(struct read_job *job, const char *file);

/*
 * Queues a job, and returns it; never NULL. `path` is the file or folder of ABANDONED_MAX_PER_PATH;
 * "" for no limit. `free_input` (may be NULL) frees `input` once the caller has freed the job and
 * the job does not run. `free_input` must not block, as even the close(2) of a file may.
 */
struct read_job *read_job_start(struct file_reader *r, const char *path, read_job_fn *run,
                                void *input, void (*free_input)(void *input)) MUST_USE;

/* Disables the timeout of a job, for example for input from a terminal. */
void read_job_disable_timeout(struct read_job *job);

enum read_job_state {
    JOB_RESULT,
    JOB_WAITS,    /* No result yet: see read_job_due(). */
    JOB_HANGS,    /* No result for too long. The job may continue later. */
    JOB_DONE,     /* The job has ended, and all results were read. */
    JOB_REJECTED, /* Not run: a limit of abandoned jobs is reached, or no thread starts. */
};

/* Result of a job; `bytes` is valid until the next read_job_next() or read_job_free(). */
struct read_result {
    int tag;
    size_t len;
    const char *bytes;
};

/* Returns the state of a job at steady `now_ms`, without waiting. Moves a JOB_RESULT to `out`. */
enum read_job_state read_job_next(struct read_job *job, int64_t now_ms, struct read_result *out);

/* Returns the reason of JOB_HANGS or JOB_REJECTED for the message "cannot read 'x': <reason>". */
const char *read_job_failure(enum read_job_state state);

/*
 * Returns the steady time in milliseconds of the next read_job_next() if file_reader_fd() is not
 * readable before; INT64_MAX: no call needed.
 */
int64_t read_job_due(struct read_job *job);

/* Frees a job, which may still run: its thread frees the memory later. Accepts NULL. */
void read_job_free(struct read_job *job);
