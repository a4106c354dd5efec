/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * Keeps hundreds of resources from asking a server for all objects at the same time, and none of
 * them from keeping the others from it. Streams of changes are not limited.
 *
 * No more than twenty lists start in a second, and four of them may be new. A list is new for half
 * a second: one that takes longer, because it is large, because the server is slow or because it
 * never answers, leaves its place to the next, and goes on in a lane of its class. A lane is
 * bounded, too; while somebody waits for one that is full, the lists in it that bring nothing are
 * given up sooner (list_limiter_patience).
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
int64_t list_limiter_patience(const struct list_limiter *l, const struct list_ticket *ticket,
                              unsigned stalls);
