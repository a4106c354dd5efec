/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/evaluation.h"
#include "exporter/web/api_documents.h"
#include "exporter/web/objects/object_parts.h"
#include "metrics/expose/decision_text.h"
#include "metrics/expose/report_items.h"
#include "metrics/expose/report_parts.h"
#include "metrics/expose/verdict_text.h"
#include "metrics/model/binding.h"
#include "metrics/model/store.h"
#include "metrics/model/template.h"
#include "metrics/rules/overrides.h"
#include "metrics/rules/policy_versions.h"

/*
 * Page of a template: problems, policy, binding, member clusters, decision, history and related
 * objects.
 */

enum { TEXT_MAX_BYTES = 64 * 1024 };

/* ---- state and stage ---- */

static void add_state(struct strbuf *out, const struct template_decision *d)
{
    const char *reason = reason_name(d->state, d->reason);

    fact_open(out, "State");
    strbuf_addf(out, "<b>%s</b>%s%s%s%s<br>", state_names[d->state], reason ? ", " : "",
                reason ? reason : "", d->state == STATE_STALE ? ", " : "",
                d->state == STATE_STALE ? phase_names[d->phase] : "");
    html_text(out, state_text(d));
    strbuf_adds(out, "</dd>\n");
}

static void add_stage(struct strbuf *out, const struct template_decision *d)
{
    const struct stage_and_reason at = d->stages.at;
    const char *reason;

    if (at.stage >= STAGE_COUNT)
        return;
    reason = stage_reason_names[at.reason];
    fact_open(out, "Stage");
    strbuf_addf(out, "<b>%s</b>%s%s<br>", stage_names[at.stage], *reason ? ", " : "", reason);
    html_textf(out, "%s %s", stage_texts[at.stage], stage_reason_texts[at.reason]);
    strbuf_adds(out, "</dd>\n");
}

/* Appends the writer of the change that led to the state, and the policy if that was written. */
static void add_writer(struct strbuf *out, const struct entry *entry)
{
    struct state_writer writer = state_writer_of_template(entry);

    if (!writer.by)
        return;
    fact_open(out, "Last changed by");
    html_text(out, writer.by);
    if (writer.written != entry) {
        strbuf_adds(out, ", by writing ");
        link_entry(out, writer.written);
    }
    strbuf_adds(out, "</dd>\n");
}

static void add_state_facts(const struct object_page *page, const struct template_decision *d)
{
    const struct since since = template_since(d);
    enum actor actor = responsible_actor(d, engine_takeover(page->h->evaluation->engine));
    struct strbuf *out = page->out;

    facts_open(out, "state", "State");
    add_state(out, d);
    add_stage(out, d);
    fact_time(out, "Since", since.time_ms, since.seen, page->h->now_ms);
    fact_text(out, "Owner", template_owner(entry_template(page->entry)));
    /* The table of problems has actor and action of each problem. */
    if (page->open_problems == 0) {
        fact_text(out, "Actor", actor_title(actor));
        fact_text(out, "Action", stage_action_of(d->stages.at).text);
    }
    add_writer(out, page->entry);
    facts_close(out);
}

/* ---- placement ---- */

/* Appends the verdict of each member cluster. Returns false if the Clusters are unknown. */
static bool add_placement(const struct object_page *page)
{
    CLEANUP(cluster_verdicts_release)
    struct cluster_verdicts verdicts = template_verdicts(page->h->evaluation->engine, page->entry);

    CLEANUP(strbuf_release) struct strbuf summary = STRBUF_INIT(TEXT_MAX_BYTES);

    if (verdicts.count == 0)
        return false;
    verdicts_add_summary(&verdicts, &summary);
    strbuf_adds(page->out, "<h2 id=\"placement\">Placement by member cluster</h2>\n<p>");
    html_text(page->out, summary.data);
    if (verdicts.group)
        html_textf(page->out, " Affinity group: %s.", verdicts.group);
    strbuf_adds(page->out, "</p>\n");
    object_verdicts_write(page->out, &verdicts);
    return true;
}

/* ---- policy and binding ---- */

static void add_policy_fact(struct strbuf *out, const char *name, const struct entry *policy)
{
    if (!policy)
        return;
    fact_open(out, name);
    link_entry(out, policy);
    strbuf_adds(out, entry_exists(policy) ? "</dd>\n" : ", which does not exist</dd>\n");
}

static void add_version_facts(const struct object_page *page, const struct template_decision *d)
{
    const struct policy_version *v = decision_version(d);
    struct strbuf *out = page->out;
    int behind;

    if (!v)
        return;
    if (policy_version_is_unknown(v)) {
        fact_text(out, "Version", "unknown");
        return;
    }
    fact_number(out, "Version", v->number);
    behind = policy_version_count_later(v);
    fact_open(out, "Behind");
    if (behind < 0)
        strbuf_adds(out, "unknown");
    else
        strbuf_addf(out, "%d version%s", behind, behind == 1 ? "" : "s");
    if (behind != 0)
        html_since(out, policy_version_superseded_ms(v), false, page->h->now_ms);
    strbuf_adds(out, "</dd>\n");
}

static void add_policy(const struct object_page *page, const struct template_decision *d)
{
    struct strbuf *out = page->out;

    facts_open(out, "policy", "Policy");
    if (!decision_governing(d))
        fact_text(out, "Governing policy", "none");
    add_policy_fact(out, "Governing policy", decision_governing(d));
    add_policy_fact(out, "Claimed policy", decision_claimed(d));
    add_version_facts(page, d);
    facts_close(out);
    object_page_write_section(page, "governance");
}

static void add_binding(const struct object_page *page, const struct template_decision *d)
{
    struct strbuf *out = page->out;

    strbuf_adds(out, "<h2 id=\"binding\">Binding</h2>\n");
    if (decision_binding(d))
        object_page_write_section(page, "binding");
    else
        strbuf_adds(out, "<p>The template has no binding.</p>\n");
}

/* ---- member clusters ---- */

static const char *health_text(const struct target_status *status)
{
    static const char *const texts[] = {
        [HEALTH_UNKNOWN] = "unknown",
        [HEALTH_HEALTHY] = "healthy",
        [HEALTH_UNHEALTHY] = "unhealthy",
        [HEALTH_OTHER] = "other",
    };

    return status->exists ? texts[status->health] : "not reported";
}

static void add_cluster_row(const struct binding *b, uint32_t index,
                            const struct target_cluster_stage *target, struct html_table *t)
{
    const struct target_status *status = &b->clusters[index].item;

    html_row_open(t, NULL);
    html_cell_open(t);
    link_cluster(t->out, target->cluster);
    html_cell_text(t, stage_names[target->at.stage]);
    html_cell_text(t, stage_reason_texts[target->at.reason]);
    html_cell_number(t, b->clusters[index].replicas);
    html_cell_text(t, status->applied ? "yes" : "no");
    html_cell_text(t, health_text(status));
    html_cell_text(t, target->message);
}

/* Target of the binding, with its index there. */
struct indexed_target {
    struct target_cluster_stage target;
    uint32_t index;
};

static int by_stage(const void *a, const void *b)
{
    const struct indexed_target *x = a, *y = b;

    if (x->target.at.stage != y->target.at.stage)
        return x->target.at.stage < y->target.at.stage ? -1 : 1;
    return strcmp(x->target.cluster, y->target.cluster);
}

/* Returns the targets, earliest stage first. The caller frees the array. */
static struct indexed_target *sorted_targets(const struct engine *engine,
                                             const struct entry *template, uint32_t count)
{
    struct indexed_target *sorted = xreallocarray(NULL, count + 1, sizeof(*sorted));
    CLEANUP(free_cleanup)
    struct target_cluster_stage *targets = list_target_stages(engine, template);

    for (uint32_t i = 0; i < count; i++)
        sorted[i] = (struct indexed_target){targets[i], i};
    qsort(sorted, count, sizeof(*sorted), by_stage);
    return sorted;
}

static void add_clusters(const struct object_page *page, const struct template_decision *d)
{
    static const struct html_column columns[] = {
        {.heading = "Member cluster", .style = "title word"},
        {.heading = "Stage", .style = "word"},
        {.heading = "Reason"},
        {.heading = "Replicas", .style = "number"},
        {.heading = "Applied"},
        {.heading = "Health", .style = "word"},
        {.heading = "Message"},
        {.heading = NULL},
    };
    const struct binding *b = decision_binding(d) ? entry_binding(decision_binding(d)) : NULL;
    CLEANUP(free_cleanup) struct indexed_target *targets = NULL;
    struct html_table table;

    if (!b || d->target_count == 0)
        return;
    targets = sorted_targets(page->h->evaluation->engine, page->entry, d->target_count);
    html_section(page->out, "clusters", "Member clusters", d->target_count);
    table = html_table_open(page->out, "Member clusters", columns, NULL);
    for (uint32_t i = 0; i < d->target_count && i < HTML_SHOWN_MAX; i++)
        add_cluster_row(b, targets[i].index, &targets[i].target, &table);
    html_table_close(&table);
    html_remaining_count(page->out, d->target_count);
    strbuf_adds(page->out, "</section>\n");
}

/* ---- history ---- */

static void add_transition(const struct transition *x, int64_t now_ms, struct html_table *t)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX_BYTES);

    transition_add_text(&text, x);
    html_row_open(t, NULL);
    html_cell_open(t);
    html_time(t->out, x->time_ms, now_ms);
    html_cell_text(t, text.data);
    html_cell_text(t, cause_texts[x->cause]);
}

static void add_history(const struct object_page *page)
{
    static const struct html_column columns[] = {
        {.heading = "Time"}, {.heading = "Change"}, {.heading = "Cause"}, {.heading = NULL}};
    const struct transitions *all = engine_transitions(page->h->evaluation->engine);
    struct strbuf *out = page->out;
    struct html_table table;
    struct transition x;
    uint64_t below = UINT64_MAX;
    size_t count = 0;

    strbuf_adds(out, "<h2 id=\"history\">History</h2>\n");
    if (!all) {
        strbuf_adds(out, "<p>The exporter keeps no history: --history.entries is 0.</p>\n");
        return;
    }
    strbuf_adds(out, "<p>The history is complete since ");
    html_time(out, transitions_complete_since_ms(all), page->h->now_ms);
    strbuf_adds(out, ". A restart or a reload of the exporter clears it.</p>\n");
    while (count < OBJECT_LINKS_MAX && transitions_next_of_template(all, page->entry, &below, &x)) {
        if (count++ == 0)
            table = html_table_open(out, "History", columns, NULL);
        add_transition(&x, page->h->now_ms, &table);
    }
    if (count > 0)
        html_table_close(&table);
    else
        strbuf_adds(out, "<p>The state and the stage have not changed since.</p>\n");
    if (count == OBJECT_LINKS_MAX)
        strbuf_adds(out, "<p>Older transitions may exist: see /api/v1/history.</p>\n");
}

/* ---- related objects ---- */

/* List of links of one fact; at most OBJECT_LINKS_MAX. */
struct link_list {
    struct strbuf *out;
    const char *name;
    size_t count;
};

/* Opens the fact before the first link. Returns false if the list is full. */
static bool begin_link(struct link_list *list)
{
    if (list->count++ >= OBJECT_LINKS_MAX)
        return false;
    if (list->count == 1)
        fact_open(list->out, list->name);
    else
        strbuf_adds(list->out, ", ");
    return true;
}

static void end_links(const struct link_list *list)
{
    if (list->count > OBJECT_LINKS_MAX)
        strbuf_addf(list->out, " and %zu more", list->count - OBJECT_LINKS_MAX);
    if (list->count > 0)
        strbuf_adds(list->out, "</dd>\n");
}

static void add_dependency_links(const struct object_page *page)
{
    const struct template *t = entry_template(page->entry);
    const struct binding *b = entry_binding(decision_binding(template_decision(page->entry)));
    const struct recorded_dependencies *recorded =
        b && !t->references_known ? binding_rare(b)->recorded : NULL;
    struct link_list list = {page->out, "Dependencies", 0};

    const struct references references = template_references(t);

    for (uint32_t i = 0; i < references.count; i++) {
        const struct reference *r = &references.items[i];

        /* References by label have no name. */
        if (!r->to->label_key && begin_link(&list))
            link_template(page->out, (struct identity){r->to->api_version, r->to->kind,
                                                       entry_ns(page->entry), r->name});
    }
    for (uint32_t i = 0; recorded && i < recorded->count; i++) {
        if (begin_link(&list))
            link_template(page->out, recorded->items[i]);
    }
    end_links(&list);
}

static void add_referrer_link(void *context, const struct dependency_referrer *referrer)
{
    struct link_list *list = context;

    if (begin_link(list))
        link_entry(list->out, referrer->template ? referrer->template : referrer->binding);
}

/* Appends the referrers, and a link to the page of the values that they request. */
static void add_referrer_links(const struct object_page *page)
{
    const struct template_decision *t = template_decision(page->entry);
    const struct entry *dependency = decision_binding(t) ? decision_binding(t) : page->entry;
    const struct dependency_decision *d = dependency_decision(dependency);
    struct link_list list = {page->out, "Required by", 0};

    if (!d)
        return;
    engine_dependency_referrers(page->h->evaluation->engine, dependency, add_referrer_link, &list);
    end_links(&list);
    if (!d->attached)
        return;
    fact_open(page->out, "Dependency");
    link_dependency(page->out, resource_identity_of(dependency));
    strbuf_addf(page->out, ", required by %" PRIu32 "</dd>\n", d->referrers);
}

static void add_override_links(const struct object_page *page)
{
    CLEANUP(override_selection_release)
    struct override_selection selection =
        override_selection_make(engine_store(page->h->evaluation->engine), page->entry);
    struct link_list list = {page->out, "Override policies", 0};

    for (size_t i = 0; i < selection.count; i++) {
        if (begin_link(&list))
            link_entry(page->out, selection.items[i].policy);
    }
    end_links(&list);
}

static void add_related(const struct object_page *page)
{
    const struct entry *entry = page->entry;
    const struct entry *policy = decision_governing(template_decision(entry));
    const char *ns = entry_ns(entry);
    struct strbuf *out = page->out;

    facts_open(out, "related", "Related objects");
    fact_text(out, "API", entry_type(entry)->api_version);
    if (*ns) {
        fact_open(out, "Namespace");
        link_namespace(out, ns);
        strbuf_adds(out, "</dd>\n");
    }
    add_dependency_links(page);
    add_referrer_links(page);
    add_override_links(page);
    if (policy) {
        CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(TEXT_MAX_BYTES);

        strbuf_addf(&name, "%s/%s", entry_ns(policy), policy->name);
        fact_open(out, "Templates of the policy");
        link_open_with(out, "templates", {PARAMETER_POLICY, name.data});
        html_text(out, policy->name);
        strbuf_adds(out, "</a></dd>\n");
    }
    facts_close(out);
}

/* ---- page ---- */

void template_page(struct queued_request *request, const struct health *h)
{
    static const char *const shown[] = {"verdict",   "problemList",    "governance",
                                        "binding",   "memberClusters", "history",
                                        "placement", "verdicts",       NULL};
    static const char *const without_clusters[] = {
        "verdict", "problemList", "governance", "binding", "memberClusters", "history", NULL};
    static const char *const none[] = {"verdict", "problemList", "history", NULL};
    const struct entry *entry = find_requested_object(request, h, 1U << CLASS_TEMPLATE);
    struct object_page page;
    const struct template_decision *d;
    bool decided, has_clusters;

    if (!entry)
        return;
    object_page_open(&page, request, h, entry);
    object_page_explain(&page);
    d = template_decision(entry);
    decided = d && d->state != STATE_IGNORED;
    has_clusters = decided && add_placement(&page);
    if (d)
        add_state_facts(&page, d);
    if (decided) {
        add_policy(&page, d);
        add_binding(&page, d);
        add_clusters(&page, d);
    }
    object_page_write_decision(&page, !decided ? none : has_clusters ? shown : without_clusters);
    add_history(&page);
    object_page_write_resolved(&page);
    if (d)
        add_related(&page);
    object_page_close(&page);
}
