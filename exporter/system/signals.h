/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <signal.h>

#include "metrics/base/error.h"

/* Descriptor to poll for SIGTERM, SIGINT and SIGHUP. */
struct signals {
    int fd;          /* signalfd(2); -1 if closed. */
    sigset_t before; /* Signal mask before signals_open(). */
};

/* Blocks the signals in the calling thread and threads that it starts later, also on failure. */
bool signals_open(struct signals *s, struct error *err) MUST_USE;

/* If the descriptor is open, closes it and restores the signal mask of the calling thread. */
void signals_close(struct signals *s);

/* Returns the number of a pending signal, which is consumed; 0 without one. Does not block. */
int signals_next(const struct signals *s);

/*
 * Thread that ends the process with _exit(0) if SHUTDOWN_DEADLINE_MS after SIGTERM, SIGINT or
 * shutdown_deadline_begin() the process still runs and shutdown_deadline_free() was not called. The
 * event loop or the shutdown may be blocked, for example in a name lookup or a read from a mount.
 */
struct shutdown_deadline;

enum { SHUTDOWN_DEADLINE_MS = 700 };

/*
 * Blocks SIGTERM and SIGINT in the calling thread, and starts the deadline thread, which does not
 * consume these signals. Returns NULL with the reason on errors.
 */
struct shutdown_deadline *shutdown_deadline_start(struct error *err) MUST_USE;

/*
 * Starts the deadline. To be called after a signal was read with signals_next(): the deadline
 * thread does not notice a signal that another thread consumes first.
 */
void shutdown_deadline_begin(struct shutdown_deadline *d);

enum { SHUTDOWN_LISTENERS_MAX = 64 };

/*
 * Adds a listening socket that the deadline thread closes before _exit(). A thread blocked in the
 * kernel, for example by NFS, keeps the process and its open sockets. Ignores sockets beyond
 * SHUTDOWN_LISTENERS_MAX.
 */
void shutdown_deadline_add_listener(struct shutdown_deadline *d, int fd);

/* Stops the deadline thread, and frees `d`. SIGTERM and SIGINT stay blocked. Accepts NULL. */
void shutdown_deadline_free(struct shutdown_deadline *d);
