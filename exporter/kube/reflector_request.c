/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/reflector_request.h"

#include <limits.h>

#include "metrics/base/map.h"

void list_pages_begin(struct list_pages *l)
{
    *l = (struct list_pages){.compare_at = 1};
}

void list_pages_open(struct list_pages *l)
{
    l->objects = 0;
    l->sum = 0;
    l->unnamed = false;
}

void list_pages_note(struct list_pages *l, const char *ns, const char *name)
{
    l->objects++;
    l->unnamed = l->unnamed || !name || !*name;
    /* A sum, since a page with the same objects in another order is no progress either. */
    if (!l->unnamed)
        l->sum += map_hash(name, strlen(name), map_hash(ns, strlen(ns), 0));
}

/*
 * Returns whether the page has the objects of an earlier one. Brent's algorithm finds a cycle of
 * any length with one remembered page: pages 1, 2, 4, 8 ... are remembered in turn.
 */
static bool repeats(struct list_pages *l)
{
    bool same = l->pages > 1 && !l->unnamed && l->sum == l->compared;

    if (l->pages >= l->compare_at) {
        l->compared = l->unnamed ? 0 : l->sum;
        l->compare_at = 2 * l->pages;
    }
    return same;
}

const char *list_pages_end(struct list_pages *l, const char *asked, const char *next)
{
    l->pages++;
    l->empty = l->objects > 0 ? 0 : l->empty + 1;
    if (asked && strcmp(asked, next) == 0)
        return "the list does not go on: a page returned the continue token that asked for it";
    if (l->empty > LIST_EMPTY_PAGES_MAX)
        return "the list does not go on: too many pages in a row have no objects";
    if (l->objects > 0 && repeats(l))
        return "the list does not go on: its pages repeat the same objects";
    if (l->pages >= LIST_PAGES_MAX)
        return "the list does not end: it has too many pages";
    return NULL;
}

enum { ERROR_BODY_MAX_BYTES = 8 * 1024 };

void reflector_request_init(struct reflector_request *q, struct transport transport)
{
    *q = (struct reflector_request){.transport = transport,
                                    .error_body = STRBUF_INIT(ERROR_BODY_MAX_BYTES)};
}

static void release_bodies(struct reflector_request *q)
{
    object_stream_release(&q->stream);
    strbuf_release(&q->error_body);
    free(q->token);
    q->token = NULL;
}

void reflector_request_close(struct reflector_request *q)
{
    if (!q->transfer)
        return;
    q->transport.cancel(q->transport.context, q->transfer);
    q->transfer = NULL;
    release_bodies(q);
}

static bool give_up(struct reflector_request *q, enum end_reason reason, const char *text)
{
    q->given_up = true;
    q->reason = reason;
    snprintf(q->text, sizeof(q->text), "%s", text);
    return false;
}

static bool receive_event(void *context, const struct watch_event *event)
{
    struct reflector_request *q = context;

    if (event->kind == EVENT_ERROR) {
        q->retry_after_ms = event->status->retry_after_ms;
        return give_up(q, end_reason_of_error(event->status), event->status->message);
    }
    if (q->list) {
        const cJSON *metadata = json_get(event->object, "metadata");

        list_pages_note(&q->pages, json_str(metadata, "namespace", ""),
                        json_str(metadata, "name", ""));
    }
    q->stopped = !q->handler.event(q->handler.context, event);
    return !q->stopped;
}

static void receive_head(void *context, unsigned http_status)
{
    struct reflector_request *q = context;

    if (http_status == 200)
        q->handler.answered(q->handler.context);
}

static bool read_bytes(struct reflector_request *q, unsigned http_status, const char *bytes,
                       size_t len)
{
    struct error err;

    if (q->given_up || q->stopped)
        return false;
    if (http_status != 200) {
        /* The beginning is enough for an error text; the rest is dropped. */
        size_t room = ERROR_BODY_MAX_BYTES - q->error_body.len;

        strbuf_add(&q->error_body, bytes, len < room ? len : room);
        return true;
    }
    if (object_stream_feed(&q->stream, bytes, len, &err))
        return true;
    return q->given_up || q->stopped ? false : give_up(q, END_MALFORMED, err.text);
}

static bool receive_bytes(void *context, unsigned http_status, const char *bytes, size_t len)
{
    struct reflector_request *q = context;

    if (!read_bytes(q, http_status, bytes, len))
        return false;
    q->handler.heard(q->handler.context, len, !json_frame_is_complete(&q->stream.frame));
    return true;
}

/* Returns why the list may not go on with its next page; NULL if it may, or ends here. */
static const char *page_fault(struct reflector_request *q, const struct list_facts *facts)
{
    return facts->token ? list_pages_end(&q->pages, q->token, facts->token) : NULL;
}

/* The end of a list: a complete page, or why it is none. */
static void read_page(struct reflector_request *q, const struct transport_result *result,
                      struct reflector_request_end *end, struct list_facts *facts)
{
    struct error err;

    if (object_stream_finish_list(&q->stream, facts, &err)) {
        const char *fault = page_fault(q, facts);

        end->page = fault ? NULL : facts;
        end->reason = fault ? END_MALFORMED : end->reason;
        snprintf(q->text, sizeof(q->text), "%s", fault ? fault : "");
        return;
    }
    end->reason = object_stream_is_cut(&q->stream) ? END_LOST : END_MALFORMED;
    snprintf(q->text, sizeof(q->text), "%s", *result->error ? result->error : err.text);
}

static void read_refusal(struct reflector_request *q, const struct transport_result *result,
                         struct reflector_request_end *end)
{
    struct status status;

    status_read_body(q->error_body.data, q->error_body.len, &status);
    end->reason = end_reason_of_response(result->http_status, &status);
    end->retry_after_ms = result->retry_after_ms > status.retry_after_ms ? result->retry_after_ms
                                                                         : status.retry_after_ms;
    snprintf(q->text, sizeof(q->text), "%s", status.message);
}

static void request_ended(void *context, const struct transport_result *result)
{
    struct reflector_request *q = context;
    struct reflector_request_end end = {
        .reason = END_REGULAR, .text = q->text, .unanswered = result->http_status == 0};
    struct list_facts facts = {0};

    q->transfer = NULL;
    if (q->given_up) {
        end.reason = q->reason;
        end.retry_after_ms = q->retry_after_ms;
    } else if (result->http_status != 0 && result->http_status != 200) {
        read_refusal(q, result, &end);
    } else if (result->http_status == 200 && q->list) {
        read_page(q, result, &end, &facts);
    } else if (result->http_status == 0 || !result->complete) {
        end.reason = END_LOST;
        snprintf(q->text, sizeof(q->text), "%s", result->error);
    }
    release_bodies(q);
    q->handler.ended(q->handler.context, &end);
    list_facts_release(&facts);
}

void reflector_request_open(struct reflector_request *q, const struct reflector_request_spec *spec)
{
    q->handler = spec->handler;
    q->list = spec->list;
    q->token = spec->token ? xstrdup(spec->token) : NULL;
    if (!spec->token)
        list_pages_begin(&q->pages);
    list_pages_open(&q->pages);
    q->stopped = q->given_up = false;
    q->retry_after_ms = 0;
    q->text[0] = '\0';
    object_stream_init(&q->stream, spec->list ? JSON_FRAME_LIST : JSON_FRAME_EVENTS,
                       spec->api_version, spec->kind, receive_event, q);
    q->transfer = q->transport.start(q->transport.context,
                                     &(struct transport_request){
                                         .path = spec->path,
                                         .accept = spec->accept,
                                         .class = spec->list ? REQUEST_SHORT : REQUEST_STREAM,
                                         .handler = {.responded = receive_head,
                                                     .data = receive_bytes,
                                                     .done = request_ended,
                                                     .context = q},
                                     });
}

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

int64_t list_limiter_stall_timeout(const struct list_limiter *l, const struct list_ticket *ticket,
                                   unsigned stalls)
{
    enum list_class class = ticket->class;
    bool wanted = ticket->state == TICKET_OPEN && l->waiting[class].count > 0 &&
                  l->open[class].count >= lane_of(l, class);

    return wanted ? (int64_t)PATIENCE_MS << (stalls < PATIENCE_SHIFTS ? stalls : PATIENCE_SHIFTS)
                  : INT64_MAX;
}

void stream_slot_init(struct stream_slot *slot, struct stream_limit *room, bool required)
{
    *slot = (struct stream_slot){.room = room, .required = required};
    room->required += required;
}

void stream_slot_release(struct stream_slot *slot)
{
    stream_slot_leave(slot);
    slot->room->required -= slot->required;
}

bool stream_slot_enter(struct stream_slot *slot)
{
    struct stream_limit *room = slot->room;
    unsigned kept = slot->required ? 0 : room->required;

    if (slot->held)
        return true;
    if (room->open >= room->limit || room->limit - room->open <= kept)
        return false;
    room->open++;
    room->required -= slot->required;
    slot->held = true;
    return true;
}

void stream_slot_leave(struct stream_slot *slot)
{
    if (!slot->held)
        return;
    slot->room->open--;
    slot->room->required += slot->required;
    slot->held = false;
}

enum { RESTORE_COST_MS = 10 * 1000 };

uint32_t reflector_context_random(struct reflector_context *context)
{
    /* splitmix64: spread is all that is asked of it. */
    uint64_t z = context->random += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)(z >> 32);
}

void reflector_context_begin_turn(struct reflector_context *context, int64_t now_ms,
                                  int64_t clock_ms)
{
    struct transport_room room = {UINT_MAX, UINT_MAX, UINT_MAX};

    if (context->transport.room)
        room = context->transport.room(context->transport.context);
    context->now_ms = now_ms;
    context->clock_ms = clock_ms;
    context->limiter.room = room.lists;
    context->streams.limit = room.streams;
    context->single_reads = room.single_reads;
}

void reflector_context_note_response(struct reflector_context *context)
{
    if (context->failing_count > 0 && context->failing_count * 2 >= context->reflector_count)
        context->recovered_ms = context->now_ms;
}

void reflector_context_note_restore(struct reflector_context *context)
{
    if (burst_limit_take(&context->burst_limit, RESTORE_COST_MS, context->now_ms))
        context->restores++;
}
