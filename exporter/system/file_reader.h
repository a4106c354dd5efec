/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/error.h"

/*
 * Reads files outside the event loop. A read from a mount that does not answer (NFS, FUSE) blocks
 * its thread in the kernel, where no signal ends it.
 *
 * Jobs wait in a queue, and one thread runs them, one after another. A job that blocks for too long
 * keeps its thread: the thread is abandoned, and another one runs the next jobs, up to
 * ABANDONED_MAX. Jobs of one PATH keep ABANDONED_MAX_PER_PATH of them: while so many hang, further
 * jobs of the PATH are lost at once, and those of other PATHs are run. A job whose results are not
 * taken yet does not delay the other jobs either.
 */
struct file_reader;

/* Returns a reader without a thread; the first job starts one. NULL with the reason on failure. */
struct file_reader *file_reader_new(struct error *err) MUST_USE;

/*
 * Ends the threads and frees the reader. All jobs must have been freed. Returns false if a thread
 * is still blocked: the reader's memory then stays, and the process must end with _exit(), because
 * exit() would free what that thread uses. Accepts NULL.
 */
bool file_reader_free(struct file_reader *r) MUST_USE;

/*
 * Returns a descriptor to poll for reading: a job has a result. It stays readable until
 * file_reader_handle_event(), and becomes readable again with the next result. After a turn, read
 * each job until it waits. A turn also abandons the job that the queue waits for if it blocks for
 * too long, because the caller may not ask for the results of that job.
 */
int file_reader_fd(const struct file_reader *r);
void file_reader_handle_event(struct file_reader *r);

/* Waits at most `wait_ms` for file_reader_fd(), and does a turn. */
void file_reader_wait(struct file_reader *r, int64_t wait_ms);

/* Returns the number of threads blocked in a read that is late, or that the caller has freed. */
unsigned file_reader_abandoned(struct file_reader *r);

enum {
    ABANDONED_MAX = 8, /* With so many abandoned threads no further job is run. */
    ABANDONED_MAX_PER_PATH = 3,
    READ_FILE_NAME_MAX = 512, /* Bytes of the name of a file in a message, with the NUL. */

    /*
     * A job hangs if the time without a result exceeds JOB_TIMEOUT_MS, and a millisecond for each
     * JOB_BYTES_PER_MS bytes of its results. A result counts JOB_RESULT_OVERHEAD bytes by itself.
     */
    JOB_TIMEOUT_MS = 5000,
    JOB_BYTES_PER_MS = 100,
    JOB_RESULT_OVERHEAD = 4096,
};

/*
 * Copies the name of a file that a blocked thread reads, for messages. Returns false if no thread
 * is blocked.
 */
bool file_reader_blocked_file(struct file_reader *r, char file[READ_FILE_NAME_MAX]);

struct read_job;

/*
 * A job, run by a thread of the reader. It must use nothing but `input`, and must end soon after
 * read_job_emit() has returned false.
 */
typedef void read_job_fn(struct read_job *job, void *input);

/*
 * Hands over a result: a tag of the job's choice, and a copy of `len` bytes. Waits while too many
 * bytes are not taken yet. Returns false if the results are no longer wanted.
 */
bool read_job_emit(struct read_job *job, int tag, const void *bytes, size_t len) MUST_USE;

/*
 * Notes that the job makes progress, although it has no result yet. Returns false if its results
 * are no longer wanted.
 */
bool read_job_progress(struct read_job *job) MUST_USE;

/* Notes the name of the file that the job reads next, for messages. */
void read_job_set_file(struct read_job *job, const char *file);

/*
 * Queues a job for `path`, the PATH or file that the limit counts; "" for no such limit. The job
 * owns `input`, and frees it with `free_input` (NULL: not at all) after the job and its caller are
 * done; `free_input` must not touch a file, not even to close it. Never NULL: a job that cannot be
 * run is lost.
 */
struct read_job *read_job_start(struct file_reader *r, const char *path, read_job_fn *run,
                                void *input, void (*free_input)(void *input)) MUST_USE;

/* Lets the job block without a limit, because a person at a terminal writes the input. */
void read_job_disable_timeout(struct read_job *job);

enum read_job_state {
    JOB_RESULT,
    JOB_WAITS, /* No result yet: file_reader_fd() reports when to ask again. */
    JOB_HANGS, /* No result for too long. The job may go on later. */
    JOB_DONE,
    JOB_REJECTED, /* The job cannot be run: too many threads are blocked, or no thread starts. */
};

/* A result of a job; valid until the next call for this job. */
struct read_result {
    int tag;
    size_t len;
    const char *bytes;
};

/* Returns the state of a job, and its next result. Does not wait. `now_ms` is steady. */
enum read_job_state read_job_next(struct read_job *job, int64_t now_ms, struct read_result *out);

/* Returns the reason for JOB_HANGS and JOB_REJECTED, to follow "cannot read 'x': ". */
const char *read_job_failure(enum read_job_state state);

/* Returns the time at which the state may become JOB_HANGS; INT64_MAX for never, or if it does. */
int64_t read_job_due(struct read_job *job);

/* Frees a job, done or not. Its thread ends the job when it can. Accepts NULL. */
void read_job_free(struct read_job *job);
