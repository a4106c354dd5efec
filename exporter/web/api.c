/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/api.h"

#include "exporter/evaluation.h"
#include "exporter/system/platform.h"
#include "exporter/web/api_paging.h"
#include "exporter/web/html.h"
#include "exporter/web/query.h"
#include "exporter/web/response.h"

enum {
    ROWS_KEPT_MS = 15 * 60 * 1000,         /* Minimum time from make_view() to dropping rows. */
    OUTDATED_MAX_BYTES = 64 * 1024 * 1024, /* Outdated rows of all stored lists. */
};

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
    struct queued_request *request; /* Request that is being handled, or NULL. Borrowed. */
    struct health health;           /* Input for the endpoint of `request`. */
    struct evaluation *evaluation;  /* Evaluation that the worker reads, or NULL. */
    int64_t listed_ms;              /* Steady time of the last call of make_view(). */
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

/*
 * Starts the paging of a request for a list; does nothing for other requests. Returns false after
 * an error response.
 */
static bool open_paging(struct api *a, struct queued_request *request)
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

/* Gives the open list a view of the evaluation's rows. Slow if the evaluation has no rows yet. */
static void make_view(struct api *a, struct evaluation *e)
{
    a->listed_ms = platform_steady_ms();
    paging_set_view(a->paging, rows_view(evaluation_rows(e)));
}

/* Writes the response; runs on the worker thread, if there is one. */
static void write_response(void *context)
{
    struct api *a = context;
    struct queued_request *request = a->request;

    if (request->endpoint->needs == NEEDS_ROWS && !paging_continues(a->paging))
        make_view(a, a->evaluation);
    request->endpoint->answer(request, &a->health);
}

static void finish_request(struct api *a)
{
    if (a->request->paging)
        paging_close(a->paging, platform_steady_ms());
    a->request = NULL;
    a->evaluation = NULL;
    request_queue_answer_first(a->request_queue);
}

static void begin_request(struct api *a, const struct health *h, struct evaluation *e)
{
    enum endpoint_needs needs = a->request->endpoint->needs;

    if (needs != NEEDS_NOTHING && needs != NEEDS_EVALUATION_IF_READ && !e) {
        api_refuse(a->request, MHD_HTTP_SERVICE_UNAVAILABLE,
                   "the first evaluation is not complete");
        finish_request(a);
        return;
    }
    if (a->request->endpoint->page)
        a->request->content_type = RESPONSE_HTML;
    if (!open_paging(a, a->request)) {
        finish_request(a);
        return;
    }
    if (needs == NEEDS_ROWS && e->rows && !paging_continues(a->paging))
        make_view(a, e);
    if (needs == NEEDS_EVALUATION || needs == NEEDS_EVALUATION_IF_READ || needs == NEEDS_PLAN ||
        (needs >= NEEDS_LINES && !paging_continues(a->paging)))
        a->evaluation = e;
    a->request->request_worker = a->request_worker;
    a->health = *h;
    a->health.evaluation = a->evaluation;
    /* Without an evaluation the function may read sources, which the loop goes on to use. */
    if (a->request_worker && (e || needs != NEEDS_EVALUATION_IF_READ)) {
        request_worker_begin(a->request_worker, write_response, a);
        return;
    }
    write_response(a);
    finish_request(a);
}

/* Drops lists and rows that were not requested for some time or keep too many outdated rows. */
static void drop_unused_lists(struct api *a, struct evaluation *e)
{
    int64_t now_ms = platform_steady_ms();

    paging_drop_expired(a->paging, now_ms);
    paging_drop_outdated(a->paging, OUTDATED_MAX_BYTES);
    if (e && e->rows && !paging_keeps_views(a->paging) && now_ms - a->listed_ms >= ROWS_KEPT_MS)
        evaluation_drop_rows(e);
}

/*
 * Returns true if the request must wait until all objects are evaluated. A list of rows that exist
 * does not wait: with steady changes, some object is always left to evaluate.
 */
static bool must_wait(const struct queued_request *request, const struct evaluation *e)
{
    enum endpoint_needs needs = request->endpoint->needs;

    return needs != NEEDS_NOTHING && !(needs == NEEDS_ROWS && e && e->rows);
}

void api_collect(struct api *a)
{
    if (a->request && request_worker_collect(a->request_worker))
        finish_request(a);
}

void api_turn(struct api *a, const struct health *h, struct evaluation *e, bool settled)
{
    struct queued_request *request;

    api_collect(a);
    if (!a->request)
        drop_unused_lists(a, e);
    while (!a->request && (request = request_queue_peek(a->request_queue)) != NULL) {
        if (!settled && must_wait(request, e))
            return;
        a->request = request;
        begin_request(a, h, e);
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
