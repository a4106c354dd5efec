/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/evaluation.h"
#include "exporter/web/page_parts.h"
#include "metrics/expose/decision_text.h"
#include "metrics/expose/report_items.h"
#include "metrics/model/store.h"
#include "metrics/rules/policy_versions.h"

enum { PAGE_REFERRERS_MAX = 1000, TITLE_MAX_BYTES = 4096 };

/* ---- the page of templates ---- */

/* Table of templates that is being written. */
struct template_table {
    struct html_table table;
    int64_t now_ms; /* Time of the list, milliseconds since the epoch. */
    size_t count;   /* Number of rows so far. */
};

static void add_policy_cell(struct html_table *t, const struct row *row)
{
    const struct entry *policy = row->claimed ? row->claimed : row->policy;
    struct strbuf *out = t->out;

    html_cell_open(t);
    if (policy && row->claimed && !row->claimed_exists)
        link_policy_name(out, policy_name_of(policy));
    else if (policy)
        link_policy(out, policy_name_of(policy));
    if (policy && row->version > 0)
        strbuf_addf(out, ", version %" PRIu32, row->version);
    if (policy && row->behind > 0)
        strbuf_addf(out, ", %" PRId32 " behind", row->behind);
}

static void add_template_row(void *context, const struct row *row)
{
    struct template_table *page = context;
    struct html_table *t = &page->table;
    const char *reason = reason_name(row->state, row->reason);
    const struct entry *e = row->template;

    html_row_open(t, NULL);
    html_cell_open(t);
    link_template(t->out, entry_identity(e));
    html_cell_open(t);
    strbuf_addf(t->out, "%s%s%s%s%s", state_names[row->state], reason ? ", " : "",
                reason ? reason : "", row->state == STATE_STALE ? ", " : "",
                row->state == STATE_STALE ? phase_names[row->phase] : "");
    html_cell_text(t, row->stage < STAGE_COUNT ? stage_names[row->stage] : NULL);
    html_cell_open(t);
    if (row->since_ms > 0)
        html_time(t->out, row->since_ms, page->now_ms);
    if (row->since_seen)
        strbuf_adds(t->out, ", first seen so");
    add_policy_cell(t, row);
    html_cell_number(t, row->clusters);
    html_cell_text(t, actor_names[row->actor]);
    html_cell_text(t, row->changed_by);
    html_cell_text(t, row->owner);
    page->count++;
}

void templates_page(struct queued_request *request, const struct health *h)
{
    static const struct html_column columns[] = {
        {.heading = "Template"}, {.heading = "State"},
        {.heading = "Stage"},    {.heading = "Since"},
        {.heading = "Policy"},   {.heading = "Clusters", .style = "number"},
        {.heading = "Actor"},    {.heading = "Changed by"},
        {.heading = "Owner"},    {.heading = NULL},
    };
    struct template_table page = {.now_ms = paging_made_ms(request->paging)};
    struct row_filter filter;
    const char *token;

    (void)h;
    if (!row_filter_from_request(request, &filter))
        return;
    list_page_open(request, NAVIGATION_TEMPLATES, "Templates");
    page.table = html_table_open(&request->body, "Templates", columns, NULL);
    token = page_each_row(request, &filter, add_template_row, &page);
    html_table_close(&page.table);
    list_page_close(request, page.count, token, "api/v1/templates");
}

/* ---- the page of policies ---- */

static const struct html_column policy_columns[] = {
    {.heading = "Policy"},
    {.heading = "Selected", .style = "number"},
    {.heading = "Won", .style = "number"},
    {.heading = "Claimed", .style = "number"},
    {.heading = "Stale", .style = "number"},
    {.heading = "Versions in use", .style = "number"},
    {.heading = "Problems"},
    {.heading = NULL},
};

static void add_policy_row(const struct card_writer *c, const struct entry *policy)
{
    const struct policy_decision *d = policy_decision(policy);
    struct policy_counts counts = policy_counts_of(policy);
    struct html_table t = {.out = c->out, .columns = policy_columns};
    const char *between = "";

    html_row_open(&t, NULL);
    html_cell_open(&t);
    link_entry(c->out, policy);
    html_cell_number(&t, (int64_t)counts.selected);
    html_cell_number(&t, (int64_t)counts.won);
    html_cell_number(&t, (int64_t)counts.claimed);
    html_cell_number(&t, (int64_t)counts.stale);
    html_cell_number(&t,
                     d && d->history ? (int64_t)policy_history_count_used_versions(d->history) : 0);
    html_cell_open(&t);
    for (unsigned i = 0; i < POLICY_PROBLEM_COUNT; i++) {
        if (!(entry_policy_problems(policy) & 1U << i))
            continue;
        strbuf_addf(c->out, "%s%s", between, policy_problem_texts[i]);
        between = "; ";
    }
    html_row_close(&t);
}

void policies_page(struct queued_request *request, const struct health *h)
{
    const struct list_elements elements = {REPORT_POLICIES, h, add_policy_row};
    struct html_table table;
    const char *token;
    size_t count;

    list_page_open(request, NAVIGATION_POLICIES, "Policies");
    table = html_table_open(&request->body, "Policies", policy_columns, NULL);
    if (!list_write_elements(request, &elements, &count, &token))
        return;
    html_table_close(&table);
    list_page_close(request, count, token, "api/v1/policies");
}

/* ---- the page of conflicts ---- */

void conflicts_page(struct queued_request *request, const struct health *h)
{
    const struct list_elements elements = {REPORT_CONFLICTS, h, write_conflict_cards};
    const char *token;
    size_t count;

    list_page_open(request, NAVIGATION_CONFLICTS, "Conflicts");
    strbuf_adds(&request->body,
                "<h2>Fields about which those who require a dependency disagree</h2>\n"
                "<ul class=\"cards\">\n");
    if (!list_write_elements(request, &elements, &count, &token))
        return;
    strbuf_adds(&request->body, "</ul>\n");
    list_page_close(request, count, token, "api/v1/conflicts");
}

/* ---- the page of one dependency ---- */

/* Search for the dependency that a query names. */
struct dependency_search {
    const struct query *query;
    const struct entry *found; /* Last match; NULL if there is no match. */
};

static void match_dependency(void *context, const struct entry *dependency)
{
    struct dependency_search *search = context;
    char *const *values = search->query->values;
    const char *group = values[PARAMETER_GROUP], *ns = values[PARAMETER_NAMESPACE];
    struct identity id = resource_identity_of(dependency);
    size_t len = api_group_len(id.api_version);

    if (strcmp(id.kind, values[PARAMETER_KIND]) == 0 &&
        strcmp(id.name, values[PARAMETER_NAME]) == 0 && strcmp(id.ns, ns ? ns : "") == 0 &&
        (!group || (strlen(group) == len && memcmp(group, id.api_version, len) == 0)))
        search->found = dependency;
}

static void add_dependency_values(struct strbuf *out, const struct dependency_decision *d)
{
    strbuf_adds(out, "<dl class=\"facts\">\n");
    for (unsigned i = 0; i < DEPENDENCY_FIELD_COUNT; i++)
        strbuf_addf(out, "<dt>%s</dt>\n<dd>%s%s</dd>\n", dependency_field_names[i],
                    dependency_value_name(i, d->fields[i].resolved),
                    d->fields[i].conflict ? ", of several that are wanted" : "");
    strbuf_addf(out, "<dt>Required by</dt>\n<dd>%" PRIu32 "</dd>\n</dl>\n", d->referrers);
}

void conflict_page(struct queued_request *request, const struct health *h)
{
    const struct engine *engine = h->evaluation->engine;
    const struct card_writer card_writer = {engine, h->now_ms, PAGE_REFERRERS_MAX, &request->body};
    CLEANUP(strbuf_release) struct strbuf title = STRBUF_INIT(TITLE_MAX_BYTES);
    struct dependency_search search = {&request->query, NULL};
    size_t before;

    report_each_entry(engine, REPORT_CONFLICTS, match_dependency, &search);
    if (!search.found) {
        api_refuse(request, MHD_HTTP_NOT_FOUND, "nobody requires this as a dependency");
        return;
    }

    struct identity id = resource_identity_of(search.found);

    strbuf_addf(&title, "%s %s%s%s", id.kind, id.ns, *id.ns ? "/" : "", id.name);
    page_layout_open(&request->body, NAVIGATION_NONE, title.data);
    strbuf_adds(&request->body,
                "<p>A dependency: it goes where those that require it are, and there "
                "is one binding with one value of each field for all of them.</p>\n");
    add_dependency_values(&request->body, dependency_decision(search.found));
    strbuf_adds(&request->body, "<h2>Who disagrees</h2>\n<ul class=\"cards\">\n");
    before = request->body.len;
    write_conflict_cards(&card_writer, search.found);
    bool agree = request->body.len == before;

    strbuf_adds(&request->body, "</ul>\n");
    if (agree)
        strbuf_adds(&request->body, "<p class=\"good\">All who require it agree.</p>\n");
    strbuf_adds(&request->body, "<p>");
    link_template(&request->body, id);
    strbuf_adds(&request->body, " itself, as a template</p>\n");
    page_layout_close(&request->body, h->now_ms);
}
