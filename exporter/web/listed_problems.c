/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/listed_problems.h"

#include "exporter/evaluation.h"
#include "exporter/web/html.h"
#include "metrics/expose/decision_text.h"
#include "metrics/expose/problem_text.h"
#include "metrics/model/store.h"

enum {
    NAME_MAX_BYTES = 8192,
    SENTENCE_MAX_BYTES = 256 * 1024,
    INCOMPLETE_NAMES = 5, /* Sources that a page names if their data is incomplete. */
};

/* ---- lists of problems ---- */

void listed_problems_release(struct listed_problems *view)
{
    free(view->rows);
}

void listed_problems_make(struct listed_problems *view, const struct health *h,
                          const struct problem_query *q)
{
    *view = (struct listed_problems){.engine = h->evaluation->engine,
                                     .problems = engine_problems(h->evaluation->engine),
                                     .now_ms = h->now_ms};
    view->rows = problem_query_run(q, view->problems, &view->count);
}

void listed_problems_make_about(struct listed_problems *view, const struct health *h,
                                const struct entry *entry)
{
    static const unsigned groups[] = {
        1U << PROBLEM_OPEN | 1U << PROBLEM_RESOLVING,
        1U << PROBLEM_PENDING,
        1U << PROBLEM_HIDDEN,
    };
    CLEANUP(free_cleanup) const struct problem **list = NULL;
    size_t count = 0;

    *view = (struct listed_problems){.engine = h->evaluation->engine,
                                     .problems = engine_problems(h->evaluation->engine),
                                     .now_ms = h->now_ms,
                                     .one_subject = entry_class(entry) != CLASS_POLICY};
    if (view->problems)
        list = problems_list(view->problems, (1U << PROBLEM_STATUS_COUNT) - 1, &count);
    view->rows = xreallocarray(NULL, count + 1, sizeof(const struct problem *));
    for (size_t group = 0; group < ARRAY_LEN(groups); group++) {
        for (size_t i = 0; i < count; i++) {
            if ((groups[group] & 1U << list[i]->status) &&
                (problem_is_about(list[i], entry) || problem_policy(list[i]) == entry))
                view->rows[view->count++] = list[i];
        }
    }
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

void problem_owner_write(const char *owner, struct strbuf *out)
{
    if (!owner)
        return;
    strbuf_adds(out, " <span class=\"owner\">Owner: ");
    html_text(out, owner);
    strbuf_adds(out, "</span>");
}

void problem_cell_write(enum problem_reason reason, struct html_table *t)
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
    strbuf_addf(t->out, "<b>%s:</b> ", actor_title(problem_actor(p)));
    add_sentence(view, p, problem_add_action, t->out);
}

static void add_row(const struct listed_problems *view, const struct problem *p, size_t hidden,
                    struct html_table *t)
{
    enum problem_severity severity = problem_severity(view->problems, problem_id(p));

    html_row_open(t, severity < SEVERITY_COUNT ? severity_names[severity] : NULL);
    add_severity_cell(view, p, t);
    problem_cell_write(p->reason, t);
    if (!view->one_subject) {
        html_cell_open(t);
        add_subject(p, t->out);
    }
    problem_owner_write(problem_owner(p), t->out);
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

void problem_table_write(const struct listed_problems *view, size_t first,
                         const struct query *query, struct strbuf *out)
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
    static const struct html_column subject_columns[] = {
        {.heading = "Severity", .style = "rank"},
        {.heading = "Problem", .style = "problem"},
        {.heading = "Since", .style = "age"},
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
    table = html_table_open(out, "Problems", view->one_subject ? subject_columns : columns, query);
    for (size_t i = 0; i < count; i++)
        add_row(view, rows[i], hidden[i], &table);
    html_table_close(&table);
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
    struct problem_query q = {.filter = PROBLEM_FILTER_ALL, .statuses = PROBLEMS_LISTED};
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
        strbuf_adds(out, " Kinds and files that cannot be read are listed only on the page of <a "
                         "href=\"exporter\">the exporter</a>, not as problems.");
    strbuf_adds(out, "</p>\n");
    return true;
}

void problem_limits_write(const struct listed_problems *view, size_t open, size_t pending,
                          struct strbuf *out)
{
    bool complete = !add_incomplete_data(view, out);

    complete = !add_disabled_problems(view->problems, out) && complete;
    if (open > 0)
        return;
    if (complete)
        strbuf_adds(out, "<p class=\"good\">No open problems.</p>\n");
    else
        strbuf_adds(out, "<p>No open problems in the data that has been read and the checks that "
                         "are enabled.</p>\n");
    if (pending > 0)
        strbuf_addf(out,
                    "<p>%zu pending: the condition holds, but not yet as long as the patience of "
                    "the problem.</p>\n",
                    pending);
}

size_t problem_verdict_write(const struct listed_problems *view, struct strbuf *out)
{
    size_t open = 0, pending = 0;

    if (!view->problems)
        return 0;
    for (size_t i = 0; i < view->count; i++) {
        open += problem_counts(view->rows[i]);
        pending += view->rows[i]->status == PROBLEM_PENDING;
    }
    problem_limits_write(view, open, pending, out);
    problem_table_write(view, 0, NULL, out);
    html_remaining_count(out, view->count);
    return open;
}
