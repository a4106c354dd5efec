/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/api_lists.h"

#include "exporter/evaluation.h"
#include "exporter/system/url.h"
#include "exporter/web/list_query.h"
#include "exporter/web/query.h"
#include "metrics/base/csv.h"
#include "metrics/base/number.h"
#include "metrics/base/timestamp.h"
#include "metrics/expose/cluster_lists.h"
#include "metrics/expose/decision_text.h"
#include "metrics/expose/policy_lists.h"
#include "metrics/expose/report.h"
#include "metrics/expose/report_parts.h"
#include "metrics/model/store.h"
#include "metrics/rules/connector_conflicts.h"

enum {
    LINE_MAX_BYTES = 1024 * 1024,
    LINK_MAX_BYTES = 16 * 1024,
    HISTORY_HEAD_MAX_BYTES = 4096,
    TRANSITIONS_MAX_BYTES = 64 * 1024 * 1024, /* One page; its last element may exceed the limit. */
};

/* ---- pages as JSON, NDJSON or CSV ---- */

/* Type of a list. */
struct list_def {
    const char *kind;           /* Member "kind" of the JSON document, such as "TemplateList". */
    const char *const *columns; /* Columns of CSV, for csv_add_row(). */
};

/*
 * Page of a list that is being written. JSON has the elements in "items" and the token of the next
 * page in "metadata.continue". All formats have a link to the next page in the header Link.
 */
struct page_writer {
    struct queued_request *request;
    struct list_def def;
    char **columns; /* Owned columns of `def`; NULL if they are not owned. */
    enum list_format format;
    size_t count;
    struct strbuf line; /* Reused memory for one element. */
};

/*
 * Writes the start of the page and returns its writer. `history` is the JSON object of the member
 * "history", which only LIST_JSON has; NULL omits the member.
 */
static struct page_writer page_begin(struct queued_request *request, const struct list_def *def,
                                     const char *history)
{
    struct page_writer p = {
        .request = request,
        .def = *def,
        .format = list_format_named(request->query.values[PARAMETER_FORMAT]),
        .line = STRBUF_INIT(LINE_MAX_BYTES),
    };
    struct strbuf *out = &request->body;
    char made[32];

    request->content_type = list_format_types[p.format];
    if (p.format == LIST_CSV)
        csv_add_headings(out, p.def.columns);
    if (p.format != LIST_JSON)
        return p;
    format_timestamp(paging_made_ms(request->paging), made);
    strbuf_addf(out,
                "{\"apiVersion\":\"karmada-policy-exporter/v1\",\"kind\":\"%s\",\"asOf\":\"%s\",",
                p.def.kind, made);
    if (history)
        strbuf_addf(out, "\"history\":%s,", history);
    strbuf_adds(out, "\"items\":[");
    return p;
}

/* Writes the start of the page of a list with columns. */
static struct page_writer page_begin_list(struct queued_request *request, const struct list *list)
{
    char **columns = list_csv_columns(list);
    const struct list_def def = {list->kind, (const char *const *)columns};
    struct page_writer p = page_begin(request, &def, NULL);

    p.columns = columns;
    return p;
}

/* Appends an element, a JSON object in one line. */
static void page_add_line(void *context, const char *line, size_t len)
{
    struct page_writer *p = context;
    struct strbuf *out = &p->request->body;

    if (p->format == LIST_CSV) {
        /* Lines are JSON objects that this program has written. */
        if (!csv_add_row(out, p->def.columns, line, len))
            abort();
    } else {
        strbuf_adds(out, p->format == LIST_NDJSON ? "" : p->count > 0 ? ",\n" : "\n");
        strbuf_add(out, line, len);
        strbuf_adds(out, p->format == LIST_NDJSON ? "\n" : "");
    }
    p->count++;
}

/*
 * Returns the value of the header Link to the next page, relative for proxies, which the caller
 * frees; NULL if the value is too long.
 */
static char *link_to_next_page(const struct queued_request *request, const char *token)
{
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(LINK_MAX_BYTES);
    size_t len;

    strbuf_adds(&out, "<?");
    url_add_parameter(&out, "continue", token);
    for (size_t i = 0; i < PARAMETER_COUNT; i++) {
        if (i != PARAMETER_CONTINUE && request->query.values[i])
            url_add_parameter(&out, parameter_names[i], request->query.values[i]);
    }
    strbuf_adds(&out, ">; rel=\"next\"");
    return strbuf_ok(&out) ? strbuf_take(&out, &len) : NULL;
}

/* Ends the page and frees the writer. `token`: `continue` for the next page; NULL on the last. */
static void page_end(struct page_writer *p, const char *token)
{
    struct strbuf *out = &p->request->body;

    strbuf_release(&p->line);
    if (p->columns)
        list_free_csv_columns(p->columns);
    if (token)
        p->request->header = (struct queued_request_header){MHD_HTTP_HEADER_LINK,
                                                            link_to_next_page(p->request, token)};
    if (p->format != LIST_JSON)
        return;
    strbuf_adds(out, p->count > 0 ? "\n]" : "]");
    if (token)
        strbuf_addf(out, ",\"metadata\":{\"continue\":\"%s\"}", token);
    strbuf_adds(out, "}\n");
}

bool list_store_lines(struct queued_request *request, struct strbuf *lines)
{
    if (strbuf_ok(lines)) {
        paging_set_lines(request->paging, lines);
        return true;
    }
    strbuf_release(lines);
    api_refuse(request, MHD_HTTP_INTERNAL_SERVER_ERROR,
               "the list is too large: request a page with limit and continue");
    return false;
}

const char *page_each_row(struct queued_request *request, const struct list_filter *filter,
                          page_row_fn *each, void *context)
{
    struct row_position *at = paging_position(request->paging), before = *at;
    const struct row *row;
    size_t count = 0;

    while (paging_has_order(request->paging) && (row = paging_next_row(request->paging)) != NULL) {
        if (count++ == paging_limit(request->paging))
            return paging_end_page(request->paging, before);
        each(context, row);
        before = *at;
    }
    if (paging_has_order(request->paging))
        return NULL;
    while ((row = row_view_next_row(paging_view(request->paging), at)) != NULL) {
        if (list_matches(filter, row, NULL)) {
            if (count++ == paging_limit(request->paging))
                return paging_end_page(request->paging, before);
            each(context, row);
        }
        before = *at;
    }
    return NULL;
}

const char *page_each_line(struct queued_request *request, page_line_fn *each, void *context)
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

/* ---- filters ---- */

/* ---- lists with columns ---- */

/* Returns the rows of the list that the query selects, in its order; `rows` gets their memory. */
static struct list_selection select_rows(const struct list *list, const struct engine *engine,
                                         const struct list_query *q, void **rows)
{
    struct list_selection s;
    size_t count;

    *rows = list->gather(engine, &count);
    s = list_all(list, *rows, count);
    list_select(&s, &q->filter, q->order);
    return s;
}

/* Stores the lines of a list. Returns false after an error response. */
static bool store_rows(struct queued_request *request, const struct health *h,
                       const struct list *list)
{
    const struct engine *engine = h->evaluation->engine;
    CLEANUP(list_query_release) struct list_query q;
    struct strbuf lines = STRBUF_INIT(LIST_LINES_MAX);
    CLEANUP(list_selection_release) struct list_selection s = {0};
    CLEANUP(free_cleanup) void *rows = NULL;

    if (!list_query_from_request(request, list, h->now_ms, &q))
        return false;
    s = select_rows(list, engine, &q, &rows);
    for (size_t i = 0; i < s.count; i++) {
        struct json_writer w = {.out = &lines};

        list_write_row(&w, list, engine, s.rows[i]);
        strbuf_addc(&lines, '\n');
    }
    return list_store_lines(request, &lines);
}

/* Writes a list that has a function `gather`. */
static void write_list(struct queued_request *request, const struct health *h,
                       const struct list *list)
{
    struct page_writer page;

    if (!paging_continues(request->paging) && !store_rows(request, h, list))
        return;
    page = page_begin_list(request, list);
    page_end(&page, page_each_line(request, page_add_line, &page));
}

void api_policies(struct queued_request *request, const struct health *h)
{
    write_list(request, h, &policy_list);
}

void api_conflicts(struct queued_request *request, const struct health *h)
{
    write_list(request, h, &conflict_list);
}

void api_clusters(struct queued_request *request, const struct health *h)
{
    write_list(request, h, &cluster_list);
}

void api_namespaces(struct queued_request *request, const struct health *h)
{
    write_list(request, h, &namespace_list);
}

/* ---- lists of templates ---- */

static void add_row(void *context, const struct row *row)
{
    struct page_writer *p = context;
    struct json_writer w = {.out = &p->line};

    strbuf_reset(&p->line);
    row_write(&w, row);
    page_add_line(p, p->line.data, p->line.len);
}

struct list_selection view_rows(const struct row_view *view)
{
    struct list_selection s = {.rows =
                                   xreallocarray(NULL, row_view_count(view) + 1, sizeof(*s.rows))};
    struct row_position at = {0};
    const struct row *row;

    while ((row = row_view_next_row(view, &at)) != NULL)
        s.rows[s.count++] = row;
    return s;
}

/* Gives the list of the request the selected rows in the order of the query. */
static void order_rows(struct queued_request *request, const struct list_query *q)
{
    struct list_selection s;

    if (paging_has_order(request->paging))
        return;
    s = view_rows(paging_view(request->paging));
    list_select(&s, &q->filter, q->order);
    paging_set_order(request->paging, s.rows, s.count);
}

/* Writes the templates in `state`; if negative, in the state that the query selects. */
static void write_templates(struct queued_request *request, int state)
{
    CLEANUP(list_query_release) struct list_query q;
    struct page_writer page;

    if (!list_query_from_request(request, &template_list, paging_made_ms(request->paging), &q))
        return;
    if (state >= 0 &&
        !list_filter_add(
            &q.filter, (struct list_condition){.column = list_find_column(&template_list, "state"),
                                               .text = state_names[state]}))
        abort();
    if (q.order.column)
        order_rows(request, &q);
    page = page_begin_list(request, &template_list);
    page_end(&page, page_each_row(request, &q.filter, add_row, &page));
}

void api_templates(struct queued_request *request, const struct health *h)
{
    (void)h;
    write_templates(request, -1);
}

void api_pending(struct queued_request *request, const struct health *h)
{
    (void)h;
    write_templates(request, STATE_PENDING);
}

void api_stale(struct queued_request *request, const struct health *h)
{
    (void)h;
    write_templates(request, STATE_STALE);
}

/* ---- leases ---- */

static const char *const lease_columns[] = {
    "asset", "assetType", "state", "holder", "namespace", "expiration", "conflicts", NULL,
};
static const struct list_def leases = {"LeaseList", lease_columns};

/* Lines of the leases that match a request. */
struct matching_lines {
    const struct queued_request *request;
    const struct engine *engine;
    struct strbuf lines;
};

/* Returns true if a lease matches: its namespace is that of its holder. */
static bool lease_matches(const struct query *q, const struct entry *lease)
{
    const char *ns = q->values[PARAMETER_NAMESPACE], *search = q->values[PARAMETER_SEARCH];
    const char *holder = lease_decision(lease)->holder_ns;

    return (!ns || strcmp(ns, holder ? holder : "") == 0) &&
           (!search || strcasestr(lease->name, search));
}

static void add_lease_line(void *context, const struct entry *lease)
{
    struct matching_lines *m = context;

    if (lease_matches(&m->request->query, lease))
        report_add_lines(m->engine, REPORT_LEASES, lease, &m->lines);
}

void api_leases(struct queued_request *request, const struct health *h)
{
    struct page_writer page;

    if (!paging_continues(request->paging)) {
        struct matching_lines m = {request, h->evaluation->engine, STRBUF_INIT(LIST_LINES_MAX)};

        report_each_entry(m.engine, REPORT_LEASES, add_lease_line, &m);
        if (!list_store_lines(request, &m.lines))
            return;
    }
    page = page_begin(request, &leases, NULL);
    page_end(&page, page_each_line(request, page_add_line, &page));
}

/* ---- problems ---- */

/* Status of instances in the history, which is none of enum problem_status. */
enum { STATUS_RESOLVED = PROBLEM_STATUS_COUNT };

/* Sets the statuses of a comma-separated list. */
static bool parse_statuses(const char *list, struct problem_query *out, struct error *err)
{
    const char *names[STATUS_RESOLVED + 1];
    unsigned statuses = 0;

    memcpy(names, problem_status_names, sizeof(problem_status_names));
    names[STATUS_RESOLVED] = "resolved";
    for (const char *at = list;; at++) {
        size_t len = strcspn(at, ",");
        CLEANUP(free_cleanup) char *word = xmemdup0(at, len);
        int status = 0;

        if (!parse_word("status", word, names, ARRAY_LEN(names), &status, err))
            return false;
        statuses |= 1U << status;
        at += len;
        if (*at == '\0')
            break;
    }
    out->resolved = statuses == 1U << STATUS_RESOLVED;
    if (statuses & 1U << STATUS_RESOLVED && !out->resolved)
        return fail(err, "the status 'resolved' cannot be combined with other statuses");
    if (out->resolved && out->cause)
        return fail(err, "'cause' selects hidden problems, and resolved problems are never hidden");
    out->statuses = out->resolved ? 0 : statuses;
    return true;
}

/* Accepts the reasons of the filter's problem or, without one, those of all problems. */
static bool parse_problem_reason(const struct problem_filter *filter, struct error *err)
{
    const char *names[PROBLEM_REASON_COUNT];
    size_t count = 0;
    char lacks[64];
    int ignored;

    for (size_t i = 0; i < PROBLEM_REASON_COUNT; i++) {
        const struct problem_reason_row *row = &problem_reasons[i];

        if (*row->name && (filter->problem == PROBLEM_COUNT || filter->problem == row->problem))
            names[count++] = row->name;
    }
    if (filter->problem == PROBLEM_COUNT)
        return parse_word("reason", filter->reason, names, count, &ignored, err);
    snprintf(lacks, sizeof(lacks), "%s has no reason", problem_names[filter->problem]);
    return find_word(lacks, filter->reason, names, count, &ignored, err);
}

/* Parses the problem of `out->cause`, and the name of its subject behind the first '/'. */
static bool parse_cause(struct problem_query *out, struct error *err)
{
    char *slash = out->cause ? strchr(out->cause, '/') : NULL;
    int cause = PROBLEM_COUNT;

    if (slash) {
        *slash = '\0';
        out->filter.cause_subject = slash + 1;
    }
    if (!parse_word("problem", out->cause, problem_names, PROBLEM_COUNT, &cause, err))
        return false;
    out->filter.cause = (enum problem_id)cause;
    return true;
}

static const char *const problem_sort_names[PROBLEM_SORT_COUNT] = {
    [PROBLEM_SORT_SEVERITY] = "severity",
    [PROBLEM_SORT_SINCE] = "since",
    [PROBLEM_SORT_NAMESPACE] = "namespace",
};

static bool parse_problem_sort(const char *value, struct problem_query *out, struct error *err)
{
    int sort = PROBLEM_SORT_SEVERITY;

    out->reverse = value && *value == '-';
    if (!find_word("problems cannot be sorted by", value ? value + out->reverse : NULL,
                   problem_sort_names, PROBLEM_SORT_COUNT, &sort, err))
        return false;
    out->sort = (enum problem_sort)sort;
    return true;
}

/*
 * Returns false with the reason if the query has a value that is not valid. The caller frees
 * `out->cause` even then.
 */
static bool parse_problem_query(const struct query *q, struct problem_query *out, struct error *err)
{
    const char *status = q->values[PARAMETER_STATUS], *cause = q->values[PARAMETER_CAUSE];
    int problem = PROBLEM_COUNT, severity = SEVERITY_COUNT;

    *out = (struct problem_query){.filter = PROBLEM_FILTER_ALL,
                                  .cause = cause ? xstrdup(cause) : NULL};
    out->filter.reason = q->values[PARAMETER_REASON];
    out->filter.ns = q->values[PARAMETER_NAMESPACE];
    out->filter.owner = q->values[PARAMETER_OWNER];
    out->filter.policy = q->values[PARAMETER_POLICY];
    out->filter.search = q->values[PARAMETER_SEARCH];
    if (!parse_problem_sort(q->values[PARAMETER_SORT], out, err) ||
        !parse_word("problem", q->values[PARAMETER_PROBLEM], problem_names, PROBLEM_COUNT, &problem,
                    err) ||
        !parse_word("severity", q->values[PARAMETER_SEVERITY], severity_names, SEVERITY_COUNT,
                    &severity, err))
        return false;
    out->filter.problem = (enum problem_id)problem;
    out->filter.severity = (enum problem_severity)severity;
    if (!parse_problem_reason(&out->filter, err) || !parse_cause(out, err))
        return false;
    if (status)
        return parse_statuses(status, out, err);
    /* A cause has hidden problems only. */
    out->statuses = cause ? 1U << PROBLEM_HIDDEN : 1U << PROBLEM_OPEN | 1U << PROBLEM_RESOLVING;
    return true;
}

bool problem_query_from_request(struct queued_request *request, struct problem_query *out)
{
    struct error err;

    if (parse_problem_query(&request->query, out, &err))
        return true;
    api_refuse(request, MHD_HTTP_BAD_REQUEST, err.text);
    return false;
}

void problem_query_release(struct problem_query *q)
{
    free(q->cause);
}

/* Place of an instance in the order of a query: the first member that differs decides. */
struct problem_place {
    unsigned group; /* By status. */
    int64_t number;
    const char *text;
    size_t rank; /* In the order of problems_list(). */
    const struct problem *problem;
    bool reverse; /* Of `text`. */
};

static struct problem_place place_of(const struct problem_query *q, const struct problems *ps,
                                     const struct problem *p, size_t rank)
{
    struct problem_place place = {.text = "", .rank = rank, .problem = p, .reverse = q->reverse};
    int64_t since_ms = problem_since_ms(ps, p);

    place.group = problem_counts(p) ? 0 : p->status;
    if (q->sort == PROBLEM_SORT_SEVERITY)
        place.number = (int64_t)problem_severity(ps, problem_id(p)) * (q->reverse ? -1 : 1);
    if (q->sort == PROBLEM_SORT_SINCE)
        place.number = since_ms <= 0 ? INT64_MAX : since_ms * (q->reverse ? -1 : 1);
    if (q->sort == PROBLEM_SORT_NAMESPACE)
        place.text = problem_ns(p);
    return place;
}

static int compare_places(const void *left, const void *right)
{
    const struct problem_place *a = left, *b = right;
    int by_text;

    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    by_text = strcmp(a->text, b->text);
    if (by_text != 0)
        return a->reverse ? -by_text : by_text;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

const struct problem **problem_query_run(const struct problem_query *q, const struct problems *ps,
                                         size_t *count)
{
    CLEANUP(free_cleanup) struct problem_place *places = NULL;
    const struct problem **list;
    size_t listed = 0;

    *count = 0;
    if (!ps)
        return xreallocarray(NULL, 1, sizeof(const struct problem *));
    list = problems_list(ps, q->statuses, &listed);
    places = xreallocarray(NULL, listed + 1, sizeof(*places));
    for (size_t i = 0; i < listed; i++) {
        if (problem_matches(ps, list[i], &q->filter)) {
            places[*count] = place_of(q, ps, list[i], i);
            ++*count;
        }
    }
    qsort(places, *count, sizeof(*places), compare_places);
    for (size_t i = 0; i < *count; i++)
        list[i] = places[i].problem;
    return list;
}

/* Appends the problems that match, one per line, in the order of the query. */
static void add_problem_lines(const struct evaluation *e, const struct problem_query *q,
                              struct strbuf *lines)
{
    const struct location_source locations = evaluation_locations(e);
    size_t count = 0;
    CLEANUP(free_cleanup)
    const struct problem **list = problem_query_run(q, engine_problems(e->engine), &count);

    for (size_t i = 0; i < count; i++) {
        struct json_writer w = {.out = lines};

        problem_write(&w, e->engine, list[i], &locations);
        strbuf_addc(lines, '\n');
    }
}

/* Appends the resolved problems that match, one per line, newest first. */
static void add_resolved_lines(const struct problem_history *h, const struct problem_filter *filter,
                               struct strbuf *lines)
{
    const struct resolved_problem *r;
    uint64_t below = UINT64_MAX;

    while ((r = problem_history_next(h, &below)) != NULL) {
        struct json_writer w = {.out = lines};

        if (!resolved_problem_matches(r, filter))
            continue;
        resolved_problem_write(&w, r);
        strbuf_addc(lines, '\n');
    }
}

/* Appends the extent of the history as a JSON object. */
static void add_history_extent(const struct problem_history *h, struct strbuf *out)
{
    struct json_writer w = {.out = out};

    json_writer_open(&w, NULL, '{');
    report_put_time(&w, "began", problem_history_begin_ms(h));
    json_writer_int(&w, "entries", (int64_t)problem_history_count_kept(h));
    json_writer_int(&w, "limit", (int64_t)problem_history_limit(h));
    json_writer_int(&w, "dropped", (int64_t)problem_history_count_dropped(h));
    json_writer_close(&w, '}');
}

static const struct list_def problems = {"ProblemList", problem_columns};
static const struct list_def resolved_problems = {"ProblemList", resolved_problem_columns};

/* Stores the lines of the list. Appends the member "history" of its first page to `extent`. */
static bool store_problems(struct queued_request *request, const struct evaluation *e,
                           const struct problem_query *q, struct strbuf *extent)
{
    const struct problems *ps = engine_problems(e->engine);
    struct strbuf lines = STRBUF_INIT(LIST_LINES_MAX);

    if (!q->resolved) {
        add_problem_lines(e, q, &lines);
    } else if (ps) {
        add_resolved_lines(problems_history(ps), &q->filter, &lines);
        add_history_extent(problems_history(ps), extent);
    }
    return list_store_lines(request, &lines);
}

/* Further pages do not read the evaluation. */
void api_problems(struct queued_request *request, const struct health *h)
{
    CLEANUP(strbuf_release) struct strbuf extent = STRBUF_INIT(HISTORY_HEAD_MAX_BYTES);
    CLEANUP(problem_query_release) struct problem_query q = {0};
    struct page_writer page;

    if (!problem_query_from_request(request, &q))
        return;
    if (!paging_continues(request->paging) && !store_problems(request, h->evaluation, &q, &extent))
        return;
    page = page_begin(request, q.resolved ? &resolved_problems : &problems,
                      extent.len > 0 ? extent.data : NULL);
    page_end(&page, page_each_line(request, page_add_line, &page));
}

/* ---- the history ---- */

/* Columns of a decision before or after a transition. */
#define DECISION_COLUMNS(side)                                                                     \
    side ".state", side ".reason", side ".phase", side ".stage", side ".stageReason",              \
        side ".policy.kind", side ".policy.namespace", side ".policy.name", side ".claimed.kind",  \
        side ".claimed.namespace", side ".claimed.name", side ".version", side ".clusters"

static const char *const history_columns[] = {
    "number",
    "time",
    "cause",
    "apiVersion",
    "kind",
    "namespace",
    "name",
    DECISION_COLUMNS("before"),
    DECISION_COLUMNS("after"),
    "otherClusters",
    NULL,
};

static const struct list_def history = {"TransitionList", history_columns};

/*
 * Appends the transitions of one page, newest first. No lines are stored for further pages:
 * `continue` has the number of the last transition on the page, and new transitions have higher
 * numbers. Returns `continue` for the next page; NULL on the last page.
 */
static const char *add_transitions(struct page_writer *p, const struct transitions *t,
                                   const struct list_filter *filter)
{
    struct paging *paging = p->request->paging;
    /* 0, which is no number of a transition, stands for the first page. */
    uint64_t first = paging_position(paging)->row, below = first > 0 ? first : UINT64_MAX;
    uint64_t last = below;
    struct transition x;

    while (transitions_next(t, &below, &x)) {
        struct json_writer w = {.out = &p->line};

        if (!transition_matches(&x, filter))
            continue;
        if (p->count == paging_limit(paging) || p->request->body.len > TRANSITIONS_MAX_BYTES)
            return paging_end_page(paging, (struct row_position){.row = last});
        strbuf_reset(&p->line);
        transition_write(&w, &x);
        page_add_line(p, p->line.data, p->line.len);
        last = x.number;
    }
    return NULL;
}

void api_history(struct queued_request *request, const struct health *h)
{
    const struct transitions *t = engine_transitions(h->evaluation->engine);
    CLEANUP(strbuf_release) struct strbuf head = STRBUF_INIT(HISTORY_HEAD_MAX_BYTES);
    struct json_writer w = {.out = &head};
    struct page_writer page;
    CLEANUP(list_query_release) struct list_query q;

    if (!list_query_from_request(request, &template_list, h->now_ms, &q))
        return;
    json_writer_open(&w, NULL, '{');
    report_put_time(&w, "began", transitions_start_ms(t));
    report_put_time(&w, "since", transitions_complete_since_ms(t));
    json_writer_int(&w, "entries", (int64_t)transitions_count(t));
    json_writer_int(&w, "limit", (int64_t)transitions_limit(t));
    json_writer_text(&w, "text",
                     t ? "The history begins at 'since'. It is kept in memory only: a restart or "
                         "reload of the exporter empties it."
                       : "The history is disabled: --history.entries is 0.");
    json_writer_close(&w, '}');
    page = page_begin(request, &history, head.data);
    page_end(&page, add_transitions(&page, t, &q.filter));
}
