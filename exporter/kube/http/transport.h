/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * How requests reach an API server. The client does it over HTTP; tests put a
 * server of their own here.
 *
 * Handlers are called from the transport's own turn, never from within start or
 * cancel, and may not start or cancel anything themselves, but for `done`, which may.
 */
struct transfer;

/* Streams stay open; short requests end soon. Whoever starts either gives it up if it stalls. */
enum request_class { REQUEST_SHORT, REQUEST_STREAM };

struct transport_result {
    bool complete;        /* It ended as HTTP demands. That proves little: look at the body. */
    unsigned http_status; /* 0 if there was no response. */
    int64_t retry_after_ms;
    const char *content_type; /* NULL if there is none. */
    const char *error;        /* For people; "" if complete. */
};

struct transport_handler {
    /* The next bytes of the body, whatever the status. False gives up the transfer. */
    bool (*data)(void *context, unsigned http_status, const char *bytes, size_t len);
    /* The transfer has ended. Not called after cancel. */
    void (*done)(void *context, const struct transport_result *result);
    void *context;
    /* The head of the response is here, the body may be long in coming. NULL if of no interest. */
    void (*responded)(void *context, unsigned http_status);
};

/* What a request does with the object, or the collection, that its path names. */
enum transport_method {
    TRANSPORT_READ,
    TRANSPORT_CREATE,  /* POST: add the object to the collection. */
    TRANSPORT_REPLACE, /* PUT */
    TRANSPORT_MERGE,   /* PATCH: merge JSON into the object. */
};

struct transport_request {
    const char *path; /* With its query. Copied, as are the Accept header and the body. */
    const char *accept;
    enum transport_method method;
    const char *body; /* JSON; NULL for TRANSPORT_READ alone. */
    enum request_class class;
    struct transport_handler handler;
};

/* How many requests of each sort find room on the connections that it may open. */
struct transport_room {
    unsigned streams;
    unsigned lists;
    unsigned single_reads;
};

struct transport {
    /* Never NULL: a request that cannot be sent ends without a response. Ends with `done` or
     * cancel. */
    struct transfer *(*start)(void *context, const struct transport_request *request);
    void (*cancel)(void *context, struct transfer *transfer);
    void *context;
    /* May change with every turn. NULL: any number of them. */
    struct transport_room (*room)(void *context);
};
