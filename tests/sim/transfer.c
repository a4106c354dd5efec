/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/transfer.h"

enum {
    BOOKMARK_MS = 60 * 1000,
    FRESH_WAIT_MS = 3 * 1000, /* So long a server waits for its cache. */
    STRIKE_MS = 2 * 1000,     /* Between two faults of a stream, where nothing else happens. */
    DRIP_MS = 1000,
    RETRY_AFTER_MAX_S = 5,
    TOLD_BYTES = 1000,
    PIECE_MAX = 64 * 1024, /* What is larger comes in pieces of that size. */
};

/* The fault, if it strikes this time. */
static const struct fault *struck(struct wire *w, const struct transfer *t, enum fault_type type)
{
    const struct fault *f = plan_fault(w->plan, type, t->request.target, w->now_ms);

    if (!f || !rng_chance(&w->rng, f->percent))
        return NULL;
    w->strikes++;
    return f;
}

static void respond(struct transfer *t, unsigned http_status)
{
    t->response.http_status = http_status;
    if (t->handler.responded)
        t->handler.responded(t->handler.context, http_status);
}

static void send_body(struct wire *w, struct transfer *t, enum transfer_state state)
{
    t->state = state;
    t->next_ms = w->now_ms + wire_delay(w);
    respond(t, t->response.http_status);
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

static void refuse(struct wire *w, struct transfer *t, const struct fault *f)
{
    /* Always the same, or each time another one. */
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
    send_body(w, t, TRANSFER_SENDING);
}

/* Have the body break off somewhere, if that is what happens now. */
static void maybe_cut(struct wire *w, struct transfer *t)
{
    bool reset = struck(w, t, FAULT_RESET) != NULL;

    if (!reset && !struck(w, t, FAULT_CUT))
        return;
    t->cut_at = t->sent + rng_below(&w->rng, (uint32_t)(t->response.body.len - t->sent) + 1);
    t->cut_looks_fine = reset;
}

static void open_stream(struct wire *w, struct transfer *t)
{
    api_open_stream(w->api, t->server, &t->request, struck(w, t, FAULT_ENDLESS) != NULL,
                    &t->changes, &t->response);
    if (t->response.http_status != 200 || t->changes.over) {
        send_body(w, t, TRANSFER_SENDING);
        return;
    }
    t->bookmark_ms = w->now_ms + BOOKMARK_MS;
    t->ends_ms = w->now_ms + t->request.timeout_ms;
    send_body(w, t, TRANSFER_STREAMING);
}

/* A page of a list that goes on for ever: empty, or the same object again, with a token of any
 * kind. */
static void answer_endless(struct wire *w, struct transfer *t, const struct fault *f)
{
    static const char *const items[] = {"", "{\"metadata\":{\"name\":\"again\"}}"};

    t->response = (struct api_response){
        .http_status = 200, .content_type = "application/json", .body = STRBUF_INIT(1 << 10)};
    strbuf_addf(&t->response.body,
                "{\"kind\":\"SomeList\",\"items\":[%s],\"metadata\":{\"resourceVersion\":\"%" PRIu64
                "\",\"continue\":\"endless%u\"}}",
                items[f->param & 1], w->api->etcd.version,
                f->param & 2 ? 0 : rng_below(&w->rng, 1 << 30));
    send_body(w, t, TRANSFER_SENDING);
}

/* The request has reached its server. */
static void serve(struct wire *w, struct transfer *t)
{
    const struct fault *f =
        t->request.what == REQUEST_LIST && !t->request.name[0] ? struck(w, t, FAULT_PAGES) : NULL;

    if (f) {
        answer_endless(w, t, f);
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
        send_body(w, t, TRANSFER_SENDING);
        return;
    }
    if (t->request.what == REQUEST_WATCH) {
        open_stream(w, t);
    } else {
        api_answer(w->api, t->server, &t->request, &t->response);
        send_body(w, t, TRANSFER_SENDING);
    }
    maybe_cut(w, t);
}

static void arrive(struct wire *w, struct transfer *t)
{
    const struct fault *f;

    if (plan_fault(w->plan, FAULT_UNREACHABLE, t->request.target, w->now_ms)) {
        w->strikes++;
        wire_finish(w, t, false, "connection refused");
    } else if (struck(w, t, FAULT_HANG)) {
        t->state = TRANSFER_HANGING;
        t->next_ms = INT64_MAX;
    } else if (struck(w, t, FAULT_SILENT)) {
        t->state = TRANSFER_HANGING;
        t->next_ms = INT64_MAX;
        t->response.content_type = "application/json";
        respond(t, 200);
    } else if ((f = struck(w, t, FAULT_REFUSE)) != NULL) {
        refuse(w, t, f);
    } else if (plan_fault(w->plan, FAULT_FORBIDDEN, t->request.target, w->now_ms)) {
        w->strikes++;
        t->response = (struct api_response){.http_status = 403, .body = STRBUF_INIT(1 << 10)};
        strbuf_adds(&t->response.body,
                    "{\"kind\":\"Status\",\"code\":403,\"message\":\"forbidden\"}");
        send_body(w, t, TRANSFER_SENDING);
    } else {
        serve(w, t);
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

/* An event of the same kind that the stream has had, or could have had, again. */
static void replay(struct wire *w, struct transfer *t)
{
    const struct etcd *e = &w->api->etcd;
    size_t at = t->changes.position;

    /* One of the last few. */
    for (uint32_t back = 1 + rng_below(&w->rng, 4); at > 0 && back > 0;)
        back -= slot_kind(e->log[--at].slot) == t->request.target;
    if (e->count == 0 || at >= e->count || slot_kind(e->log[at].slot) != t->request.target ||
        t->request.of_other_reason)
        return;
    strbuf_addf(&t->response.body, "{\"type\":\"%s\",\"object\":", e->log[at].type);
    object_write(e->log[at].slot, &e->log[at].cell, w->plan->template_kinds,
                 t->request.metadata_only, &t->response.body);
    strbuf_adds(&t->response.body, "}\n");
}

/* What goes wrong on a stream, if it does. */
static void disturb(struct wire *w, struct transfer *t)
{
    t->struck_ms = w->now_ms;
    if (struck(w, t, FAULT_REPLAY))
        replay(w, t);
    if (struck(w, t, FAULT_GARBAGE))
        strbuf_adds(&t->response.body, garbage[rng_below(&w->rng, ARRAY_LEN(garbage))]);
    if (struck(w, t, FAULT_EVENT)) {
        strbuf_adds(&t->response.body, errors[rng_below(&w->rng, ARRAY_LEN(errors))]);
        t->changes.over = true;
    }
    maybe_cut(w, t);
}

static bool is_disturbed(const struct wire *w, const struct transfer *t)
{
    static const enum fault_type types[] = {FAULT_REPLAY, FAULT_GARBAGE, FAULT_EVENT, FAULT_CUT,
                                            FAULT_RESET};
    bool any = false;

    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        any = any || plan_fault(w->plan, types[i], t->request.target, w->now_ms);
    return any;
}

/* Put what there is into the body; else set when there may be something. */
static void fill(struct wire *w, struct transfer *t)
{
    bool any = api_next_event(w->api, t->server, &t->request, &t->changes, &t->response.body);

    if (any || (is_disturbed(w, t) && w->now_ms >= t->struck_ms + STRIKE_MS))
        disturb(w, t);
    if (!any && w->now_ms >= t->bookmark_ms) {
        t->bookmark_ms = w->now_ms + BOOKMARK_MS;
        if (t->request.bookmarks && w->plan->bookmarks[t->request.target])
            api_bookmark(w->api, t->server, &t->changes, false, &t->response.body);
    }
    if (w->now_ms >= t->ends_ms)
        t->changes.over = true;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void stream(struct wire *w, struct transfer *t)
{
    const struct fault *silent = plan_fault(w->plan, FAULT_SILENT, t->request.target, w->now_ms);

    if (silent) {
        t->next_ms = least(silent->until_ms, w->plan->storm_ms) + wire_delay(w);
        return;
    }
    if (t->sent == t->response.body.len && !t->changes.over) {
        strbuf_reset(&t->response.body);
        t->sent = 0;
        fill(w, t);
    }
    if (t->sent < t->response.body.len || t->changes.over || t->cut_at != SIZE_MAX) {
        t->next_ms = w->now_ms;
        return;
    }
    t->next_ms = least(least(t->bookmark_ms, t->ends_ms), api_due(w->api, t->server));
    if (is_disturbed(w, t))
        t->next_ms = least(t->next_ms, t->struck_ms + STRIKE_MS);
    if (t->next_ms <= w->now_ms)
        t->next_ms = w->now_ms + 1;
}

/* ---- sending ---- */

/* Send a piece of what is there, wherever it is cut. */
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
                (int)(len < TOLD_BYTES ? len : TOLD_BYTES), piece, len > TOLD_BYTES ? "..." : "");

    t->sent += len;
    if (!t->handler.data(t->handler.context, t->response.http_status, piece, len))
        wire_finish(w, t, false, "given up by the client");
}

void transfer_turn(struct wire *w, struct transfer *t)
{
    size_t end = t->response.body.len < t->cut_at ? t->response.body.len : t->cut_at;

    if (t->state == TRANSFER_NEW) {
        arrive(w, t);
    } else if (t->state == TRANSFER_STALE) {
        serve(w, t);
    } else if (t->state == TRANSFER_HANGING || t->deaf) {
        t->next_ms = INT64_MAX;
    } else if (t->sent < end) {
        send_piece(w, t);
    } else if (t->cut_at != SIZE_MAX) {
        wire_finish(w, t, t->cut_looks_fine, "connection lost");
    } else if (t->state == TRANSFER_SENDING || t->changes.over) {
        wire_finish(w, t, true, "");
    } else {
        stream(w, t);
    }
}
