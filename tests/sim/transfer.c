/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/transfer.h"

enum {
    BOOKMARK_MS = 60 * 1000,
    FRESH_WAIT_MS = 3 * 1000, /* Longest wait of a server for its watch cache. */
    STRIKE_MS = 2 * 1000,     /* Interval between faults of a stream without events. */
    DRIP_MS = 1000,
    RETRY_AFTER_MAX_S = 5,
    PRINTED_BYTES = 1000,
    PIECE_MAX = 64 * 1024, /* Maximum size of a piece. */
};

/* Returns and counts the active fault of the type if it strikes, by its probability; else NULL. */
static const struct fault *strike(struct wire *w, const struct transfer *t, enum fault_type type)
{
    const struct fault *f = plan_fault(w->plan, type, t->request.target, w->now_ms);

    if (!f || !rng_chance(&w->rng, f->percent))
        return NULL;
    w->strikes++;
    return f;
}

static void report_status(struct transfer *t, unsigned http_status)
{
    t->response.http_status = http_status;
    if (t->handler.responded)
        t->handler.responded(t->handler.context, http_status, t->response.content_type);
}

static void begin_body(struct wire *w, struct transfer *t, enum transfer_state state)
{
    t->state = state;
    t->next_ms = w->now_ms + wire_delay(w);
    report_status(t, t->response.http_status);
}

static const struct {
    unsigned http_status;
    const char *body;
} refusals[] = {
    {429, "Too many requests, please try again later.\n"},
    {429, "{\"kind\":\"Status\",\"code\":429,\"details\":{\"retryAfterSeconds\":1}}"},
    {401, "{\"kind\":\"Status\",\"code\":401,\"message\":\"Unauthorized\"}"},
    {404, "404 page not found\n"},
    {410, "{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\"}"},
    {400, "{\"kind\":\"Status\",\"code\":400}"},
    {422, "{\"kind\":\"Status\",\"code\":422}"},
    {406, "{\"kind\":\"Status\",\"code\":406}"},
    {500, "{\"kind\":\"Status\",\"code\":500}"},
    {503, "<html><body>no upstream</body></html>"},
    {504, "{\"kind\":\"Status\",\"code\":504,\"message\":\"Timeout: Too large resource version: 9, "
          "current: 8\"}"},
    {302, ""},
    {200, ""},
    {200, "<html><body>log in</body></html>"},
    {200, "{\"kind\":\"Status\",\"code\":200}"},
    {200, "{\"items\":[],\"metadata\":{}}"},
};

static void send_refusal(struct wire *w, struct transfer *t, const struct fault *f)
{
    /* Odd `param`: the same refusal each time. Even: a random one. */
    uint32_t which = (f->param & 1 ? f->param / 2 : rng_below(&w->rng, 1 << 20));

    which %= ARRAY_LEN(refusals);
    t->response = (struct api_response){
        .http_status = refusals[which].http_status,
        .content_type = refusals[which].body[0] == '{' ? "application/json" : "text/plain",
        .body = STRBUF_INIT(1 << 16),
    };
    strbuf_adds(&t->response.body, refusals[which].body);
    if (refusals[which].http_status == 429)
        t->response.retry_after_ms = 1000 * (1 + rng_below(&w->rng, RETRY_AFTER_MAX_S));
    begin_body(w, t, TRANSFER_SENDING);
}

/* Cuts the rest of the body at a random length if FAULT_RESET or FAULT_CUT strikes. */
static void maybe_cut_body(struct wire *w, struct transfer *t)
{
    bool reset = strike(w, t, FAULT_RESET) != NULL;

    if (!reset && !strike(w, t, FAULT_CUT))
        return;
    t->cut_at = t->sent + rng_below(&w->rng, (uint32_t)(t->response.body.len - t->sent) + 1);
    t->cut_looks_fine = reset;
}

static void open_stream(struct wire *w, struct transfer *t)
{
    api_open_stream(w->api, t->server, &t->request, strike(w, t, FAULT_ENDLESS) != NULL,
                    &t->changes, &t->response);
    if (t->response.http_status != 200 || t->changes.over) {
        begin_body(w, t, TRANSFER_SENDING);
        return;
    }
    t->bookmark_ms = w->now_ms + BOOKMARK_MS;
    t->ends_ms = w->now_ms + t->request.timeout_ms;
    begin_body(w, t, TRANSFER_STREAMING);
}

/*
 * Sends a page of a list without end: without items or with one that repeats, and with the same
 * continue token each time or a random one.
 */
static void send_endless_page(struct wire *w, struct transfer *t, const struct fault *f)
{
    static const char *const items[] = {"", "{\"metadata\":{\"name\":\"" ENDLESS_NAME "\"}}"};

    t->response = (struct api_response){
        .http_status = 200, .content_type = "application/json", .body = STRBUF_INIT(1 << 10)};
    strbuf_addf(&t->response.body,
                "{\"kind\":\"SomeList\",\"items\":[%s],\"metadata\":{\"resourceVersion\":\"%" PRIu64
                "\",\"continue\":\"endless%u\"}}",
                items[f->param & 1], w->api->etcd.version,
                f->param & 2 ? 0 : rng_below(&w->rng, 1 << 30));
    begin_body(w, t, TRANSFER_SENDING);
}

/* Responds to the request, or waits for a fresh watch cache, at most FRESH_WAIT_MS in all. */
static void serve_request(struct wire *w, struct transfer *t)
{
    const struct fault *f =
        t->request.type == REQUEST_LIST && !t->request.name[0] ? strike(w, t, FAULT_PAGES) : NULL;

    if (f) {
        send_endless_page(w, t, f);
        return;
    }
    if (!api_is_fresh(w->api, t->server, &t->request)) {
        t->state = TRANSFER_STALE;
        t->next_ms = api_due(w->api, t->server);
        if (t->next_ms > t->opened_ms + FRESH_WAIT_MS)
            t->next_ms = t->opened_ms + FRESH_WAIT_MS;
        if (w->now_ms < t->opened_ms + FRESH_WAIT_MS)
            return;
        api_refuse_stale(&t->response);
        begin_body(w, t, TRANSFER_SENDING);
        return;
    }
    if (t->request.type == REQUEST_WATCH) {
        open_stream(w, t);
    } else {
        api_answer(w->api, t->server, &t->request, &t->response);
        begin_body(w, t, TRANSFER_SENDING);
    }
    maybe_cut_body(w, t);
}

/* Handles the arrival of the request at the server: applies faults, or responds. */
static void receive_request(struct wire *w, struct transfer *t)
{
    const struct fault *f;

    if (plan_fault(w->plan, FAULT_UNREACHABLE, t->request.target, w->now_ms)) {
        w->strikes++;
        wire_finish(w, t, false, "connection refused");
    } else if (strike(w, t, FAULT_HANG)) {
        t->state = TRANSFER_HANGING;
        t->next_ms = INT64_MAX;
    } else if (strike(w, t, FAULT_SILENT)) {
        t->state = TRANSFER_HANGING;
        t->next_ms = INT64_MAX;
        t->response.content_type = "application/json";
        report_status(t, 200);
    } else if ((f = strike(w, t, FAULT_REFUSE)) != NULL) {
        send_refusal(w, t, f);
    } else if (plan_fault(w->plan, FAULT_FORBIDDEN, t->request.target, w->now_ms)) {
        w->strikes++;
        t->response = (struct api_response){.http_status = 403, .body = STRBUF_INIT(1 << 10)};
        strbuf_adds(&t->response.body,
                    "{\"kind\":\"Status\",\"code\":403,\"message\":\"forbidden\"}");
        begin_body(w, t, TRANSFER_SENDING);
    } else {
        serve_request(w, t);
    }
}

/* ---- streams ---- */

static const char *const errors[] = {
    "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":500}}\n",
    "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\"}}\n",
    "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":429,\"details\":{"
    "\"retryAfterSeconds\":2}}}\n",
    "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":504,\"message\":"
    "\"Too large resource version\"}}\n",
};

static const char *const garbage[] = {
    "<html>\n",
    "{\"type\":\"UNHEARD\",\"object\":{\"metadata\":{}}}\n",
    "{\"type\":\"ADDED\",\"object\":{\"kind\":\"Table\",\"metadata\":{}}}\n",
    "{\"type\":\"MODIFIED\",\"object\":7}\n",
    "[]\n",
    "{\"type\":\"ADDED\"}\n",
    "\xff\xfe{}\n",
    "\n\n",
};

/* Appends one of the kind's last four events before the stream's position again. */
static void append_replay(struct wire *w, struct transfer *t)
{
    const struct etcd *e = &w->api->etcd;
    size_t at = t->changes.position;

    for (uint32_t back = 1 + rng_below(&w->rng, 4); at > 0 && back > 0;)
        back -= slot_kind(e->log[--at].slot) == t->request.target;
    if (e->count == 0 || at >= e->count || slot_kind(e->log[at].slot) != t->request.target ||
        t->request.other_reason)
        return;
    strbuf_addf(&t->response.body, "{\"type\":\"%s\",\"object\":", e->log[at].type);
    object_write(e->log[at].slot, &e->log[at].cell, w->plan->template_kinds,
                 t->request.metadata_only, &t->response.body);
    strbuf_adds(&t->response.body, "}\n");
}

/* Applies the faults that strike the stream this time. */
static void disturb_stream(struct wire *w, struct transfer *t)
{
    t->struck_ms = w->now_ms;
    if (strike(w, t, FAULT_REPLAY))
        append_replay(w, t);
    if (strike(w, t, FAULT_GARBAGE))
        strbuf_adds(&t->response.body, garbage[rng_below(&w->rng, ARRAY_LEN(garbage))]);
    if (strike(w, t, FAULT_EVENT)) {
        strbuf_adds(&t->response.body, errors[rng_below(&w->rng, ARRAY_LEN(errors))]);
        t->changes.over = true;
    }
    maybe_cut_body(w, t);
}

static bool has_stream_fault(const struct wire *w, const struct transfer *t)
{
    static const enum fault_type types[] = {FAULT_REPLAY, FAULT_GARBAGE, FAULT_EVENT, FAULT_CUT,
                                            FAULT_RESET};
    bool any = false;

    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        any = any || plan_fault(w->plan, types[i], t->request.target, w->now_ms);
    return any;
}

/*
 * Appends the next event, the faults that strike, and without an event a bookmark if due. Sets
 * changes.over once the stream's time is up.
 */
static void fill_body(struct wire *w, struct transfer *t)
{
    bool any = api_next_event(w->api, t->server, &t->request, &t->changes, &t->response.body);

    if (any || (has_stream_fault(w, t) && w->now_ms >= t->struck_ms + STRIKE_MS))
        disturb_stream(w, t);
    if (!any && w->now_ms >= t->bookmark_ms) {
        t->bookmark_ms = w->now_ms + BOOKMARK_MS;
        if (t->request.bookmarks && w->plan->bookmarks[t->request.target])
            api_bookmark(w->api, t->server, &t->changes, false, &t->response.body);
    }
    if (w->now_ms >= t->ends_ms)
        t->changes.over = true;
}

static int64_t earlier_ms(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void continue_stream(struct wire *w, struct transfer *t)
{
    const struct fault *silent = plan_fault(w->plan, FAULT_SILENT, t->request.target, w->now_ms);

    if (silent) {
        t->next_ms = earlier_ms(silent->until_ms, w->plan->storm_ms) + wire_delay(w);
        return;
    }
    if (t->sent == t->response.body.len && !t->changes.over) {
        strbuf_reset(&t->response.body);
        t->sent = 0;
        fill_body(w, t);
    }
    if (t->sent < t->response.body.len || t->changes.over || t->cut_at != SIZE_MAX) {
        t->next_ms = w->now_ms;
        return;
    }
    t->next_ms = earlier_ms(earlier_ms(t->bookmark_ms, t->ends_ms), api_due(w->api, t->server));
    if (has_stream_fault(w, t))
        t->next_ms = earlier_ms(t->next_ms, t->struck_ms + STRIKE_MS);
    if (t->next_ms <= w->now_ms)
        t->next_ms = w->now_ms + 1;
}

/* ---- sending ---- */

/* Sends the next piece of the body. A piece may end at any byte. May free the transfer. */
static void send_piece(struct wire *w, struct transfer *t)
{
    size_t end = t->response.body.len < t->cut_at ? t->response.body.len : t->cut_at;
    size_t len = end - t->sent;

    if (len > PIECE_MAX)
        len = PIECE_MAX;
    else if (rng_chance(&w->rng, 30))
        len = 1 + rng_below(&w->rng, (uint32_t)len);
    t->next_ms = w->now_ms + (rng_chance(&w->rng, 50) ? 0 : wire_delay(w));
    if (plan_fault(w->plan, FAULT_DRIP, t->request.target, w->now_ms)) {
        len = 1;
        t->next_ms = w->now_ms + DRIP_MS;
        w->strikes++;
    }
    wire_hash(w, &t->id, sizeof(t->id));
    wire_hash(w, t->response.body.data + t->sent, len);

    const char *piece = t->response.body.data + t->sent;
    if (w->noisy)
        fprintf(stderr, "%9.3f #%" PRIu64 " <- %.*s%s\n", (double)w->now_ms / 1000, t->id,
                (int)(len < PRINTED_BYTES ? len : PRINTED_BYTES), piece,
                len > PRINTED_BYTES ? "..." : "");

    t->sent += len;
    if (!t->handler.data(t->handler.context, t->response.http_status, piece, len))
        wire_finish(w, t, false, "given up by the client");
}

void transfer_turn(struct wire *w, struct transfer *t)
{
    size_t end = t->response.body.len < t->cut_at ? t->response.body.len : t->cut_at;

    if (t->state == TRANSFER_NEW) {
        receive_request(w, t);
    } else if (t->state == TRANSFER_STALE) {
        serve_request(w, t);
    } else if (t->state == TRANSFER_HANGING || t->deaf) {
        t->next_ms = INT64_MAX;
    } else if (t->sent < end) {
        send_piece(w, t);
    } else if (t->cut_at != SIZE_MAX) {
        wire_finish(w, t, t->cut_looks_fine, "connection lost");
    } else if (t->state == TRANSFER_SENDING || t->changes.over) {
        wire_finish(w, t, true, "");
    } else {
        continue_stream(w, t);
    }
}
