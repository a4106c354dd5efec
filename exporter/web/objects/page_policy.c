/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/evaluation.h"
#include "exporter/web/api_documents.h"
#include "exporter/web/objects/object_parts.h"
#include "metrics/expose/decision_text.h"
#include "metrics/expose/policy_names.h"
#include "metrics/expose/report_items.h"
#include "metrics/expose/report_parts.h"
#include "metrics/model/store.h"
#include "metrics/rules/policy_versions.h"

/* Page of a policy: problems, templates, overlapping policies, versions and settings. */

enum {
    NAME_MAX_BYTES = 4096,
    VALUE_MAX_BYTES = 1 << 20,
    OVERLAPS_SHOWN_MAX = 10,
    VERSIONS_SHOWN_MAX = 20,
    CHANGES_SHOWN_MAX = 20, /* Lines for one version. */
};

/* ---- templates by version and state ---- */

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
    struct template_group *groups =
        xreallocarray(NULL, entry_reader_count(policy) + 1, sizeof(*groups));

    *count = 0;
    for (uint32_t i = 0; i < entry_reader_count(policy); i++) {
        const struct template_decision *d = template_decision(entry_reader(policy, i));

        if (d && entry_exists(entry_reader(policy, i)) && d->state != STATE_IGNORED &&
            (decision_winner(d) == policy || decision_claimed(d) == policy))
            groups[(*count)++] = (struct template_group){
                decision_version(d) ? decision_version(d)->number : 0, d->state, 1};
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
    html_cell_text(t, group->version ? version : "unknown");
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

/* ---- facts ---- */

static bool is_shown(const struct entry *const *shown, size_t count, const struct entry *policy)
{
    for (size_t i = 0; i < count; i++) {
        if (shown[i] == policy)
            return true;
    }
    return false;
}

/* Appends links to the policies that overlap with `policy`, each once, up to OVERLAPS_SHOWN_MAX. */
static void add_overlap_links(struct strbuf *out, const struct entry *policy)
{
    CLEANUP(policy_overlaps_release) struct policy_overlaps overlaps = policy_overlaps_of(policy);
    const struct entry *shown[OVERLAPS_SHOWN_MAX];
    size_t count = 0;

    fact_open(out, "Overlapping policies");
    if (overlaps.count == 0)
        strbuf_adds(out, "none");
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

/* Appends a number of templates with a link to their list. */
static void add_template_count(struct strbuf *out, const char *name, const char *policy,
                               const char *state, uint32_t count)
{
    fact_open(out, name);
    link_open_with(out, "templates", {PARAMETER_POLICY, policy}, {PARAMETER_STATE, state});
    strbuf_addf(out, "%" PRIu32 "</a></dd>\n", count);
}

static void add_facts(struct strbuf *out, const struct entry *policy)
{
    struct policy_counts counts = policy_counts_of(policy);
    const char *ns = entry_ns(policy);
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(NAME_MAX_BYTES);

    strbuf_addf(&name, "%s/%s", ns, policy->name);
    facts_open(out, NULL, NULL);
    fact_number(out, "Selected templates", counts.selected);
    add_template_count(out, "Claimed templates", name.data, NULL, counts.claimed);
    add_template_count(out, "Stale templates", name.data, state_names[STATE_STALE], counts.stale);
    add_overlap_links(out, policy);
    if (*ns) {
        fact_open(out, "Namespace");
        link_namespace(out, ns);
        strbuf_adds(out, "</dd>\n");
    }
    fact_text(out, "API", entry_type(policy)->api_version);
    facts_close(out);
}

/* ---- placement ---- */

static void add_placement(const struct object_page *page)
{
    CLEANUP(cluster_verdicts_release)
    struct cluster_verdicts verdicts = policy_verdicts(page->h->evaluation->engine, page->entry);

    if (verdicts.count == 0)
        return;
    html_section(page->out, "placement", "Member clusters", verdicts.count);
    strbuf_adds(page->out, "<p>Only filters that need no template count.</p>\n");
    object_verdicts_write(page->out, &verdicts);
    strbuf_adds(page->out, "</section>\n");
}

/* ---- versions ---- */

/* Lines of the differences between two versions. */
struct change_lines {
    struct strbuf *out;
    const char *field;
    size_t count;
};

static void add_change_line(void *context, const struct difference_line *line)
{
    struct change_lines *lines = context;
    bool bare = *line->path == '\0' || *line->path == '[';

    if (lines->count++ >= CHANGES_SHOWN_MAX)
        return;
    strbuf_adds(lines->out, lines->count > 1 ? "<br>" : "");
    html_textf(lines->out, "%c %s%s%s: %s", line->sign, lines->field, bare ? "" : ".", line->path,
               line->value);
}

/* Appends the differences between a version and the one before it. */
static void add_changes(struct strbuf *out, const struct policy_version *before,
                        const struct policy_version *after)
{
    struct change_lines lines = {.out = out};

    for (unsigned i = 0; i < DRIFT_FIELD_COUNT; i++) {
        CLEANUP(strbuf_release) struct strbuf old_text = STRBUF_INIT(VALUE_MAX_BYTES);
        CLEANUP(strbuf_release) struct strbuf new_text = STRBUF_INIT(VALUE_MAX_BYTES);

        /* A version recovered from a binding has the number of a PriorityClass, not its name. */
        if (i == FIELD_SCHEDULE_PRIORITY && (before->recovered || after->recovered))
            continue;
        lines.field = drift_field_names[i];
        difference_lines_each(explain_field_json(&before->values, i, &old_text),
                              explain_field_json(&after->values, i, &new_text), add_change_line,
                              &lines);
    }
    if (lines.count > CHANGES_SHOWN_MAX)
        strbuf_addf(out, "<br>and %zu more lines", lines.count - CHANGES_SHOWN_MAX);
}

static void add_version_cell(const struct policy_version *v, struct html_table *t)
{
    html_cell_open(t);
    if (policy_version_is_unknown(v))
        strbuf_adds(t->out, "unknown");
    else
        strbuf_addf(t->out, "%" PRIu32 "%s", v->number,
                    v == policy_history_current_version(v->history) ? ", present" : "");
}

static void add_origin_cell(const struct policy_version *v, int64_t now_ms, struct html_table *t)
{
    html_cell_open(t);
    if (v->since_ms > 0)
        html_time(t->out, v->since_ms, now_ms);
    else if (v->recovered)
        strbuf_adds(t->out, "known only from values in bindings");
    if (v->recovered && v->evidence_ms > 0) {
        strbuf_adds(t->out, ", last written ");
        html_time(t->out, v->evidence_ms, now_ms);
    }
    html_cell_text(t, v->by);
}

static void add_version_row(const struct version_use *use, const struct policy_version *before,
                            int64_t now_ms, struct html_table *t)
{
    html_row_open(t, NULL);
    add_version_cell(use->version, t);
    add_origin_cell(use->version, now_ms, t);
    html_cell_number(t, use->templates);
    html_cell_number(t, use->replicas);
    html_cell_open(t);
    html_cores(t->out, use->cores);
    html_cell_open(t);
    html_bytes(t->out, use->memory);
    html_cell_open(t);
    for (size_t i = 0; i < use->cluster_count && i < OBJECT_LINKS_MAX; i++) {
        strbuf_adds(t->out, i > 0 ? ", " : "");
        link_cluster(t->out, use->clusters[i]);
    }
    if (use->cluster_count > OBJECT_LINKS_MAX)
        strbuf_addf(t->out, " and %zu more", use->cluster_count - OBJECT_LINKS_MAX);
    html_cell_open(t);
    if (before && !policy_version_is_unknown(before) && !policy_version_is_unknown(use->version))
        add_changes(t->out, before, use->version);
}

static void add_versions(struct strbuf *out, const struct entry *policy, int64_t now_ms)
{
    static const struct html_column columns[] = {
        {.heading = "Version"},
        {.heading = "Since"},
        {.heading = "Written by"},
        {.heading = "Templates", .style = "number"},
        {.heading = "Replicas", .style = "number"},
        {.heading = "CPU", .style = "number"},
        {.heading = "Memory", .style = "number"},
        {.heading = "Member clusters"},
        {.heading = "Changes"},
        {.heading = NULL},
    };
    CLEANUP(version_uses_release) struct version_uses uses = version_uses_of(policy);
    struct html_table table;

    if (uses.count == 0)
        return;
    html_section(out, "versions", "Versions", uses.count);
    strbuf_adds(out, "<p>Changes are the differences from the version before: - old value, + new "
                     "value.</p>\n");
    table = html_table_open(out, "Versions", columns, NULL);
    for (size_t i = 0; i < uses.count && i < VERSIONS_SHOWN_MAX; i++)
        add_version_row(&uses.items[i], i + 1 < uses.count ? uses.items[i + 1].version : NULL,
                        now_ms, &table);
    html_table_close(&table);
    if (uses.count > VERSIONS_SHOWN_MAX)
        strbuf_addf(out, "<p class=\"faint\">And %zu more.</p>\n", uses.count - VERSIONS_SHOWN_MAX);
    strbuf_adds(out, "</section>\n");
}

/* ---- page ---- */

void policy_page(struct queued_request *request, const struct health *h)
{
    static const char *const shown[] = {"verdict",  "problemList", "overlaps",
                                        "versions", "where",       NULL};
    const struct entry *entry = find_requested_object(request, h, 1U << CLASS_POLICY);
    CLEANUP(policy_overlaps_release) struct policy_overlaps overlaps = {0};
    struct object_page page;

    if (!entry)
        return;
    object_page_open(&page, request, h, entry);
    object_page_explain(&page);
    add_facts(page.out, entry);
    add_groups_section(page.out, entry);
    add_placement(&page);
    add_versions(page.out, entry, h->now_ms);
    overlaps = policy_overlaps_of(entry);
    if (overlaps.count > 0) {
        strbuf_adds(page.out, "<h2 id=\"overlaps\">Overlapping policies</h2>\n");
        object_page_write_section(&page, "overlaps");
    }
    object_page_write_decision(&page, shown);
    object_page_write_resolved(&page);
    object_page_close(&page);
}
