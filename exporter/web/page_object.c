/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/evaluation.h"
#include "exporter/web/api_documents.h"
#include "exporter/web/html.h"
#include "metrics/explain/explain.h"
#include "metrics/expose/decision_text.h"
#include "metrics/expose/policy_names.h"
#include "metrics/model/store.h"
#include "metrics/rules/policy_versions.h"

/* Pages of one template and of one policy: facts, and the explanation of the decisions. */

enum { NAME_MAX_BYTES = 4096, OVERLAPS_SHOWN_MAX = 10 };

/* ---- the explanation ---- */

/* Explanation that is being written as HTML. */
struct explanation_html {
    struct strbuf *out;
    bool begun; /* The first line was skipped: the heading of the page already has the name. */
    bool rows;  /* A <pre> is open: successive rows share one, so that they are aligned. */
};

static void add_explanation_line(void *context, enum explain_style style, const char *text)
{
    static const char *const before[] = {
        [EXPLAIN_HEADING] = "<h2>",
        [EXPLAIN_PARAGRAPH] = "<p>",
        [EXPLAIN_DETAIL] = "<p class=\"detail\">",
        [EXPLAIN_ROW] = "",
    };
    static const char *const after[] = {
        [EXPLAIN_HEADING] = "</h2>\n",
        [EXPLAIN_PARAGRAPH] = "</p>\n",
        [EXPLAIN_DETAIL] = "</p>\n",
        [EXPLAIN_ROW] = "\n",
    };
    struct explanation_html *l = context;
    bool row = style == EXPLAIN_ROW;

    if (row != l->rows)
        strbuf_adds(l->out, row ? "<pre tabindex=\"0\">" : "</pre>\n");
    l->rows = row;
    if (!l->begun) {
        l->begun = true;
        return;
    }
    strbuf_adds(l->out, before[style]);
    html_text(l->out, text);
    strbuf_adds(l->out, after[style]);
}

/* Appends the command that prints the explanation of the entry. */
static void add_explain_command(struct strbuf *out, const struct entry *entry)
{
    const char *group = entry->partition->type->group, *ns = entry_ns(entry);

    strbuf_adds(out, "<h2>On the command line</h2>\n<pre tabindex=\"0\">");
    html_textf(out, "karmada-policy-exporter explain '%s%s%s/%s%s%s'", entry_kind(entry),
               *group ? "." : "", group, ns, *ns ? "/" : "", entry->name);
    strbuf_adds(out, "</pre>\n");
}

/* Appends the explanation, the command that prints it, and the end of the page. */
static void close_object_page(struct queued_request *request, const struct health *h,
                              const struct entry *entry)
{
    struct explanation_html lines = {.out = &request->body};
    struct explanation x;

    explanation_init(&x);
    x.locations = evaluation_locations(h->evaluation);
    explain_object(h->evaluation->engine, entry, h->now_ms, &x);
    explanation_finish(&x);
    strbuf_adds(&request->body, "<div class=\"told\">\n");
    explanation_each_line(&x, add_explanation_line, &lines);
    strbuf_adds(&request->body, lines.rows ? "</pre>\n</div>\n" : "</div>\n");
    explanation_release(&x);
    add_explain_command(&request->body, entry);
    page_layout_close(&request->body, h->now_ms);
}

/* Appends the start of the page, with an open list of facts. */
static void open_object_page(struct strbuf *out, const struct entry *entry)
{
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(NAME_MAX_BYTES);
    const char *ns = entry_ns(entry);

    strbuf_addf(&name, "%s %s%s%s", entry_kind(entry), ns, *ns ? "/" : "", entry->name);
    page_layout_open(out, NAVIGATION_NONE, name.data);
    strbuf_adds(out, "<dl class=\"facts\">\n<dt>API</dt>\n<dd>");
    html_text(out, entry->partition->type->api_version);
    strbuf_adds(out, "</dd>\n");
    if (*ns == '\0')
        return;
    strbuf_adds(out, "<dt>Namespace</dt>\n<dd>");
    link_namespace(out, ns);
    strbuf_adds(out, "</dd>\n");
}

/* ---- the page of a template ---- */

static void add_policy_fact(struct strbuf *out, const char *name, const struct entry *policy)
{
    if (!policy)
        return;
    strbuf_addf(out, "<dt>%s</dt>\n<dd>", name);
    link_entry(out, policy);
    strbuf_adds(out, "</dd>\n");
}

/* Appends a link to the page of the dependency if this binding or template is a dependency. */
static void add_dependency_fact(struct strbuf *out, const struct entry *dependency)
{
    const struct dependency_decision *d = dependency_decision(dependency);

    if (!d || !d->attached)
        return;
    strbuf_adds(out, "<dt>Dependency</dt>\n<dd>");
    link_dependency(out, resource_identity_of(dependency));
    strbuf_addf(out, ", required by %" PRIu32 "</dd>\n", d->referrers);
}

/* Appends a state or stage with its reason and start; `reason` may be NULL or "". */
static void add_state_fact(struct strbuf *out, const char *fact, const char *word,
                           const char *reason, struct since since, int64_t now_ms)
{
    strbuf_addf(out, "<dt>%s</dt>\n<dd>%s%s%s", fact, word, reason && *reason ? ", " : "",
                reason ? reason : "");
    html_since(out, since.time_ms, since.seen, now_ms);
    strbuf_adds(out, "</dd>\n");
}

/* Appends the writer of the change that led to the state, and the policy if that was written. */
static void add_writer_fact(struct strbuf *out, const struct entry *entry)
{
    struct state_writer writer = state_writer_of_template(entry);

    if (!writer.by)
        return;
    strbuf_adds(out, "<dt>Last changed by</dt>\n<dd>");
    html_text(out, writer.by);
    if (writer.written != entry) {
        strbuf_adds(out, ", by writing ");
        link_entry(out, writer.written);
    }
    strbuf_adds(out, "</dd>\n");
}

static void add_decision_facts(struct strbuf *out, const struct health *h,
                               const struct entry *entry)
{
    const struct template_decision *d = template_decision(entry);
    const struct stage_and_reason at = d->stages.at;
    const char *end = stage_action_of(at).text;

    add_state_fact(out, "State", state_names[d->state], reason_name(d->state, d->reason),
                   template_since(d), h->now_ms);
    if (at.stage < STAGE_COUNT)
        add_state_fact(out, "Stage", stage_names[at.stage], stage_reason_names[at.reason],
                       (struct since){(int64_t)d->stages.since_s * 1000, false}, h->now_ms);
    add_writer_fact(out, entry);
    strbuf_addf(out, "<dt>Who must act</dt>\n<dd>%s</dd>\n",
                actor_title(responsible_actor(d, engine_takeover(h->evaluation->engine))));
    if (*end != '\0')
        strbuf_addf(out, "<dt>What ends it</dt>\n<dd>%s</dd>\n", end);
    add_policy_fact(out, "Governed by", d->governing);
    add_policy_fact(out, "Claimed by", d->claimed != d->governing ? d->claimed : NULL);
    add_dependency_fact(out, d->binding ? d->binding : entry);
}

void template_page(struct queued_request *request, const struct health *h)
{
    const struct entry *entry = find_requested_object(request, h, 1U << CLASS_TEMPLATE);

    if (!entry)
        return;
    open_object_page(&request->body, entry);
    if (template_decision(entry))
        add_decision_facts(&request->body, h, entry);
    strbuf_adds(&request->body, "</dl>\n");
    close_object_page(request, h, entry);
}

/* ---- the page of a policy ---- */

/* Templates of a policy that run the same version and are in the same state. */
struct template_group {
    uint32_t version; /* Number of the version; 0 if unknown. */
    enum template_state state;
    size_t count;
};

/* Orders by version, newest first, then by state. */
static int compare_groups(const void *a, const void *b)
{
    const struct template_group *left = a, *right = b;

    if (left->version != right->version)
        return left->version < right->version ? 1 : -1;
    return (int)left->state - (int)right->state;
}

/*
 * Returns one group for each existing template that the policy wins or claims, except ignored ones;
 * sorted, so that the caller can merge equal groups. The caller frees the array.
 */
static struct template_group *template_groups_of(const struct entry *policy, size_t *count)
{
    struct template_group *groups = xreallocarray(NULL, policy->reader_count + 1, sizeof(*groups));

    *count = 0;
    for (uint32_t i = 0; i < policy->reader_count; i++) {
        const struct template_decision *d = template_decision(policy->readers[i]);

        if (d && entry_exists(policy->readers[i]) && d->state != STATE_IGNORED &&
            (d->winner == policy || d->claimed == policy))
            groups[(*count)++] =
                (struct template_group){d->version ? d->version->number : 0, d->state, 1};
    }
    qsort(groups, *count, sizeof(*groups), compare_groups);
    return groups;
}

static void add_group_row(struct html_table *t, const char *policy,
                          const struct template_group *group)
{
    char version[16];

    snprintf(version, sizeof(version), "%" PRIu32, group->version);
    html_row_open(t, NULL);
    html_cell_text(t, group->version ? version : "none known");
    html_cell_text(t, state_names[group->state]);
    html_cell_open(t);
    link_open_with(t->out, "templates", {PARAMETER_POLICY, policy}, {PARAMETER_VERSION, version},
                   {PARAMETER_STATE, state_names[group->state]});
    strbuf_addf(t->out, "%zu</a>", group->count);
}

static void add_groups_section(struct strbuf *out, const struct entry *policy)
{
    static const struct html_column columns[] = {
        {.heading = "Version"},
        {.heading = "State"},
        {.heading = "Templates", .style = "number"},
        {.heading = NULL},
    };
    struct html_table table;
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(NAME_MAX_BYTES);
    size_t count;
    CLEANUP(free_cleanup) struct template_group *groups = template_groups_of(policy, &count);

    if (count == 0)
        return;
    strbuf_addf(&name, "%s/%s", entry_ns(policy), policy->name);
    html_section(out, "templates", "Templates by version and state", count);
    table = html_table_open(out, "Templates by version and state", columns, NULL);
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && compare_groups(&groups[i], &groups[next]) == 0;)
            next++;
        groups[i].count = next - i;
        add_group_row(&table, name.data, &groups[i]);
    }
    html_table_close(&table);
    strbuf_adds(out, "</section>\n");
}

static bool is_shown(const struct entry *const *shown, size_t count, const struct entry *policy)
{
    for (size_t i = 0; i < count; i++) {
        if (shown[i] == policy)
            return true;
    }
    return false;
}

/* Appends links to the policies that overlap with `policy`, each once, up to OVERLAPS_SHOWN_MAX. */
static void add_overlaps_fact(struct strbuf *out, const struct entry *policy)
{
    CLEANUP(policy_overlaps_release) struct policy_overlaps overlaps = policy_overlaps_of(policy);
    const struct entry *shown[OVERLAPS_SHOWN_MAX];
    size_t count = 0;

    strbuf_adds(out, "<dt>Selects the same as</dt>\n<dd>");
    if (overlaps.count == 0)
        strbuf_adds(out, "no other policy");
    for (size_t i = 0; i < overlaps.count; i++) {
        const struct entry *overlap = overlaps.items[i].policy;

        if (is_shown(shown, count, overlap))
            continue;
        if (count == OVERLAPS_SHOWN_MAX) {
            strbuf_adds(out, " and others");
            break;
        }
        strbuf_adds(out, count > 0 ? ", " : "");
        link_entry(out, overlap);
        shown[count++] = overlap;
    }
    strbuf_adds(out, "</dd>\n");
}

void policy_page(struct queued_request *request, const struct health *h)
{
    const struct entry *entry = find_requested_object(request, h, 1U << CLASS_POLICY);

    if (!entry)
        return;
    open_object_page(&request->body, entry);
    add_overlaps_fact(&request->body, entry);
    strbuf_adds(&request->body, "</dl>\n");
    add_groups_section(&request->body, entry);
    close_object_page(request, h, entry);
}
