/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <microhttpd.h>

#include "exporter/web/query.h"
#include "metrics/base/error.h"
#include "metrics/base/strbuf.h"

/*
 * Queue of HTTP requests for the event loop: to endpoints, which need the live store, or to reload.
 * Threads of libmicrohttpd enqueue; a waiting connection is suspended and occupies no thread.
 *
 * A struct exchange (routes.h) owns its queued request. The loop borrows the request from
 * request_queue_peek() to request_queue_answer_first(): one at a time, in the order of arrival.
 */
struct request_queue;
struct endpoint;
struct paging;

/*
 * Thread that runs one function at a time for the loop, so that long work does not block the loop.
 * The loop must not change data that the function reads until request_worker_collect() is true.
 */
struct request_worker;

/* Additional header of a response. */
struct queued_request_header {
    const char *name;
    char *value; /* Owned; NULL: no header. */
};

struct queued_request {
    const struct endpoint *endpoint; /* NULL for a reload. */
    struct query query;
    struct strbuf content; /* Body of the HTTP request. */
    bool content_is_json;  /* False: YAML. */
    /* The response. The loop or the worker sets these members before the answer. */
    unsigned status; /* Initially 200. */
    const char *content_type;
    struct strbuf body; /* Body of the response. If overfull, an error with status 500 is sent. */
    struct queued_request_header header;
    struct paging *paging; /* Open paging of a list (api_paging.h); else NULL. Borrowed. */
    const struct request_worker *request_worker; /* Runs the endpoint; NULL: the loop. Borrowed. */
    /* Private to the queue. */
    struct MHD_Connection *connection;
    struct MHD_Response *response; /* NULL until the request is answered, and once taken. */
    struct queued_request *next;
};

/*
 * Returns a queue for at most `limit` waiting requests. The loop gets no request while clients have
 * at least `bytes` of responses to read (0: unlimited).
 */
struct request_queue *request_queue_new(unsigned limit, uint64_t bytes) MUST_USE;
/* Frees the queue; NULL is allowed. No request may wait and no response may be unread. */
void request_queue_free(struct request_queue *q);

/* Returns a request that takes over the texts of the query, which is empty afterwards. */
struct queued_request *queued_request_new(const struct endpoint *endpoint,
                                          struct query *query) MUST_USE;
/* Frees the request, which must not be in the queue; NULL is allowed. */
void queued_request_free(struct queued_request *request);

/* Returns the response of an answered request and transfers its ownership to the caller. */
struct MHD_Response *queued_request_take_response(struct queued_request *request) MUST_USE;

/*
 * Enqueues the request and suspends its connection until the loop has answered; libmicrohttpd then
 * calls the request handler again. The caller, the thread of the connection, keeps the ownership of
 * the request. Returns false, without suspending, if the queue is full or closed.
 */
bool request_queue_submit(struct request_queue *q, struct queued_request *request,
                          struct MHD_Connection *connection) MUST_USE;

/*
 * Returns a descriptor, readable if since the last request_queue_peek() a request was enqueued, or
 * request_queue_answer_first() has left others.
 */
int request_queue_fd(const struct request_queue *q);

/* Returns the bytes of responses that clients have not read. Any thread may call it. */
uint64_t request_queue_unread(const struct request_queue *q);

/*
 * Returns the oldest request; NULL if the queue is empty, or clients have too many bytes to read.
 */
struct queued_request *request_queue_peek(struct request_queue *q);

/*
 * Makes the response of the oldest request, removes the request from the queue and resumes its
 * connection, which sends the response. The loop must not use the request afterwards.
 */
void request_queue_answer_first(struct request_queue *q);

/* Answers all waiting requests with 503, and refuses further ones. The loop must have stopped. */
void request_queue_close(struct request_queue *q);

/* Starts the thread. Returns NULL with the reason if that fails. */
struct request_worker *request_worker_new(struct error *err) MUST_USE;
/* Waits for the current work and ends the thread; NULL is allowed. */
void request_worker_free(struct request_worker *w);
/* Returns true once request_worker_free() waits for the work, which should then end early. */
bool request_worker_is_stopping(const struct request_worker *w);

/* Returns a descriptor, readable if the work is done and not yet collected. */
int request_worker_fd(const struct request_worker *w);

/* Starts work. The previous work must have been collected. */
void request_worker_begin(struct request_worker *w, void (*work)(void *context), void *context);

/* Returns true once after the end of the work; false without work or before. Does not wait. */
bool request_worker_collect(struct request_worker *w) MUST_USE;
