/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sys/types.h>

#include "metrics/base/error.h"
#include "metrics/base/strbuf.h"

/*
 * A child process in its own process group, with output and end that can be polled. The child
 * inherits no descriptors except those that child_start() sets up: /dev/null as standard input, and
 * pipes as standard output and standard error.
 */
struct child {
    pid_t pid; /* 0 if no child runs. */
    int end;   /* pidfd, readable once the child has ended; -1 if closed. */
    int out;   /* Read end of standard output, non-blocking; -1 if closed. */
    int err;   /* Read end of standard error, non-blocking; -1 if closed. */
};

#define CHILD_NONE ((struct child){.end = -1, .out = -1, .err = -1})

/*
 * Starts a program. A name without a slash is searched in the exporter's PATH. A NULL ends each of
 * the two lists. The caller gives `c` to child_release(). Returns false with an error if the
 * program cannot run; `c` is unchanged then.
 */
bool child_start(struct child *c, const char *program, char *const *arguments,
                 char *const *environment, struct error *err) MUST_USE;

struct child_status {
    bool exited; /* False if a signal ended the child, or if unknown. */
    int code;    /* Exit code or signal number; 0 if unknown. */
};

/*
 * Stores the exit status and returns true if the child has ended. Does not wait. Its output may
 * still be in the pipes. `c` must be a started child for which no earlier call returned true.
 */
bool child_try_wait(struct child *c, struct child_status *out) MUST_USE;

/* Sends SIGKILL to the process group of a running child. Does not wait. */
void child_kill(const struct child *c);

/* Closes a descriptor, unless it is closed, and sets it to -1. */
void child_close(int *fd);

/* Closes all descriptors. Kills the process group of a running child, and waits for its end. */
void child_release(struct child *c);

/* ---- one run of a program ---- */

struct child_command {
    const char *program;          /* As in child_start(). */
    const char *const *arguments; /* With the name of the program; ends with NULL. */
    const char *folder;           /* Working folder; NULL: that of the exporter. */
    unsigned time_max_seconds;    /* A longer run is killed. */
    struct strbuf *messages;      /* Receives the end of standard error; may be NULL. */
};

/*
 * Runs a program in the environment of the exporter, waits for its end, and appends its standard
 * output to `out`. Returns false with the reason, and the last line of standard error, if the
 * program cannot run, exits with another code than 0, is killed, exceeds its time, or writes more
 * than `out` can hold. Blocks: only for commands, not for `serve`.
 */
bool child_run(const struct child_command *command, struct strbuf *out, struct error *err) MUST_USE;
