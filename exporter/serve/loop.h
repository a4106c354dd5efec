/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/system/log.h"

/*
 * The one thread that owns the state: it reads sources, has the rules look at
 * what changed, and publishes pages for the threads that serve them.
 *
 * It waits for signals, changed files and deadlines, and works in slices, so
 * that nothing waits for more than one of them. SIGTERM and SIGINT end it;
 * SIGHUP reads the options and all sources again, beside the running state,
 * which stays if that fails.
 */
struct loop;

struct loop_settings {
    int argc; /* The command line, to be read again on SIGHUP. Borrowed. */
    const char *const *argv;
    const struct log *log; /* Borrowed. */
    int64_t publish_ms;    /* How long changes may wait for the next page, see throttle.h. */
    int64_t refresh_ms;    /* How old a page becomes where nothing changes. */
};

/*
 * Take over the signals, listen on the addresses, serve pages that say that
 * nothing is known yet. Starts threads: they get the signal mask that this sets.
 */
struct loop *loop_new(const struct loop_settings *settings, struct error *err) MUST_USE;

/* Stop serving and let everything go; the signals are as before. Takes NULL. */
void loop_free(struct loop *l);

enum loop_step {
    LOOP_GOES_ON,
    LOOP_ENDED,  /* A signal said so. */
    LOOP_FAILED, /* The sources could not be read at the start. */
};

/* Wait for something to do and do a slice of it. The reason of a failure goes to `err`. */
enum loop_step loop_turn(struct loop *l, struct error *err) MUST_USE;

/* Where it listens, in the order of the options. Borrowed. */
const char *loop_address(const struct loop *l, size_t at);
