/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/metrics_page.h"

#include <pthread.h>
#include <stdatomic.h>

#include "exporter/web/request.h"
#include "exporter/web/response.h"
#include "metrics/base/suggest.h"
#include "metrics/expose/family.h"
#include "metrics/expose/series.h"

enum {
    NAMES_MAX = 100,       /* Names of families in one query. */
    NAME_SHOWN_MAX = 100,  /* Bytes of an unknown name in an error. */
    NAME_MAX_BYTES = 4096, /* Bytes of an escaped name. */
};

/* ---- family filter of a scrape ---- */

/*
 * Families that a client has selected, as in node_exporter: with collect[]=NAME only the named
 * families, with exclude[]=NAME all others. A counter may be named without its suffix "_total".
 */
struct family_filter {
    bool *named;    /* By index of family_at(); NULL selects all families. Owned. */
    bool excludes;  /* Names are from exclude[]; if false, from collect[]. */
    unsigned count; /* Number of names in the query. */
};

static const char collect[] = "collect[]";
static const char exclude[] = "exclude[]";
static const char total[] = "_total";

/* Returns true if `name` names the family; for a counter, the suffix _total may be missing. */
static bool is_family_name(const struct family_def *def, const char *name)
{
    size_t len = strlen(name);

    if (strncmp(def->name, name, len) != 0)
        return false;
    return def->name[len] == '\0' ||
           (def->type == FAMILY_COUNTER && strcmp(def->name + len, total) == 0);
}

/* Callback of suggest_name(): returns the next name; `context` is the position. */
static const char *next_family(void *context)
{
    size_t *at = context;

    return *at < family_count() ? family_at((*at)++)->name : NULL;
}

/* Returns false with the reason. Escapes the name as in a label value: clients send any bytes. */
static bool fail_unknown_family(const char *name, struct error *err)
{
    CLEANUP(strbuf_release) struct strbuf shown = STRBUF_INIT(NAME_MAX_BYTES);
    size_t at = 0;
    const char *nearest = suggest_name(name, next_family, &at);

    label_text_add(&shown, name);
    if (shown.len > NAME_SHOWN_MAX)
        return fail(err, "no metric family has a name that long");
    return fail(err, "there is no metric family \"%s\"%s%s%s", shown.data,
                nearest ? ": did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
}

static bool filter_add_name(struct family_filter *f, bool excludes, const char *name,
                            struct error *err)
{
    size_t index = 0;

    if (f->count > 0 && f->excludes != excludes)
        return fail(err, "%s and %s cannot be combined", collect, exclude);
    f->excludes = excludes;
    if (++f->count > NAMES_MAX)
        return fail(err, "more than %d metric families are named", NAMES_MAX);
    while (index < family_count() && !is_family_name(family_at(index), name))
        index++;
    if (index == family_count())
        return fail_unknown_family(name, err);
    if (!f->named)
        f->named = xcalloc(family_count(), sizeof(*f->named));
    f->named[index] = true;
    return true;
}

struct filter_parsing {
    struct family_filter *filter;
    struct error *err;
    bool failed;
};

static enum MHD_Result parse_filter_parameter(void *context, enum MHD_ValueKind kind,
                                              const char *name, const char *value)
{
    struct filter_parsing *r = context;
    bool excludes = strcmp(name, exclude) == 0;

    (void)kind;
    if (!excludes && strcmp(name, collect) != 0)
        return MHD_YES;
    r->failed = !filter_add_name(r->filter, excludes, value ? value : "", r->err);
    return r->failed ? MHD_NO : MHD_YES;
}

/*
 * Parses the query of a request. Returns false if a name is unknown, if there are too many names,
 * or if collect[] and exclude[] are combined. The caller releases the filter in any case.
 */
static MUST_USE bool family_filter_parse(struct MHD_Connection *connection,
                                         struct family_filter *out, struct error *err)
{
    struct filter_parsing parsing = {.filter = out, .err = err};

    *out = (struct family_filter){0};
    MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, parse_filter_parameter, &parsing);
    return !parsing.failed;
}

static void family_filter_release(struct family_filter *f)
{
    free(f->named);
    *f = (struct family_filter){0};
}

static bool family_filter_selects(const struct family_filter *f, size_t index)
{
    return !f->named || f->named[index] != f->excludes;
}

/* ---- the metrics page ---- */

/* Text of a family by format; all NULL if the page does not have the family. */
struct family_parts {
    struct segment *head[EXPOSITION_FORMATS];
    struct segment *series[EXPOSITION_FORMATS];
};

struct metrics_page {
    _Atomic unsigned holders; /* Number of references. */
    struct segment_memory *sum;
    struct segment *trailers[EXPOSITION_FORMATS];
    struct body *whole[EXPOSITION_FORMATS]; /* Body with all families. */
    size_t len;                             /* Bytes of all formats. */
    struct family_parts families[];         /* By index of family_at(). */
};

/* Returns a segment with the text: a new reference to `old` if that is equal. Adds to `p->len`. */
static struct segment *add_segment(struct metrics_page *p, const struct strbuf *text,
                                   struct segment *old)
{
    p->len += text->len;
    if (old && segment_len(old) == text->len &&
        memcmp(segment_bytes(old), text->data, text->len) == 0)
        return segment_ref(old);
    return segment_new(xmemdup0(text->data, text->len), text->len, p->sum);
}

/* Writes a family in one format. Returns false if the page is too large. */
static bool write_family(struct metrics_page *p, const struct registry *r, size_t index,
                         struct exposition how, const struct family_parts *old, struct strbuf *text)
{
    struct family_parts *parts = &p->families[index];

    strbuf_reset(text);
    exposition_write_head(family_at(index), how.format, text);
    parts->head[how.format] = add_segment(p, text, old ? old->head[how.format] : NULL);
    if (how.format != EXPOSITION_TEXT && family_at(index)->type == FAMILY_GAUGE) {
        /* The series of gauges are the same in all formats. */
        parts->series[how.format] = segment_ref(parts->series[EXPOSITION_TEXT]);
        return true;
    }
    strbuf_reset(text);
    exposition_write_series(r, index, how, text);
    if (!strbuf_ok(text) || p->len + text->len > text->max)
        return false;
    parts->series[how.format] = add_segment(p, text, old ? old->series[how.format] : NULL);
    return true;
}

/* Returns a body with the selected families in one format. */
static struct body *body_of_families(const struct metrics_page *p, enum exposition_format format,
                                     const struct family_filter *filter)
{
    CLEANUP(free_cleanup)
    struct segment **segments = xcalloc(2 * family_count() + 1, sizeof(struct segment *));
    size_t count = 0;

    for (size_t i = 0; i < family_count(); i++) {
        if (!p->families[i].head[format] || !family_filter_selects(filter, i))
            continue;
        segments[count++] = p->families[i].head[format];
        segments[count++] = p->families[i].series[format];
    }
    segments[count++] = p->trailers[format];
    return body_new(segments, count);
}

struct metrics_page *metrics_page_new(const struct registry *r, struct exposition how,
                                      const struct metrics_page *previous, size_t max,
                                      struct segment_memory *sum)
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
        p->trailers[how.format] =
            add_segment(p, &text, previous ? previous->trailers[how.format] : NULL);
        p->whole[how.format] = body_of_families(p, how.format, &all);
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
            segment_unref(p->families[i].head[f]);
            segment_unref(p->families[i].series[f]);
        }
        segment_unref(p->trailers[f]);
        body_unref(p->whole[f]);
    }
    free(p);
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

/* ---- the published pages ---- */

struct page_store {
    pthread_mutex_t lock;           /* Protects the next two members. */
    struct metrics_page *metrics;   /* NULL until it is published. */
    struct body *pages[PAGE_COUNT]; /* Other pages; each NULL until it is published. */
    struct segment_memory sum;      /* Memory of all metrics pages. */
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
        body_unref(s->pages[i]);
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

    segment_unref(segment);
    pthread_mutex_lock(&s->lock);
    struct body *old = s->pages[page];
    s->pages[page] = fresh;
    pthread_mutex_unlock(&s->lock);

    body_unref(old);
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

struct segment_memory *page_store_segment_sum(struct page_store *s)
{
    return &s->sum;
}

bool page_store_holds_more(struct page_store *s, uint64_t bytes)
{
    pthread_mutex_lock(&s->lock);
    uint64_t len = s->metrics ? metrics_page_len(s->metrics) : 0;
    pthread_mutex_unlock(&s->lock);
    /* Allows for one replaced page, which a client may be reading. */
    return atomic_load_explicit(&s->sum.bytes, memory_order_relaxed) > 2 * len + bytes;
}

/*
 * Returns a reference to a body with the metrics that the client wants, and sets their content
 * type. Returns NULL before the first metrics page is published.
 */
static struct body *hold_metrics_body(struct page_store *s, struct MHD_Connection *connection,
                                      const struct family_filter *filter,
                                      char type[METRICS_FORMAT_TYPE_MAX])
{
    CLEANUP(strbuf_release)
    struct strbuf header = request_header_values(connection, MHD_HTTP_HEADER_ACCEPT);
    bool openmetrics = negotiate_metrics_format(header.data, type) == METRICS_FORMAT_OPENMETRICS;
    enum exposition_format format = openmetrics ? EXPOSITION_OPENMETRICS : EXPOSITION_TEXT;
    struct metrics_page *page = page_store_hold_metrics(s);
    struct body *body;

    if (!page)
        return NULL;
    body = filter->named ? body_of_families(page, format, filter) : body_ref(page->whole[format]);
    metrics_page_drop(page);
    return body;
}

static struct body *hold_page_body(struct page_store *s, enum page page)
{
    pthread_mutex_lock(&s->lock);
    struct body *body = body_ref(s->pages[page]);
    pthread_mutex_unlock(&s->lock);
    return body;
}

/* Returns a response with the body, and drops the body; with status 503 if the body is NULL. */
static struct MHD_Response *response_or_unavailable(struct MHD_Connection *connection,
                                                    struct body *body, const char *type,
                                                    const char *vary, unsigned *out_status)
{
    CLEANUP(strbuf_release)
    struct strbuf encodings = request_header_values(connection, MHD_HTTP_HEADER_ACCEPT_ENCODING);

    *out_status = body ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE;
    if (!body)
        return response_text("not ready: nothing was read yet\n");

    struct MHD_Response *response = body_response(body, negotiate_gzip(encodings.data), type);

    response_add_header(response, MHD_HTTP_HEADER_VARY, vary);
    body_unref(body);
    return response;
}

static struct MHD_Response *filter_error_response(const struct error *err, unsigned *out_status)
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
    char type[METRICS_FORMAT_TYPE_MAX];
    struct error err;

    if (page != PAGE_METRICS)
        return response_or_unavailable(connection, hold_page_body(s, page),
                                       page_defs[page].content_type,
                                       MHD_HTTP_HEADER_ACCEPT_ENCODING, out_status);
    if (!family_filter_parse(connection, &filter, &err))
        return filter_error_response(&err, out_status);
    return response_or_unavailable(connection, hold_metrics_body(s, connection, &filter, type),
                                   type, vary, out_status);
}
