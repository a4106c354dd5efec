/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/metrics_page.h"

#include <pthread.h>
#include <stdatomic.h>

#include "exporter/options/suggest.h"
#include "exporter/web/request.h"
#include "exporter/web/response.h"
#include "metrics/expose/family.h"
#include "metrics/expose/series.h"

enum { NAMES_MAX = 100, SHOWN_MAX = 100, TEXT_MAX = 4096 };

static const char collect[] = "collect[]";
static const char exclude[] = "exclude[]";
static const char total[] = "_total";

static bool is_name_of(const struct family_def *def, const char *name)
{
    size_t len = strlen(name);

    if (strncmp(def->name, name, len) != 0)
        return false;
    return def->name[len] == '\0' ||
           (def->type == FAMILY_COUNTER && strcmp(def->name + len, total) == 0);
}

static const char *next_family(void *context)
{
    size_t *at = context;

    return *at < family_count() ? family_at((*at)++)->name : NULL;
}

/* What was typed is shown as a label would be, without what could pass for something else. */
static bool fail_unknown(const char *name, struct error *err)
{
    CLEANUP(strbuf_release) struct strbuf shown = STRBUF_INIT(TEXT_MAX);
    size_t at = 0;
    const char *nearest = suggest_name(name, next_family, &at);

    label_text_add(&shown, name);
    if (shown.len > SHOWN_MAX)
        return fail(err, "no metric family has a name that long");
    return fail(err, "there is no metric family \"%s\"%s%s%s", shown.data,
                nearest ? ": did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
}

static bool add_name(struct family_filter *f, bool excludes, const char *name, struct error *err)
{
    size_t index = 0;

    if (f->count > 0 && f->excludes != excludes)
        return fail(err, "%s and %s cannot be combined", collect, exclude);
    f->excludes = excludes;
    if (++f->count > NAMES_MAX)
        return fail(err, "more than %d metric families are named", NAMES_MAX);
    while (index < family_count() && !is_name_of(family_at(index), name))
        index++;
    if (index == family_count())
        return fail_unknown(name, err);
    if (!f->named)
        f->named = xcalloc(family_count(), sizeof(*f->named));
    f->named[index] = true;
    return true;
}

struct filter_reading {
    struct family_filter *filter;
    struct error *err;
    bool failed;
};

static enum MHD_Result read_parameter(void *context, enum MHD_ValueKind kind, const char *name,
                                      const char *value)
{
    struct filter_reading *r = context;
    bool excludes = strcmp(name, exclude) == 0;

    (void)kind;
    if (!excludes && strcmp(name, collect) != 0)
        return MHD_YES;
    r->failed = !add_name(r->filter, excludes, value ? value : "", r->err);
    return r->failed ? MHD_NO : MHD_YES;
}

/*
 * Read it from a request's parameters. False with what is wrong, for a 400: a name that is no
 * family's, more than 100 of them, or both parameters. Release the filter in either case.
 */
static MUST_USE bool family_filter_read(struct MHD_Connection *connection,
                                        struct family_filter *out, struct error *err)
{
    struct filter_reading reading = {.filter = out, .err = err};

    *out = (struct family_filter){0};
    MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, read_parameter, &reading);
    return !reading.failed;
}

/* All zero is released. */
static void family_filter_release(struct family_filter *f)
{
    free(f->named);
    *f = (struct family_filter){0};
}

/* Is the family of family_at(index) wanted? */
static bool family_filter_wants(const struct family_filter *f, size_t index)
{
    return !f->named || f->named[index] != f->excludes;
}

/* By format; all NULL where a family is not on the page. */
struct family_parts {
    struct segment *head[EXPOSITION_FORMATS];
    struct segment *series[EXPOSITION_FORMATS];
};

struct metrics_page {
    _Atomic unsigned holders;
    struct segment_sum *sum;
    struct segment *ends[EXPOSITION_FORMATS];
    struct body *whole[EXPOSITION_FORMATS];
    size_t len; /* Of all that was written. */
    struct family_parts families[];
};

/* The text as a segment: the old one if that says the same. */
static struct segment *to_segment(struct metrics_page *p, const struct strbuf *text,
                                  struct segment *old)
{
    p->len += text->len;
    if (old && segment_len(old) == text->len &&
        memcmp(segment_bytes(old), text->data, text->len) == 0)
        return segment_hold(old);
    return segment_new(xmemdup0(text->data, text->len), text->len, p->sum);
}

/* Write what a family is in one format, its series only where they are not those of the first. */
static bool write_family(struct metrics_page *p, const struct registry *r, size_t index,
                         struct exposition how, const struct family_parts *old, struct strbuf *text)
{
    struct family_parts *parts = &p->families[index];

    strbuf_reset(text);
    exposition_write_head(family_at(index), how.format, text);
    parts->head[how.format] = to_segment(p, text, old ? old->head[how.format] : NULL);
    if (how.format != EXPOSITION_TEXT && family_at(index)->type == FAMILY_GAUGE) {
        parts->series[how.format] = segment_hold(parts->series[EXPOSITION_TEXT]);
        return true;
    }
    strbuf_reset(text);
    exposition_write_series(r, index, how, text);
    if (!strbuf_ok(text) || p->len + text->len > text->max)
        return false;
    parts->series[how.format] = to_segment(p, text, old ? old->series[how.format] : NULL);
    return true;
}

static struct body *gather(const struct metrics_page *p, enum exposition_format format,
                           const struct family_filter *filter)
{
    CLEANUP(free_cleanup)
    struct segment **segments = xcalloc(2 * family_count() + 1, sizeof(struct segment *));
    size_t count = 0;

    for (size_t i = 0; i < family_count(); i++) {
        if (!p->families[i].head[format] || !family_filter_wants(filter, i))
            continue;
        segments[count++] = p->families[i].head[format];
        segments[count++] = p->families[i].series[format];
    }
    segments[count++] = p->ends[format];
    return body_new(segments, count);
}

struct metrics_page *metrics_page_new(const struct registry *r, struct exposition how,
                                      const struct metrics_page *previous, size_t max,
                                      struct segment_sum *sum)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(max);
    const struct family_filter all = {0};
    struct metrics_page *p = xcalloc(1, sizeof(*p) + family_count() * sizeof(struct family_parts));
    bool fits = true;

    atomic_init(&p->holders, 1);
    p->sum = sum;
    for (how.format = 0; how.format < EXPOSITION_FORMATS; how.format++) {
        for (size_t i = 0; fits && i < family_count(); i++)
            fits = !exposition_has_family(r, how.synced, i) ||
                   write_family(p, r, i, how, previous ? &previous->families[i] : NULL, &text);
        if (!fits)
            break;
        strbuf_reset(&text);
        strbuf_adds(&text, exposition_trailer(how.format));
        p->ends[how.format] = to_segment(p, &text, previous ? previous->ends[how.format] : NULL);
        p->whole[how.format] = gather(p, how.format, &all);
    }
    if (fits)
        return p;
    metrics_page_drop(p);
    return NULL;
}

size_t metrics_page_len(const struct metrics_page *p)
{
    return p->len;
}

static struct metrics_page *metrics_page_hold(struct metrics_page *p)
{
    if (p)
        atomic_fetch_add(&p->holders, 1);
    return p;
}

void metrics_page_drop(struct metrics_page *p)
{
    if (!p || atomic_fetch_sub(&p->holders, 1) > 1)
        return;
    for (size_t f = 0; f < EXPOSITION_FORMATS; f++) {
        for (size_t i = 0; i < family_count(); i++) {
            segment_drop(p->families[i].head[f]);
            segment_drop(p->families[i].series[f]);
        }
        segment_drop(p->ends[f]);
        body_drop(p->whole[f]);
    }
    free(p);
}

/* The families that the filter wants, held for the caller. Any thread may call it. */
static MUST_USE struct body *metrics_page_body(const struct metrics_page *p,
                                               enum exposition_format format,
                                               const struct family_filter *filter)
{
    return filter->named ? gather(p, format, filter) : body_hold(p->whole[format]);
}

void metrics_page_write_text(const struct metrics_page *p, struct strbuf *out)
{
    for (size_t i = 0; i < family_count(); i++) {
        const struct family_parts *parts = &p->families[i];

        if (!parts->head[EXPOSITION_TEXT])
            continue;
        strbuf_add(out, segment_bytes(parts->head[EXPOSITION_TEXT]),
                   segment_len(parts->head[EXPOSITION_TEXT]));
        strbuf_add(out, segment_bytes(parts->series[EXPOSITION_TEXT]),
                   segment_len(parts->series[EXPOSITION_TEXT]));
    }
}

struct page_store {
    pthread_mutex_t lock;         /* Guards the pointers alone. */
    struct metrics_page *metrics; /* NULL before the first, as are all others. */
    struct body *pages[PAGE_COUNT];
    struct segment_sum sum; /* Of the metrics. */
};

struct page_store *page_store_new(void)
{
    struct page_store *s = xcalloc(1, sizeof(*s));

    pthread_mutex_init(&s->lock, NULL);
    return s;
}

void page_store_free(struct page_store *s)
{
    if (!s)
        return;
    metrics_page_drop(s->metrics);
    for (size_t i = 0; i < PAGE_COUNT; i++)
        body_drop(s->pages[i]);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

void page_store_publish(struct page_store *s, enum page page, struct strbuf *text)
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

void page_store_publish_metrics(struct page_store *s, struct metrics_page *page)
{
    pthread_mutex_lock(&s->lock);
    struct metrics_page *old = s->metrics;
    s->metrics = metrics_page_hold(page);
    pthread_mutex_unlock(&s->lock);

    metrics_page_drop(old);
}

struct metrics_page *page_store_hold_metrics(struct page_store *s)
{
    pthread_mutex_lock(&s->lock);
    struct metrics_page *page = metrics_page_hold(s->metrics);

    pthread_mutex_unlock(&s->lock);
    return page;
}

struct segment_sum *page_store_segment_sum(struct page_store *s)
{
    return &s->sum;
}

bool page_store_holds_more(struct page_store *s, uint64_t bytes)
{
    pthread_mutex_lock(&s->lock);
    uint64_t len = s->metrics ? metrics_page_len(s->metrics) : 0;
    pthread_mutex_unlock(&s->lock);
    return atomic_load_explicit(&s->sum.bytes, memory_order_relaxed) > 2 * len + bytes;
}

/* What of the metrics the client wants, in the format that it does; NULL before the first page. */
static struct body *hold_metrics(struct page_store *s, struct MHD_Connection *connection,
                                 const struct family_filter *filter, char type[MEDIA_TYPE_MAX])
{
    CLEANUP(strbuf_release)
    struct strbuf header = request_header(connection, MHD_HTTP_HEADER_ACCEPT);
    bool newer = accept_media(header.data, type) == MEDIA_OPENMETRICS;

    struct metrics_page *page = page_store_hold_metrics(s);

    if (!page)
        return NULL;
    struct body *body =
        metrics_page_body(page, newer ? EXPOSITION_OPENMETRICS : EXPOSITION_TEXT, filter);

    metrics_page_drop(page);
    return body;
}

static struct body *hold_page(struct page_store *s, enum page page)
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

struct MHD_Response *page_store_response(struct page_store *s, enum page page,
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
