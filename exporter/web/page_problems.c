/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/evaluation.h"
#include "exporter/web/page_parts.h"
#include "metrics/expose/problem_text.h"
#include "metrics/model/store.h"

/*
 * Pages that list problems: the first page, and the page of a namespace. A page is a part of a list
 * that each request makes anew: `page` is the number of the part.
 */

enum {
    NAME_MAX_BYTES = 8192,
    SENTENCE_MAX_BYTES = 256 * 1024,
    INCOMPLETE_NAMES = 5, /* Sources that the first page names if their data is incomplete. */
    COUNTED = 1U << PROBLEM_OPEN | 1U << PROBLEM_RESOLVING,
    LISTED = COUNTED | 1U << PROBLEM_PENDING, /* Statuses on the first page by default. */
};

/* ---- lists of problems ---- */

/* All instances of an evaluation, and those that a request selects. */
struct problem_list {
    const struct engine *engine;
    const struct problems *problems;
    int64_t now_ms;             /* Milliseconds since the epoch. */
    const struct problem **all; /* In the order of problems_list(). Owned. */
    const struct problem *
        *rows; /* Selected: open ones, then pending ones, then hidden ones. Owned. */
    size_t all_count;
    size_t count;
};

static void problem_list_release(struct problem_list *list)
{
    free(list->all);
    free(list->rows);
}

/* Appends the selected instances with a status in `statuses` to the rows. */
static void add_rows(struct problem_list *list, const struct problem_filter *filter,
                     unsigned statuses)
{
    for (size_t i = 0; i < list->all_count; i++) {
        if ((statuses & 1U << list->all[i]->status) &&
            problem_matches(list->problems, list->all[i], filter))
            list->rows[list->count++] = list->all[i];
    }
}

/* Lists the instances that match a filter and have a status in `statuses`. */
static void problem_list_make(struct problem_list *list, const struct health *h,
                              const struct problem_filter *filter, unsigned statuses)
{
    *list = (struct problem_list){.engine = h->evaluation->engine,
                                  .problems = engine_problems(h->evaluation->engine),
                                  .now_ms = h->now_ms};
    list->all = problems_list(list->problems, (1U << PROBLEM_STATUS_COUNT) - 1, &list->all_count);
    list->rows = xreallocarray(NULL, list->all_count + 1, sizeof(const struct problem *));
    add_rows(list, filter, statuses & COUNTED);
    add_rows(list, filter, statuses & 1U << PROBLEM_PENDING);
    add_rows(list, filter, statuses & 1U << PROBLEM_HIDDEN);
}

/* ---- table of problems ---- */

typedef void add_sentence_fn(const struct engine *e, const struct problem *p, struct strbuf *out);

/* Appends a sentence about the problem, escaped. */
static void add_sentence(const struct problem_list *list, const struct problem *p,
                         add_sentence_fn *add, struct strbuf *out)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(SENTENCE_MAX_BYTES);

    add(list->engine, p, &text);
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

static void add_severity_cell(const struct problem_list *list, const struct problem *p,
                              struct html_table *t)
{
    html_cell_open(t);
    html_severity(t->out, problem_severity(list->problems, problem_id(p)));
    if (p->status != PROBLEM_OPEN)
        strbuf_addf(t->out, " %s", problem_status_names[p->status]);
}

/* Appends the cause and, of a hidden problem, the problem that explains it. */
static void add_cause_cell(const struct problem_list *list, const struct problem *p,
                           struct html_table *t)
{
    html_cell_open(t);
    add_sentence(list, p, problem_add_cause, t->out);
    if (p->status == PROBLEM_HIDDEN && p->cause) {
        strbuf_addf(t->out, " Explained by: %s, ", problem_table[problem_id(p->cause)].title);
        add_subject(p->cause, t->out);
        strbuf_addc(t->out, '.');
    }
}

static void add_since_cell(const struct problem_list *list, const struct problem *p,
                           struct html_table *t)
{
    int64_t since_ms = problem_since_ms(list->problems, p);

    html_cell_open(t);
    if (since_ms > 0)
        html_time(t->out, since_ms, list->now_ms);
    if (since_ms > 0 && p->since_seen)
        strbuf_adds(t->out, ", first seen so");
}

/* Appends the number of problems that this one hides, with a link to them. */
static void add_hidden_cell(const struct problem *p, size_t hidden, struct html_table *t)
{
    CLEANUP(strbuf_release) struct strbuf cause = STRBUF_INIT(NAME_MAX_BYTES);
    const char *ns = problem_ns(p);

    html_cell_open(t);
    if (hidden == 0)
        return;
    strbuf_addf(&cause, "%s/%s%s%s", problem_names[problem_id(p)], ns, *ns ? "/" : "",
                problem_name(p));
    link_open_with(t->out, "./", {PARAMETER_CAUSE, cause.data});
    strbuf_addf(t->out, "%zu</a>", hidden);
}

static void add_row(const struct problem_list *list, const struct problem *p, size_t hidden,
                    struct html_table *t)
{
    enum problem_severity severity = problem_severity(list->problems, problem_id(p));
    const char *reason = problem_reasons[p->reason].name;

    html_row_open(t, severity < SEVERITY_COUNT ? severity_names[severity] : NULL);
    add_severity_cell(list, p, t);
    html_cell_open(t);
    strbuf_addf(t->out, "%s%s%s", problem_table[problem_id(p)].title, *reason ? ", " : "", reason);
    html_cell_open(t);
    add_subject(p, t->out);
    add_cause_cell(list, p, t);
    add_since_cell(list, p, t);
    html_cell_text(t, problem_owner(p));
    html_cell_text(t, actor_names[problem_actor(p)]);
    html_cell_open(t);
    add_sentence(list, p, problem_add_action, t->out);
    add_hidden_cell(p, hidden, t);
}

/* Counts the instances that each of `count` problems hides; `count` is at most HTML_SHOWN_MAX. */
static void count_hidden(const struct problem_list *list, const struct problem *const *rows,
                         size_t count, size_t hidden[HTML_SHOWN_MAX])
{
    memset(hidden, 0, HTML_SHOWN_MAX * sizeof(*hidden));
    for (size_t i = 0; i < list->all_count; i++) {
        for (size_t k = 0; list->all[i]->status == PROBLEM_HIDDEN && k < count; k++)
            hidden[k] += list->all[i]->cause == rows[k];
    }
}

/* Appends the table with at most HTML_SHOWN_MAX rows from `first` on; nothing without a row. */
static void add_table(const struct problem_list *list, size_t first, struct strbuf *out)
{
    static const struct html_column columns[] = {
        {.heading = "Severity"},
        {.heading = "Problem"},
        {.heading = "Object", .style = "object"},
        {.heading = "Cause", .style = "sentence"},
        {.heading = "Since"},
        {.heading = "Owner"},
        {.heading = "Actor"},
        {.heading = "Action", .style = "sentence"},
        {.heading = "Hidden", .style = "number"},
        {.heading = NULL},
    };
    struct html_table table;
    const struct problem *const *rows = &list->rows[first];
    size_t left = list->count - first, count = left < HTML_SHOWN_MAX ? left : HTML_SHOWN_MAX;
    size_t hidden[HTML_SHOWN_MAX];

    if (count == 0)
        return;
    count_hidden(list, rows, count, hidden);
    table = html_table_open(out, "Problems", columns, NULL);
    for (size_t i = 0; i < count; i++)
        add_row(list, rows[i], hidden[i], &table);
    html_table_close(&table);
}

/* ---- data that cannot be read ---- */

/*
 * Appends which sources cannot be read as they are now, whatever the filter of the request:
 * problems may be missing then. Returns false if all data is complete.
 */
static bool add_incomplete_data(const struct problem_list *list, struct strbuf *out)
{
    CLEANUP(strbuf_release) struct strbuf names = STRBUF_INIT(NAME_MAX_BYTES);
    size_t count = 0;

    for (size_t i = 0; i < list->all_count; i++) {
        const struct problem *p = list->all[i];

        if (problem_id(p) != PROBLEM_DATA_INCOMPLETE || !(LISTED & 1U << p->status) ||
            count++ >= INCOMPLETE_NAMES)
            continue;
        strbuf_adds(&names, count > 1 ? ", " : "");
        problem_add_subject(p, &names);
    }
    if (count == 0)
        return false;
    strbuf_adds(out, "<p class=\"bad\">Not everything has been read, so problems may be missing: ");
    html_text(out, names.data);
    if (count > INCOMPLETE_NAMES)
        strbuf_addf(out, " and %zu more", count - INCOMPLETE_NAMES);
    strbuf_adds(out, ". ");
    link_open_with(out, "./", {PARAMETER_PROBLEM, problem_names[PROBLEM_DATA_INCOMPLETE]});
    strbuf_adds(out, "Show the reasons</a>, or all messages on the page of "
                     "<a href=\"exporter\">the exporter</a>.</p>\n");
    return true;
}

/* Appends that there are no open problems; call it only if add_incomplete_data() found none. */
static void add_no_open_problems(const struct problem_list *list, struct strbuf *out)
{
    /* Then only the page of the exporter has what cannot be read. */
    if (problem_severity(list->problems, PROBLEM_DATA_INCOMPLETE) >= SEVERITY_COUNT)
        strbuf_adds(out,
                    "<p>No open problems. The problem data_incomplete is disabled, so problems "
                    "may be missing: see the page of <a href=\"exporter\">the exporter</a>."
                    "</p>\n");
    else
        strbuf_adds(out, "<p class=\"good\">No open problems.</p>\n");
}

/* ---- the first page ---- */

/* Appends a link to the first part of the list with another severity or status. */
static void add_tile(const struct queued_request *request, enum parameter parameter,
                     const char *word, size_t count, struct strbuf *out)
{
    struct link_value values[PARAMETER_COUNT];

    for (unsigned i = 0; i < PARAMETER_COUNT; i++)
        values[i] = (struct link_value){(enum parameter)i, request->query.values[i]};
    values[PARAMETER_PAGE].value = NULL;
    values[PARAMETER_SEVERITY].value = NULL;
    values[PARAMETER_STATUS].value = NULL;
    values[parameter].value = word;
    strbuf_adds(out, "<li>");
    link_open(out, "./", values, PARAMETER_COUNT);
    strbuf_addf(out, "<b>%zu</b> %s</a></li>\n", count, word);
}

/* Appends the counts by severity and status of the problems that match all other filters. */
static void add_counts(const struct queued_request *request, const struct problem_list *list,
                       struct problem_filter filter, struct strbuf *out)
{
    static const enum problem_status others[] = {PROBLEM_PENDING, PROBLEM_HIDDEN};
    size_t severities[SEVERITY_COUNT + 1] = {0}, statuses[PROBLEM_STATUS_COUNT] = {0};

    filter.severity = SEVERITY_COUNT;
    for (size_t i = 0; i < list->all_count; i++) {
        const struct problem *p = list->all[i];

        if (!problem_matches(list->problems, p, &filter))
            continue;
        statuses[p->status]++;
        if (problem_counts(p))
            severities[problem_severity(list->problems, problem_id(p))]++;
    }
    strbuf_adds(out, "<ul class=\"tiles\">\n");
    for (unsigned i = 0; i < SEVERITY_COUNT; i++)
        add_tile(request, PARAMETER_SEVERITY, severity_names[i], severities[i], out);
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        add_tile(request, PARAMETER_STATUS, problem_status_names[others[i]], statuses[others[i]],
                 out);
    strbuf_adds(out, "</ul>\n");
}

/* Returns true if the request selects a part of the problems. */
static bool has_filter(const struct queued_request *request)
{
    for (unsigned i = 0; i < PARAMETER_COUNT; i++) {
        if (i != PARAMETER_PAGE && request->query.values[i])
            return true;
    }
    return false;
}

/* Appends that no problem is listed. `complete`: all data has been read. */
static void add_no_problem(const struct queued_request *request, const struct problem_list *list,
                           bool complete, struct strbuf *out)
{
    if (has_filter(request))
        strbuf_adds(out, "<p>No problem matches the filters.</p>\n");
    else if (complete)
        add_no_open_problems(list, out);
}

/* Appends the problems that the request selects. */
static void add_problems(struct queued_request *request, const struct health *h,
                         const struct problem_query *q, size_t page)
{
    char *const *values = request->query.values;
    bool by_status = values[PARAMETER_STATUS] || values[PARAMETER_CAUSE];
    CLEANUP(problem_list_release) struct problem_list list;
    struct strbuf *out = &request->body;
    struct list_part part;
    bool complete;

    problem_list_make(&list, h, &q->filter, by_status ? q->statuses : LISTED);
    complete = !add_incomplete_data(&list, out);
    add_counts(request, &list, q->filter, out);
    filter_form_write(request, PARAMETER_BIT(SEVERITY) | PARAMETER_BIT(PROBLEM) |
                                   PARAMETER_BIT(NAMESPACE) | PARAMETER_BIT(OWNER) |
                                   PARAMETER_BIT(POLICY));
    if (list.count == 0 || (list.rows[0]->status == PROBLEM_PENDING && !has_filter(request)))
        add_no_problem(request, &list, complete, out);
    part = list_part_make(page, list.count);
    add_table(&list, part.first, out);
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
    if (!page_number_from_request(request, &page) || !problem_query_from_request(request, &q))
        return;
    page_layout_open(out, NAVIGATION_OVERVIEW, "Problems");
    if (!h->config_loaded)
        strbuf_adds(out, "<p class=\"bad\">The last reload failed; the old configuration stays in "
                         "force. The log has the reason.</p>\n");
    if (h->evaluation && engine_problems(h->evaluation->engine)) {
        add_problems(request, h, &q, page);
    } else {
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
    CLEANUP(problem_list_release) struct problem_list list;
    struct problem_filter filter = PROBLEM_FILTER_ALL;

    filter.ns = ns;
    problem_list_make(&list, h, &filter, LISTED);
    html_section(out, "problems", "Problems", list.count);
    if (!add_incomplete_data(&list, out) &&
        (list.count == 0 || list.rows[0]->status == PROBLEM_PENDING))
        add_no_open_problems(&list, out);
    add_table(&list, 0, out);
    html_remaining_count(out, list.count);
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
