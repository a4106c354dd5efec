/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/error.h"

/*
 * Closes connections that would otherwise stay open for ever.
 *
 * libmicrohttpd's own timeout is one of inactivity, which a client that sends
 * (or receives) a byte now and then outlives; and when its table is full it accepts
 * no further connection. So each phase of a connection has a deadline here, and near
 * the limit those that wait for a request are closed, the oldest first.
 *
 * Ending is shutdown(2): the library then sees the end and closes the socket
 * itself. reaper_remove() comes before that close, under the same lock, so that a
 * descriptor's number is never used after it was given to another.
 */
enum reaper_phase {
    REAPER_HEADERS, /* Connected, its first request is not complete. */
    REAPER_ANSWER,  /* Its request is complete, it is being answered. */
    REAPER_IDLE,    /* Was answered; waits, or is sending its next request. */
    REAPER_PHASES
};

struct reaper;
struct reaper_peer;

/* For at most `limit` connections. */
struct reaper *reaper_new(unsigned limit) MUST_USE;

/* Stop the thread, if it was started. NULL is fine. No connection may be left. */
void reaper_free(struct reaper *r);

/* Start the thread that watches the connections. */
bool reaper_start(struct reaper *r, struct error *err) MUST_USE;

/* A connection on this socket. The peer is the reaper's; reaper_remove() ends it. */
struct reaper_peer *reaper_add(struct reaper *r, int fd, int64_t now_ms) MUST_USE;
void reaper_enter(struct reaper *r, struct reaper_peer *peer, enum reaper_phase phase,
                  int64_t now_ms);
void reaper_remove(struct reaper *r, struct reaper_peer *peer);

/* Close the connections that are due; answers how many. The thread calls it, and tests. */
unsigned reaper_sweep(struct reaper *r, int64_t now_ms);

/* The clock all of these times are of: milliseconds that only go forward. */
int64_t reaper_now_ms(void);
