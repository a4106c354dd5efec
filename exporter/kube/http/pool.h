/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/http/transfer.h"

/*
 * Requests and the connection that they share: one for streams, a few for lists.
 * There are several pools, each small enough for the streams that a server allows
 * on a connection, so that what is wrong with one connection is found and mended
 * in its pool alone.
 *
 * A pool of streams begins with a probe: until that is answered nobody knows how
 * many streams the server takes, and those sent too much would wait for ever,
 * where nobody sees it. Later probes find the peer that is there but does not answer.
 */
enum { POOL_STREAMS = 80 };

struct pool {
    struct pool *next;
    const struct client_settings *settings;
    enum request_class class;
    CURLM *multi;
    struct transfer *transfers;
    unsigned count;         /* Transfers, without the probe. */
    unsigned connections;   /* Sockets that are open. */
    unsigned capacity;      /* As many streams as it takes; lists are not counted. */
    struct transfer *probe; /* NULL if none is on its way. */
    bool warm;              /* A probe has been answered. */
    bool proven;            /* It once had room for all that it was given. */
    bool heard;             /* Bytes came since pool_perform() was called last. */
    bool failed;            /* Whatever is on it is lost: it has to go. */
    char failure[CURL_ERROR_SIZE];
    int64_t probe_ms; /* When the next probe is due. */
    int64_t heard_ms;
    int64_t check_ms; /* When to look for requests that find no room. */
    int64_t idle_ms;  /* Since when it has been empty. */
    int64_t now_ms;
};

struct pool *pool_new(const struct client_settings *settings, enum request_class class,
                      unsigned capacity, int64_t now_ms) MUST_USE;
/* It must be empty, or have failed and been emptied by pool_take_finished(). */
void pool_free(struct pool *p);

/* The transfer is the pool's until it is over or cancelled. */
void pool_add(struct pool *p, struct transfer *t);
void pool_cancel(struct pool *p, struct transfer *t);

/*
 * The requests that the connection does not take, linked, to be added to another pool:
 * the server takes fewer streams than the pool thought, or wants to be rid of the
 * connection. The capacity is then what is left. NULL for none.
 */
struct transfer *pool_take_surplus(struct pool *p) MUST_USE;

/* Let curl work, and put the transfers that are over in front of `finished`. */
void pool_perform(struct pool *p, int64_t now_ms, struct transfer **finished);

/* End everything on it. */
void pool_fail(struct pool *p, const char *why, struct transfer **finished);

/* When there is something to do even if no socket stirs. */
int64_t pool_due(struct pool *p, int64_t now_ms);
