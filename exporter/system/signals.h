/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <signal.h>

#include "metrics/base/error.h"

/* SIGTERM, SIGINT and SIGHUP as something to poll for and to read. */
struct signals {
    int fd; /* -1: not open. */
    sigset_t before;
};

/* Block them in this thread, and in those that it starts from now on. */
bool signals_open(struct signals *s, struct error *err) MUST_USE;

/* As it was before. */
void signals_close(struct signals *s);

/* The next one that has come; 0 if there is none. */
int signals_next(const struct signals *s);

/*
 * Sees to it that the process ends once it is told to, whatever holds the loop or its shutdown: a
 * name that is being looked up, a thread that does not end, a call that does not return.
 *
 * From SIGTERM, SIGINT or shutdown_deadline_begin() on there are SHUTDOWN_DEADLINE_MS for an
 * orderly end, then the process exits with status 0 as it is. Kubernetes, systemd and people would
 * wait for it, and then kill it anyway.
 */
struct shutdown_deadline;

enum { SHUTDOWN_DEADLINE_MS = 700 };

/* Block both signals, which the caller still has to read, and start the guard's thread. */
struct shutdown_deadline *shutdown_deadline_start(struct error *err) MUST_USE;

/*
 * Starts the SHUTDOWN_DEADLINE_MS. The loop must call this after a signal: the guard misses a
 * signal that the loop reads first.
 */
void shutdown_deadline_begin(struct shutdown_deadline *g);

/*
 * Has the guard close this listening socket before it exits. The kernel keeps a process, and its
 * open sockets, while a thread is blocked in a read that hangs.
 */
enum { SHUTDOWN_LISTENERS_MAX = 64 };
void shutdown_deadline_add_listener(struct shutdown_deadline *g, int fd);

/* The end is reached: stop the thread. Both signals stay blocked. NULL is fine. */
void shutdown_deadline_free(struct shutdown_deadline *g);
