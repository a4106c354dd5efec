/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/evaluation.h"
#include "exporter/web/objects/object_parts.h"
#include "metrics/expose/problem_rows.h"
#include "metrics/expose/verdict_text.h"
#include "metrics/model/binding.h"
#include "metrics/model/cluster.h"
#include "metrics/model/store.h"
#include "metrics/rules/replica_projection.h"

/* Page of a member cluster: problems, readiness, capacity, and its templates. */

enum { TITLE_MAX_BYTES = 4096, REASON_MAX_BYTES = 64 * 1024 };

/* ---- templates of a member cluster ---- */

/* Template that is placed in the cluster. */
struct cluster_template {
    const struct entry *template;
    struct stage_and_reason at;
    int32_t replicas;
    enum problem_severity severity; /* Worst open problem; SEVERITY_COUNT without one. */
};

struct cluster_templates {
    const char *cluster;
    const struct problems *problems; /* May be NULL. */
    struct cluster_template *items;  /* Owned. */
    size_t count;
    size_t capacity;
    size_t healthy;
    struct replica_load placed;
    struct replica_load movements[MOVEMENT_COUNT];
};

static void cluster_templates_release(struct cluster_templates *list)
{
    free(list->items);
}

static void add_target(struct cluster_templates *list, const struct entry *template,
                       struct stage_and_reason at, int32_t replicas)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 64;
        list->items = xreallocarray(list->items, list->capacity, sizeof(*list->items));
    }
    list->healthy += at.stage == STAGE_HEALTHY;
    list->items[list->count++] = (struct cluster_template){
        template, at, replicas, worst_problem_of_template(list->problems, template).severity};
}

static void add_template(struct cluster_templates *list, const struct entry *template)
{
    struct template_decision *d = entry_decision(template);
    const struct binding *b = d && decision_binding(d) ? entry_binding(decision_binding(d)) : NULL;
    struct movement_walk walk = {0};
    struct cluster_movement m;

    for (uint32_t i = 0; b && i < d->target_count; i++) {
        if (strcmp(b->clusters[i].name, list->cluster) != 0)
            continue;
        if (i < b->cluster_count)
            replica_load_add(&list->placed, b->requests, b->request_count, b->clusters[i].replicas);
        add_target(list, template, decision_targets(d)[i], b->clusters[i].replicas);
        break;
    }
    while (d && capacity_next_movement(decision_capacity(d), &walk, &m)) {
        for (unsigned i = 0; i < MOVEMENT_COUNT && strcmp(m.cluster, list->cluster) == 0; i++)
            replica_load_add(&list->movements[i], decision_capacity(d)->requests,
                             decision_capacity(d)->request_count, m.replicas[i]);
    }
}

/* Orders by severity, then by stage, earliest first, then by name. */
static int compare_templates(const void *a, const void *b)
{
    const struct cluster_template *x = a, *y = b;

    if (x->severity != y->severity)
        return x->severity < y->severity ? -1 : 1;
    if (x->at.stage != y->at.stage)
        return x->at.stage < y->at.stage ? -1 : 1;
    return entry_compare(x->template, y->template);
}

static struct cluster_templates cluster_templates_make(const struct health *h, const char *cluster)
{
    struct cluster_templates list = {.cluster = cluster,
                                     .problems = engine_problems(h->evaluation->engine)};
    struct store_walk walk = store_walk_begin(h->evaluation->store, 1U << CLASS_TEMPLATE);
    const struct entry *entry;

    while ((entry = store_walk_next(&walk)) != NULL) {
        if (entry_exists(entry))
            add_template(&list, entry);
    }
    store_walk_stop(&walk);
    if (list.count > 1)
        qsort(list.items, list.count, sizeof(*list.items), compare_templates);
    return list;
}

/* ---- facts and capacity ---- */

/* Appends the numbers of templates by verdict, such as "taint 2, affinity 1". */
static void add_rejection_counts(struct strbuf *out, const struct template_rejections *r)
{
    bool first = true;

    for (unsigned i = 0; i < CLUSTER_VERDICT_COUNT; i++) {
        if (r->counts[i] == 0)
            continue;
        strbuf_addf(out, "%s%s %zu", first ? "" : ", ", cluster_verdict_names[i], r->counts[i]);
        first = false;
    }
}

static void add_facts(struct strbuf *out, const struct health *h, const struct cluster *cluster,
                      const struct cluster_templates *list,
                      const struct template_rejections *rejections)
{
    facts_open(out, NULL, NULL);
    if (cluster) {
        fact_open(out, "Ready");
        strbuf_adds(out, cluster->ready ? "yes" : "<b class=\"bad\">no</b>");
        html_since(out, cluster->ready_since_ms, false, h->now_ms);
        strbuf_adds(out, cluster->deleting ? "; the Cluster is being deleted</dd>\n" : "</dd>\n");
        fact_text(out, "Provider", cluster->provider);
        fact_text(out, "Region", cluster->region);
    } else {
        fact_text(out, "Ready", "unknown: no Cluster of this name has been read");
    }
    fact_number(out, "Placed templates", (int64_t)list->count);
    fact_number(out, "Healthy templates", (int64_t)list->healthy);
    if (rejections && rejections->count > 0) {
        fact_open(out, "Not placed here");
        strbuf_addf(out, "<a href=\"#not-placed\">%zu</a>: ", rejections->count);
        add_rejection_counts(out, rejections);
        strbuf_adds(out, "</dd>\n");
    }
    facts_close(out);
}

static void add_load_row(struct html_table *t, const char *name, const struct replica_load *load)
{
    html_row_open(t, NULL);
    html_cell_text(t, name);
    html_cell_number(t, load->replicas);
    html_cell_open(t);
    html_cores(t->out, (double)load->cores / 1000);
    html_cell_open(t);
    html_bytes(t->out, (double)load->bytes / 1000);
}

/* Returns the resource of a cluster; NULL if the cluster does not report it. */
static const struct cluster_resource *find_resource(const struct cluster *cluster, const char *name)
{
    for (uint32_t i = 0; i < cluster->resource_count; i++) {
        if (strcmp(cluster->resources[i].resource, name) == 0)
            return &cluster->resources[i];
    }
    return NULL;
}

/* Appends a row with the free or the allocatable amounts of a cluster; "pods" are replicas. */
static void add_resource_row(struct html_table *t, const struct cluster *cluster, bool is_free)
{
    static const char *const names[] = {"pods", "cpu", "memory"};

    html_row_open(t, NULL);
    html_cell_text(t, is_free ? "Free" : "Allocatable");
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const struct cluster_resource *r = find_resource(cluster, names[i]);
        double amount = is_free ? cluster_free_amount(cluster, names[i]) : r ? r->allocatable : 0;

        html_cell_open(t);
        if (r && strcmp(names[i], "memory") == 0)
            html_bytes(t->out, amount);
        else if (r)
            html_cores(t->out, amount);
    }
}

static void add_capacity(struct strbuf *out, const struct cluster *cluster,
                         const struct cluster_templates *list)
{
    static const struct html_column columns[] = {
        {.heading = "Amount", .style = "title"},
        {.heading = "Replicas", .style = "number"},
        {.heading = "CPU", .style = "number"},
        {.heading = "Memory", .style = "number"},
        {.heading = NULL},
    };
    struct html_table table;

    strbuf_adds(out, "<h2 id=\"capacity\">Capacity</h2>\n<p>Leaving and arriving replicas move "
                     "once outdated templates follow their policies.</p>\n");
    table = html_table_open(out, "Capacity", columns, NULL);
    add_load_row(&table, "Placed", &list->placed);
    add_load_row(&table, "Leaving", &list->movements[MOVEMENT_LEAVING]);
    add_load_row(&table, "Arriving", &list->movements[MOVEMENT_ARRIVING]);
    add_load_row(&table, "Undetermined", &list->movements[MOVEMENT_UNDETERMINED]);
    if (cluster && cluster->resource_count > 0) {
        add_resource_row(&table, cluster, true);
        add_resource_row(&table, cluster, false);
    }
    html_table_close(&table);
}

/* ---- table of templates ---- */

static void add_template_row(const struct cluster_template *item, struct html_table *t)
{
    const struct template_decision *d = template_decision(item->template);
    bool problem = item->severity < SEVERITY_COUNT;

    html_row_open(t, problem ? severity_names[item->severity] : NULL);
    html_cell_open(t);
    if (problem)
        html_severity(t->out, item->severity);
    html_cell_open(t);
    link_entry(t->out, item->template);
    html_cell_text(t, state_names[d->state]);
    html_cell_text(t, stage_names[item->at.stage]);
    html_cell_text(t, stage_reason_texts[item->at.reason]);
    html_cell_number(t, item->replicas);
}

static void add_templates(struct strbuf *out, const struct cluster_templates *list)
{
    static const struct html_column columns[] = {
        {.heading = "Problem"},
        {.heading = "Template", .style = "title object"},
        {.heading = "State", .style = "word"},
        {.heading = "Stage", .style = "word"},
        {.heading = "Reason"},
        {.heading = "Replicas", .style = "number"},
        {.heading = NULL},
    };
    struct html_table table;

    html_section(out, "templates", "Templates", list->count);
    if (list->count == 0)
        strbuf_adds(out, "<p>No template is placed in the member cluster.</p>\n");
    if (list->count > 0) {
        table = html_table_open(out, "Templates", columns, NULL);
        for (size_t i = 0; i < list->count && i < HTML_SHOWN_MAX; i++)
            add_template_row(&list->items[i], &table);
        html_table_close(&table);
    }
    html_remaining_count(out, list->count);
    strbuf_adds(out, "</section>\n");
}

/* ---- templates that are not placed in the cluster ---- */

/* Index of a template in struct template_rejections. */
struct rejected {
    const struct entry *template;
    enum cluster_verdict_kind kind;
};

/* Orders by verdict, `affinity` last, because the policy owner chose it; then by name. */
static int compare_rejected(const void *a, const void *b)
{
    const struct rejected *x = a, *y = b;

    if (x->kind != y->kind) {
        if (x->kind == CLUSTER_VERDICT_AFFINITY || y->kind == CLUSTER_VERDICT_AFFINITY)
            return x->kind == CLUSTER_VERDICT_AFFINITY ? 1 : -1;
        return x->kind < y->kind ? -1 : 1;
    }
    return entry_compare(x->template, y->template);
}

/* Returns the templates in the order of the table. The caller frees the array. */
static struct rejected *sorted_rejections(const struct template_rejections *r)
{
    struct rejected *sorted = xreallocarray(NULL, r->count + 1, sizeof(*sorted));

    for (size_t i = 0; i < r->count; i++)
        sorted[i] = (struct rejected){r->templates[i], r->kinds[i]};
    if (r->count > 1)
        qsort(sorted, r->count, sizeof(*sorted), compare_rejected);
    return sorted;
}

static void add_rejected_row(const struct engine *engine, const struct entry *template,
                             const struct entry *cluster, struct html_table *t)
{
    CLEANUP(strbuf_release) struct strbuf reason = STRBUF_INIT(REASON_MAX_BYTES);
    struct cluster_verdict v;

    if (!template_verdict_of_cluster(engine, template, cluster, true, &v))
        return;
    verdict_add_reason(&v, &reason);
    html_row_open(t, NULL);
    html_cell_open(t);
    link_entry(t->out, template);
    html_cell_text(t, verdict_word(v.kind));
    html_cell_text(t, reason.data);
    cluster_verdict_release(&v);
}

static void add_rejections(struct strbuf *out, const struct health *h, const struct entry *cluster,
                           const struct template_rejections *r)
{
    static const struct html_column columns[] = {
        {.heading = "Template", .style = "title object"},
        {.heading = "Verdict", .style = "word"},
        {.heading = "Reason"},
        {.heading = NULL},
    };
    CLEANUP(free_cleanup) struct rejected *sorted = sorted_rejections(r);
    struct html_table table;

    if (r->count == 0)
        return;
    html_section(out, "not-placed", "Templates that are not placed here", r->count);
    strbuf_adds(out, "<p>By verdict: ");
    add_rejection_counts(out, r);
    strbuf_adds(out, ".</p>\n");
    table = html_table_open(out, "Templates that are not placed here", columns, NULL);
    for (size_t i = 0; i < r->count && i < HTML_SHOWN_MAX; i++)
        add_rejected_row(h->evaluation->engine, sorted[i].template, cluster, &table);
    html_table_close(&table);
    html_remaining_count(out, r->count);
    strbuf_adds(out, "</section>\n");
}

/* ---- page ---- */

static void add_contents(struct strbuf *out, const struct health *h, const struct cluster *cluster,
                         const struct cluster_templates *list,
                         const struct template_rejections *rejections)
{
    add_facts(out, h, cluster, list, rejections);
    add_capacity(out, cluster, list);
    add_templates(out, list);
}

/*
 * Writes the page of a cluster that templates name, but that does not exist. `entry`: subject of
 * its problems; may be NULL.
 */
static void write_missing_cluster(struct queued_request *request, const struct health *h,
                                  const struct entry *entry, const struct cluster_templates *list)
{
    CLEANUP(strbuf_release) struct strbuf title = STRBUF_INIT(TITLE_MAX_BYTES);

    strbuf_addf(&title, "Cluster %s", list->cluster);
    page_layout_open(&request->body, NAVIGATION_NONE, title.data);
    if (entry)
        object_problems_write(&request->body, h, entry);
    add_contents(&request->body, h, NULL, list, NULL);
    page_layout_close(&request->body, h->now_ms);
}

void cluster_page(struct queued_request *request, const struct health *h)
{
    const char *name = request->query.values[PARAMETER_NAME];
    const struct kind_def *def = kind_of_clusters();
    const struct entry *entry =
        store_find(h->evaluation->store, &(struct identity){def->api_version, def->name, "", name});
    CLEANUP(cluster_templates_release)
    struct cluster_templates list = cluster_templates_make(h, name);
    CLEANUP(template_rejections_release)
    struct template_rejections rejections = {.templates = NULL};
    struct object_page page;

    bool exists = entry && entry_cluster(entry);

    if (!exists && list.count == 0) {
        api_refuse(request, MHD_HTTP_NOT_FOUND,
                   "no Cluster has this name, and no template is placed there");
        return;
    }
    if (!exists) {
        write_missing_cluster(request, h, entry, &list);
        return;
    }
    rejections = template_rejections_of(h->evaluation->engine, entry);
    object_page_open(&page, request, h, entry);
    add_contents(page.out, h, entry_cluster(entry), &list, &rejections);
    add_rejections(page.out, h, entry, &rejections);
    object_page_write_resolved(&page);
    object_page_close(&page);
}
