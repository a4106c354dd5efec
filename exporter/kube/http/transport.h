/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * Interface for requests to an API server. kube_client.h implements it over HTTP; tests simulate a
 * server. Handlers are called while the transport does its periodic work, never during `start` or
 * `cancel`. `done` may start and cancel requests; the other handlers may not.
 */
struct transfer;

/* Expected duration of a request. The caller of `start` cancels transfers that stall. */
enum request_class {
    REQUEST_SHORT,  /* Lists, reads and writes of single objects, discovery. */
    REQUEST_STREAM, /* Watches. */
};

struct transport_result {
    bool complete;            /* Ended without an error, with any status. The body may be cut. */
    unsigned http_status;     /* 0 if there was no response. */
    int64_t retry_after_ms;   /* Wait that Retry-After requests, at most five minutes; 0: none. */
    const char *content_type; /* NULL: no such header, or no response. */
    const char *error;        /* For people; "" if `complete`. */
};

struct transport_handler {
    /* Receives decompressed bytes of a body, for any status. Returns false to end the transfer. */
    bool (*data)(void *context, unsigned http_status, const char *bytes, size_t len);
    /* Receives the end of the transfer. Not called after `cancel`. */
    void (*done)(void *context, const struct transport_result *result);
    void *context;
    /*
     * Receives status and Content-Type (NULL: no such header) when all headers of the final
     * response have come. May be NULL.
     */
    void (*responded)(void *context, unsigned http_status, const char *content_type);
};

enum transport_method {
    TRANSPORT_READ,    /* GET */
    TRANSPORT_CREATE,  /* POST: adds an object to the collection that the path names. */
    TRANSPORT_REPLACE, /* PUT */
    TRANSPORT_MERGE,   /* PATCH with a JSON merge patch. */
};

struct transport_request {
    const char *path; /* With its query. `path`, `accept` and `body` are copied. */
    const char *accept;
    enum transport_method method;
    const char *body; /* JSON; NULL for TRANSPORT_READ. */
    enum request_class class;
    struct transport_handler handler;
};

/* Numbers of requests that may be open at the same time, by kind. UINT_MAX: no limit. */
struct transport_limits {
    unsigned streams;
    unsigned lists;
    unsigned single_reads; /* All other requests. */
};

struct transport {
    /* Returns a transfer, valid until `done` returns or `cancel` is called. Never NULL: if the
     * request cannot be sent, `done` reports no response. */
    struct transfer *(*start)(void *context, const struct transport_request *request);
    /* Ends a transfer and frees it, without a call of `done`. */
    void (*cancel)(void *context, struct transfer *transfer);
    void *context;
    /* Returns the current limits; they may change at any time. NULL: no limits. */
    struct transport_limits (*room)(void *context);
};
