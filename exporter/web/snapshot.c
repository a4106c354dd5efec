/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/snapshot.h"

#include <pthread.h>

#include "exporter/web/accept.h"
#include "exporter/web/request.h"
#include "exporter/web/response.h"

struct snapshot {
    pthread_mutex_t lock;         /* Guards the pointers alone. */
    struct metrics_page *metrics; /* NULL before the first, as are all others. */
    struct body *pages[PAGE_COUNT];
    struct segment_sum sum; /* Of the metrics. */
};

struct snapshot *snapshot_new(void)
{
    struct snapshot *s = xcalloc(1, sizeof(*s));

    pthread_mutex_init(&s->lock, NULL);
    return s;
}

void snapshot_free(struct snapshot *s)
{
    if (!s)
        return;
    metrics_page_drop(s->metrics);
    for (size_t i = 0; i < PAGE_COUNT; i++)
        body_drop(s->pages[i]);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

void snapshot_publish(struct snapshot *s, enum page page, struct strbuf *text)
{
    size_t len;

    assert(strbuf_ok(text) && page != PAGE_METRICS);
    char *bytes = strbuf_take(text, &len);
    struct segment *segment = segment_new(bytes, len, NULL);
    struct body *fresh = body_new(&segment, 1);

    segment_drop(segment);
    pthread_mutex_lock(&s->lock);
    struct body *old = s->pages[page];
    s->pages[page] = fresh;
    pthread_mutex_unlock(&s->lock);

    body_drop(old);
}

void snapshot_publish_metrics(struct snapshot *s, struct metrics_page *page)
{
    pthread_mutex_lock(&s->lock);
    struct metrics_page *old = s->metrics;
    s->metrics = metrics_page_hold(page);
    pthread_mutex_unlock(&s->lock);

    metrics_page_drop(old);
}

struct metrics_page *snapshot_hold_metrics(struct snapshot *s)
{
    pthread_mutex_lock(&s->lock);
    struct metrics_page *page = metrics_page_hold(s->metrics);

    pthread_mutex_unlock(&s->lock);
    return page;
}

struct segment_sum *snapshot_sum(struct snapshot *s)
{
    return &s->sum;
}

bool snapshot_holds_more(struct snapshot *s, uint64_t bytes)
{
    pthread_mutex_lock(&s->lock);
    uint64_t len = s->metrics ? metrics_page_len(s->metrics) : 0;
    pthread_mutex_unlock(&s->lock);
    return atomic_load_explicit(&s->sum.bytes, memory_order_relaxed) > 2 * len + bytes;
}

/* What of the metrics the client wants, in the format that it does; NULL before the first page. */
static struct body *hold_metrics(struct snapshot *s, struct MHD_Connection *connection,
                                 const struct family_filter *filter, char type[MEDIA_TYPE_MAX])
{
    CLEANUP(strbuf_release)
    struct strbuf header = request_header(connection, MHD_HTTP_HEADER_ACCEPT);
    bool newer = accept_media(header.data, type) == MEDIA_OPENMETRICS;

    struct metrics_page *page = snapshot_hold_metrics(s);

    if (!page)
        return NULL;
    struct body *body =
        metrics_page_body(page, newer ? EXPOSITION_OPENMETRICS : EXPOSITION_TEXT, filter);

    metrics_page_drop(page);
    return body;
}

static struct body *hold_page(struct snapshot *s, enum page page)
{
    pthread_mutex_lock(&s->lock);
    struct body *body = body_hold(s->pages[page]);
    pthread_mutex_unlock(&s->lock);
    return body;
}

/* The body, which is dropped, for this client; without one, that there is none yet. */
static struct MHD_Response *response_of(struct MHD_Connection *connection, struct body *body,
                                        const char *type, const char *vary, unsigned *out_status)
{
    CLEANUP(strbuf_release)
    struct strbuf encodings = request_header(connection, MHD_HTTP_HEADER_ACCEPT_ENCODING);

    *out_status = body ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE;
    if (!body)
        return response_text("not ready: nothing was read yet\n");

    struct MHD_Response *response = body_response(body, accept_gzip(encodings.data), type);

    response_header(response, MHD_HTTP_HEADER_VARY, vary);
    body_drop(body);
    return response;
}

static struct MHD_Response *refusal(const struct error *err, unsigned *out_status)
{
    char text[sizeof(err->text) + 2];

    snprintf(text, sizeof(text), "%s\n", err->text);
    *out_status = MHD_HTTP_BAD_REQUEST;
    return response_text(text);
}

struct MHD_Response *snapshot_response(struct snapshot *s, enum page page,
                                       struct MHD_Connection *connection, unsigned *out_status)
{
    static const char vary[] = MHD_HTTP_HEADER_ACCEPT ", " MHD_HTTP_HEADER_ACCEPT_ENCODING;
    CLEANUP(family_filter_release) struct family_filter filter = {0};
    char type[MEDIA_TYPE_MAX];
    struct error err;

    if (page != PAGE_METRICS)
        return response_of(connection, hold_page(s, page), page_defs[page].content_type,
                           MHD_HTTP_HEADER_ACCEPT_ENCODING, out_status);
    if (!family_filter_read(connection, &filter, &err))
        return refusal(&err, out_status);
    return response_of(connection, hold_metrics(s, connection, &filter, type), type, vary,
                       out_status);
}
