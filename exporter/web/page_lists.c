/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/evaluation.h"
#include "exporter/web/list_query.h"
#include "exporter/web/page_parts.h"
#include "metrics/expose/cluster_lists.h"
#include "metrics/expose/decision_text.h"
#include "metrics/expose/policy_lists.h"
#include "metrics/model/store.h"

/* ---- pages of lists ---- */

/* Page of a list with columns (metrics/expose/list_table.h). */
struct list_page {
    const struct list *list;
    enum navigation_link navigation;
    const char *title;
    const char *api;      /* Path of the list in the API, without '/' at its start. */
    parameter_set fields; /* Fields that the form always shows; the others can be unfolded. */
};

/* Order of the rows if the request selects none: those with the worst problem first. */
#define DEFAULT_SORT "severity"

enum { MILLI = 1000 };

/* ---- values of columns ---- */

/* Appends a number with its unit; 0 is faint. */
static void add_number(struct strbuf *out, enum list_kind kind, int64_t number)
{
    if (number == 0)
        strbuf_adds(out, "<span class=\"faint\">0</span>");
    else if (kind == LIST_NUMBER)
        strbuf_addf(out, "%" PRId64, number);
    else if (kind == LIST_BYTES)
        html_bytes(out, (double)number / MILLI);
    else
        html_cores(out, (double)number / MILLI);
}

/* Appends the short name of a policy, such as "pp/web", with a link if the policy exists. */
static void add_policy(struct strbuf *out, const struct list_value *v)
{
    struct policy_name policy = policy_name_of(v->entry);

    if (v->number)
        link_policy_open(out, policy);
    html_textf(out, "%s/%s", *policy.ns ? "pp" : "cpp", policy.name);
    strbuf_adds(out, v->number ? "</a>" : "");
}

static void add_namespace(struct strbuf *out, const char *ns)
{
    if (*ns)
        link_namespace(out, ns);
}

/* Appends a known value. `now_ms`: the present for ages. */
static void add_value(struct strbuf *out, const struct list_column *column,
                      const struct list_value *v, int64_t now_ms)
{
    switch (column->kind) {
    case LIST_TEXT:
        html_text(out, v->text);
        return;
    case LIST_WORD:
        html_text(out, column->words == actor_names ? actor_title((enum actor)v->number) : v->text);
        return;
    case LIST_SEVERITY:
        /* The problem follows; its severity is the icon, also for screen readers. */
        strbuf_addf(out, "<span class=\"severity %s\">", v->text);
        html_severity_icon(out, (unsigned)v->number);
        strbuf_addf(out, "<span class=\"unseen\">%s</span></span>", v->text);
        return;
    case LIST_PROBLEM:
        strbuf_adds(out, problem_table[v->number].title);
        return;
    case LIST_NUMBER:
    case LIST_CORES:
    case LIST_BYTES:
        add_number(out, column->kind, v->number);
        return;
    case LIST_TIME:
        html_age(out, v->number, v->text != NULL, now_ms);
        return;
    case LIST_BOOL:
        strbuf_adds(out, v->number ? "yes" : "no");
        return;
    case LIST_POLICY:
        add_policy(out, v);
        return;
    case LIST_NAMESPACE:
        add_namespace(out, v->text);
        return;
    case LIST_CLUSTER:
        link_cluster(out, v->text);
        return;
    case LIST_OBJECT:
        link_short_name(out, entry_class(v->entry), false, entry_identity(v->entry));
        if (v->text)
            html_textf(out, " (%s)", v->text);
        return;
    case LIST_DEPENDENCY:
        link_short_name(out, CLASS_TEMPLATE, true, resource_identity_of(v->entry));
        return;
    }
    abort();
}

/* Returns true if a value that joins a cell is shown: "" and 0 say nothing. */
static bool is_shown_joined(const struct list_column *column, const struct list_value *v)
{
    bool is_text =
        column->kind == LIST_TEXT || column->kind == LIST_WORD || column->kind == LIST_PROBLEM;

    return v->known && (is_text ? *v->text != '\0' : v->number != 0);
}

static void add_row(struct html_table *t, const struct list *list, const void *row, int64_t now_ms)
{
    struct list_value severity = list->columns[0].value(row);

    html_row_open(t, severity.known ? severity.text : NULL);
    for (const struct list_column *c = list->columns; c->name; c++) {
        struct list_value v;

        if (!c->heading && !c->before)
            continue;
        v = c->value(row);
        if (c->heading)
            html_cell_open(t);
        else if (is_shown_joined(c, &v))
            strbuf_adds(t->out, c->before);
        else
            continue;
        if (v.known)
            add_value(t->out, c, &v, now_ms);
    }
}

/* Appends the table with the rows of a part. */
static void add_table(struct queued_request *request, const struct list_page *page,
                      const struct list_selection *s, const struct list_part *part, int64_t now_ms)
{
    struct html_column columns[LIST_CONDITIONS_MAX];
    struct query query = request->query; /* With the order of the rows, for the headings. */
    struct html_table table;
    char default_sort[] = DEFAULT_SORT;
    size_t count = 0;

    for (const struct list_column *c = page->list->columns; c->name; c++) {
        if (!c->heading)
            continue;
        assert(count + 1 < ARRAY_LEN(columns));
        columns[count++] =
            (struct html_column){.heading = c->heading, .sort = c->name, .style = c->style};
    }
    columns[count] = (struct html_column){.heading = NULL};
    if (!query.values[PARAMETER_SORT])
        query.values[PARAMETER_SORT] = default_sort;
    table = html_table_open(&request->body, page->title, columns, &query);
    for (size_t i = part->first; i < part->end; i++)
        add_row(&table, page->list, s->rows[i], now_ms);
    html_table_close(&table);
}

/* ---- counts ---- */

/* Appends the number of rows of each word of a column, each with a link that filters by it. */
static void add_counts(struct queued_request *request, const struct list_column *column,
                       const struct list_selection *all, const struct list_filter *filter)
{
    enum parameter parameter = list_column_parameter(column);
    const char *chosen = request->query.values[parameter];
    CLEANUP(free_cleanup) size_t *counts = xcalloc(column->word_count, sizeof(*counts));
    struct strbuf *out = &request->body;

    list_count_words(all, filter, column, counts);
    strbuf_addf(out, "<ul class=\"chips\" aria-label=\"%s\">\n",
                column->heading ? column->heading : column->name);
    for (unsigned i = 0; i < column->word_count; i++) {
        if (counts[i] == 0 && column->kind != LIST_SEVERITY &&
            !(chosen && strcmp(chosen, column->words[i]) == 0))
            continue;
        strbuf_addf(out, "<li%s%s%s>", column->kind == LIST_SEVERITY ? " class=\"" : "",
                    column->kind == LIST_SEVERITY ? column->words[i] : "",
                    column->kind == LIST_SEVERITY ? "\"" : "");
        filter_link_write(request, parameter, column->words[i], column->words[i], counts[i]);
        strbuf_adds(out, "</li>\n");
    }
    strbuf_adds(out, "</ul>\n");
}

/* ---- the page ---- */

/* Writes the page of a list. `all` are its rows; the function selects and orders them. */
static void write_page(struct queued_request *request, const struct list_page *page,
                       struct list_selection *all, int64_t now_ms)
{
    CLEANUP(list_query_release) struct list_query q;
    size_t number, total = all->count;
    struct list_part part;

    query_drop_empty(&request->query);
    if (!list_query_from_request(request, page->list, now_ms, &q) ||
        !page_number_from_request(request, &number))
        return;
    page_layout_open(&request->body, page->navigation, page->title);
    strbuf_adds(&request->body, "<div class=\"counts\">\n");
    for (size_t i = 0; i < ARRAY_LEN(page->list->counted) && page->list->counted[i]; i++)
        add_counts(request, list_find_column(page->list, page->list->counted[i]), all, &q.filter);
    strbuf_adds(&request->body, "</div>\n");
    filter_form_write(request, &(struct filter_fields){.shown = page->fields,
                                                       .folded = ~page->fields,
                                                       .list = page->list});
    filter_list_write(request);
    if (!q.order.column)
        q.order.column = list_find_column(page->list, DEFAULT_SORT);
    list_select(all, &q.filter, (struct list_order){NULL, false});
    part = list_part_make(number, all->count);
    list_order_part(all, q.order, part.first, part.end);
    strbuf_addf(&request->body, "<p class=\"faint\">%zu of %zu rows</p>\n", all->count, total);
    if (all->count > 0)
        add_table(request, page, all, &part, now_ms);
    else
        strbuf_adds(&request->body, total > 0 ? "<p>No row matches the filters.</p>\n"
                                              : "<p>The list is empty.</p>\n");
    list_part_write_links(request, &part, page->api,
                          &(struct link_value){PARAMETER_SORT, DEFAULT_SORT});
    page_layout_close(&request->body, now_ms);
}

/* Writes the page of a list that has a function `gather`. */
static void write_gathered(struct queued_request *request, const struct health *h,
                           const struct list_page *page)
{
    CLEANUP(list_selection_release) struct list_selection all = {0};
    CLEANUP(free_cleanup) void *rows = NULL;
    size_t count;

    rows = page->list->gather(h->evaluation->engine, &count);
    all = list_all(page->list, rows, count);
    write_page(request, page, &all, h->now_ms);
}

void templates_page(struct queued_request *request, const struct health *h)
{
    static const struct list_page page = {
        .list = &template_list,
        .navigation = NAVIGATION_TEMPLATES,
        .title = "Templates",
        .api = "api/v1/templates",
        .fields = PARAMETER_BIT(SEARCH) | PARAMETER_BIT(NAMESPACE) | PARAMETER_BIT(KIND) |
                  PARAMETER_BIT(POLICY) | PARAMETER_BIT(OWNER),
    };
    CLEANUP(list_selection_release)
    struct list_selection all = view_rows(paging_view(request->paging));

    (void)h;
    write_page(request, &page, &all, paging_made_ms(request->paging));
}

void policies_page(struct queued_request *request, const struct health *h)
{
    write_gathered(
        request, h,
        &(struct list_page){
            .list = &policy_list,
            .navigation = NAVIGATION_POLICIES,
            .title = "Policies",
            .api = "api/v1/policies",
            .fields = PARAMETER_BIT(SEARCH) | PARAMETER_BIT(NAMESPACE) | PARAMETER_BIT(KIND),
        });
}

void conflicts_page(struct queued_request *request, const struct health *h)
{
    write_gathered(
        request, h,
        &(struct list_page){
            .list = &conflict_list,
            .navigation = NAVIGATION_CONFLICTS,
            .title = "Dependency conflicts",
            .api = "api/v1/conflicts",
            .fields = PARAMETER_BIT(SEARCH) | PARAMETER_BIT(NAMESPACE) | PARAMETER_BIT(OWNER),
        });
}

void clusters_page(struct queued_request *request, const struct health *h)
{
    write_gathered(request, h,
                   &(struct list_page){
                       .list = &cluster_list,
                       .navigation = NAVIGATION_CLUSTERS,
                       .title = "Member clusters",
                       .api = "api/v1/clusters",
                       .fields = PARAMETER_BIT(SEARCH),
                   });
}

void namespaces_page(struct queued_request *request, const struct health *h)
{
    write_gathered(request, h,
                   &(struct list_page){
                       .list = &namespace_list,
                       .navigation = NAVIGATION_NAMESPACES,
                       .title = "Namespaces",
                       .api = "api/v1/namespaces",
                       .fields = PARAMETER_BIT(SEARCH) | PARAMETER_BIT(OWNER),
                   });
}
