/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sys/types.h>

#include "metrics/base/error.h"

/*
 * A program that runs beside us, in a process group of its own: what it prints
 * and when it ends can be polled for. It inherits nothing that is not named here.
 */
struct child {
    pid_t pid; /* 0: none. */
    int end;   /* A pidfd: readable once it has ended. */
    int out;   /* What it prints; never blocks. -1 once closed. */
    int err;
};

#define CHILD_NONE ((struct child){.end = -1, .out = -1, .err = -1})

/* A `program` without a slash is looked for in our own PATH. Both lists end with NULL. */
bool child_start(struct child *c, const char *program, char *const *arguments,
                 char *const *environment, struct error *err) MUST_USE;

/* Kill it and all of its group. It has still to end. */
void child_kill(const struct child *c);

struct child_end {
    bool exited; /* By itself, with `code`; else by the signal `code`. */
    int code;
};

/* True once it has ended; never waits. Then there is only output left to read. */
bool child_ended(struct child *c, struct child_end *out) MUST_USE;

/* Close everything; a child that still runs is killed and waited for. */
void child_release(struct child *c);
