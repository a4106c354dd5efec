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
