/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/evaluation.h"
#include "exporter/options/option_value.h"
#include "exporter/web/listed_problems.h"
#include "exporter/web/page_parts.h"
#include "metrics/model/store.h"

/*
 * The first page: problems, also resolved ones. A page is a part of a list that each request makes
 * anew: `page` is the number of the part.
 */

enum {
    NAME_MAX_BYTES = 8192,
    TITLE_MAX_BYTES = 256,
    REFRESH_MIN_MS = 5 * 1000,
    REFRESH_MAX_MS = 3600 * 1000,
    COUNTED = 1U << PROBLEM_OPEN | 1U << PROBLEM_RESOLVING,
};

/* ---- counts ---- */

/* Numbers of instances. */
struct facet_counts {
    size_t open[SEVERITY_COUNT + 1]; /* Open and resolving ones, without a filter. */
    size_t pending;                  /* Without a filter. */
    /* With all filters except the one about the index. */
    size_t severities[SEVERITY_COUNT + 1];
    size_t statuses[PROBLEM_STATUS_COUNT];
    size_t problems[PROBLEM_COUNT];
    size_t resolved;
};

static size_t count_open(const struct facet_counts *counts)
{
    size_t sum = 0;

    for (unsigned i = 0; i < SEVERITY_COUNT; i++)
        sum += counts->open[i];
    return sum;
}

/* `counted`: statuses that the counts by severity and by problem include. */
static void count_problem(const struct problems *ps, const struct problem *p,
                          const struct problem_filter *filter, unsigned counted,
                          struct facet_counts *counts)
{
    enum problem_severity severity = problem_severity(ps, problem_id(p));
    struct problem_filter other = *filter;

    counts->open[severity] += problem_counts(p);
    counts->pending += p->status == PROBLEM_PENDING;
    counts->statuses[p->status] += problem_matches(ps, p, filter);
    if (!(counted & 1U << p->status))
        return;
    other.severity = SEVERITY_COUNT;
    counts->severities[severity] += problem_matches(ps, p, &other);
    other.severity = filter->severity;
    other.problem = PROBLEM_COUNT;
    other.reason = NULL;
    counts->problems[problem_id(p)] += problem_matches(ps, p, &other);
}

/* Counts the resolved instances; also by severity and by problem if the query selects them. */
static void count_resolved(const struct problem_history *history, const struct problem_query *q,
                           struct facet_counts *counts)
{
    struct problem_filter by_severity = q->filter, by_problem = q->filter;
    const struct resolved_problem *r;
    uint64_t below = UINT64_MAX;

    by_severity.severity = SEVERITY_COUNT;
    by_problem.problem = PROBLEM_COUNT;
    by_problem.reason = NULL;
    while ((r = problem_history_next(history, &below)) != NULL) {
        counts->resolved += resolved_problem_matches(r, &q->filter);
        if (!q->resolved)
            continue;
        counts->severities[r->severity] += resolved_problem_matches(r, &by_severity);
        counts->problems[problem_reasons[r->reason].problem] +=
            resolved_problem_matches(r, &by_problem);
    }
}

static struct facet_counts count_problems(const struct problems *ps, const struct problem_query *q,
                                          unsigned counted)
{
    struct facet_counts counts = {0};
    struct problem_walk walk = {0};
    const struct problem *p;

    while ((p = problems_next(ps, &walk)) != NULL)
        count_problem(ps, p, &q->filter, counted, &counts);
    count_resolved(problems_history(ps), q, &counts);
    return counts;
}

/* Appends links that filter by severity and by status. */
static void add_tiles(struct queued_request *request, const struct facet_counts *counts)
{
    static const enum problem_status others[] = {PROBLEM_PENDING, PROBLEM_HIDDEN};
    struct strbuf *out = &request->body;

    strbuf_adds(out, "<ul class=\"tiles\">\n");
    for (unsigned i = 0; i < SEVERITY_COUNT; i++) {
        strbuf_addf(out, "<li class=\"%s%s\">", severity_names[i],
                    counts->severities[i] > 0 ? "" : " none");
        html_severity_icon(out, i);
        filter_link_write(request, PARAMETER_SEVERITY, severity_names[i], severity_names[i],
                          counts->severities[i]);
        strbuf_adds(out, "</li>\n");
    }
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        strbuf_adds(out, "<li>");
        filter_link_write(request, PARAMETER_STATUS, problem_status_names[others[i]],
                          problem_status_names[others[i]], counts->statuses[others[i]]);
        strbuf_adds(out, "</li>\n");
    }
    strbuf_adds(out, "<li>");
    filter_link_write(request, PARAMETER_STATUS, "resolved", "resolved", counts->resolved);
    strbuf_adds(out, "</li>\n</ul>\n");
}

/*
 * Appends links that filter by problem, for problems with instances and the chosen one. On a narrow
 * screen the links are one line, which scrolls.
 */
static void add_problem_links(struct queued_request *request, const size_t counts[PROBLEM_COUNT],
                              enum problem_id chosen)
{
    struct strbuf *out = &request->body;
    bool begun = false;

    for (unsigned i = 0; i < PROBLEM_COUNT; i++) {
        if (counts[i] == 0 && i != chosen)
            continue;
        if (!begun)
            strbuf_adds(out, "<div class=\"chips\" role=\"region\" tabindex=\"0\" "
                             "aria-label=\"By problem\">\n<ul>\n");
        strbuf_adds(out, "<li>");
        begun = true;
        filter_link_write(request, PARAMETER_PROBLEM, problem_names[i], problem_table[i].title,
                          counts[i]);
        strbuf_adds(out, "</li>\n");
    }
    if (begun)
        strbuf_adds(out, "</ul>\n</div>\n");
}

/* ---- chart of the last 24 hours ---- */

enum {
    BAR_INTERVALS = 2, /* Intervals of the history in one bar. */
    BARS = PROBLEM_INTERVALS / BAR_INTERVALS,
    BAR_STEP = 10, /* Units of the view box. */
    BAR_WIDTH = 8,
    BAR_HEIGHT = 30,
    BASELINE = 34,
    CHART_WIDTH = BARS * BAR_STEP,
    CHART_HEIGHT = 82,
};

/* Numbers of problems that opened and resolved while one bar lasted. */
struct chart_bar {
    uint64_t opened[SEVERITY_COUNT];
    uint64_t resolved;
    bool known; /* At least one interval has data. */
};

struct chart {
    struct chart_bar bars[BARS]; /* Oldest first. */
    struct chart_bar sum;
    uint64_t highest; /* Largest number that a bar shows; at least 1. */
    unsigned unknown; /* Bars before the begin of the observation. */
};

static uint64_t count_opened(const struct chart_bar *bar)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < SEVERITY_COUNT; i++)
        sum += bar->opened[i];
    return sum;
}

static void add_interval(struct chart_bar *bar, const struct problem_interval *interval)
{
    for (unsigned i = 0; i < SEVERITY_COUNT; i++) {
        bar->opened[i] += interval->counts[PROBLEM_CHANGE_OPENED][i];
        bar->resolved += interval->counts[PROBLEM_CHANGE_RESOLVED][i];
    }
    bar->known = true;
}

static struct chart chart_make(const struct problem_history *history, int64_t now_ms)
{
    struct chart chart = {.highest = 1};
    struct problem_interval interval;

    for (unsigned back = 0; back < PROBLEM_INTERVALS; back++) {
        if (!problem_history_interval(history, now_ms, back, &interval))
            continue;
        add_interval(&chart.bars[BARS - 1 - back / BAR_INTERVALS], &interval);
        add_interval(&chart.sum, &interval);
    }
    for (unsigned i = 0; i < BARS; i++) {
        uint64_t opened = count_opened(&chart.bars[i]), resolved = chart.bars[i].resolved;

        chart.unknown += !chart.bars[i].known;
        chart.highest = opened > chart.highest ? opened : chart.highest;
        chart.highest = resolved > chart.highest ? resolved : chart.highest;
    }
    return chart;
}

/* Appends a rectangle to a path; heights are numbers of problems above the baseline. */
static void add_bar(struct strbuf *out, const struct chart *chart, unsigned bar, uint64_t from,
                    uint64_t to, int direction)
{
    double scale = (double)BAR_HEIGHT / (double)chart->highest * direction;

    if (to > from)
        strbuf_addf(out, "M%u %.1fv%.1fh%dv%.1fz", bar * BAR_STEP + (BAR_STEP - BAR_WIDTH) / 2,
                    BASELINE - (double)from * scale, -(double)(to - from) * scale, BAR_WIDTH,
                    (double)(to - from) * scale);
}

/* Appends the bars of openings with a severity, above those of higher severities. */
static void add_opened_path(struct strbuf *out, const struct chart *chart, unsigned severity)
{
    strbuf_addf(out, "<path class=\"%s\" d=\"M0 0", severity_names[severity]);
    for (unsigned i = 0; i < BARS; i++) {
        uint64_t from = 0;

        for (unsigned k = 0; k < severity; k++)
            from += chart->bars[i].opened[k];
        add_bar(out, chart, i, from, from + chart->bars[i].opened[severity], 1);
    }
    strbuf_adds(out, "\"></path>\n");
}

static void add_resolved_path(struct strbuf *out, const struct chart *chart)
{
    strbuf_adds(out, "<path class=\"resolved\" d=\"M0 0");
    for (unsigned i = 0; i < BARS; i++)
        add_bar(out, chart, i, 0, chart->bars[i].resolved, -1);
    strbuf_adds(out, "\"></path>\n");
}

/* Appends the image; openings above the baseline, resolutions below. */
static void add_image(struct strbuf *out, const struct chart *chart)
{
    strbuf_addf(out,
                "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"Problems of the last 24 "
                "hours: %" PRIu64 " opened (%" PRIu64 " critical, %" PRIu64 " warning, %" PRIu64
                " info), %" PRIu64 " resolved%s.\">\n",
                CHART_WIDTH, CHART_HEIGHT, count_opened(&chart->sum),
                chart->sum.opened[SEVERITY_CRITICAL], chart->sum.opened[SEVERITY_WARNING],
                chart->sum.opened[SEVERITY_INFO], chart->sum.resolved,
                chart->unknown > 0 ? "; the observation began less than 24 hours ago" : "");
    if (chart->unknown > 0)
        strbuf_addf(out,
                    "<defs><pattern id=\"hatch\" width=\"6\" height=\"6\" "
                    "patternUnits=\"userSpaceOnUse\"><path class=\"hatch\" d=\"M0 6L6 0\"></path>"
                    "</pattern></defs>\n<rect width=\"%u\" height=\"%d\" fill=\"url(#hatch)\">"
                    "</rect>\n",
                    chart->unknown * BAR_STEP, 2 * BASELINE);
    for (unsigned i = 0; i < SEVERITY_COUNT; i++)
        add_opened_path(out, chart, i);
    add_resolved_path(out, chart);
    strbuf_addf(out,
                "<path class=\"axis\" d=\"M0 %d.5h%d\"></path>\n"
                "<text x=\"0\" y=\"%d\">24 h ago</text><text x=\"%d\" y=\"%d\" class=\"end\">now"
                "</text>\n</svg>\n",
                BASELINE, CHART_WIDTH, CHART_HEIGHT - 2, CHART_WIDTH, CHART_HEIGHT - 2);
}

static void add_chart(const struct listed_problems *view, struct strbuf *out)
{
    const struct problem_history *history = problems_history(view->problems);
    const struct chart chart = chart_make(history, engine_now_ms(view->engine));
    int64_t begin_ms = problem_history_begin_ms(history);

    strbuf_adds(out, "<figure class=\"chart\">\n");
    add_image(out, &chart);
    strbuf_addf(out,
                "<figcaption>24 h: <b>%" PRIu64
                "</b> opened, <a href=\"./?status=resolved\"><b>%" PRIu64 "</b> resolved</a>",
                count_opened(&chart.sum), chart.sum.resolved);
    if (chart.unknown > 0 && begin_ms > 0) {
        strbuf_adds(out, ". Observed for ");
        html_age(out, begin_ms, false, view->now_ms);
    }
    strbuf_adds(out, "</figcaption>\n</figure>\n");
}

/* ---- table of resolved problems ---- */

/* Resolved instances that a request selects, newest first. */
struct resolved_list {
    const struct store *store;
    int64_t now_ms;
    const struct resolved_problem **rows; /* Owned. */
    size_t count;
};

static void resolved_list_release(struct resolved_list *list)
{
    free(list->rows);
}

static void resolved_list_make(struct resolved_list *list, const struct problem_history *history,
                               const struct problem_filter *filter)
{
    const struct resolved_problem *r;
    uint64_t below = UINT64_MAX;

    list->rows = xreallocarray(NULL, problem_history_count_kept(history) + 1,
                               sizeof(const struct resolved_problem *));
    while ((r = problem_history_next(history, &below)) != NULL) {
        if (resolved_problem_matches(r, filter))
            list->rows[list->count++] = r;
    }
}

/* Appends the subject, with a link to its page if the object exists. */
static void add_resolved_subject(const struct resolved_list *list, const struct resolved_problem *r,
                                 struct strbuf *out)
{
    const struct identity id = {r->api_version, r->kind, r->ns, r->name};
    const struct entry *entry = r->class == CLASS_COUNT ? NULL : store_find(list->store, &id);

    if (entry)
        link_entry(out, entry);
    else
        html_textf(out, "%s %s%s%s", r->kind, r->ns, *r->ns ? "/" : "", r->name);
    if (r->deleted)
        strbuf_adds(out, " <span class=\"status\">deleted</span>");
    problem_owner_write(r->names.owner, out);
}

static void add_resolved_row(const struct resolved_list *list, const struct resolved_problem *r,
                             struct html_table *t)
{
    html_row_open(t, severity_names[r->severity]);
    html_cell_open(t);
    html_severity(t->out, r->severity);
    problem_cell_write(r->reason, t);
    html_cell_open(t);
    add_resolved_subject(list, r, t->out);
    html_cell_open(t);
    html_age(t->out, r->since_ms, r->since_seen, list->now_ms);
    html_cell_open(t);
    html_time(t->out, r->resolved_ms, list->now_ms);
    html_cell_open(t);
    if (r->since_ms > 0 && r->resolved_ms >= r->since_ms)
        html_duration(t->out, r->resolved_ms - r->since_ms);
    html_cell_open(t);
    if (r->names.policy_kind)
        link_policy_name(t->out, (struct policy_name){r->names.policy_kind, r->names.policy_ns,
                                                      r->names.policy_name});
}

/* Appends the table with at most HTML_SHOWN_MAX rows from `first` on. */
static void add_resolved_table(const struct resolved_list *list, const struct list_part *part,
                               struct strbuf *out)
{
    static const struct html_column columns[] = {
        {.heading = "Severity", .style = "rank"},
        {.heading = "Problem", .style = "problem"},
        {.heading = "Object", .style = "object"},
        {.heading = "Since", .style = "age"},
        {.heading = "Resolved"},
        {.heading = "Lasted"},
        {.heading = "Policy"},
        {.heading = NULL},
    };
    struct html_table table;

    if (part->first == part->end)
        return;
    table = html_table_open(out, "Resolved problems", columns, NULL);
    for (size_t i = part->first; i < part->end; i++)
        add_resolved_row(list, list->rows[i], &table);
    html_table_close(&table);
}

/* Appends from when on the list is complete. */
static void add_history_limits(const struct problem_history *history, int64_t now_ms,
                               struct strbuf *out)
{
    uint64_t dropped = problem_history_count_dropped(history);

    strbuf_adds(out, "<p class=\"faint\">Problems that were resolved since the start of the "
                     "observation");
    if (problem_history_begin_ms(history) > 0) {
        strbuf_adds(out, ", ");
        html_time(out, problem_history_begin_ms(history), now_ms);
    }
    strbuf_addf(out,
                ", newest first. A restart of the exporter clears the list. The last %zu are "
                "kept",
                problem_history_limit(history));
    if (dropped > 0)
        strbuf_addf(out, "; %" PRIu64 " older ones were dropped", dropped);
    strbuf_adds(out, ".</p>\n");
}

/* Appends the resolved problems that the request selects. */
static void write_resolved_problems(struct queued_request *request, const struct health *h,
                                    const struct problem_filter *filter, size_t page)
{
    const struct problem_history *history =
        problems_history(engine_problems(h->evaluation->engine));
    CLEANUP(resolved_list_release)
    struct resolved_list list = {.store = h->evaluation->store, .now_ms = h->now_ms};
    struct list_part part;

    resolved_list_make(&list, history, filter);
    add_history_limits(history, h->now_ms, &request->body);
    if (list.count == 0)
        strbuf_adds(&request->body, problem_history_count_kept(history) > 0
                                        ? "<p>No resolved problem matches the filters.</p>\n"
                                        : "<p>No problem was resolved in this time.</p>\n");
    part = list_part_make(page, list.count);
    add_resolved_table(&list, &part, &request->body);
    list_part_write_links(request, &part, "api/v1/problems",
                          &(struct link_value){PARAMETER_STATUS, NULL});
}

/* ---- the first page ---- */

/* Returns true if the request selects a part of the problems. */
static bool has_filter(const struct queued_request *request)
{
    static const parameter_set others =
        PARAMETER_BIT(PAGE) | PARAMETER_BIT(SORT) | PARAMETER_BIT(REFRESH);

    for (unsigned i = 0; i < PARAMETER_COUNT; i++) {
        if (!(others >> i & 1) && request->query.values[i])
            return true;
    }
    return false;
}

/*
 * Sets the header that makes a browser read the page again, if the request has the parameter
 * `refresh`. Writes an error response and returns false if its value is not valid.
 */
static bool set_refresh(struct queued_request *request)
{
    const char *value = request->query.values[PARAMETER_REFRESH];
    char seconds[32];
    int64_t ms;

    if (!value)
        return true;
    if (!parse_duration(value, &ms) || ms < REFRESH_MIN_MS || ms > REFRESH_MAX_MS) {
        api_refuse(request, MHD_HTTP_BAD_REQUEST,
                   "'refresh' takes an interval from 5s to 1h, such as 30s");
        return false;
    }
    snprintf(seconds, sizeof(seconds), "%" PRId64, ms / 1000);
    request->header = (struct queued_request_header){"Refresh", xstrdup(seconds)};
    return true;
}

static void add_refresh_link(struct queued_request *request)
{
    const char *value = request->query.values[PARAMETER_REFRESH];

    if (value) {
        strbuf_adds(&request->body, "<span class=\"faint\">Refreshed every ");
        html_text(&request->body, value);
        strbuf_adds(&request->body, "</span>\n");
    }
    request_link_open(request, (struct link_value){PARAMETER_REFRESH, value ? NULL : "30s"}, "");
    strbuf_adds(&request->body, value ? "Stop refreshing</a>\n" : "Refresh every 30 s</a>\n");
}

/* Appends "2 critical, 14 warning", without severities that have no open problem. */
static void add_open_counts(const struct facet_counts *counts, struct strbuf *out)
{
    bool begun = false;

    for (unsigned i = 0; i < SEVERITY_COUNT; i++) {
        if (counts->open[i] == 0)
            continue;
        strbuf_addf(out, "%s%zu %s", begun ? ", " : "", counts->open[i], severity_names[i]);
        begun = true;
    }
}

static void open_first_page(struct strbuf *out, const struct facet_counts *counts, bool resolved)
{
    CLEANUP(strbuf_release) struct strbuf title = STRBUF_INIT(TITLE_MAX_BYTES);

    if (count_open(counts) > 0) {
        add_open_counts(counts, &title);
        strbuf_adds(&title, " \xC2\xB7 "); /* A middle dot. */
    }
    strbuf_adds(&title, resolved ? "Resolved problems" : "Problems");
    page_layout_open_titled(out, NAVIGATION_OVERVIEW, title.data,
                            resolved ? "Resolved problems" : "Problems");
}

static void add_reload_failure(const struct health *h, struct strbuf *out)
{
    if (!h->config_loaded)
        strbuf_adds(out, "<p class=\"bad\">The last reload failed; the old configuration stays in "
                         "force. The log has the reason.</p>\n");
}

/* Appends the counts, the chart and the filters. */
static void add_summary(struct queued_request *request, const struct listed_problems *view,
                        const struct facet_counts *counts, enum problem_id chosen)
{
    static const struct filter_fields fields = {
        .shown = PARAMETER_BIT(NAMESPACE) | PARAMETER_BIT(SEARCH),
        .folded = PARAMETER_BIT(OWNER) | PARAMETER_BIT(POLICY),
        .hidden = PARAMETER_BIT(SEVERITY) | PARAMETER_BIT(PROBLEM) | PARAMETER_BIT(REASON) |
                  PARAMETER_BIT(STATUS) | PARAMETER_BIT(CAUSE),
    };
    struct strbuf *out = &request->body;

    strbuf_adds(out, "<div class=\"summary\">\n<div>\n");
    problem_limits_write(view, count_open(counts), counts->pending, out);
    add_tiles(request, counts);
    add_problem_links(request, counts->problems, chosen);
    strbuf_adds(out, "</div>\n");
    add_chart(view, out);
    strbuf_adds(out, "</div>\n<div class=\"tools\">\n");
    filter_form_write(request, &fields);
    strbuf_adds(out, "<p class=\"ways\">\n");
    add_refresh_link(request);
    strbuf_adds(out, "</p>\n</div>\n");
    filter_list_write(request);
}

/* Appends the problems that the request selects. */
static void write_first_page(struct queued_request *request, const struct health *h,
                             struct problem_query *q, size_t page)
{
    char *const *values = request->query.values;
    bool by_status = values[PARAMETER_STATUS] || values[PARAMETER_CAUSE];
    unsigned counted = by_status ? q->statuses : COUNTED;
    CLEANUP(listed_problems_release) struct listed_problems view;
    struct strbuf *out = &request->body;
    struct facet_counts counts;
    struct list_part part;

    q->statuses = by_status ? q->statuses : PROBLEMS_LISTED;
    listed_problems_make(&view, h, q);
    counts = count_problems(view.problems, q, counted);
    open_first_page(out, &counts, q->resolved);
    add_reload_failure(h, out);
    add_summary(request, &view, &counts, q->filter.problem);
    if (q->resolved) {
        write_resolved_problems(request, h, &q->filter, page);
        return;
    }
    if (view.count == 0 && has_filter(request))
        strbuf_adds(out, "<p>No problem matches the filters.</p>\n");
    part = list_part_make(page, view.count);
    problem_table_write(&view, part.first, &request->query, out);
    list_part_write_links(
        request, &part, "api/v1/problems",
        &(struct link_value){PARAMETER_STATUS, by_status ? NULL : "open,resolving,pending"});
}

void index_page(struct queued_request *request, const struct health *h)
{
    CLEANUP(problem_query_release) struct problem_query q = {0};
    struct strbuf *out = &request->body;
    size_t page;

    query_drop_empty(&request->query);
    if (!page_number_from_request(request, &page) || !problem_query_from_request(request, &q) ||
        !set_refresh(request))
        return;
    if (h->evaluation && engine_problems(h->evaluation->engine)) {
        write_first_page(request, h, &q, page);
    } else {
        page_layout_open(out, NAVIGATION_OVERVIEW, "Problems");
        add_reload_failure(h, out);
        strbuf_adds(out, "<p>Everything is being read for the first time.</p>\n");
        if (h->session)
            source_section_write(h->session, out);
    }
    page_layout_close(out, h->now_ms);
}
