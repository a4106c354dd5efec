/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/api_resources.h"
#include "exporter/kube/http/transport.h"
#include "exporter/kube/object_stream.h"
#include "exporter/system/log.h"
#include "exporter/system/rate_limit.h"
#include "metrics/base/base.h"

/*
 * Detects lists whose pages go on without progress. A server may return pages without objects, as
 * Kubernetes allows for selectors, but at most LIST_EMPTY_PAGES_MAX in a row. A list fails if a
 * page returns the continue token that asked for it, if a page has the same objects as an earlier
 * one, or if it has more than LIST_PAGES_MAX pages. remainingItemCount is an estimate and is not
 * used.
 */
enum { LIST_EMPTY_PAGES_MAX = 5, LIST_PAGES_MAX = 4000 };

struct list_pages {
    unsigned pages;      /* Complete pages so far. */
    unsigned empty;      /* Pages without objects in a row. */
    unsigned objects;    /* Objects in the open page. */
    bool unnamed;        /* The open page has an object without a name: it cannot be compared. */
    uint64_t sum;        /* Sum of the hashes of the objects' names in the open page. */
    uint64_t compared;   /* `sum` of the page that later pages are compared with. */
    unsigned compare_at; /* Number of the page that takes its place. */
};

/* Begins a list. */
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

/*
 * One open request of a reflector, a list or a stream: its body goes in as bytes, events come out,
 * and at the end why it ended, whether the server, the network or the body itself is to blame.
 */

struct reflector_request_end {
    enum end_reason reason;
    const char *text;              /* For people; "" if there is nothing to say. */
    int64_t retry_after_ms;        /* For how long the server said to wait; 0: it did not. */
    bool unanswered;               /* There was no response at all. */
    const struct list_facts *page; /* A complete page of a list: `reason` counts for nothing. */
};

struct reflector_request_handler {
    /* The head of a response of 200 is here. */
    void (*answered)(void *context);
    /* So many bytes of a body came and are read; of events the last may be cut in the middle. */
    void (*heard)(void *context, size_t bytes, bool cut);
    /* One event, but no EVENT_ERROR. False ends the reading: `ended` follows. */
    watch_event_fn *event;
    /* The request is over. Not called after reflector_request_close(). What it is given ends with
     * the call.
     */
    void (*ended)(void *context, const struct reflector_request_end *end);
    void *context;
};

struct reflector_request_spec {
    const char *path; /* With its query. Copied, as is the Accept header. */
    const char *accept;
    bool list;               /* One page of a list; else a stream of events. */
    const char *token;       /* Continue token of the page, copied; NULL: the list begins. */
    const char *api_version; /* Of the objects. Borrowed, as is the kind. */
    const char *kind;
    struct reflector_request_handler handler;
};

struct reflector_request {
    struct transport transport;
    struct transfer *transfer; /* NULL if nothing is open. */
    struct object_stream stream;
    struct strbuf error_body; /* Of a response other than 200, its beginning. */
    struct list_pages pages;  /* Progress of the list since its first page. */
    char *token;              /* Continue token of the request; NULL for a first page. Owned. */
    struct reflector_request_handler handler;
    bool list;
    bool stopped;  /* The rest of the body is ignored: the handler wants no more of it, */
    bool given_up; /* or it cannot be used, for this reason: */
    enum end_reason reason;
    int64_t retry_after_ms;
    char text[sizeof(((struct error *)NULL)->text)];
};

/* Nothing is open. */
void reflector_request_init(struct reflector_request *q, struct transport transport);

/* Open it; nothing else is open. The handler is called from the transport's turns. */
void reflector_request_open(struct reflector_request *q, const struct reflector_request_spec *spec);

/* End what may be open. */
void reflector_request_close(struct reflector_request *q);

/*
 * Keeps hundreds of resources from asking a server for all objects at the same time, and none of
 * them from keeping the others from it. Streams of changes are not limited.
 *
 * No more than twenty lists start in a second, and four of them may be new. A list is new for half
 * a second: one that takes longer, because it is large, because the server is slow or because it
 * never answers, leaves its place to the next, and goes on in a lane of its class. A lane is
 * bounded, too; while somebody waits for one that is full, the lists in it that bring nothing are
 * given up sooner (list_limiter_stall_timeout).
 *
 * Who waits is served in the order of arrival, some classes later than others; each class has
 * places that those below it cannot take.
 */
enum list_class {
    LIST_REQUIRED, /* Of what every verdict rests on: policies and bindings. */
    LIST_RELIST,   /* Of a resource that has been read before and whose watch cannot go on. */
    LIST_FIRST,
    LIST_POLL,    /* Of a resource that is listed now and then, for lack of room for its stream. */
    LIST_STALLED, /* Whose last list was given up because it brought nothing. */
    LIST_AUDIT,   /* For a check: while no other waits. */
};
enum { LIST_CLASS_COUNT = LIST_AUDIT + 1 };

/* Who wants to list. Zeroed at first; it must not be moved while it waits or lists. */
struct list_ticket {
    struct list_ticket *previous;
    struct list_ticket *next;
    enum list_class class;
    enum { TICKET_IDLE, TICKET_WAITING, TICKET_OPEN } state;
    int64_t since_ms; /* When it came into this state. */
};

struct list_queue {
    struct list_ticket *first; /* The oldest. */
    struct list_ticket *last;
    unsigned count;
};

struct list_limiter {
    unsigned room; /* For how many open lists there are connections; UINT_MAX: for any number. */
    struct list_queue waiting[LIST_CLASS_COUNT];
    struct list_queue open[LIST_CLASS_COUNT];
    int64_t credit_ms; /* Time saved up; each list spends some. */
    int64_t updated_ms;
};

void list_limiter_init(struct list_limiter *l, int64_t now_ms);

/*
 * True if the list may start now; else the ticket waits, and its owner has to ask again at each
 * turn until it is true, or leave. Times are steady.
 */
bool list_limiter_enter(struct list_limiter *l, struct list_ticket *ticket, enum list_class class,
                        int64_t now_ms) MUST_USE;

/* The list has ended, or is not wanted any more. Does nothing to an idle ticket. */
void list_limiter_leave(struct list_limiter *l, struct list_ticket *ticket);

/* When to ask again for a ticket that waits; INT64_MAX: when another has started or left. */
int64_t list_limiter_due(const struct list_limiter *l, const struct list_ticket *ticket);

/*
 * For how many milliseconds an open list may bring nothing before it has to make room, having
 * stalled `stalls` times before: each time it may go on for longer. INT64_MAX: nobody waits for
 * its room.
 */
int64_t list_limiter_stall_timeout(const struct list_limiter *l, const struct list_ticket *ticket,
                                   unsigned stalls);

/*
 * How many streams may be open. Over HTTP/2 any number; over HTTP/1.1 each takes a connection, and
 * those are bounded. Required resources have theirs first: room is kept for those that have none
 * open at the moment.
 */
struct stream_limit {
    unsigned limit;
    unsigned open;
    unsigned required; /* Slots of required resources that hold no room. */
};

/* The room of one stream. */
struct stream_slot {
    struct stream_limit *room; /* Borrowed. */
    bool required;
    bool held;
};

/* From now on the resource may have a stream; stream_slot_release() ends that. */
void stream_slot_init(struct stream_slot *slot, struct stream_limit *room, bool required);
void stream_slot_release(struct stream_slot *slot);

/* True if a stream may open, or is; then call stream_slot_leave() when it has ended. */
bool stream_slot_enter(struct stream_slot *slot) MUST_USE;
/* Does nothing if no room is held. */
void stream_slot_leave(struct stream_slot *slot);

struct discovery;
struct store;

/* What all reflectors of a source share, and its discoverer. */
struct reflector_context {
    struct store *store;
    struct transport transport;
    const struct namespace_filter *filter;
    const struct log *log;
    struct list_limiter limiter;
    struct stream_limit streams;
    unsigned single_reads; /* How many may be open. */
    int64_t now_ms;        /* Steady. */
    int64_t clock_ms;      /* Since the epoch. */
    uint64_t random;
    unsigned reflector_count;
    unsigned failing_count; /* Of them, those that the server does not serve at the moment. */
    int64_t recovered_ms;   /* When it last answered again after it had failed most of them. */
    uint64_t restores;      /* How often the server was restored from a backup, as is known. */
    struct burst_limit burst_limit; /* Of acting upon that. */
    uint32_t last_source;
    uint64_t health_version; /* Changes with what people are told of any reflector. */
    const struct discovery *discovery;
    bool streaming_lists; /* Ask for streams that begin with all objects, until that is refused. */
};

/* A turn begins: it is that late, and there is as much room as the transport says. */
void reflector_context_begin_turn(struct reflector_context *context, int64_t now_ms,
                                  int64_t clock_ms);

/* The server has answered a request as it should. */
void reflector_context_note_response(struct reflector_context *context);

/*
 * The server was restored from a backup: what every reflector knows may be undone. Counts it,
 * unless there were too many of late for all of them to list anew.
 */
void reflector_context_note_restore(struct reflector_context *context);

/* The next random number. */
uint32_t reflector_context_random(struct reflector_context *context);
