/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/wire.h"

#include "tests/sim/transfer.h"

enum {
    CONNECT_TIMEOUT_MS = 10 * 1000,
    /* Time until a connection that carries no data reports an error. */
    LOST_MIN_MS = 15 * 1000,
    LOST_MAX_MS = 45 * 1000,
    DELAY_MS = 5,
    DELAY_SLOW_MS = 300,
};

void wire_hash(struct wire *w, const void *bytes, size_t len)
{
    const unsigned char *at = bytes;

    for (size_t i = 0; i < len; i++)
        w->hash = (w->hash ^ at[i]) * UINT64_C(0x100000001b3);
}

void wire_hash_page(struct wire *w, const char *page)
{
    wire_hash(w, page, strlen(page));
}

int64_t wire_delay(struct wire *w)
{
    return rng_below(&w->rng, w->plan->reordering ? DELAY_SLOW_MS : DELAY_MS);
}

void wire_init(struct wire *w, struct api *api, const struct plan *plan)
{
    *w = (struct wire){.api = api, .plan = plan, .hash = UINT64_C(0xcbf29ce484222325)};
    w->rng = rng_of(plan->seed, 3000);
    for (unsigned i = 0; i < ARRAY_LEN(w->connected); i++)
        w->connected[i] = rng_below(&w->rng, plan->servers);
}

static void free_transfer(struct transfer *t)
{
    strbuf_release(&t->response.body);
    free(t);
}

void wire_release(struct wire *w)
{
    while (w->transfers) {
        struct transfer *t = w->transfers;

        w->transfers = t->next;
        free_transfer(t);
    }
}

static void unlink_transfer(struct wire *w, struct transfer *transfer)
{
    struct transfer **at = &w->transfers;

    while (*at != transfer)
        at = &(*at)->next;
    *at = transfer->next;
}

static void update_counters(struct wire *w, const struct transfer *fresh)
{
    unsigned watches = 0, lists = 0;

    w->requests[fresh->request.target] +=
        !fresh->request.token[0] && fresh->request.type != REQUEST_GET;
    for (const struct transfer *t = w->transfers; t; t = t->next) {
        if (t->request.target != fresh->request.target || t->request.target == SIM_DISCOVERY ||
            t->request.other_reason != fresh->request.other_reason)
            continue;
        watches += t->request.type == REQUEST_WATCH;
        lists += t->request.type == REQUEST_LIST;
    }
    w->watches_max = watches > w->watches_max ? watches : w->watches_max;
    w->lists_max = lists > w->lists_max ? lists : w->lists_max;
}

static struct transfer *start_transfer(void *context, const struct transport_request *request)
{
    struct wire *w = context;
    struct transfer *t = xcalloc(1, sizeof(*t));
    struct transfer **at = &w->transfers;

    t->id = ++w->next_id;
    t->handler = request->handler;
    t->stream = request->class == REQUEST_STREAM;
    t->server = w->connected[t->stream];
    t->cut_at = SIZE_MAX;
    t->lost_ms = INT64_MAX;
    t->opened_ms = w->now_ms;
    t->next_ms = w->now_ms + wire_delay(w);
    api_request_read(request->path, request->accept, &t->request);
    while (*at)
        at = &(*at)->next;
    *at = t;
    update_counters(w, t);
    wire_hash(w, &w->now_ms, sizeof(w->now_ms));
    wire_hash(w, request->path, strlen(request->path));
    if (w->noisy)
        fprintf(stderr, "%9.3f #%" PRIu64 " -> %s\n", (double)w->now_ms / 1000, t->id,
                request->path);
    return t;
}

static void cancel_transfer(void *context, struct transfer *transfer)
{
    struct wire *w = context;

    wire_hash(w, &transfer->id, sizeof(transfer->id));
    if (w->noisy)
        fprintf(stderr, "%9.3f #%" PRIu64 " cancelled\n", (double)w->now_ms / 1000, transfer->id);
    unlink_transfer(w, transfer);
    free_transfer(transfer);
}

struct transport wire_transport(struct wire *w)
{
    return (struct transport){.start = start_transfer, .cancel = cancel_transfer, .context = w};
}

void wire_finish(struct wire *w, struct transfer *t, bool complete, const char *error)
{
    struct transport_handler handler = t->handler;
    struct transport_result result = {
        .complete = complete,
        .http_status = t->response.http_status,
        .retry_after_ms = t->response.retry_after_ms,
        .content_type = t->response.content_type,
        .error = complete ? "" : error,
    };

    wire_hash(w, &t->id, sizeof(t->id));
    wire_hash(w, &complete, sizeof(complete));
    if (w->noisy)
        fprintf(stderr, "%9.3f #%" PRIu64 " ends with %u %s\n", (double)w->now_ms / 1000, t->id,
                result.http_status, complete ? "" : error);
    unlink_transfer(w, t);
    free_transfer(t);
    handler.done(handler.context, &result);
}

/* ---- time ---- */

static int64_t transfer_due_ms(const struct transfer *t)
{
    return t->next_ms < t->lost_ms ? t->next_ms : t->lost_ms;
}

int64_t wire_due(const struct wire *w)
{
    int64_t due = INT64_MAX;

    for (const struct transfer *t = w->transfers; t; t = t->next)
        due = transfer_due_ms(t) < due ? transfer_due_ms(t) : due;
    return due;
}

static void handle_transfer(struct wire *w, struct transfer *t)
{
    const struct fault *hole = plan_fault(w->plan, FAULT_BLACKHOLE, t->request.target, w->now_ms);

    if (w->now_ms >= t->lost_ms) {
        wire_finish(w, t, false, "connection lost");
    } else if (hole) {
        if (t->state == TRANSFER_NEW && t->lost_ms == INT64_MAX)
            t->lost_ms = t->opened_ms + CONNECT_TIMEOUT_MS;
        t->next_ms = (hole->until_ms < w->plan->storm_ms ? hole->until_ms : w->plan->storm_ms) +
                     wire_delay(w);
        w->strikes++;
    } else {
        transfer_turn(w, t);
    }
}

void wire_turn(struct wire *w, int64_t now_ms)
{
    w->now_ms = w->api->now_ms = now_ms;
    api_advance(w->api);
    /* Handlers may start and cancel transfers: search the list anew after each action. */
    for (unsigned steps = 0;; steps++) {
        struct transfer *first = NULL;

        for (struct transfer *t = w->transfers; t; t = t->next) {
            if (transfer_due_ms(t) <= now_ms &&
                (!first || transfer_due_ms(t) < transfer_due_ms(first)))
                first = t;
        }
        if (!first)
            return;
        if (steps > 100 * 1000)
            abort();
        handle_transfer(w, first);
    }
}

/* ---- effects on open transfers ---- */

void wire_wake(struct wire *w)
{
    for (struct transfer *t = w->transfers; t; t = t->next) {
        int64_t soon_ms = w->now_ms + wire_delay(w);

        if (t->state == TRANSFER_STREAMING && !t->deaf && t->next_ms > soon_ms)
            t->next_ms = soon_ms;
    }
}

static void break_connections(struct wire *w)
{
    for (struct transfer *t = w->transfers; t; t = t->next)
        t->lost_ms = w->now_ms;
}

void wire_strike(struct wire *w, const struct fault *f)
{
    w->strikes++;
    for (unsigned i = 0; i < ARRAY_LEN(w->connected); i++) {
        if (f->type >= FAULT_KIND_COUNT && f->type != FAULT_LAG && f->type != FAULT_COMPACT)
            w->connected[i] = rng_below(&w->rng, w->plan->servers);
    }
    if (f->type == FAULT_LOSS || f->type == FAULT_RESTORE || f->type == FAULT_UNREACHABLE)
        break_connections(w);
    for (struct transfer *t = w->transfers; t; t = t->next) {
        if (f->type == FAULT_BLACKHOLE)
            t->lost_ms = w->now_ms + rng_between(&w->rng, LOST_MIN_MS, LOST_MAX_MS);
        if (!(f->targets >> t->request.target & 1) || t->state != TRANSFER_STREAMING)
            continue;
        if (f->type == FAULT_DEAF) {
            t->deaf = true;
            t->next_ms = INT64_MAX;
        }
        if (f->type == FAULT_UNSERVED || (f->type == FAULT_FORBIDDEN && (f->param & 1)))
            t->ends_ms = w->now_ms;
    }
    wire_wake(w);
}
