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
    struct strbuf *out;
    int64_t now_ms; /* Time of the list, milliseconds since the epoch. */
    size_t count;   /* Number of rows so far. */
};

static void add_text_cell(struct strbuf *out, const char *text)
{
    strbuf_adds(out, "<td>");
    html_text(out, text ? text : "");
    strbuf_adds(out, "</td>\n");
}

static void add_policy_cell(struct strbuf *out, const struct row *row)
{
    const struct entry *policy = row->claimed ? row->claimed : row->policy;

    strbuf_adds(out, "<td>");
    if (policy && row->claimed && !row->claimed_exists)
        link_policy_name(out, policy_name_of(policy));
    else if (policy)
        link_policy(out, policy_name_of(policy));
    if (policy && row->version > 0)
        strbuf_addf(out, ", version %" PRIu32, row->version);
    if (policy && row->behind > 0)
        strbuf_addf(out, ", %" PRId32 " behind", row->behind);
    strbuf_adds(out, "</td>\n");
}

static void add_template_row(void *context, const struct row *row)
{
    struct template_table *t = context;
    const char *reason = reason_name(row->state, row->reason);
    const struct entry *e = row->template;

    strbuf_adds(t->out, "<tr>\n<td>");
    link_template(t->out, entry_identity(e));
    strbuf_addf(t->out, "</td>\n<td>%s%s%s%s%s</td>\n", state_names[row->state], reason ? ", " : "",
                reason ? reason : "", row->state == STATE_STALE ? ", " : "",
                row->state == STATE_STALE ? phase_names[row->phase] : "");
    add_text_cell(t->out, row->stage < STAGE_COUNT ? stage_names[row->stage] : NULL);
    strbuf_adds(t->out, "<td>");
    if (row->since_ms > 0)
        html_time(t->out, row->since_ms, t->now_ms);
    if (row->since_seen)
        strbuf_adds(t->out, ", first seen so");
    strbuf_adds(t->out, "</td>\n");
    add_policy_cell(t->out, row);
    strbuf_addf(t->out, "<td class=\"number\">%" PRIu32 "</td>\n", row->clusters);
    add_text_cell(t->out, actor_names[row->actor]);
    add_text_cell(t->out, row->changed_by);
    add_text_cell(t->out, row->owner);
    strbuf_adds(t->out, "</tr>\n");
    t->count++;
}

void templates_page(struct queued_request *request, const struct health *h)
{
    static const char *const heads[] = {
        "Template", "State",        "Stage",      "Since", "Policy",
        "Clusters", "Who must act", "Changed by", "Owner", NULL,
    };
    struct template_table table = {&request->body, paging_made_ms(request->paging), 0};
    struct row_filter filter;
    const char *token;

    (void)h;
    if (!row_filter_from_request(request, &filter))
        return;
    list_page_open(request, NAVIGATION_TEMPLATES, "Templates");
    html_table(&request->body, "Templates", heads);
    token = page_each_row(request, &filter, add_template_row, &table);
    html_table_end(&request->body);
    list_page_close(request, table.count, token, "api/v1/templates");
}

/* ---- the page of policies ---- */

static void add_number_cell(const struct card_writer *c, size_t number)
{
    strbuf_addf(c->out, "<td class=\"number\">%zu</td>\n", number);
}

static void add_policy_row(const struct card_writer *c, const struct entry *policy)
{
    const struct policy_decision *d = policy_decision(policy);
    struct policy_counts counts = policy_counts_of(policy);
    const char *between = "";

    strbuf_adds(c->out, "<tr>\n<td>");
    link_entry(c->out, policy);
    strbuf_adds(c->out, "</td>\n");
    add_number_cell(c, counts.selected);
    add_number_cell(c, counts.won);
    add_number_cell(c, counts.claimed);
    add_number_cell(c, counts.stale);
    add_number_cell(c, d && d->history ? policy_history_count_used_versions(d->history) : 0);
    strbuf_adds(c->out, "<td>");
    for (unsigned i = 0; i < POLICY_PROBLEM_COUNT; i++) {
        if (!(entry_policy_problems(policy) & 1U << i))
            continue;
        strbuf_addf(c->out, "%s%s", between, policy_problem_texts[i]);
        between = "; ";
    }
    strbuf_adds(c->out, "</td>\n</tr>\n");
}

void policies_page(struct queued_request *request, const struct health *h)
{
    static const char *const heads[] = {
        "Policy", "Selected", "Won", "Claimed", "Stale", "Versions in use", "Problems", NULL,
    };
    const struct list_elements elements = {REPORT_POLICIES, h, add_policy_row};
    const char *token;
    size_t count;

    list_page_open(request, NAVIGATION_POLICIES, "Policies");
    html_table(&request->body, "Policies", heads);
    if (!list_write_elements(request, &elements, &count, &token))
        return;
    html_table_end(&request->body);
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
