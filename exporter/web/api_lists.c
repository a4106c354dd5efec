/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/api_lists.h"

#include <strings.h>

#include "exporter/evaluation.h"
#include "exporter/options/suggest.h"
#include "exporter/system/url.h"
#include "exporter/web/query.h"
#include "metrics/base/number.h"
#include "metrics/base/timestamp.h"
#include "metrics/expose/csv.h"
#include "metrics/expose/decision_text.h"
#include "metrics/expose/policy_names.h"
#include "metrics/expose/report.h"
#include "metrics/expose/report_parts.h"
#include "metrics/model/store.h"
#include "metrics/rules/connector_conflicts.h"

enum {
    LINE_MAX_BYTES = 1024 * 1024,
    LINK_MAX = 16 * 1024,
    PAGE_MAX_BYTES = 64 * 1024 * 1024, /* Of transitions, which may be many more than templates. */
};

/* A page that is being written. */
struct page_writer {
    struct queued_request *request;
    const struct list_def *def;
    const char *history; /* A JSON object that says how far it goes back; NULL without one. */
    enum list_format format;
    size_t count;
    struct strbuf line; /* Memory for a row. */
};

static void begin(struct page_writer *p)
{
    struct strbuf *out = &p->request->body;
    char made[32];

    p->request->content_type = list_format_types[p->format];
    if (p->format == LIST_CSV)
        csv_add_headings(out, p->def->columns);
    if (p->format != LIST_JSON)
        return;
    format_timestamp(paging_made_ms(p->request->paging), made);
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
    struct strbuf *out = &p->request->body;

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
static char *link_to(const struct queued_request *request, const char *token)
{
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(LINK_MAX);
    size_t len;

    strbuf_adds(&out, "<?");
    url_add(&out, "continue", token);
    for (size_t i = 0; i < PARAMETER_COUNT; i++) {
        if (i != PARAMETER_CONTINUE && request->query.values[i])
            url_add(&out, parameter_names[i], request->query.values[i]);
    }
    strbuf_adds(&out, ">; rel=\"next\"");
    return strbuf_ok(&out) ? strbuf_take(&out, &len) : NULL;
}

/* `token`: where the next page begins, NULL if this is the last one. */
static void end(struct page_writer *p, const char *token)
{
    struct strbuf *out = &p->request->body;

    if (token)
        p->request->header =
            (struct queued_request_header){MHD_HTTP_HEADER_LINK, link_to(p->request, token)};
    if (p->format != LIST_JSON)
        return;
    strbuf_adds(out, p->count > 0 ? "\n]" : "]");
    if (token)
        strbuf_addf(out, ",\"metadata\":{\"continue\":\"%s\"}", token);
    strbuf_adds(out, "}\n");
}

static struct page_writer page_of(struct queued_request *request, const struct list_def *def,
                                  const char *history)
{
    struct page_writer page = {
        .request = request,
        .def = def,
        .history = history,
        .format = list_format_named(request->query.values[PARAMETER_FORMAT]),
        .line = STRBUF_INIT(LINE_MAX_BYTES),
    };

    begin(&page);
    return page;
}

bool list_store_lines(struct queued_request *request, struct strbuf *lines)
{
    if (strbuf_ok(lines)) {
        paging_set_lines(request->paging, stored_lines_new(lines));
        return true;
    }
    strbuf_release(lines);
    api_refuse(request, MHD_HTTP_INTERNAL_SERVER_ERROR,
               "the list is too large: ask for a part of it");
    return false;
}

const char *list_each_row(struct queued_request *request, const struct row_filter *filter,
                          list_row_fn *each, void *context)
{
    struct row_position *place = paging_position(request->paging), before = *place;
    const struct row *row;
    size_t count = 0;

    while ((row = row_view_next_row(paging_view(request->paging), place)) != NULL) {
        if (row_matches(row, filter)) {
            if (count++ == paging_limit(request->paging))
                return paging_end_page(request->paging, before);
            each(context, row);
        }
        before = *place;
    }
    return NULL;
}

const char *list_each_line(struct queued_request *request, list_line_fn *each, void *context)
{
    struct row_position before = *paging_position(request->paging);
    const char *line;
    size_t len, count = 0;

    while ((line = paging_next_line(request->paging, &len)) != NULL) {
        if (count++ == paging_limit(request->paging))
            return paging_end_page(request->paging, before);
        each(context, line, len);
        before = *paging_position(request->paging);
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

void list_rows(struct queued_request *request, const struct list_def *def,
               const struct row_filter *filter)
{
    struct page_writer page = page_of(request, def, NULL);

    end(&page, list_each_row(request, filter, add_row, &page));
    strbuf_release(&page.line);
}

/* Answer with the call's lines. */
static void list_lines(struct queued_request *request, const struct list_def *def)
{
    struct page_writer page = page_of(request, def, NULL);

    end(&page, list_each_line(request, add, &page));
}

/* What `continue` of the next page is; NULL if this is the last one. */
static const char *add_transitions(struct page_writer *p, const struct transitions *t,
                                   const struct row_filter *filter)
{
    struct paging *paging = p->request->paging;
    /* Numbers begin with 1; the first page is below all of them. */
    uint64_t first = paging_position(paging)->row, below = first > 0 ? first : UINT64_MAX;
    uint64_t told = below;
    struct transition x;

    while (transitions_next(t, &below, &x)) {
        struct json_writer w = {.out = &p->line};

        if (!transition_matches(&x, filter))
            continue;
        if (p->count == paging_limit(paging) || p->request->body.len > PAGE_MAX_BYTES)
            return paging_end_page(paging, (struct row_position){.row = told});
        strbuf_reset(&p->line);
        transition_write(&w, &x);
        add(p, p->line.data, p->line.len);
        told = x.number;
    }
    return NULL;
}

static void list_transitions(struct queued_request *request, const struct list_def *def,
                             const struct transitions *t, const struct row_filter *filter,
                             const char *history)
{
    struct page_writer page = page_of(request, def, history);

    end(&page, add_transitions(&page, t, filter));
    strbuf_release(&page.line);
}

/* The words that a parameter takes, while the nearest one is looked for. */
struct words {
    const char *const *names;
    size_t count;
    size_t at;
};

static const char *next_word(void *context)
{
    struct words *w = context;

    return w->at < w->count ? w->names[w->at++] : NULL;
}

/* The place of a word among the names; `value` NULL: nobody asks, and the place is kept. */
static bool read_word(const char *what, const char *value, const char *const *names, size_t count,
                      int *place, struct error *err)
{
    struct words words = {names, count, 0};
    const char *nearest;

    for (size_t i = 0; value && i < count; i++) {
        if (strcmp(names[i], value) == 0) {
            *place = (int)i;
            return true;
        }
    }
    if (!value)
        return true;
    nearest = suggest_name(value, next_word, &words);
    return fail(err, "there is no %s '%.64s'%s%s%s", what, value, nearest ? "; do you mean '" : "",
                nearest ? nearest : "", nearest ? "'?" : "");
}

bool row_filter_from_query(const struct query *q, struct row_filter *out, struct error *err)
{
    const char *version = q->values[PARAMETER_VERSION];
    uint64_t number;
    int ignored;

    *out = ROW_FILTER_ALL;
    out->ns = q->values[PARAMETER_NAMESPACE];
    out->kind = q->values[PARAMETER_KIND];
    out->group = q->values[PARAMETER_GROUP];
    out->name = q->values[PARAMETER_NAME];
    out->policy = q->values[PARAMETER_POLICY];
    out->owner = q->values[PARAMETER_OWNER];
    out->search = q->values[PARAMETER_SEARCH];
    out->reason = q->values[PARAMETER_REASON];
    out->stage = q->values[PARAMETER_STAGE];
    out->actor = q->values[PARAMETER_ACTOR];
    if (!read_word("state", q->values[PARAMETER_STATE], state_names, STATE_COUNT, &out->state,
                   err) ||
        !read_word("stage", out->stage, stage_names, STAGE_COUNT, &ignored, err) ||
        !read_word("actor", out->actor, actor_names, ACTOR_COUNT, &ignored, err))
        return false;
    if (out->reason && !reason_exists(out->reason))
        return fail(err, "there is no reason '%.64s'", out->reason);
    if (version && !parse_uint(version, UINT32_MAX, &number))
        return fail(err, "'version' takes the number of a policy's version");
    if (version)
        out->version = (int64_t)number;
    return true;
}

/* What of an entry a list is chosen by. */
static struct identity identity_in(enum report_list list, const struct entry *entry)
{
    const char *holder;

    if (list == REPORT_CONFLICTS)
        return resource_identity_of(entry);
    if (list == REPORT_POLICIES)
        return (struct identity){
            .kind = entry_kind(entry), .ns = entry_ns(entry), .name = entry->name};
    holder = lease_decision(entry)->holder_ns;
    return (struct identity){.kind = "", .ns = holder ? holder : "", .name = entry->name};
}

bool query_matches_entry(const struct query *q, enum report_list list, const struct entry *entry)
{
    const char *ns = q->values[PARAMETER_NAMESPACE], *kind = q->values[PARAMETER_KIND];
    const char *search = q->values[PARAMETER_SEARCH];
    struct identity id = identity_in(list, entry);

    return (!ns || strcmp(ns, id.ns) == 0) && (!kind || strcasecmp(kind, id.kind) == 0) &&
           (!search || strcasestr(id.name, search));
}

/* The lists of the report that are asked for by themselves. */

static const char *const policy_columns[] = {
    "kind", "namespace", "name", "selected", "won", "claimed", "stale", "clusters", NULL,
};
static const char *const conflict_columns[] = {
    "resource.apiVersion",
    "resource.kind",
    "resource.namespace",
    "resource.name",
    "binding.namespace",
    "binding.name",
    "field",
    "resolved",
    "stored",
    "origin",
    "message",
    "wants",
    NULL,
};
static const char *const lease_columns[] = {
    "asset", "assetType", "state", "holder", "namespace", "expiration", "conflicts", NULL,
};

static const struct list_def policies = {"PolicyList", policy_columns};
static const struct list_def conflicts = {"ConflictList", conflict_columns};
static const struct list_def leases = {"LeaseList", lease_columns};

/* The elements of a list that are asked for, while they are gathered. */
struct gathering {
    const struct queued_request *request;
    const struct engine *engine;
    enum report_list list;
    struct strbuf lines;
};

static void gather(void *context, const struct entry *entry)
{
    struct gathering *g = context;

    if (query_matches_entry(&g->request->query, g->list, entry))
        report_add_lines(g->engine, g->list, entry, &g->lines);
}

static void answer(struct queued_request *request, const struct health *h, enum report_list list,
                   const struct list_def *def)
{
    if (!paging_continues(request->paging)) {
        struct gathering g = {request, h->evaluation->engine, list, STRBUF_INIT(LIST_LINES_MAX)};

        report_each_entry(g.engine, list, gather, &g);
        if (!list_store_lines(request, &g.lines))
            return;
    }
    list_lines(request, def);
}

void api_policies(struct queued_request *request, const struct health *h)
{
    answer(request, h, REPORT_POLICIES, &policies);
}

void api_conflicts(struct queued_request *request, const struct health *h)
{
    answer(request, h, REPORT_CONFLICTS, &conflicts);
}

void api_leases(struct queued_request *request, const struct health *h)
{
    answer(request, h, REPORT_LEASES, &leases);
}

static const struct list_def templates = {"TemplateList", row_columns};

/* `state`: of these alone; negative: of all, or of what is asked for. */
static void templates_answer(struct queued_request *request, int state)
{
    struct row_filter filter;
    struct error err;

    if (!row_filter_from_query(&request->query, &filter, &err)) {
        api_refuse(request, MHD_HTTP_BAD_REQUEST, err.text);
        return;
    }
    if (state >= 0)
        filter.state = state;
    list_rows(request, &templates, &filter);
}

void api_templates(struct queued_request *request, const struct health *h)
{
    (void)h;
    templates_answer(request, -1);
}

void api_pending(struct queued_request *request, const struct health *h)
{
    (void)h;
    templates_answer(request, STATE_PENDING);
}

void api_stale(struct queued_request *request, const struct health *h)
{
    (void)h;
    templates_answer(request, STATE_STALE);
}

enum { HEAD_MAX_BYTES = 4096 };

static const char *const history_columns[] = {
    "number",
    "time",
    "cause",
    "apiVersion",
    "kind",
    "namespace",
    "name",
    "before.state",
    "before.reason",
    "before.phase",
    "before.stage",
    "before.stageReason",
    "before.policy.kind",
    "before.policy.namespace",
    "before.policy.name",
    "before.claimed.kind",
    "before.claimed.namespace",
    "before.claimed.name",
    "before.version",
    "before.clusters",
    "after.state",
    "after.reason",
    "after.phase",
    "after.stage",
    "after.stageReason",
    "after.policy.kind",
    "after.policy.namespace",
    "after.policy.name",
    "after.claimed.kind",
    "after.claimed.namespace",
    "after.claimed.name",
    "after.version",
    "after.clusters",
    "otherClusters",
    NULL,
};

static const struct list_def history = {"TransitionList", history_columns};

void api_history(struct queued_request *request, const struct health *h)
{
    const struct transitions *t = engine_transitions(h->evaluation->engine);
    CLEANUP(strbuf_release) struct strbuf head = STRBUF_INIT(HEAD_MAX_BYTES);
    struct json_writer w = {.out = &head};
    struct row_filter filter;
    struct error err;

    if (!row_filter_from_query(&request->query, &filter, &err)) {
        api_refuse(request, MHD_HTTP_BAD_REQUEST, err.text);
        return;
    }
    json_writer_open(&w, NULL, '{');
    report_put_time(&w, "began", transitions_start_ms(t));
    report_put_time(&w, "since", transitions_complete_since_ms(t));
    json_writer_int(&w, "entries", (int64_t)transitions_count(t));
    json_writer_int(&w, "limit", (int64_t)transitions_limit(t));
    json_writer_text(
        &w, "text",
        t ? "What happened before 'since' is not remembered. All of it is in memory alone: "
            "a restart and a reload of the exporter begin it anew."
          : "Nothing is remembered: --history.entries is 0.");
    json_writer_close(&w, '}');
    list_transitions(request, &history, t, &filter, head.data);
}
