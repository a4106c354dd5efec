/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/http/transfer.h"

/*
 * Requests of one class and the connections that they use.
 *
 * Watches over HTTP/2 share one connection for each pool. The client moves watches above the
 * server's limit of streams on a connection to other pools, which it adds as needed. Before its
 * first streams, a pool sends a probe (GET /version): without a response curl does not have this
 * limit, and requests above the limit would wait without an error. Later probes detect servers that
 * keep the connection open and do not respond. A broken connection affects only its pool.
 *
 * Over HTTP/1.1, each watch has a connection, and a pool sends no probes after the first one; TCP
 * keepalive detects dead servers (transfer.c). Requests of class REQUEST_SHORT share one pool that
 * never sends probes.
 */
enum { POOL_STREAMS = 80 }; /* Maximum of watches in a pool until the server's limit is known. */

/* Limits of connections. Over HTTP/1.1, each open request needs one. */
struct connection_limits {
    unsigned streams;
    unsigned lists;
    unsigned single_reads; /* Other requests of class REQUEST_SHORT. */
};

/* Returns the limits for `settings->sockets`. */
struct connection_limits connection_limits_compute(const struct kube_client_settings *settings);

struct connection_pool {
    struct connection_pool *next;
    const struct kube_client_settings *settings;
    enum request_class class;
    CURLM *multi;
    struct transfer *transfers;
    unsigned count;            /* Length of `transfers`, which excludes the probe. */
    unsigned connections;      /* Open sockets. */
    unsigned capacity;         /* Limit of `count` for watches; unused for REQUEST_SHORT. */
    unsigned initial_capacity; /* Capacity of a new connection. */
    unsigned most_answered;    /* Highest connection_pool_answered() seen on the connection. */
    struct transfer *probe;    /* NULL: no open probe. */
    bool ready; /* Requests may be sent: the connection's probe was answered, or REQUEST_SHORT. */
    bool was_sufficient; /* At some check of this connection, no request was waiting. */
    bool body_received;  /* The last connection_pool_perform() received bytes of a body. */
    enum http_version version;
    bool failed; /* All requests end with an error, and the client frees the pool. */
    char failure[CURL_ERROR_SIZE]; /* Error of the probe that made the pool fail; else "". */
    /* Steady times in ms. */
    int64_t probe_due_ms;
    int64_t body_received_ms;
    int64_t surplus_check_ms; /* Next check in connection_pool_take_surplus(). */
    int64_t idle_since_ms;    /* Creation, or last removal that left no transfers. */
    int64_t now_ms;
};

/* Returns a pool without connections; the caller owns it. `settings` is borrowed. */
struct connection_pool *connection_pool_new(const struct kube_client_settings *settings,
                                            enum request_class class, unsigned capacity,
                                            int64_t now_ms) MUST_USE;
/* Frees a pool without transfers and probe; connection_pool_fail() removes both. NULL allowed. */
void connection_pool_free(struct connection_pool *p);

/* The pool owns an added transfer until it has ended. Cancelling removes and frees a transfer. */
void connection_pool_add(struct connection_pool *p, struct transfer *t);
void connection_pool_cancel(struct connection_pool *p, struct transfer *t);

/*
 * Removes watches that get no response because the server accepts fewer streams than the pool has,
 * or drains the connection (GOAWAY). Returns a list of them, for another pool, and reduces the
 * capacity to the number of remaining watches. Returns NULL if there are no such watches. Checks
 * once a second at most. A watch without a response for two seconds makes a probe due.
 */
struct transfer *connection_pool_take_surplus(struct connection_pool *p) MUST_USE;

/* Sends and receives without waiting. Moves ended transfers to the front of `finished`. */
void connection_pool_perform(struct connection_pool *p, int64_t now_ms, struct transfer **finished);
/* Marks the pool as failed and moves all transfers to `finished`, with the error `why`. */
void connection_pool_fail(struct connection_pool *p, const char *why, struct transfer **finished);

/* Returns the number of requests, without the probe, that have response headers. */
unsigned connection_pool_answered(const struct connection_pool *p);

/*
 * Returns the steady time in ms of the next connection_pool_perform() if no socket is ready before;
 * INT64_MAX: no call needed.
 */
int64_t connection_pool_due(struct connection_pool *p, int64_t now_ms);

/*
 * Estimate of the server's limit of streams on a connection, which libcurl does not report. A
 * connection that the server drains looks like a lower limit. Therefore a lower limit counts only
 * if three new connections in a row have the same one, and no connection has exceeded it.
 */
struct stream_capacity {
    unsigned streams;       /* Capacity for new pools. */
    unsigned most_answered; /* Highest number of streams answered on one connection. */
    unsigned suspected;     /* Streams that the last recorded new connection accepted. */
    unsigned suspicions;    /* Number of recorded connections in a row with `suspected` streams. */
};

/* Sets the capacity for new pools to `streams` and discards all observations. */
void stream_capacity_init(struct stream_capacity *c, unsigned streams);
/* Records that one connection has `streams` answered streams. */
void stream_capacity_note_open(struct stream_capacity *c, unsigned streams);
/* Records a new connection with only `streams` streams; ignores 0 and fewer than most_answered. */
void stream_capacity_note_full(struct stream_capacity *c, unsigned streams);
