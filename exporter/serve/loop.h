/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/evaluation.h"
#include "exporter/files/manifest_source.h"
#include "exporter/system/log.h"
#include "exporter/web/request_queue.h"
#include "metrics/base/error.h"

/*
 * The one thread that owns the state: it reads sources, has the rules evaluate
 * what changed, and publishes pages for the threads that serve them.
 *
 * It waits for signals, changed files and deadlines, and works in slices, so
 * that nothing waits for longer than one of them. SIGTERM and SIGINT end it;
 * SIGHUP reads the options and all sources again beside the running state, which
 * stays in force if that fails.
 */
struct loop;

struct loop_settings {
    int argc; /* The command line, parsed again on SIGHUP. Borrowed. */
    const char *const *argv;
    const struct log *log;      /* Borrowed. */
    struct file_reader *reader; /* Borrowed. NULL: the loop reads files itself. */
    int64_t publish_ms;         /* How long changes may wait for the next page, see throttle.h. */
    int64_t refresh_ms;         /* How old a page becomes where nothing changes. */
};

/*
 * Block the signals to read them here, listen on the addresses, and serve pages that
 * say that nothing is known yet. Starts threads, which inherit that signal mask.
 */
struct loop *loop_new(const struct loop_settings *settings, struct error *err) MUST_USE;

/* Stop serving, free everything and restore the signal mask. NULL is fine. */
void loop_free(struct loop *l);

enum loop_result {
    LOOP_CONTINUES,
    LOOP_STOPPED,  /* By a signal. */
    LOOP_FAILED, /* The sources could not be read at the start. */
};

/* Wait for work and do a slice of it. */
enum loop_result loop_turn(struct loop *l, struct error *err) MUST_USE;

/* Returns the descriptor of the socket that listens on the address `at` of the options. */
int loop_listener(const struct loop *l, size_t at);

/* Where it listens, in the order of the options. Borrowed. */
const char *loop_address(const struct loop *l, size_t at);

/*
 * Logs each problem of the manifests when it appears, and again only after it was
 * gone in between.
 */
struct problem_log {
    uint64_t *logged; /* Sorted hashes of the last update's problems. */
    size_t count;
    uint64_t rejected; /* How many problems so far kept an object from being evaluated. */
};

/*
 * Whether an evaluation has anything new to publish: a change beside a watched file wakes the loop,
 * too. All zero has seen nothing.
 */
struct change_detection {
    uint64_t evaluations; /* As they were seen last, as is the rest. */
    size_t files;
    uint64_t health;
};

/*
 * Who asks for a reload over HTTP (/-/reload) and waits for its end. One after the other: what
 * somebody changed after a reload had begun is read by the next one.
 */
struct reloads {
    struct request_queue *request_queue; /* NULL: nobody may ask. Borrowed. */
    bool waits;                          /* For the end of the reload that it has begun. */
    int64_t begun_ms;                    /* Steady. */
};
