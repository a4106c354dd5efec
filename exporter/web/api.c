/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/api.h"

#include "exporter/evaluation.h"
#include "exporter/system/platform.h"
#include "exporter/web/api_paging.h"
#include "exporter/web/html.h"
#include "exporter/web/query.h"
#include "exporter/web/response.h"

enum { ROWS_KEPT_MS = 15 * 60 * 1000 };

#define ENDPOINT_ROW(id, handler, path, summary, known, required, needs, answer)                   \
    {handler, path, summary, known, required, needs, answer, false},
#define PAGE_ROW(id, handler, path, summary, known, required, needs, answer)                       \
    {handler, path, summary, known, required, needs, answer, true},

const struct endpoint endpoints[ENDPOINT_COUNT] = {API_ENDPOINTS(ENDPOINT_ROW)
                                                       PAGE_ENDPOINTS(PAGE_ROW)};

struct api {
    struct request_queue *request_queue;
    struct request_worker *request_worker;
    struct paging *paging;
    struct queued_request *request; /* That is being answered; NULL: none. */
    struct health health;           /* For its function. */
    struct evaluation *evaluation;  /* That is lent; NULL: none. */
    int64_t listed_ms;              /* When rows were last asked for. */
};

const char *api_error_write(const struct endpoint *endpoint, struct strbuf *out, const char *text)
{
    struct json_writer w = {.out = out};

    if (endpoint->page) {
        page_layout_write_error(out, text);
        return RESPONSE_HTML;
    }
    json_writer_open(&w, NULL, '{');
    json_writer_text(&w, "error", text);
    json_writer_close(&w, '}');
    strbuf_addc(out, '\n');
    return RESPONSE_JSON;
}

void api_refuse(struct queued_request *request, unsigned status, const char *text)
{
    request->status = status;
    strbuf_reset(&request->body);
    request->content_type = api_error_write(request->endpoint, &request->body, text);
}

struct api *api_new(struct request_queue *request_queue, struct request_worker *request_worker,
                    uint64_t seed)
{
    struct api *a = xcalloc(1, sizeof(*a));

    a->request_queue = request_queue;
    a->request_worker = request_worker;
    a->paging = paging_new(seed);
    return a;
}

void api_free(struct api *a)
{
    if (!a)
        return;
    paging_free(a->paging);
    free(a);
}

/* True if the call has what it needs but for what is lent; else it is answered with why not. */
static bool open_list(struct api *a, struct queued_request *request)
{
    const struct page_query question = {
        .path = request->endpoint->path,
        .query = &request->query,
        .limit = request->endpoint->page ? HTML_SHOWN_MAX : 0,
        .now_ms = platform_steady_ms(),
        .clock_ms = platform_now_ms(),
    };
    unsigned status;
    struct error err;

    if (request->endpoint->needs < NEEDS_LINES)
        return true;
    if (request->endpoint->page)
        query_drop_empty(&request->query);
    if (list_format_named(request->query.values[PARAMETER_FORMAT]) == LIST_FORMAT_COUNT) {
        api_refuse(request, MHD_HTTP_BAD_REQUEST, "'format' takes json, ndjson or csv");
        return false;
    }
    if (!paging_open(a->paging, &question, &status, &err)) {
        api_refuse(request, status, err.text);
        return false;
    }
    request->paging = a->paging;
    return true;
}

/* The first list of all has to make the rows. */
static void make_view(struct api *a, struct evaluation *e)
{
    a->listed_ms = platform_steady_ms();
    paging_set_view(a->paging, rows_view(evaluation_rows(e)));
}

/* The clerk's part. */
static void answer(void *context)
{
    struct api *a = context;
    struct queued_request *request = a->request;

    if (request->endpoint->needs == NEEDS_ROWS && !paging_continues(a->paging))
        make_view(a, a->evaluation);
    request->endpoint->answer(request, &a->health);
}

static void finish(struct api *a)
{
    if (a->request->paging)
        paging_close(a->paging, platform_steady_ms());
    a->request = NULL;
    a->evaluation = NULL;
    request_queue_answer(a->request_queue);
}

static void begin(struct api *a, const struct health *h, struct evaluation *e)
{
    enum endpoint_needs needs = a->request->endpoint->needs;

    if (needs != NEEDS_NOTHING && !e) {
        api_refuse(a->request, MHD_HTTP_SERVICE_UNAVAILABLE, "not everything has been read yet");
        finish(a);
        return;
    }
    if (a->request->endpoint->page)
        a->request->content_type = RESPONSE_HTML;
    if (!open_list(a, a->request)) {
        finish(a);
        return;
    }
    if (needs == NEEDS_ROWS && e->rows && !paging_continues(a->paging))
        make_view(a, e);
    if (needs == NEEDS_EVALUATION || needs == NEEDS_PLAN ||
        (needs >= NEEDS_LINES && !paging_continues(a->paging)))
        a->evaluation = e;
    a->request->request_worker = a->request_worker;
    a->health = *h;
    a->health.evaluation = a->evaluation;
    if (a->request_worker) {
        request_worker_begin(a->request_worker, answer, a);
        return;
    }
    answer(a);
    finish(a);
}

/* Nobody has asked for a list for long: no rows have to be kept. */
static void tidy(struct api *a, struct evaluation *e)
{
    int64_t now_ms = platform_steady_ms();

    paging_drop_expired(a->paging, now_ms);
    if (e && e->rows && !paging_keeps_views(a->paging) && now_ms - a->listed_ms >= ROWS_KEPT_MS)
        evaluation_drop_rows(e);
}

/*
 * Has the call to wait for what is being evaluated? A list of rows has not: each says what was last
 * decided, and under a storm of changes something always waits to be.
 */
static bool has_to_wait(const struct queued_request *request, const struct evaluation *e)
{
    enum endpoint_needs needs = request->endpoint->needs;

    return needs != NEEDS_NOTHING && !(needs == NEEDS_ROWS && e && e->rows);
}

void api_turn(struct api *a, const struct health *h, struct evaluation *e, bool settled)
{
    struct queued_request *request;

    if (a->request && request_worker_done(a->request_worker))
        finish(a);
    if (!a->request)
        tidy(a, e);
    while (!a->request && (request = request_queue_next(a->request_queue)) != NULL) {
        if (!settled && has_to_wait(request, e))
            return;
        a->request = request;
        begin(a, h, e);
    }
}

bool api_uses_evaluation(const struct api *a)
{
    return a->evaluation;
}

bool api_has_request(const struct api *a)
{
    return a->request;
}

void api_forget_lists(struct api *a)
{
    paging_drop_all(a->paging);
}
