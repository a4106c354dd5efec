/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/http/transport.h"
#include "exporter/kube/object_stream.h"
#include "exporter/options/namespace_filter.h"
#include "exporter/system/log.h"
#include "exporter/system/rate_limit.h"
#include "metrics/base/base.h"

/* ---- pages of a list ---- */

/*
 * Detects lists that go on without progress. A server may return pages without objects, as
 * Kubernetes allows for selectors, but at most LIST_EMPTY_PAGES_MAX in a row. A list fails if a
 * page returns the continue token that asked for it, if pages with the same objects repeat, or if
 * the list has more than LIST_PAGES_MAX pages. remainingItemCount is an estimate and is not used.
 */
enum { LIST_EMPTY_PAGES_MAX = 5, LIST_PAGES_MAX = 4000 };

struct list_pages {
    unsigned pages;      /* Complete pages so far. */
    unsigned empty;      /* Pages without objects in a row. */
    unsigned objects;    /* Objects in the open page. */
    bool unnamed;        /* An object of the open page has no name: the page cannot be compared. */
    uint64_t sum;        /* Sum of the hashes of the objects' names in the open page. */
    uint64_t compared;   /* `sum` of the page that later pages are compared with; 0: none. */
    unsigned compare_at; /* The next page with objects, from this number on, sets `compared`. */
};

/* ---- one request ---- */

/*
 * A request of a reflector or audit: one page of a list, or a stream of events. Turns the bytes of
 * the response into events and determines why the request ended. Runs in the loop thread.
 */

struct reflector_request_end {
    enum end_reason reason;
    const char *text;             /* For users; "" without an error or a known reason. */
    int64_t retry_after_ms;       /* Wait that the server asks for; 0 without one. */
    bool unanswered;              /* No response arrived. */
    const struct list_meta *page; /* Complete page, which makes `reason` meaningless; else NULL. */
};

struct reflector_request_handler {
    /* The head of a response with status 200 has arrived. */
    void (*responded)(void *context);
    /*
     * Bytes of a body were processed, for any status. `cut`: they end in the middle of a list or of
     * an event. Not called for bytes that end the transfer.
     */
    void (*received)(void *context, size_t bytes, bool cut);
    /* Takes an event other than EVENT_ERROR. Returns false to end the transfer. */
    watch_event_fn *event;
    /* The request is over; `end` is valid during the call. Not called after a close. */
    void (*ended)(void *context, const struct reflector_request_end *end);
    void *context;
};

struct reflector_request_spec {
    const char *path; /* With the query. Copied, as is the Accept header. */
    const char *accept;
    bool list;         /* One page of a list; false: a stream of events. */
    const char *token; /* Continue token of the page; NULL: first page. Copied. */
    /* shardSelector in `path`; NULL or "": none. Copied. A list of another shard is malformed. */
    const char *shard_selector;
    const char *api_version; /* Type of the objects. Borrowed, as is the kind. */
    const char *kind;
    const struct json_filter *fields; /* Members of the objects to read; NULL: all. */
    struct reflector_request_handler handler;
};

struct reflector_request {
    struct transport transport;
    struct transfer *transfer; /* NULL if no request is open. */
    struct object_stream stream;
    struct strbuf error_body; /* First bytes of a response with a status other than 200. */
    struct list_pages pages;  /* Progress of the list since its first page. */
    char *token;              /* Continue token of the request; NULL for a first page. Owned. */
    char *shard_selector;     /* shardSelector of the request; "" without one. Owned. */
    struct reflector_request_handler handler;
    bool list;
    bool stopped; /* The event handler returned false. */
    /* The body is malformed or has EVENT_ERROR. Faults found only at its end do not set this. */
    bool failed;
    enum end_reason reason; /* Set if `failed`. */
    int64_t retry_after_ms; /* Set by EVENT_ERROR. */
    char text[sizeof(((struct error *)NULL)->text)];
};

void reflector_request_init(struct reflector_request *q, struct transport transport);

/*
 * Starts the request; the previous one must have ended or been closed. Handlers run during the
 * transport's periodic work.
 */
void reflector_request_open(struct reflector_request *q, const struct reflector_request_spec *spec);

/* Cancels the request, if any is open, without calling the handler. */
void reflector_request_close(struct reflector_request *q);

/* ---- limit of lists ---- */

/*
 * Limits the lists that are open at the same time for hundreds of resources. Streams are not
 * limited here.
 *
 * At most 20 lists start a second, after a burst of 40. For half a second after its start an open
 * list counts as new. A list starts only while the number of new lists, of all classes together, is
 * below the limit of its class: one for audits, otherwise three to six. A slow list thus does not
 * keep others from starting. The number of open lists is limited for each class; while lists wait
 * for a full class, open lists of this class without progress are cancelled sooner
 * (list_limiter_stall_timeout()).
 *
 * Waiting lists that may start do so in the order of arrival, with a handicap for less urgent
 * classes.
 */
enum list_class {
    LIST_REQUIRED, /* Policies and bindings, which all results depend on. */
    LIST_RELIST,   /* Resource that was read before, and has to be read again. */
    LIST_FIRST,    /* Resource that was not read before. */
    LIST_POLL,     /* Resource that is listed at intervals, for lack of a stream. */
    LIST_STALLED,  /* Resource after a list that was cancelled for lack of progress. */
    LIST_AUDIT,    /* Comparison of the store with the server, when no other list may start. */
};
enum { LIST_CLASS_COUNT = LIST_AUDIT + 1 };

/* A list that waits or is open. Initially zero; must not move while in a queue of the limiter. */
struct list_ticket {
    struct list_ticket *previous;
    struct list_ticket *next;
    enum list_class class;
    enum { TICKET_IDLE, TICKET_WAITING, TICKET_OPEN } state;
    int64_t since_ms; /* Steady time in ms at which it began to wait or was opened. */
};

struct list_queue {
    struct list_ticket *first; /* Oldest ticket. */
    struct list_ticket *last;
    unsigned count;
};

struct list_limiter {
    unsigned max_open; /* Open lists that the connections allow; UINT_MAX: no limit. */
    struct list_queue waiting[LIST_CLASS_COUNT];
    struct list_queue open[LIST_CLASS_COUNT];
    int64_t credit_ms; /* Token bucket; each list costs 50 ms. */
    int64_t updated_ms;
};

void list_limiter_init(struct list_limiter *l, int64_t now_ms);

/*
 * Returns true, and counts the list as open, if it may start now. Otherwise the ticket waits in
 * this class: the owner calls the function again at each turn until it returns true, or calls
 * list_limiter_leave(). Later calls ignore `class`. Times are steady.
 */
bool list_limiter_enter(struct list_limiter *l, struct list_ticket *ticket, enum list_class class,
                        int64_t now_ms) MUST_USE;

/* Ends the list, or its wait. Ignores an idle ticket. */
void list_limiter_leave(struct list_limiter *l, struct list_ticket *ticket);

/*
 * Returns when to call list_limiter_enter() again. INT64_MAX: after another list starts or ends, or
 * the ticket does not wait.
 */
int64_t list_limiter_due(const struct list_limiter *l, const struct list_ticket *ticket);

/*
 * Returns after how many milliseconds without progress to cancel an open list because others wait
 * for its full class: 10 s, doubled for each of up to two earlier stalls. INT64_MAX: the ticket is
 * not open, or no list waits for its full class.
 */
int64_t list_limiter_stall_timeout(const struct list_limiter *l, const struct list_ticket *ticket,
                                   unsigned stalls);

/* ---- limit of streams ---- */

/*
 * Limits open streams. Over HTTP/1.1 each stream occupies a connection; otherwise `limit` is
 * UINT_MAX. Places are reserved for required resources that have no open stream.
 */
struct stream_limit {
    unsigned limit;
    unsigned open;
    unsigned required; /* Required resources without an open stream. */
};

/* The place of one resource's stream. */
struct stream_slot {
    struct stream_limit *limit; /* Borrowed. */
    bool required;
    bool held;
};

/* Registers a resource that may have a stream; stream_slot_release() unregisters it. */
void stream_slot_init(struct stream_slot *slot, struct stream_limit *limit, bool required);
void stream_slot_release(struct stream_slot *slot);

/* Takes a place, unless the slot holds one. Returns false if all places are in use or reserved. */
bool stream_slot_enter(struct stream_slot *slot) MUST_USE;
/* Returns the place, if the slot holds one. */
void stream_slot_leave(struct stream_slot *slot);

/* ---- shared state ---- */

struct discovery;
struct engine;
struct store;

/* Shared by the reflectors, the audit, the API discovery and struct bound_templates of a source. */
struct reflector_context {
    struct store *store;
    struct engine *engine;
    struct transport transport;
    const struct namespace_filter *filter;
    const struct log *log;
    struct list_limiter limiter;
    struct stream_limit streams;
    unsigned single_reads; /* Open reads of objects that the connections allow. */
    int64_t now_ms;        /* Steady. */
    int64_t clock_ms;      /* Since the epoch. */
    uint64_t random;       /* State of the random number generator. */
    unsigned reflector_count;
    unsigned failing_count; /* Number of reflectors with `failing` in struct reflector_failure. */
    /* Steady time of the last response 200 while half of the reflectors or more were failing. */
    int64_t recovered_ms;
    uint64_t restores; /* Number of restores of the server; each makes all reflectors list again. */
    struct burst_limit burst_limit; /* Limits `restores`. */
    uint32_t last_source;           /* Source number of the newest reflector. */
    uint64_t health_version; /* Changes when a reflector warns, is late, or ends a warning. */
    const struct discovery *discovery;
    bool streaming_lists; /* Use WatchList; false after the server has refused it. */
};

/* Begins a turn: sets the times and reads the limits of the transport. */
void reflector_context_begin_turn(struct reflector_context *context, int64_t now_ms,
                                  int64_t clock_ms);

/* Updates recovered_ms after a response with status 200. */
void reflector_context_note_response(struct reflector_context *context);

/*
 * Returns true if the server has recovered since a failure at the steady time failed_ms, or did so
 * in the ten seconds before it: a server that starts refuses some resources longer than others.
 */
bool reflector_context_is_recovered(const struct reflector_context *context, int64_t failed_ms);

/*
 * Counts a restore of the server, after which each reflector lists its objects again. Does not
 * count it if four or more were counted shortly before.
 */
void reflector_context_note_restore(struct reflector_context *context);

uint32_t reflector_context_random(struct reflector_context *context);

/* Used only by reflector_request.c and tests. */

void list_pages_begin(struct list_pages *l);

/* Begins a page, or the same page again. */
void list_pages_open(struct list_pages *l);

/* Counts an object of the open page. NULL or "" as `name`: the object has no name. */
void list_pages_note(struct list_pages *l, const char *ns, const char *name);

/*
 * Ends the open page, for which the token `asked` was sent (NULL for the first page) and which
 * returned the token `next`. Returns NULL if the list may go on, else a description of the fault.
 */
const char *list_pages_end(struct list_pages *l, const char *asked, const char *next);
