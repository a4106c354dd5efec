/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <microhttpd.h>

#include "exporter/web/query.h"
#include "metrics/base/error.h"
#include "metrics/base/strbuf.h"

/*
 * Where the threads that serve HTTP hand over what only the loop can answer, because it reads the
 * live store. The client's connection is suspended meanwhile: it costs no thread.
 *
 * A call belongs to its request and is freed with it; the loop borrows it from request_queue_peek()
 * to request_queue_answer_first(). One is worked on at a time, in the order in which they came.
 */
struct request_queue;
struct endpoint;
struct paging;
struct request_worker;

/* A header of one answer alone. */
struct queued_request_header {
    const char *name;
    char *value; /* Owned; NULL: there is none. */
};

/* What a client asks, and what it is answered. */
struct queued_request {
    const struct endpoint *endpoint;
    struct query query;
    struct strbuf content; /* The body of the request, ... */
    bool content_is_json;  /* ... which is YAML else. */
    /* What the loop answers, between request_queue_peek() and request_queue_answer_first(). */
    unsigned status; /* 200 before. */
    const char *content_type;
    struct strbuf body; /* What does not fit is answered with 500, which says so. */
    struct queued_request_header header;
    /* Of a list that may have several pages (api/paging.h); borrowed. */
    struct paging *paging;
    const struct request_worker *request_worker; /* Who answers it; NULL: the loop. Borrowed. */
    /* The desk's own. */
    struct MHD_Connection *connection;
    struct MHD_Response *response; /* NULL until it is answered. */
    struct queued_request *next;
};

/*
 * For at most `limit` calls that wait, with answers of at most `bytes` (0: of any size) in all that
 * clients have not read yet.
 */
struct request_queue *request_queue_new(unsigned limit, uint64_t bytes) MUST_USE;
/* NULL is fine. No call may be left. */
void request_queue_free(struct request_queue *d);

/* The texts of the query are moved into the call. */
struct queued_request *queued_request_new(const struct endpoint *endpoint,
                                          struct query *query) MUST_USE;
/* NULL is fine. It must not wait for its answer. */
void queued_request_free(struct queued_request *queued_request);

/* The response of a call that was answered, which is the caller's from here on. */
struct MHD_Response *queued_request_take_response(struct queued_request *queued_request) MUST_USE;

/*
 * Suspend the connection until the loop has answered; its thread calls this, and is called again
 * then. False if nobody will answer: too many wait, or the desk is closed.
 */
bool request_queue_submit(struct request_queue *d, struct queued_request *queued_request,
                          struct MHD_Connection *connection) MUST_USE;

/* For the loop to poll for reading: a call has come since the last request_queue_peek(). */
int request_queue_fd(const struct request_queue *d);

/* The bytes of answers that clients have not read yet. Any thread may call it. */
uint64_t request_queue_unread(const struct request_queue *d);

/* The oldest call without an answer; NULL if there is none, or clients have too much to read. */
struct queued_request *request_queue_peek(struct request_queue *d);

/* That call is answered: the loop must not touch it any more. */
void request_queue_answer_first(struct request_queue *d);

/* Answer whatever waits that it will not be, and refuse what comes from now on. */
void request_queue_close(struct request_queue *d);

/*
 * A thread that does one piece of work at a time for the loop, so that none holds up its turns.
 * What the work reads is lent to it meanwhile: the loop does not touch that until it is done.
 */
struct request_worker;

struct request_worker *request_worker_new(struct error *err) MUST_USE;
/* Waits for the work that it is at. NULL is fine. */
void request_worker_free(struct request_worker *c);
/* For long work to ask, on its thread: somebody waits for it in request_worker_free(). */
bool request_worker_is_stopping(const struct request_worker *c);

/* To poll for reading: its work is done. */
int request_worker_fd(const struct request_worker *c);

/* Begin with this; it is at no other work. */
void request_worker_begin(struct request_worker *c, void (*work)(void *context), void *context);

/* True once after each request_worker_begin(): the work is done. Never waits. */
bool request_worker_collect(struct request_worker *c) MUST_USE;
