/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sys/socket.h>

#include "metrics/base/base.h"
#include "metrics/base/error.h"

/*
 * Connections of HTTP clients: their limit, their deadlines, and the eviction of some for others.
 *
 * libmicrohttpd has a timeout for inactivity only: a client that sends or receives one byte now and
 * then stays connected. While its connection table is full it accepts no client. Therefore each
 * state of an open connection has a deadline here, and a new connection beyond the budget is
 * accepted only if another connection can be evicted.
 *
 * The evicted connection belongs to the state that exceeds its share of the budget by most, among
 * the states with evictable connections. The 16 oldest connections of this state are compared: the
 * client network with most of them loses its oldest evictable one. Not evictable are:
 * - for a new connection, those in a state that is below its share of the budget,
 * - connections with received bytes that the server has not read, except in CONNECTION_ANSWERING,
 * - for lack of descriptors, those in their state for less than 100 ms,
 * - TCP connections in CONNECTION_RECEIVING for less than 500 ms, if the client has sent a byte,
 * - connections in CONNECTION_ANSWERING for less than two seconds, unless the client stops reading.
 *
 * A connection is ended by shutdown(2); libmicrohttpd then closes the socket. connections_remove()
 * has to be called before this close: the kernel may reuse the descriptor's number after it.
 *
 * All functions may be called on any thread. Times are in milliseconds of the steady clock.
 */
enum connection_state {
    CONNECTION_RECEIVING, /* TLS handshake, headers of the first request, or any request body. */
    CONNECTION_ANSWERING, /* The request is complete; the response is not. */
    CONNECTION_IDLE,    /* After a response, until the headers of the next request are complete. */
    CONNECTION_CLOSING, /* After shutdown(2), until libmicrohttpd closes the socket. */
    CONNECTION_STATES
};

/* Reasons to refuse or end a connection: enumerator, value of the label `reason` of the metric. */
#define REFUSALS(REFUSAL)                                                                          \
    /* For at least 500 ms, no other connection was evictable, or too many were closing. */        \
    REFUSAL(REFUSED_BUDGET, "budget")                                                              \
    REFUSAL(REFUSED_DESCRIPTORS, "descriptors") /* Evicted: accept(2) lacked resources. */         \
    /* Evicted for a new connection, by the state of the evicted connection. */                    \
    REFUSAL(REFUSED_EVICTED_WAITING, "evicted_waiting")                                            \
    REFUSAL(REFUSED_EVICTED_SLOW, "evicted_slow") /* Also: to free memory. */                      \
    REFUSAL(REFUSED_EVICTED_IDLE, "evicted_idle")                                                  \
    REFUSAL(REFUSED_HEADERS_TIMEOUT, "headers_timeout") /* Deadline of CONNECTION_RECEIVING. */    \
    REFUSAL(REFUSED_ANSWER_TIMEOUT, "answer_timeout")   /* Deadline of CONNECTION_ANSWERING. */

#define REFUSAL_ENUMERATOR(id, name) id,
enum connection_refusal { REFUSALS(REFUSAL_ENUMERATOR) REFUSAL_COUNT };
extern const char *const connection_refusal_names[REFUSAL_COUNT];

struct connections;
struct connection;

/*
 * Returns a set of at most `limit` connections; a quarter, at least one, is kept for closing ones.
 * With a limit below 2, one open and one closing connection are allowed.
 */
struct connections *connections_new(unsigned limit) MUST_USE;

/* Frees the set; NULL is allowed. All connections must have been removed. */
void connections_free(struct connections *p);

/*
 * Adds a connection in place of its reservation, in state CONNECTION_RECEIVING. The result is owned
 * by the set and freed by connections_remove(). `fd` is borrowed until then.
 */
struct connection *connections_add(struct connections *p, int fd, int64_t now_ms) MUST_USE;
/* Changes the state and restarts the deadline. Does nothing if the connection is closing. */
void connections_set_state(struct connections *p, struct connection *connection,
                           enum connection_state state, int64_t now_ms);
/* Removes and frees the connection, after waiting for a thread that is ending the connection. */
void connections_remove(struct connections *p, struct connection *connection);

/* Returns the number of connections refused or ended for this reason since connections_new(). */
uint64_t connections_refused(struct connections *p, enum connection_refusal reason);

/*
 * Thread that accepts connections and enforces their deadlines and limits. libmicrohttpd's own
 * thread stops accepting when its table is full or no descriptor is left, until a client
 * disconnects; without connected clients it spins.
 */
struct acceptor_settings {
    const int *listeners; /* Non-blocking listening sockets. Borrowed. */
    size_t listener_count;
    struct connections *connections; /* Borrowed. */
    int first_fd; /* Lowest descriptor number for connections, if such a number is free. */
    /* Takes over a non-blocking connection; returns false after closing it on failure. */
    bool (*add_connection)(void *context, int fd, const struct sockaddr *address, socklen_t len);
    /* Returns true if responses use more memory than allowed. NULL: no limit. */
    bool (*is_memory_exceeded)(void *context);
    void *context;
};

struct acceptor;

/*
 * Starts the thread, which inherits the caller's signal mask. The settings are copied. Returns NULL
 * with the reason if the eventfd or the thread cannot be created.
 */
struct acceptor *acceptor_start(const struct acceptor_settings *settings,
                                struct error *err) MUST_USE;

/* Ends the thread and frees the acceptor; NULL is allowed. The listeners stay open. */
void acceptor_stop(struct acceptor *a);

/*
 * Returns a number for the network of a client, so that one host cannot use up a limit for all:
 * the IPv4 address (even if mapped to IPv6), or the first 64 bits of the IPv6 address. Returns 0
 * for NULL and for other address families, such as Unix sockets.
 */
uint64_t client_network(const struct sockaddr *address);

/* Used only by connections.c and tests. */

/*
 * Returns true if one more connection may be accepted, after evicting another one if necessary.
 * Returns false if no connection is evictable, or if too many are still closing: try again later.
 */
bool connections_make_room(struct connections *p, int64_t now_ms);

/*
 * Called when accept(2) lacks resources. Lowers the limit to 7/8 of the connections, unless they
 * exceed the limit or are at most 8. Ends the oldest evictable connections until the open ones fit
 * into the budget and at least one is closing. connections_sweep() raises the limit again in steps.
 */
void connections_reduce(struct connections *p, int64_t now_ms);

/* Counts an accepted connection that is being passed to libmicrohttpd. */
void connections_reserve(struct connections *p);
/* Takes a reservation back, because libmicrohttpd has refused the connection. */
void connections_cancel_reservation(struct connections *p);

/*
 * Ends some connections to free the memory of their responses. These have been in
 * CONNECTION_ANSWERING for two seconds or longer, the longest first, and have unsent bytes.
 */
void connections_evict_slow(struct connections *p, int64_t now_ms);

/*
 * Ends the connections that have exceeded the deadline of their state. Raises a lowered limit by
 * one step each 500 ms. Returns true if connections with a deadline, or reservations, are left.
 */
bool connections_sweep(struct connections *p, int64_t now_ms);

/* Used only by tests. Counts all connections, including reservations and closing ones. */
unsigned connections_count(struct connections *p);
