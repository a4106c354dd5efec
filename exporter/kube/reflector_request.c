/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/reflector_request.h"

#include <limits.h>

#include "metrics/base/map.h"

/* ---- pages of a list ---- */

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
    /* A sum does not depend on order: the same objects in another order are no progress. */
    if (!l->unnamed)
        l->sum += map_hash(name, strlen(name), map_hash(ns, strlen(ns), 0));
}

/*
 * Returns true if the page has the objects of the remembered page. Brent's algorithm finds a cycle
 * of any length with one remembered page: pages 1, 2, 4, 8 ... are remembered in turn.
 */
static bool page_repeats(struct list_pages *l)
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
        return "the list does not progress: a page returned the continue token that asked for it";
    if (l->empty > LIST_EMPTY_PAGES_MAX)
        return "the list does not progress: too many pages in a row have no objects";
    if (l->objects > 0 && page_repeats(l))
        return "the list does not progress: its pages repeat the same objects";
    if (l->pages >= LIST_PAGES_MAX)
        return "the list does not end: it has too many pages";
    return NULL;
}

/* ---- one request ---- */

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
    free(q->shard_selector);
    q->shard_selector = NULL;
}

void reflector_request_close(struct reflector_request *q)
{
    if (!q->transfer)
        return;
    q->transport.cancel(q->transport.context, q->transfer);
    q->transfer = NULL;
    release_bodies(q);
}

static bool fail_request(struct reflector_request *q, enum end_reason reason, const char *text)
{
    q->failed = true;
    q->reason = reason;
    snprintf(q->text, sizeof(q->text), "%s", text);
    return false;
}

static bool receive_event(void *context, const struct watch_event *event)
{
    struct reflector_request *q = context;

    if (event->kind == EVENT_ERROR) {
        q->retry_after_ms = event->status->retry_after_ms;
        return fail_request(q, end_reason_of_error(event->status), event->status->message);
    }
    if (q->list) {
        const cJSON *metadata = json_get(event->object, "metadata");

        list_pages_note(&q->pages, json_str(metadata, "namespace", ""),
                        json_str(metadata, "name", ""));
    }
    q->stopped = !q->handler.event(q->handler.context, event);
    return !q->stopped;
}

static void receive_head(void *context, unsigned http_status, const char *content_type)
{
    struct reflector_request *q = context;

    if (http_status != 200)
        return;
    if (content_type_is(content_type, CONTENT_TYPE_PROTOBUF))
        object_stream_expect_protobuf(&q->stream);
    q->handler.responded(q->handler.context);
}

static bool receive_bytes(void *context, unsigned http_status, const char *bytes, size_t len)
{
    struct reflector_request *q = context;
    struct error err;

    if (q->failed || q->stopped)
        return false;
    if (http_status != 200) {
        size_t room = ERROR_BODY_MAX_BYTES - q->error_body.len;

        strbuf_add(&q->error_body, bytes, len < room ? len : room);
    } else if (!object_stream_feed(&q->stream, bytes, len, &err)) {
        return q->failed || q->stopped ? false : fail_request(q, END_MALFORMED, err.text);
    }
    q->handler.received(q->handler.context, len, object_stream_is_cut(&q->stream));
    return true;
}

/* Returns the fault of a list after a page; NULL if the list may go on, or is complete. */
static const char *page_fault(struct reflector_request *q, const struct list_meta *facts)
{
    if (facts->shard_selector && strcmp(facts->shard_selector, q->shard_selector) != 0)
        return "the shardInfo of the list is not the shardSelector of the request";
    return facts->token ? list_pages_end(&q->pages, q->token, facts->token) : NULL;
}

/* Sets end->page, which points to `facts`, or the reason why the page is unusable. */
static void read_page(struct reflector_request *q, const struct transport_result *result,
                      struct reflector_request_end *end, struct list_meta *facts)
{
    struct error err;

    if (object_stream_finish_list(&q->stream, facts, &err)) {
        const char *fault = page_fault(q, facts);

        end->page = fault ? NULL : facts;
        end->reason = fault ? END_MALFORMED : end->reason;
        snprintf(q->text, sizeof(q->text), "%s", fault ? fault : "");
        return;
    }
    end->reason = object_stream_is_truncated(&q->stream) ? END_LOST : END_MALFORMED;
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
    struct list_meta facts = {0};

    q->transfer = NULL;
    if (q->failed) {
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
    list_meta_release(&facts);
}

void reflector_request_open(struct reflector_request *q, const struct reflector_request_spec *spec)
{
    q->handler = spec->handler;
    q->list = spec->list;
    q->token = spec->token ? xstrdup(spec->token) : NULL;
    q->shard_selector = xstrdup(spec->shard_selector ? spec->shard_selector : "");
    if (!spec->token)
        list_pages_begin(&q->pages);
    list_pages_open(&q->pages);
    q->stopped = q->failed = false;
    q->retry_after_ms = 0;
    q->text[0] = '\0';
    object_stream_init(&q->stream, spec->list ? JSON_FRAME_LIST : JSON_FRAME_EVENTS,
                       spec->api_version, spec->kind, receive_event, q);
    q->stream.fields = spec->fields;
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

/* ---- limit of lists ---- */

enum {
    LIST_COST_MS = 50, /* 20 lists a second. */
    BURST = 40,
    CREDIT_MAX_MS = BURST * LIST_COST_MS,
    NEW_MS = 500,
    STALL_TIMEOUT_MS = 10 * 1000,
    STALL_TIMEOUT_SHIFTS = 2,
};

static const struct class_limits {
    unsigned max_new;    /* A list starts only while fewer lists, of all classes, are new. */
    unsigned max_open;   /* Maximum of open lists of the class. */
    unsigned share;      /* Share of list_limiter.max_open, in sixteenths: a second maximum. */
    int64_t handicap_ms; /* Added to the arrival time when waiting lists are ordered. */
} class_limits[LIST_CLASS_COUNT] = {
    [LIST_REQUIRED] = {6, 16, 3, 0},
    [LIST_RELIST] = {6, 32, 4, 0},
    [LIST_FIRST] = {4, 32, 4, 3 * 1000},
    [LIST_POLL] = {4, 16, 2, 3 * 1000},
    /* A fourth new list must be of a resource that is required or has not stalled. */
    [LIST_STALLED] = {3, 16, 2, 10 * 1000},
    [LIST_AUDIT] = {1, 1, 1, INT64_MAX / 2},
};

void list_limiter_init(struct list_limiter *l, int64_t now_ms)
{
    *l = (struct list_limiter){
        .max_open = UINT_MAX, .credit_ms = CREDIT_MAX_MS, .updated_ms = now_ms};
}

static void append_ticket(struct list_queue *q, struct list_ticket *ticket)
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

/* Returns how many lists of a class may be open: at least one. */
static unsigned max_open_lists(const struct list_limiter *l, enum list_class class)
{
    unsigned share = l->max_open / 16 * class_limits[class].share +
                     l->max_open % 16 * class_limits[class].share / 16;

    if (share < 1)
        return 1;
    return share < class_limits[class].max_open ? share : class_limits[class].max_open;
}

/* Returns the number of new lists, and in `until_ms` when the oldest of them is no longer new. */
static unsigned count_new_lists(const struct list_limiter *l, int64_t *until_ms)
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

/* Returns when a list of the class may start; INT64_MAX: not before another list ends. */
static int64_t earliest_start_ms(const struct list_limiter *l, enum list_class class)
{
    int64_t until_ms, credit_ms = l->updated_ms;

    if (l->open[class].count >= max_open_lists(l, class))
        return INT64_MAX;
    if (l->credit_ms < LIST_COST_MS)
        credit_ms += LIST_COST_MS - l->credit_ms;
    if (count_new_lists(l, &until_ms) < class_limits[class].max_new)
        return credit_ms;
    return until_ms > credit_ms ? until_ms : credit_ms;
}

/* Returns the ticket of the waiting list that may start now; NULL: no list may start. */
static const struct list_ticket *next_ticket(const struct list_limiter *l)
{
    const struct list_ticket *first = NULL;
    int64_t first_ms = INT64_MAX;

    for (int class = 0; class < LIST_CLASS_COUNT; class ++) {
        const struct list_ticket *t = l->waiting[class].first;

        if (!t || t->since_ms + class_limits[class].handicap_ms >= first_ms ||
            earliest_start_ms(l, t->class) > l->updated_ms)
            continue;
        first = t;
        first_ms = t->since_ms + class_limits[class].handicap_ms;
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
        append_ticket(&l->waiting[class], ticket);
    }
    if (next_ticket(l) != ticket)
        return false;
    l->credit_ms -= LIST_COST_MS;
    unlink_ticket(&l->waiting[ticket->class], ticket);
    ticket->state = TICKET_OPEN;
    ticket->since_ms = now_ms;
    append_ticket(&l->open[ticket->class], ticket);
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
    bool is_next = ticket->state == TICKET_WAITING && !ticket->previous;

    if (ticket->class == LIST_AUDIT) {
        for (int class = 0; class < LIST_AUDIT; class ++)
            is_next = is_next && l->waiting[class].count == 0;
    }
    return is_next ? earliest_start_ms(l, ticket->class) : INT64_MAX;
}

int64_t list_limiter_stall_timeout(const struct list_limiter *l, const struct list_ticket *ticket,
                                   unsigned stalls)
{
    enum list_class class = ticket->class;
    bool needed = ticket->state == TICKET_OPEN && l->waiting[class].count > 0 &&
                  l->open[class].count >= max_open_lists(l, class);

    return needed ? (int64_t)STALL_TIMEOUT_MS
                        << (stalls < STALL_TIMEOUT_SHIFTS ? stalls : STALL_TIMEOUT_SHIFTS)
                  : INT64_MAX;
}

/* ---- limit of streams ---- */

void stream_slot_init(struct stream_slot *slot, struct stream_limit *limit, bool required)
{
    *slot = (struct stream_slot){.limit = limit, .required = required};
    limit->required += required;
}

void stream_slot_release(struct stream_slot *slot)
{
    stream_slot_leave(slot);
    slot->limit->required -= slot->required;
}

bool stream_slot_enter(struct stream_slot *slot)
{
    struct stream_limit *limit = slot->limit;
    unsigned reserved = slot->required ? 0 : limit->required;

    if (slot->held)
        return true;
    if (limit->open >= limit->limit || limit->limit - limit->open <= reserved)
        return false;
    limit->open++;
    limit->required -= slot->required;
    slot->held = true;
    return true;
}

void stream_slot_leave(struct stream_slot *slot)
{
    if (!slot->held)
        return;
    slot->limit->open--;
    slot->limit->required += slot->required;
    slot->held = false;
}

/* ---- shared state ---- */

enum {
    RESTORE_COST_MS = 10 * 1000,
    STARTUP_MS = 10 * 1000, /* Time after the first response in which a server may refuse others. */
};

uint32_t reflector_context_random(struct reflector_context *context)
{
    /* splitmix64, which is sufficient to spread requests. */
    uint64_t z = context->random += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)(z >> 32);
}

void reflector_context_begin_turn(struct reflector_context *context, int64_t now_ms,
                                  int64_t clock_ms)
{
    struct transport_limits room = {UINT_MAX, UINT_MAX, UINT_MAX};

    if (context->transport.room)
        room = context->transport.room(context->transport.context);
    context->now_ms = now_ms;
    context->clock_ms = clock_ms;
    context->limiter.max_open = room.lists;
    context->streams.limit = room.streams;
    context->single_reads = room.single_reads;
}

void reflector_context_note_response(struct reflector_context *context)
{
    if (context->failing_count > 0 && context->failing_count * 2 >= context->reflector_count)
        context->recovered_ms = context->now_ms;
}

bool reflector_context_is_recovered(const struct reflector_context *context, int64_t failed_ms)
{
    return context->recovered_ms > 0 && failed_ms < context->recovered_ms + STARTUP_MS;
}

void reflector_context_note_restore(struct reflector_context *context)
{
    if (burst_limit_take(&context->burst_limit, RESTORE_COST_MS, context->now_ms))
        context->restores++;
}
