/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sys/socket.h>

#include "metrics/base/base.h"
#include "metrics/base/error.h"
#include "metrics/base/map.h"

/*
 * Who is connected, and who has to go.
 *
 * libmicrohttpd's own timeout is one of inactivity, which a client that sends (or receives) a
 * byte now and then outlives, and when its table is full it accepts nobody. So each phase of a
 * connection has a deadline here, and there are never more connections than the budget: for one
 * more the idlest is ended, when it comes and not later.
 *
 * The idlest: of the phase that holds most beyond its share one of the oldest, of the address that
 * has most connections (origins.h): one address does not take the places of others. Whoever has
 * sent what was not read yet is not idle but waits for us, and so does whoever has taken all that
 * was sent or took of it just now, for two seconds, and whoever has begun its first request, or
 * the handshake of TLS before that, for half a second: these are passed over. Whoever is within the
 * share of its phase stays. So clients that say nothing, that keep connections for later, and that
 * read slowly each displace their like, and the one that asks and reads at once gets its answer.
 *
 * Ending is shutdown(2): the library then sees the end and closes the socket itself.
 * connections_remove() comes before that close, under the same lock, so that a descriptor's number
 * is never used after it was given to another.
 *
 * Any thread may call any of these. Times are steady milliseconds.
 */
enum connection_state {
    CONNECTION_RECEIVING, /* Connected, its first request is not complete. */
    CONNECTION_ANSWERING, /* Its request is complete, it is being answered. */
    CONNECTION_IDLE,      /* Was answered; waits, or is sending its next request. */
    CONNECTION_CLOSING,   /* Was ended here; the library has yet to close it. */
    CONNECTION_STATES
};

/* Why a client was sent away: a row is its enumerator and what the metric calls it. */
#define REFUSALS(REFUSAL)                                                                          \
    REFUSAL(REFUSED_BUDGET, "budget")                   /* Nobody could be ended for it. */        \
    REFUSAL(REFUSED_DESCRIPTORS, "descriptors")         /* Ended because accept(2) has none. */    \
    REFUSAL(REFUSED_EVICTED_WAITING, "evicted_waiting") /* Ended for another, in each phase. */    \
    REFUSAL(REFUSED_EVICTED_SLOW, "evicted_slow")                                                  \
    REFUSAL(REFUSED_EVICTED_IDLE, "evicted_idle")                                                  \
    REFUSAL(REFUSED_HEADERS_TIMEOUT, "headers_timeout") /* Over its deadline. */                   \
    REFUSAL(REFUSED_ANSWER_TIMEOUT, "answer_timeout")

#define REFUSAL_ENUMERATOR(id, name) id,
enum connection_refusal { REFUSALS(REFUSAL_ENUMERATOR) REFUSAL_COUNT };
extern const char *const connection_refusal_names[REFUSAL_COUNT];

struct connections;
struct connection;

/* For at most `limit` connections, of which a quarter is kept for those that leave. */
struct connections *connections_new(unsigned limit) MUST_USE;

/* NULL is fine. No connection may be left. */
void connections_free(struct connections *p);

/*
 * Is there room for one connection more? Makes it, if need be and if it can: false means that
 * those who leave are not gone yet, or that nobody is idle; ask again in a moment.
 */
bool connections_make_room(struct connections *p, int64_t now_ms);

/*
 * Descriptors are missing, though the limit is not reached: end some of the idlest, and keep to
 * as few for a while. The limit rises again from sweep to sweep.
 */
void connections_reduce(struct connections *p, int64_t now_ms);

/* A connection is on its way to the library: it counts. Or it did not get there. */
void connections_reserve(struct connections *p);
void connections_cancel_reservation(struct connections *p);

/* The library has begun with one that was on its way. The connection is ours; connections_remove()
 * ends it. */
struct connection *connections_add(struct connections *p, int fd, int64_t now_ms) MUST_USE;
void connections_set_state(struct connections *p, struct connection *connection,
                           enum connection_state phase, int64_t now_ms);
void connections_remove(struct connections *p, struct connection *connection);

/*
 * What is being answered holds too much memory: end some of those who have not taken all that was
 * sent, after two seconds; who has taken longest goes first.
 */
void connections_evict_slow(struct connections *p, int64_t now_ms);

/* End those who are over their deadlines. True if there is anybody left to look at again. */
bool connections_sweep(struct connections *p, int64_t now_ms);

/* Count a client that was sent away by others than these functions. */
uint64_t connections_refused(struct connections *p, enum connection_refusal reason);

/* How many connections there are, those on their way and those that leave included. */
unsigned connections_count(struct connections *p);

/*
 * The thread that accepts connections and watches over their deadlines, and what they hold. It is
 * ours because the library's stops accepting when its table is full, or when a descriptor is
 * missing, until a client goes by itself; with none connected it spins.
 */
struct acceptor_settings {
    const int *listeners; /* Sockets that listen and do not block. Borrowed. */
    size_t listener_count;
    struct connections *connections; /* Borrowed. */
    int first_fd; /* The least number of a connection's descriptor, if there is one free. */
    /* Take over a connection, which does not block; false if it could not, and closed it. */
    bool (*add_connection)(void *context, int fd, const struct sockaddr *address, socklen_t len);
    /* Do answers hold more memory than they may? NULL: never. */
    bool (*is_memory_exceeded)(void *context);
    void *context;
};

struct acceptor;

/* Start the thread, which inherits the caller's signal mask. */
struct acceptor *acceptor_start(const struct acceptor_settings *settings,
                                struct error *err) MUST_USE;

/* End the thread; the listeners stay open. NULL is fine. */
void acceptor_stop(struct acceptor *a);

/* What the kernel knows of a connection, without reading from it. False where it does not say. */

/*
 * Where clients come from, for what one of them is not to take from all others: a host, or of IPv6
 * the network of which one host has all addresses (64 bits). Clients of a Unix socket, and those
 * whose address is not known, are one.
 */
uint64_t client_network(const struct sockaddr *address);

/* How many there are of each. Whoever has it guards it. */
struct address_count {
    uint64_t address;
    unsigned count;
};

struct address_counts {
    struct map map;
    uint64_t seed;
};
