/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/http/transfer.h"

/*
 * Requests and the connection that they share; lists have more where a server accepts few streams.
 * There are several pools, each small enough for the streams that a server allows
 * on a connection, so that a broken connection is found and replaced in its pool
 * alone.
 *
 * A pool of streams begins with a probe: until that is answered curl does not know how
 * many streams the server accepts, and those beyond would wait for ever,
 * unnoticed. Later probes find a peer that is connected and does not answer.
 */
enum { POOL_STREAMS = 80 };

/*
 * Over HTTP/1 each request takes a connection: how many there may be. One pool then has all
 * streams, and no probes, which would go over connections of their own: the kernel finds dead
 * peers (see transfer.c).
 */
struct connection_limits {
    unsigned streams;
    unsigned lists;
    unsigned single_reads; /* Other requests that end soon. */
};
struct connection_limits connection_limits_compute(const struct kube_client_settings *settings);

struct connection_pool {
    struct connection_pool *next;
    const struct kube_client_settings *settings;
    enum request_class class;
    CURLM *multi;
    struct transfer *transfers;
    unsigned count;         /* Transfers, without the probe. */
    unsigned connections;   /* Sockets that are open. */
    unsigned capacity;      /* As many streams as fit on it; lists are not counted. */
    unsigned granted;       /* The same of a new connection. */
    unsigned most;          /* Streams that were answered on it at a time. */
    struct transfer *probe; /* NULL if none is under way. */
    bool warm;              /* A probe has been answered. */
    bool proven;            /* It once had room for all of its streams. */
    bool heard;             /* Bytes came since connection_pool_perform() was called last. */
    enum http_version version;
    bool failed; /* All that is on it is lost: free it. */
    char failure[CURL_ERROR_SIZE];
    int64_t probe_ms; /* When the next probe is due. */
    int64_t heard_ms;
    int64_t check_ms; /* When to look for requests without room. */
    int64_t idle_ms;  /* Since when it has been empty. */
    int64_t now_ms;
};

struct connection_pool *connection_pool_new(const struct kube_client_settings *settings,
                                            enum request_class class, unsigned capacity,
                                            int64_t now_ms) MUST_USE;
/* It must be empty: connection_pool_fail() empties it. */
void connection_pool_free(struct connection_pool *p);

/* The pool owns the transfer until that is finished or cancelled. */
void connection_pool_add(struct connection_pool *p, struct transfer *t);
void connection_pool_cancel(struct connection_pool *p, struct transfer *t);

/*
 * Take out the requests that have no room on the connection, as a list, to be added to
 * another pool: the server accepts fewer streams than the pool has, or drains the
 * connection. What stays is then the capacity. NULL if all have room.
 */
struct transfer *connection_pool_take_surplus(struct connection_pool *p) MUST_USE;

/* Let curl work, and put the transfers that have ended in front of `finished`. */
void connection_pool_perform(struct connection_pool *p, int64_t now_ms, struct transfer **finished);

/* End everything on it. */
void connection_pool_fail(struct connection_pool *p, const char *why, struct transfer **finished);

/* How many of its requests have a response that has begun. */
unsigned connection_pool_answered(const struct connection_pool *p);

/* When there is something to do even if no socket is ready. */
int64_t connection_pool_due(struct connection_pool *p, int64_t now_ms);

/*
 * How many streams the server accepts on a connection, which libcurl does not tell: what is found
 * out by those that it holds back. A connection that the server drains (GOAWAY) holds them back as
 * well, be it old or new; so the server's limit is what some new ones in a row have in common, and
 * no connection has exceeded.
 */
struct stream_capacity {
    unsigned streams;    /* To be had on a new connection. */
    unsigned most;       /* Had on one at a time. */
    unsigned suspected;  /* What the last new ones had room for, */
    unsigned suspicions; /* so many in a row. */
};

/* Nothing is known: a new connection is to have `streams`. */
void stream_capacity_init(struct stream_capacity *c, unsigned streams);

/* A connection has so many at a time. */
void stream_capacity_note_open(struct stream_capacity *c, unsigned streams);

/* A new connection had room for no more than so many. */
void stream_capacity_note_full(struct stream_capacity *c, unsigned streams);
