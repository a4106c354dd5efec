/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/evaluation.h"
#include "exporter/options/option_value.h"
#include "exporter/web/page_parts.h"
#include "metrics/expose/problem_text.h"
#include "metrics/model/store.h"

/*
 * Pages that list problems: the first page, also with resolved ones, and the page of a namespace. A
 * page is a part of a list that each request makes anew: `page` is the number of the part.
 */

enum {
    NAME_MAX_BYTES = 8192,
    SENTENCE_MAX_BYTES = 256 * 1024,
    TITLE_MAX_BYTES = 256,
    INCOMPLETE_NAMES = 5, /* Sources that the first page names if their data is incomplete. */
    REFRESH_MIN_MS = 5 * 1000,
    REFRESH_MAX_MS = 3600 * 1000,
    COUNTED = 1U << PROBLEM_OPEN | 1U << PROBLEM_RESOLVING,
    LISTED = COUNTED | 1U << PROBLEM_PENDING, /* Statuses on the first page by default. */
};

/* Roles that must act, in words for people. */
static const char *const actor_titles[ACTOR_COUNT] = {
    [ACTOR_USER] = "Template owner",           [ACTOR_POLICY_OWNER] = "Policy owner",
    [ACTOR_PLATFORM] = "Platform team",        [ACTOR_KARMADA] = "Karmada",
    [ACTOR_CLUSTER] = "Cluster administrator", [ACTOR_NONE] = "",
};

/* ---- lists of problems ---- */

/* Instances that a request selects. */
struct listed_problems {
    const struct engine *engine;
    const struct problems *problems;
    int64_t now_ms;              /* Milliseconds since the epoch. */
    const struct problem **rows; /* In the order of problem_query_run(). Owned. */
    size_t count;
};

static void listed_problems_release(struct listed_problems *view)
{
    free(view->rows);
}

static void listed_problems_make(struct listed_problems *view, const struct health *h,
                                 const struct problem_query *q)
{
    *view = (struct listed_problems){.engine = h->evaluation->engine,
                                     .problems = engine_problems(h->evaluation->engine),
                                     .now_ms = h->now_ms};
    view->rows = problem_query_run(q, view->problems, &view->count);
}

/* ---- table of problems ---- */

typedef void add_sentence_fn(const struct engine *e, const struct problem *p, struct strbuf *out);

/* Appends a sentence about the problem, escaped. */
static void add_sentence(const struct listed_problems *view, const struct problem *p,
                         add_sentence_fn *add, struct strbuf *out)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(SENTENCE_MAX_BYTES);

    add(view->engine, p, &text);
    html_text(out, text.data);
}

/* Appends the subject, with a link to its page or, of a binding, to that of its template. */
static void add_subject(const struct problem *p, struct strbuf *out)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(NAME_MAX_BYTES);
    const struct entry *template = problem_template(p);

    if (p->subject && entry_class(p->subject) != CLASS_BINDING) {
        link_entry(out, p->subject);
        return;
    }
    problem_add_subject(p, &text);
    html_text(out, text.data);
    if (!template)
        return;
    strbuf_adds(out, " of ");
    link_entry(out, template);
}

/* Appends the owner of a subject; nothing if `owner` is NULL. */
static void add_owner(const char *owner, struct strbuf *out)
{
    if (!owner)
        return;
    strbuf_adds(out, " <span class=\"owner\">Owner: ");
    html_text(out, owner);
    strbuf_adds(out, "</span>");
}

static void add_problem_cell(enum problem_reason reason, struct html_table *t)
{
    const struct problem_reason_row *row = &problem_reasons[reason];

    html_cell_open(t);
    strbuf_addf(t->out, "<b>%s</b>", problem_table[row->problem].title);
    if (*row->name)
        strbuf_addf(t->out, " <span class=\"reason\">%s</span>", row->name);
    strbuf_addc(t->out, ' ');
    link_open_with(t->out, "runbook", {PARAMETER_PROBLEM, problem_names[row->problem]});
    strbuf_adds(t->out, "Runbook</a>");
}

static void add_severity_cell(const struct listed_problems *view, const struct problem *p,
                              struct html_table *t)
{
    html_cell_open(t);
    html_severity(t->out, problem_severity(view->problems, problem_id(p)));
    if (p->status != PROBLEM_OPEN)
        strbuf_addf(t->out, " <span class=\"status\">%s</span>", problem_status_names[p->status]);
}

/* Appends the number of problems that this one hides, with a link to them. */
static void add_hidden_link(const struct problem *p, size_t hidden, struct strbuf *out)
{
    CLEANUP(strbuf_release) struct strbuf cause = STRBUF_INIT(NAME_MAX_BYTES);
    const char *ns = problem_ns(p);

    if (hidden == 0)
        return;
    strbuf_addf(&cause, "%s/%s%s%s", problem_names[problem_id(p)], ns, *ns ? "/" : "",
                problem_name(p));
    strbuf_addc(out, ' ');
    link_open_with(out, "./", {PARAMETER_CAUSE, cause.data});
    strbuf_addf(out, "Hides %zu problem%s</a>", hidden, hidden == 1 ? "" : "s");
}

/* Appends the cause and, of a hidden problem, the problem that explains it. */
static void add_cause_cell(const struct listed_problems *view, const struct problem *p,
                           size_t hidden, struct html_table *t)
{
    html_cell_open(t);
    add_sentence(view, p, problem_add_cause, t->out);
    if (p->status == PROBLEM_HIDDEN && p->cause) {
        strbuf_addf(t->out, " Explained by: %s, ", problem_table[problem_id(p->cause)].title);
        add_subject(p->cause, t->out);
        strbuf_addc(t->out, '.');
    }
    add_hidden_link(p, hidden, t->out);
}

static void add_action_cell(const struct listed_problems *view, const struct problem *p,
                            struct html_table *t)
{
    html_cell_open(t);
    strbuf_addf(t->out, "<b>%s:</b> ", actor_titles[problem_actor(p)]);
    add_sentence(view, p, problem_add_action, t->out);
}

static void add_row(const struct listed_problems *view, const struct problem *p, size_t hidden,
                    struct html_table *t)
{
    enum problem_severity severity = problem_severity(view->problems, problem_id(p));

    html_row_open(t, severity < SEVERITY_COUNT ? severity_names[severity] : NULL);
    add_severity_cell(view, p, t);
    add_problem_cell(p->reason, t);
    html_cell_open(t);
    add_subject(p, t->out);
    add_owner(problem_owner(p), t->out);
    html_cell_open(t);
    html_age(t->out, problem_since_ms(view->problems, p), p->since_seen, view->now_ms);
    add_cause_cell(view, p, hidden, t);
    add_action_cell(view, p, t);
}

/* Counts the instances that each of `count` problems hides; `count` is at most HTML_SHOWN_MAX. */
static void count_hidden(const struct listed_problems *view, const struct problem *const *rows,
                         size_t count, size_t hidden[HTML_SHOWN_MAX])
{
    struct problem_walk walk = {0};
    const struct problem *p;

    memset(hidden, 0, HTML_SHOWN_MAX * sizeof(*hidden));
    while ((p = problems_next(view->problems, &walk)) != NULL) {
        for (size_t k = 0; p->status == PROBLEM_HIDDEN && k < count; k++)
            hidden[k] += p->cause == rows[k];
    }
}

/*
 * Appends the table with at most HTML_SHOWN_MAX rows from `first` on; nothing without a row. Unless
 * `query` is NULL, the headings are links that sort.
 */
static void add_table(const struct listed_problems *view, size_t first, const struct query *query,
                      struct strbuf *out)
{
    static const struct html_column columns[] = {
        {.heading = "Severity", .sort = "severity", .style = "rank"},
        {.heading = "Problem", .style = "problem"},
        {.heading = "Object", .sort = "namespace", .style = "object"},
        {.heading = "Since", .sort = "since", .style = "age"},
        {.heading = "Cause", .style = "sentence"},
        {.heading = "Action", .style = "sentence action"},
        {.heading = NULL},
    };
    struct html_table table;
    const struct problem *const *rows = &view->rows[first];
    size_t left = view->count - first, count = left < HTML_SHOWN_MAX ? left : HTML_SHOWN_MAX;
    size_t hidden[HTML_SHOWN_MAX];

    if (count == 0)
        return;
    count_hidden(view, rows, count, hidden);
    table = html_table_open(out, "Problems", columns, query);
    for (size_t i = 0; i < count; i++)
        add_row(view, rows[i], hidden[i], &table);
    html_table_close(&table);
}

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

/* ---- data that cannot be read ---- */

/* Appends the source, the reason and the age of its incomplete data. */
static void add_incomplete_source(const struct listed_problems *view, const struct problem *p,
                                  struct strbuf *out)
{
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(NAME_MAX_BYTES);
    int64_t since_ms = problem_since_ms(view->problems, p);

    problem_add_subject(p, &name);
    html_text(out, name.data);
    strbuf_addf(out, " (%s", problem_reasons[p->reason].name);
    if (since_ms > 0)
        strbuf_adds(out, ", for ");
    html_age(out, since_ms, p->since_seen, view->now_ms);
    strbuf_addc(out, ')');
}

/*
 * Appends which sources cannot be read as they are now, whatever the filter of the request:
 * problems may be missing then. Returns false if all data is complete.
 */
static bool add_incomplete_data(const struct listed_problems *view, struct strbuf *out)
{
    struct problem_query q = {.filter = PROBLEM_FILTER_ALL, .statuses = LISTED};
    CLEANUP(free_cleanup) const struct problem **sources = NULL;
    size_t count = 0;

    q.filter.problem = PROBLEM_DATA_INCOMPLETE;
    sources = problem_query_run(&q, view->problems, &count);
    if (count == 0)
        return false;
    strbuf_adds(out, "<p class=\"bad\">Not everything has been read, so problems may be missing: ");
    for (size_t i = 0; i < count && i < INCOMPLETE_NAMES; i++) {
        strbuf_adds(out, i > 0 ? ", " : "");
        add_incomplete_source(view, sources[i], out);
    }
    if (count > INCOMPLETE_NAMES)
        strbuf_addf(out, " and %zu more", count - INCOMPLETE_NAMES);
    strbuf_adds(out, ". ");
    link_open_with(out, "./", {PARAMETER_PROBLEM, problem_names[PROBLEM_DATA_INCOMPLETE]});
    strbuf_adds(out, "Show the reasons</a>, or all messages on the page of "
                     "<a href=\"exporter\">the exporter</a>.</p>\n");
    return true;
}

/* Appends which problems are disabled. Returns false if all problems are enabled. */
static bool add_disabled_problems(const struct problems *ps, struct strbuf *out)
{
    size_t count = 0;

    for (unsigned i = 0; i < PROBLEM_COUNT; i++) {
        if (problem_severity(ps, (enum problem_id)i) < SEVERITY_COUNT)
            continue;
        strbuf_adds(out, count++ == 0 ? "<p>Not checked, because the configuration disables them "
                                        "(problems.severity): "
                                      : ", ");
        strbuf_adds(out, problem_table[i].title);
    }
    if (count == 0)
        return false;
    strbuf_adds(out, ".");
    if (problem_severity(ps, PROBLEM_DATA_INCOMPLETE) >= SEVERITY_COUNT)
        strbuf_adds(out, " Kinds and files that cannot be read are only on the page of "
                         "<a href=\"exporter\">the exporter</a>.");
    strbuf_adds(out, "</p>\n");
    return true;
}

/*
 * Appends that there are no open problems if there are none, and the limits of that statement: data
 * that cannot be read, disabled problems, and problems whose patience has not passed.
 */
static void add_verdict(const struct listed_problems *view, const struct facet_counts *counts,
                        struct strbuf *out)
{
    bool complete = !add_incomplete_data(view, out);

    complete = !add_disabled_problems(view->problems, out) && complete;
    if (count_open(counts) > 0)
        return;
    if (complete)
        strbuf_adds(out, "<p class=\"good\">No open problems.</p>\n");
    else
        strbuf_adds(out, "<p>No open problems in the data and checks that are left.</p>\n");
    if (counts->pending > 0)
        strbuf_addf(out,
                    "<p>%zu pending: the condition holds, but not yet for the patience of the "
                    "problem.</p>\n",
                    counts->pending);
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
                chart->unknown > 0 ? "; the observation began later" : "");
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
    add_owner(r->names.owner, out);
}

static void add_resolved_row(const struct resolved_list *list, const struct resolved_problem *r,
                             struct html_table *t)
{
    html_row_open(t, severity_names[r->severity]);
    html_cell_open(t);
    html_severity(t->out, r->severity);
    add_problem_cell(r->reason, t);
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
    add_verdict(view, counts, out);
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

    q->statuses = by_status ? q->statuses : LISTED;
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
    add_table(&view, part.first, &request->query, out);
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

/* ---- the page of a namespace ---- */

/* Numbers of the existing objects in a namespace. */
struct namespace_counts {
    size_t templates;
    size_t states[STATE_COUNT]; /* Of templates with a decision. */
    size_t policies;
    size_t bindings;
};

static struct namespace_counts count_objects(struct store *store, const char *ns)
{
    struct store_walk walk =
        store_walk_begin(store, 1U << CLASS_TEMPLATE | 1U << CLASS_POLICY | 1U << CLASS_BINDING);
    struct namespace_counts counts = {0};
    const struct entry *entry;

    while ((entry = store_walk_next(&walk)) != NULL) {
        if (!entry_exists(entry) || strcmp(entry_ns(entry), ns) != 0)
            continue;
        counts.policies += entry_class(entry) == CLASS_POLICY;
        counts.bindings += entry_class(entry) == CLASS_BINDING;
        if (entry_class(entry) != CLASS_TEMPLATE)
            continue;
        counts.templates++;
        if (template_decision(entry))
            counts.states[template_decision(entry)->state]++;
    }
    store_walk_stop(&walk);
    return counts;
}

/* Appends links to the templates and policies of a namespace, also to the templates by state. */
static void add_object_links(const struct namespace_counts *counts, const char *ns,
                             struct strbuf *out)
{
    strbuf_adds(out, "<p class=\"ways\">\n");
    link_open_with(out, "templates", {PARAMETER_NAMESPACE, ns});
    strbuf_addf(out, "Its %zu template%s</a>\n", counts->templates,
                counts->templates == 1 ? "" : "s");
    link_open_with(out, "policies", {PARAMETER_NAMESPACE, ns});
    strbuf_addf(out, "Its %zu polic%s</a>\n</p>\n", counts->policies,
                counts->policies == 1 ? "y" : "ies");
    html_section(out, "states", "Templates by state", counts->templates);
    strbuf_adds(out, "<ul class=\"tiles\">\n");
    for (unsigned i = 0; i < STATE_COUNT; i++) {
        if (counts->states[i] == 0)
            continue;
        strbuf_adds(out, "<li>");
        link_open_with(out, "templates", {PARAMETER_STATE, state_names[i]},
                       {PARAMETER_NAMESPACE, ns});
        strbuf_addf(out, "<b>%zu</b> %s</a></li>\n", counts->states[i], state_names[i]);
    }
    strbuf_adds(out, "</ul>\n</section>\n");
}

/* Appends the first problems of a namespace, and a link to all of them. */
static void add_problems_of_namespace(const struct health *h, const char *ns, struct strbuf *out)
{
    CLEANUP(listed_problems_release) struct listed_problems view;
    struct problem_query q = {.filter = PROBLEM_FILTER_ALL, .statuses = LISTED};
    struct facet_counts counts = {0};

    q.filter.ns = ns;
    listed_problems_make(&view, h, &q);
    for (size_t i = 0; i < view.count; i++)
        count_problem(view.problems, view.rows[i], &q.filter, COUNTED, &counts);
    html_section(out, "problems", "Problems", view.count);
    add_verdict(&view, &counts, out);
    add_table(&view, 0, NULL, out);
    html_remaining_count(out, view.count);
    strbuf_adds(out, "<p>");
    link_open_with(out, "./", {PARAMETER_NAMESPACE, ns});
    strbuf_adds(out, "Its problems on the first page, with filters</a></p>\n</section>\n");
}

void namespace_page(struct queued_request *request, const struct health *h)
{
    const char *ns = request->query.values[PARAMETER_NAMESPACE];
    struct namespace_counts counts = count_objects(h->evaluation->store, ns);
    CLEANUP(strbuf_release) struct strbuf title = STRBUF_INIT(NAME_MAX_BYTES);

    if (counts.templates + counts.policies + counts.bindings == 0) {
        api_refuse(request, MHD_HTTP_NOT_FOUND, "nothing is known in this namespace");
        return;
    }
    strbuf_addf(&title, "Namespace %s", ns);
    page_layout_open(&request->body, NAVIGATION_NONE, title.data);
    if (engine_problems(h->evaluation->engine))
        add_problems_of_namespace(h, ns, &request->body);
    add_object_links(&counts, ns, &request->body);
    page_layout_close(&request->body, h->now_ms);
}
