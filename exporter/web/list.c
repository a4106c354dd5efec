/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/list.h"

#include "exporter/system/url.h"
#include "exporter/web/list_format.h"
#include "metrics/base/timestamp.h"
#include "metrics/expose/csv.h"
#include "metrics/expose/report_parts.h"

enum {
    LINE_MAX_BYTES = 1024 * 1024,
    LINK_MAX = 16 * 1024,
    PAGE_MAX_BYTES = 64 * 1024 * 1024, /* Of transitions, which may be many more than templates. */
};

/* A page that is being written. */
struct page_writer {
    struct call *call;
    const struct list_def *def;
    const char *history; /* A JSON object that says how far it goes back; NULL without one. */
    enum list_format format;
    size_t count;
    struct strbuf line; /* Memory for a row. */
};

static void begin(struct page_writer *p)
{
    struct strbuf *out = &p->call->body;
    char made[32];

    p->call->content_type = list_format_types[p->format];
    if (p->format == LIST_CSV)
        csv_add_headings(out, p->def->columns);
    if (p->format != LIST_JSON)
        return;
    format_timestamp(paging_made_ms(p->call->paging), made);
    strbuf_addf(out,
                "{\"apiVersion\":\"karmada-policy-exporter/v1\",\"kind\":\"%s\",\"asOf\":\"%s\",",
                p->def->kind, made);
    if (p->history)
        strbuf_addf(out, "\"history\":%s,", p->history);
    strbuf_adds(out, "\"items\":[");
}

static void add(void *context, const char *line, size_t len)
{
    struct page_writer *p = context;
    struct strbuf *out = &p->call->body;

    if (p->format == LIST_CSV) {
        /* A line is what row_write() and the report's writers made. */
        if (!csv_add_row(out, p->def->columns, line, len))
            abort();
    } else {
        strbuf_adds(out, p->format == LIST_NDJSON ? "" : p->count > 0 ? ",\n" : "\n");
        strbuf_add(out, line, len);
        strbuf_adds(out, p->format == LIST_NDJSON ? "\n" : "");
    }
    p->count++;
}

/* The question again, but for where it goes on: relative, so that it is right behind a proxy. */
static char *link_to(const struct call *call, const char *token)
{
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(LINK_MAX);
    size_t len;

    strbuf_adds(&out, "<?");
    url_add(&out, "continue", token);
    for (size_t i = 0; i < PARAMETER_COUNT; i++) {
        if (i != PARAMETER_CONTINUE && call->query.values[i])
            url_add(&out, parameter_names[i], call->query.values[i]);
    }
    strbuf_adds(&out, ">; rel=\"next\"");
    return strbuf_ok(&out) ? strbuf_take(&out, &len) : NULL;
}

/* `token`: where the next page begins, NULL if this is the last one. */
static void end(struct page_writer *p, const char *token)
{
    struct strbuf *out = &p->call->body;

    if (token)
        p->call->header = (struct call_header){MHD_HTTP_HEADER_LINK, link_to(p->call, token)};
    if (p->format != LIST_JSON)
        return;
    strbuf_adds(out, p->count > 0 ? "\n]" : "]");
    if (token)
        strbuf_addf(out, ",\"metadata\":{\"continue\":\"%s\"}", token);
    strbuf_adds(out, "}\n");
}

static struct page_writer page_of(struct call *call, const struct list_def *def,
                                  const char *history)
{
    struct page_writer page = {
        .call = call,
        .def = def,
        .history = history,
        .format = list_format_named(call->query.values[PARAMETER_FORMAT]),
        .line = STRBUF_INIT(LINE_MAX_BYTES),
    };

    begin(&page);
    return page;
}

bool list_set_lines(struct call *call, struct strbuf *lines)
{
    if (strbuf_ok(lines)) {
        paging_set_lines(call->paging, lines_new(lines));
        return true;
    }
    strbuf_release(lines);
    api_refuse(call, MHD_HTTP_INTERNAL_SERVER_ERROR, "the list is too large: ask for a part of it");
    return false;
}

const char *list_each_row(struct call *call, const struct row_filter *filter, list_row_fn *each,
                          void *context)
{
    struct row_position *place = paging_place(call->paging), before = *place;
    const struct row *row;
    size_t count = 0;

    while ((row = row_view_next_row(paging_view(call->paging), place)) != NULL) {
        if (row_matches(row, filter)) {
            if (count++ == paging_limit(call->paging))
                return paging_break(call->paging, before);
            each(context, row);
        }
        before = *place;
    }
    return NULL;
}

const char *list_each_line(struct call *call, list_line_fn *each, void *context)
{
    struct row_position before = *paging_place(call->paging);
    const char *line;
    size_t len, count = 0;

    while ((line = paging_line(call->paging, &len)) != NULL) {
        if (count++ == paging_limit(call->paging))
            return paging_break(call->paging, before);
        each(context, line, len);
        before = *paging_place(call->paging);
    }
    return NULL;
}

static void add_row(void *context, const struct row *row)
{
    struct page_writer *p = context;
    struct json_writer w = {.out = &p->line};

    strbuf_reset(&p->line);
    row_write(&w, row);
    add(p, p->line.data, p->line.len);
}

void list_rows(struct call *call, const struct list_def *def, const struct row_filter *filter)
{
    struct page_writer page = page_of(call, def, NULL);

    end(&page, list_each_row(call, filter, add_row, &page));
    strbuf_release(&page.line);
}

void list_lines(struct call *call, const struct list_def *def)
{
    struct page_writer page = page_of(call, def, NULL);

    end(&page, list_each_line(call, add, &page));
}

/* What `continue` of the next page is; NULL if this is the last one. */
static const char *add_transitions(struct page_writer *p, const struct transitions *t,
                                   const struct row_filter *filter)
{
    struct paging *paging = p->call->paging;
    /* Numbers begin with 1; the first page is below all of them. */
    uint64_t first = paging_place(paging)->row, below = first > 0 ? first : UINT64_MAX;
    uint64_t told = below;
    struct transition x;

    while (transitions_next(t, &below, &x)) {
        struct json_writer w = {.out = &p->line};

        if (!transition_matches(&x, filter))
            continue;
        if (p->count == paging_limit(paging) || p->call->body.len > PAGE_MAX_BYTES)
            return paging_break(paging, (struct row_position){.row = told});
        strbuf_reset(&p->line);
        transition_write(&w, &x);
        add(p, p->line.data, p->line.len);
        told = x.number;
    }
    return NULL;
}

void list_transitions(struct call *call, const struct list_def *def, const struct transitions *t,
                      const struct row_filter *filter, const char *history)
{
    struct page_writer page = page_of(call, def, history);

    end(&page, add_transitions(&page, t, filter));
    strbuf_release(&page.line);
}
