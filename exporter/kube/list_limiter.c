/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/list_limiter.h"

#include <limits.h>

enum {
    LIST_COST_MS = 50, /* Twenty a second, */
    BURST = 40,        /* after forty at once. */
    CREDIT_MAX_MS = BURST * LIST_COST_MS,
    NEW_MS = 500,
    PATIENCE_MS = 10 * 1000,
    PATIENCE_SHIFTS = 2,
};

static const struct class_limits {
    unsigned new_lists; /* It starts only while fewer than these are new, of whatever class. */
    unsigned lane;      /* How many of it may be open, */
    unsigned share;     /* and which share of the room, in sixteenths. */
    int64_t later_ms;   /* It waits like one that came so much later. */
} limits[LIST_CLASS_COUNT] = {
    [LIST_REQUIRED] = {6, 16, 3, 0},
    [LIST_RELIST] = {6, 32, 4, 0},
    [LIST_FIRST] = {4, 32, 4, 3 * 1000},
    [LIST_POLL] = {4, 16, 2, 3 * 1000},
    /* The last place is not for those that may hold it for nothing. */
    [LIST_STALLED] = {3, 16, 2, 10 * 1000},
    [LIST_AUDIT] = {1, 1, 1, INT64_MAX / 2},
};

void list_limiter_init(struct list_limiter *l, int64_t now_ms)
{
    *l = (struct list_limiter){.room = UINT_MAX, .credit_ms = CREDIT_MAX_MS, .updated_ms = now_ms};
}

static void append(struct list_queue *q, struct list_ticket *ticket)
{
    ticket->next = NULL;
    ticket->previous = q->last;
    *(q->last ? &q->last->next : &q->first) = ticket;
    q->last = ticket;
    q->count++;
}

static void unlink_ticket(struct list_queue *q, struct list_ticket *ticket)
{
    *(ticket->previous ? &ticket->previous->next : &q->first) = ticket->next;
    *(ticket->next ? &ticket->next->previous : &q->last) = ticket->previous;
    q->count--;
}

/* How many lists of a class may be open: one at least. */
static unsigned lane_of(const struct list_limiter *l, enum list_class class)
{
    unsigned share = l->room / 16 * limits[class].share + l->room % 16 * limits[class].share / 16;

    if (share < 1)
        return 1;
    return share < limits[class].lane ? share : limits[class].lane;
}

/* How many open lists are new, and when the first of them ceases to be. */
static unsigned count_new(const struct list_limiter *l, int64_t *until_ms)
{
    unsigned count = 0;

    *until_ms = INT64_MAX;
    for (int class = 0; class < LIST_CLASS_COUNT; class ++) {
        for (const struct list_ticket *t = l->open[class].last;
             t && l->updated_ms < t->since_ms + NEW_MS; t = t->previous) {
            if (t->since_ms + NEW_MS < *until_ms)
                *until_ms = t->since_ms + NEW_MS;
            count++;
        }
    }
    return count;
}

/* When the next list of a class may start; INT64_MAX: when another has ended. */
static int64_t start_ms(const struct list_limiter *l, enum list_class class)
{
    int64_t until_ms, credit_ms = l->updated_ms;

    if (l->open[class].count >= lane_of(l, class))
        return INT64_MAX;
    if (l->credit_ms < LIST_COST_MS)
        credit_ms += LIST_COST_MS - l->credit_ms;
    if (count_new(l, &until_ms) < limits[class].new_lists)
        return credit_ms;
    return until_ms > credit_ms ? until_ms : credit_ms;
}

/* Whose turn it is; NULL while nobody may start. */
static const struct list_ticket *first_to_start(const struct list_limiter *l)
{
    const struct list_ticket *first = NULL;
    int64_t first_ms = INT64_MAX;

    for (int class = 0; class < LIST_CLASS_COUNT; class ++) {
        const struct list_ticket *t = l->waiting[class].first;

        if (!t || t->since_ms + limits[class].later_ms >= first_ms ||
            start_ms(l, t->class) > l->updated_ms)
            continue;
        first = t;
        first_ms = t->since_ms + limits[class].later_ms;
    }
    return first;
}

bool list_limiter_enter(struct list_limiter *l, struct list_ticket *ticket, enum list_class class,
                        int64_t now_ms)
{
    l->credit_ms += now_ms - l->updated_ms;
    l->updated_ms = now_ms;
    if (l->credit_ms > CREDIT_MAX_MS)
        l->credit_ms = CREDIT_MAX_MS;
    if (ticket->state == TICKET_IDLE) {
        ticket->class = class;
        ticket->state = TICKET_WAITING;
        ticket->since_ms = now_ms;
        append(&l->waiting[class], ticket);
    }
    if (first_to_start(l) != ticket)
        return false;
    l->credit_ms -= LIST_COST_MS;
    unlink_ticket(&l->waiting[ticket->class], ticket);
    ticket->state = TICKET_OPEN;
    ticket->since_ms = now_ms;
    append(&l->open[ticket->class], ticket);
    return true;
}

void list_limiter_leave(struct list_limiter *l, struct list_ticket *ticket)
{
    if (ticket->state == TICKET_WAITING)
        unlink_ticket(&l->waiting[ticket->class], ticket);
    else if (ticket->state == TICKET_OPEN)
        unlink_ticket(&l->open[ticket->class], ticket);
    ticket->state = TICKET_IDLE;
}

int64_t list_limiter_due(const struct list_limiter *l, const struct list_ticket *ticket)
{
    bool heads = ticket->state == TICKET_WAITING && !ticket->previous;

    if (ticket->class == LIST_AUDIT) {
        for (int class = 0; class < LIST_AUDIT; class ++)
            heads = heads && l->waiting[class].count == 0;
    }
    return heads ? start_ms(l, ticket->class) : INT64_MAX;
}

int64_t list_limiter_patience(const struct list_limiter *l, const struct list_ticket *ticket,
                              unsigned stalls)
{
    enum list_class class = ticket->class;
    bool wanted = ticket->state == TICKET_OPEN && l->waiting[class].count > 0 &&
                  l->open[class].count >= lane_of(l, class);

    return wanted ? (int64_t)PATIENCE_MS << (stalls < PATIENCE_SHIFTS ? stalls : PATIENCE_SHIFTS)
                  : INT64_MAX;
}
