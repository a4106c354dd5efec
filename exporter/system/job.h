/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/error.h"

/*
 * A worker's side of a job (workers.h): a process of its own, which does one job at a time. It
 * has what our process had when it started, and no more: no options, no log.
 */
struct job_output;

/* Do the job; it is done when this returns. `fd` is closed by the caller; -1 without one. */
typedef void job_fn(struct job_output *out, const char *input, size_t len, int fd);

/* Hand over bytes, at most JOB_FRAME_MAX. Waits for who reads them, and ends the process if
 * nobody does any more. */
enum { JOB_FRAME_MAX = 128 * 1024 };
void job_emit(struct job_output *out, const void *bytes, size_t len);

/* What goes through the sockets, before the bytes. */
struct job_request {
    job_fn *run; /* Where it is in memory: all of us are forks of one process. */
    uint32_t len;
};
struct job_frame {
    uint32_t len;
    bool last; /* The job is done; there are no bytes. */
};

/* Send all bytes over a socket, the first of them with the descriptor unless it is negative. */
bool job_send(int socket, const void *bytes, size_t len, int fd, int flags) MUST_USE;

/*
 * Fork a process for each socket that arrives on this one, and have it prepare itself (NULL: as it
 * is) and do the jobs that arrive on that. Returns when nobody is at the other end any more.
 */
void job_serve_processes(int socket, void (*prepare)(void));
