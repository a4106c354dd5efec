/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/evaluation.h"
#include "exporter/files/manifest_source.h"
#include "exporter/system/log.h"
#include "exporter/web/request_queue.h"
#include "metrics/base/error.h"

/*
 * The event loop. Its thread owns the state: it reads the sources, has the rules evaluate changed
 * objects, and publishes pages for the threads of the web server.
 *
 * The loop waits for signals, sources, files, HTTP requests and deadlines, and does most work in
 * slices of a few milliseconds. SIGTERM and SIGINT end the loop. A reload (SIGHUP, /-/reload, a
 * changed file of --kubeconfig) reads the options and all sources again while the running state
 * stays in use. The new state replaces the running one when it is complete; if the reload fails,
 * the running state stays.
 */
struct loop;

struct loop_settings {
    int argc;                   /* Number of elements of `argv`. */
    const char *const *argv;    /* Command line; parsed again by each reload. Borrowed. */
    const struct log *log;      /* Borrowed. */
    struct file_reader *reader; /* Borrowed; NULL: the loop thread reads all files itself. */
    int64_t publish_ms;         /* Maximum interval of pages while objects change. */
    int64_t refresh_ms;         /* Interval of pages while no object changes. */
};

/*
 * Blocks SIGTERM, SIGINT and SIGHUP, reads the options, listens on their addresses, and serves
 * pages that report that no data has been read yet. Starts threads, in which these signals are
 * blocked, too. Returns NULL with the reason on failure.
 */
struct loop *loop_new(const struct loop_settings *settings, struct error *err) MUST_USE;

/*
 * Stops the server, releases the Lease (waits for about a second at most), frees everything, and
 * restores the signal mask. Accepts NULL.
 */
void loop_free(struct loop *l);

enum loop_result {
    LOOP_CONTINUES, /* The caller calls loop_turn() again. */
    LOOP_STOPPED,   /* SIGTERM or SIGINT was received. */
    LOOP_FAILED,    /* The first state could not be read; `err` has the reason. */
};

/* Waits for work, at most HEARTBEAT_MAX_AGE_MS / 5, and does a slice of it. */
enum loop_result loop_turn(struct loop *l, struct error *err) MUST_USE;

/* Returns the listening socket for address `at` of --web.listen-address; owned by the loop. */
int loop_listener(const struct loop *l, size_t at);

/* Returns the bound address, such as "127.0.0.1:19180", of loop_listener(l, at). Borrowed. */
const char *loop_address(const struct loop *l, size_t at);
