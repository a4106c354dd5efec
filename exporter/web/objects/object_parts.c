/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/objects/object_parts.h"

#include "exporter/evaluation.h"
#include "exporter/web/listed_problems.h"
#include "metrics/expose/verdict_text.h"
#include "metrics/model/store.h"

enum { NAME_MAX_BYTES = 4096, REASON_MAX_BYTES = 64 * 1024 };

/* ---- explanation ---- */

/* Lines of an explanation that are being written as HTML. */
struct explanation_html {
    struct strbuf *out;
    bool skips; /* The next line is omitted. */
    bool rows;  /* A <pre> is open: successive rows share one, so that they are aligned. */
};

static void add_explanation_line(void *context, enum explain_style style, const char *text)
{
    static const char *const before[] = {
        [EXPLAIN_HEADING] = "<h3>",
        [EXPLAIN_PARAGRAPH] = "<p>",
        [EXPLAIN_DETAIL] = "<p class=\"detail\">",
        [EXPLAIN_ROW] = "",
    };
    static const char *const after[] = {
        [EXPLAIN_HEADING] = "</h3>\n",
        [EXPLAIN_PARAGRAPH] = "</p>\n",
        [EXPLAIN_DETAIL] = "</p>\n",
        [EXPLAIN_ROW] = "\n",
    };
    struct explanation_html *l = context;
    bool row = style == EXPLAIN_ROW;

    if (l->skips) {
        l->skips = false;
        return;
    }
    if (row != l->rows)
        strbuf_adds(l->out, row ? "<pre tabindex=\"0\">" : "</pre>\n");
    l->rows = row;
    strbuf_adds(l->out, before[style]);
    html_text(l->out, text);
    strbuf_adds(l->out, after[style]);
}

static void begin_lines(struct explanation_html *lines, struct strbuf *out)
{
    *lines = (struct explanation_html){.out = out, .skips = true};
    strbuf_adds(out, "<div class=\"told\">\n");
}

static void end_lines(const struct explanation_html *lines)
{
    strbuf_adds(lines->out, lines->rows ? "</pre>\n</div>\n" : "</div>\n");
}

/* The first line of a section is its heading. */
void explained_section_write(struct strbuf *out, const struct explanation *x, const char *section)
{
    struct explanation_html lines;

    begin_lines(&lines, out);
    explanation_each_line_of(x, section, add_explanation_line, &lines);
    end_lines(&lines);
}

void object_page_write_section(const struct object_page *page, const char *section)
{
    explained_section_write(page->out, &page->explanation, section);
}

/* The first line is the name of the object. */
void object_page_write_decision(const struct object_page *page, const char *const *sections)
{
    struct explanation_html lines;

    strbuf_adds(page->out, "<h2 id=\"decision\">Decision</h2>\n");
    begin_lines(&lines, page->out);
    explanation_each_other_line(&page->explanation, sections, add_explanation_line, &lines);
    end_lines(&lines);
}

/* ---- verdicts by cluster ---- */

static void add_verdict(struct strbuf *out, const struct cluster_verdict *v)
{
    CLEANUP(strbuf_release) struct strbuf reason = STRBUF_INIT(REASON_MAX_BYTES);

    verdict_add_reason(v, &reason);
    strbuf_adds(out, "<dt>");
    link_cluster(out, v->cluster->name);
    strbuf_addf(out, "</dt>\n<dd><b>%s</b>%s", verdict_word(v->kind), reason.len > 0 ? ", " : "");
    html_text(out, reason.data);
    strbuf_adds(out, "</dd>\n");
}

void object_verdicts_write(struct strbuf *out, const struct cluster_verdicts *verdicts)
{
    size_t shown = 0;

    facts_open(out, NULL, NULL);
    for (unsigned placed = 0; placed < 2; placed++) {
        for (size_t i = 0; i < verdicts->count && shown < HTML_SHOWN_MAX; i++) {
            const struct cluster_verdict *v = &verdicts->items[i];

            if ((verdict_is_placed(v) || v->kind == CLUSTER_VERDICT_COUNT) != (placed == 1))
                continue;
            add_verdict(out, v);
            shown++;
        }
    }
    facts_close(out);
    html_remaining_count(out, verdicts->count);
}

/* ---- problems ---- */

size_t object_problems_write(struct strbuf *out, const struct health *h, const struct entry *entry)
{
    CLEANUP(listed_problems_release) struct listed_problems view;

    listed_problems_make_about(&view, h, entry);
    return problem_verdict_write(&view, out);
}

static bool is_about_entry(const struct resolved_problem *r, const struct entry *entry)
{
    return strcmp(r->name, entry->name) == 0 && strcmp(r->ns, entry_ns(entry)) == 0 &&
           strcmp(r->kind, entry_kind(entry)) == 0 &&
           strcmp(r->api_version, entry_type(entry)->api_version) == 0;
}

static void add_resolved_row(const struct resolved_problem *r, int64_t now_ms, struct html_table *t)
{
    html_row_open(t, severity_names[r->severity]);
    html_cell_open(t);
    html_severity(t->out, r->severity);
    problem_cell_write(r->reason, t);
    html_cell_open(t);
    html_time(t->out, r->resolved_ms, now_ms);
    html_cell_open(t);
    if (r->since_ms > 0 && r->resolved_ms >= r->since_ms)
        html_duration(t->out, r->resolved_ms - r->since_ms);
}

void object_page_write_resolved(const struct object_page *page)
{
    static const struct html_column columns[] = {
        {.heading = "Severity"}, {.heading = "Problem"}, {.heading = "Resolved"},
        {.heading = "Lasted"},   {.heading = NULL},
    };
    const struct problems *ps = engine_problems(page->h->evaluation->engine);
    const struct problem_history *history = ps ? problems_history(ps) : NULL;
    const struct resolved_problem *r;
    struct html_table table;
    uint64_t below = UINT64_MAX;
    size_t count = 0;

    while (history && count < OBJECT_LINKS_MAX &&
           (r = problem_history_next(history, &below)) != NULL) {
        if (!is_about_entry(r, page->entry))
            continue;
        if (count++ == 0) {
            strbuf_adds(page->out, "<h2 id=\"resolved\">Resolved problems</h2>\n");
            table = html_table_open(page->out, "Resolved problems", columns, NULL);
        }
        add_resolved_row(r, page->h->now_ms, &table);
    }
    if (count > 0)
        html_table_close(&table);
}

/* ---- page ---- */

void object_page_open(struct object_page *page, struct queued_request *request,
                      const struct health *h, const struct entry *entry)
{
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(NAME_MAX_BYTES);

    *page = (struct object_page){.out = &request->body, .h = h, .entry = entry};
    entry_add_name(&name, entry);
    page_layout_open(page->out, NAVIGATION_NONE, name.data);
    page->open_problems = object_problems_write(page->out, h, entry);
    explanation_init(&page->explanation);
}

void object_page_explain(struct object_page *page)
{
    page->explanation.locations = evaluation_locations(page->h->evaluation);
    explain_object(page->h->evaluation->engine, page->entry, page->h->now_ms, &page->explanation);
    explanation_finish(&page->explanation);
}

void object_page_close(struct object_page *page)
{
    const struct entry *entry = page->entry;
    const char *group = entry_type(entry)->group, *ns = entry_ns(entry);

    strbuf_adds(page->out, "<h2>On the command line</h2>\n<pre tabindex=\"0\">");
    html_textf(page->out, "karmada-policy-exporter explain '%s%s%s/%s%s%s'", entry_kind(entry),
               *group ? "." : "", group, ns, *ns ? "/" : "", entry->name);
    strbuf_adds(page->out, "</pre>\n");
    explanation_release(&page->explanation);
    page_layout_close(page->out, page->h->now_ms);
}

/* ---- facts ---- */

void facts_open(struct strbuf *out, const char *id, const char *title)
{
    if (title)
        strbuf_addf(out, "<h2 id=\"%s\">%s</h2>\n", id, title);
    strbuf_adds(out, "<dl class=\"facts\">\n");
}

void facts_close(struct strbuf *out)
{
    strbuf_adds(out, "</dl>\n");
}

void fact_open(struct strbuf *out, const char *name)
{
    strbuf_addf(out, "<dt>%s</dt>\n<dd>", name);
}

void fact_text(struct strbuf *out, const char *name, const char *text)
{
    if (!text || *text == '\0')
        return;
    fact_open(out, name);
    html_text(out, text);
    strbuf_adds(out, "</dd>\n");
}

void fact_number(struct strbuf *out, const char *name, int64_t number)
{
    fact_open(out, name);
    strbuf_addf(out, "%" PRId64 "</dd>\n", number);
}

void fact_time(struct strbuf *out, const char *name, int64_t time_ms, bool seen, int64_t now_ms)
{
    if (time_ms <= 0)
        return;
    fact_open(out, name);
    strbuf_adds(out, seen ? "first seen " : "");
    html_time(out, time_ms, now_ms);
    strbuf_adds(out, "</dd>\n");
}
