/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/system/job.h"

/*
 * Processes that do what may never return: looking at files. A mount that hangs (NFS, FUSE) holds
 * who touches it in the kernel, where no signal reaches: a thread that it holds would keep the
 * whole process from ending. A process that it holds is left behind.
 *
 * They are forked by one that was forked early, while there were no threads and little memory.
 */
struct workers;

/*
 * How long a job may be waited for, all in all, and for how many bytes it is a millisecond more; a
 * frame counts as so many bytes by itself. So what goes on may take its time, and what drips not.
 */
enum { JOB_PATIENCE_MS = 5000, JOB_BYTES_A_MS = 100, JOB_FRAME_WORTH = 4096 };

/* Fork the first process, before there are any threads. The others call `prepare`, if it is not
 * NULL, before they do anything. */
struct workers *workers_start(void (*prepare)(void), struct error *err) MUST_USE;

/* End the processes, but wait for none. No job may be left. NULL is fine. */
void workers_free(struct workers *w);

/*
 * To poll for reading: a job has gone on, or a process has ended. It is readable until the next
 * workers_turn(), and then for what arrives later: ask a job until it waits.
 */
int workers_fd(const struct workers *w);

/* Close what has ended, and let workers_fd() rest. */
void workers_turn(struct workers *w);

/*
 * Returns true once the process that forks the others has ended, as far as the last workers_turn()
 * has seen. No job can be started from then on, so the exporter cannot read a file again.
 */
bool workers_ended(const struct workers *w);

/* Wait until workers_fd() is readable. */
void workers_wait(const struct workers *w, int64_t wait_ms);

struct job;

/*
 * Have a process run `run` with these bytes and, unless it is negative, this descriptor. Never
 * NULL: a job that cannot be started is lost.
 */
enum { JOB_INPUT_MAX = 64 * 1024 };
struct job *job_start(struct workers *w, job_fn *run, const void *input, size_t len,
                      int fd) MUST_USE;

/* It may be waited for without an end: somebody at a terminal has to write it. */
void job_be_patient(struct job *job);

enum job_state {
    JOB_FRAME, /* It has emitted these bytes, which stay until the next call. */
    JOB_WAITS, /* Nothing for now: workers_fd() tells when to ask again. */
    JOB_HANGS, /* Likewise, but it is too long already. Asked again, it may go on after all. */
    JOB_DONE,
    JOB_LOST, /* Its process has ended, or could not be started. */
};

/* What comes next; never waits. `now_ms` is steady. */
enum job_state job_next(struct job *job, int64_t now_ms, const char **bytes, size_t *len);

/* Why nothing comes of a job that hangs, or is lost: behind "cannot read 'x': ". */
const char *job_failure(enum job_state state);

/* When job_next() may turn to JOB_HANGS; INT64_MAX for never. */
int64_t job_due(const struct job *job);

/* Forget it, done or not; its process ends when it can. NULL is fine. */
void job_free(struct job *job);
