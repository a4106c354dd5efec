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
 * A call belongs to its request and is freed with it; the loop borrows it from desk_next() to
 * desk_answer(). One is worked on at a time, in the order in which they came.
 */
struct desk;
struct endpoint;
struct paging;
struct clerk;

/* A header of one answer alone. */
struct call_header {
    const char *name;
    char *value; /* Owned; NULL: there is none. */
};

/* What a client asks, and what it is answered. */
struct call {
    const struct endpoint *endpoint;
    struct query query;
    struct strbuf content; /* The body of the request, ... */
    bool content_is_json;  /* ... which is YAML else. */
    /* What the loop answers, between desk_next() and desk_answer(). */
    unsigned status; /* 200 before. */
    const char *content_type;
    struct strbuf body; /* What does not fit is answered with 500, which says so. */
    struct call_header header;
    /* Of a list that may have several pages (api/paging.h); borrowed. */
    struct paging *paging;
    const struct clerk *clerk; /* Who answers it; NULL: the loop. Borrowed. */
    /* The desk's own. */
    struct MHD_Connection *connection;
    struct MHD_Response *response; /* NULL until it is answered. */
    struct call *next;
};

/*
 * For at most `limit` calls that wait, with answers of at most `bytes` (0: of any size) in all that
 * clients have not read yet.
 */
struct desk *desk_new(unsigned limit, uint64_t bytes) MUST_USE;
/* NULL is fine. No call may be left. */
void desk_free(struct desk *d);

/* The texts of the query are moved into the call. */
struct call *call_new(const struct endpoint *endpoint, struct query *query) MUST_USE;
/* NULL is fine. It must not wait for its answer. */
void call_free(struct call *call);

/* The response of a call that was answered, which is the caller's from here on. */
struct MHD_Response *call_response(struct call *call) MUST_USE;

/*
 * Suspend the connection until the loop has answered; its thread calls this, and is called again
 * then. False if nobody will answer: too many wait, or the desk is closed.
 */
bool desk_submit(struct desk *d, struct call *call, struct MHD_Connection *connection) MUST_USE;

/* For the loop to poll for reading: a call has come since the last desk_next(). */
int desk_fd(const struct desk *d);

/* The bytes of answers that clients have not read yet. Any thread may call it. */
uint64_t desk_unread(const struct desk *d);

/* The oldest call without an answer; NULL if there is none, or clients have too much to read. */
struct call *desk_next(struct desk *d);

/* That call is answered: the loop must not touch it any more. */
void desk_answer(struct desk *d);

/* Answer whatever waits that it will not be, and refuse what comes from now on. */
void desk_close(struct desk *d);

/*
 * A thread that does one piece of work at a time for the loop, so that none holds up its turns.
 * What the work reads is lent to it meanwhile: the loop does not touch that until it is done.
 */
struct clerk;

struct clerk *clerk_new(struct error *err) MUST_USE;
/* Waits for the work that it is at. NULL is fine. */
void clerk_free(struct clerk *c);
/* For long work to ask, on its thread: somebody waits for it in clerk_free(). */
bool clerk_is_ending(const struct clerk *c);

/* To poll for reading: its work is done. */
int clerk_fd(const struct clerk *c);

/* Begin with this; it is at no other work. */
void clerk_begin(struct clerk *c, void (*work)(void *context), void *context);

/* True once after each clerk_begin(): the work is done. Never waits. */
bool clerk_done(struct clerk *c) MUST_USE;
