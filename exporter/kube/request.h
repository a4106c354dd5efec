/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/http/transport.h"
#include "exporter/kube/list_pages.h"
#include "exporter/kube/object_stream.h"

/*
 * One open request of a reflector, a list or a stream: its body goes in as bytes, events come out,
 * and at the end why it ended, whether the server, the network or the body itself is to blame.
 */

struct request_end {
    enum end_reason reason;
    const char *text;              /* For people; "" if there is nothing to say. */
    int64_t retry_after_ms;        /* For how long the server said to wait; 0: it did not. */
    bool unanswered;               /* There was no response at all. */
    const struct list_facts *page; /* A complete page of a list: `reason` counts for nothing. */
};

struct request_handler {
    /* The head of a response of 200 is here. */
    void (*answered)(void *context);
    /* So many bytes of a body came and are read; of events the last may be cut in the middle. */
    void (*heard)(void *context, size_t bytes, bool cut);
    /* One event, but no EVENT_ERROR. False ends the reading: `ended` follows. */
    watch_event_fn *event;
    /* The request is over. Not called after request_close(). What it is given ends with the call.
     */
    void (*ended)(void *context, const struct request_end *end);
    void *context;
};

struct request_spec {
    const char *path; /* With its query. Copied, as is the Accept header. */
    const char *accept;
    bool list;               /* One page of a list; else a stream of events. */
    const char *token;       /* Continue token of the page, copied; NULL: the list begins. */
    const char *api_version; /* Of the objects. Borrowed, as is the kind. */
    const char *kind;
    struct request_handler handler;
};

struct request {
    struct transport transport;
    struct transfer *transfer; /* NULL if nothing is open. */
    struct object_stream stream;
    struct strbuf error_body; /* Of a response other than 200, its beginning. */
    struct list_pages pages;  /* Progress of the list since its first page. */
    char *token;              /* Continue token of the request; NULL for a first page. Owned. */
    struct request_handler handler;
    bool list;
    bool stopped;  /* The rest of the body is ignored: the handler wants no more of it, */
    bool given_up; /* or it cannot be used, for this reason: */
    enum end_reason reason;
    int64_t retry_after_ms;
    char text[sizeof(((struct error *)NULL)->text)];
};

/* Nothing is open. */
void request_init(struct request *q, struct transport transport);

/* Open it; nothing else is open. The handler is called from the transport's turns. */
void request_open(struct request *q, const struct request_spec *spec);

/* End what may be open. */
void request_close(struct request *q);
