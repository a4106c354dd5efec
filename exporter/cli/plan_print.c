/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/plan_print.h"

#include "exporter/text/check_result.h"
#include "exporter/text/text_table.h"
#include "metrics/explain/explanation.h"
#include "metrics/expose/policy_names.h"
#include "metrics/model/store.h"

enum {
    INDENT = 2,
    DETAIL_INDENT = 6,
    LINE_MAX_BYTES = 8192,
    BYTES_PER_MIB = 1 << 20,
    ELLIPSIS = 3
};

/* ---- templates ---- */

static const char *const when_titles[PLAN_WHEN_COUNT] = {
    [PLAN_AT_ONCE] = "At once",
    [PLAN_AT_NEXT_CHANGE] = ("At the next change of the template, or when Karmada's controllers "
                             "restart"),
    [PLAN_NEVER] = "Never: touched, and as before",
};

static void add_state(struct strbuf *out, const struct outcome *o)
{
    const char *reason = o->exists ? reason_name(o->state, o->reason) : NULL;

    strbuf_addf(out, "%s%s%s", o->exists ? state_names[o->state] : "none", reason ? " " : "",
                reason ? reason : "");
}

static void add_policy(struct strbuf *out, const struct outcome *o)
{
    if (o->policy)
        strbuf_addf(out, "%s %s%s%s", entry_kind(o->policy), entry_ns(o->policy),
                    *entry_ns(o->policy) ? "/" : "", o->policy->name);
    else
        strbuf_adds(out, "none");
}

static const struct target_cluster *find_cluster(const struct outcome *o, const char *name)
{
    for (uint32_t i = 0; i < o->cluster_count; i++) {
        if (o->clusters[i].name == name)
            return &o->clusters[i];
    }
    return NULL;
}

/* A placement has no place for a line break: what does not fit is for --output json. */
static void cut(struct strbuf *line, size_t width)
{
    size_t room = width - ELLIPSIS;

    if (line->len <= width)
        return;
    while (room > 0 && ((unsigned char)line->data[room] & 0xC0) == 0x80)
        room--;
    line->len = room;
    line->data[room] = '\0';
    strbuf_adds(line, "...");
}

/* "+ member1: 2" or "- member1: 2", in the style of a difference. */
static void print_sign(struct output *o, bool comes, const char *what)
{
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);

    strbuf_addf(&line, "%c ", comes ? '+' : '-');
    output_safe(&line, what);
    if (o->width > DETAIL_INDENT + ELLIPSIS)
        cut(&line, o->width - DETAIL_INDENT);
    strbuf_addf(&o->text, "%*s", DETAIL_INDENT, "");
    output_styled(o, comes ? STYLE_GOOD : STYLE_BAD, line.data);
    strbuf_addc(&o->text, '\n');
}

/* The clusters of `a` that `b` lacks or gives another number of replicas. */
static void print_clusters_of(struct output *o, const struct outcome *a, const struct outcome *b,
                              bool comes)
{
    for (uint32_t i = 0; i < a->cluster_count; i++) {
        const struct target_cluster *at = &a->clusters[i];
        const struct target_cluster *other = find_cluster(b, at->name);
        CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);

        if (other && other->replicas == at->replicas)
            continue;
        strbuf_addf(&line, "cluster %s", at->name);
        if (at->replicas > 0)
            strbuf_addf(&line, ": %" PRId32, at->replicas);
        print_sign(o, comes, line.data);
    }
}

typedef void add_fn(struct strbuf *out, const struct outcome *o);

static void print_field(struct output *o, const char *title, add_fn *add, const struct outcome *a,
                        const struct outcome *b)
{
    CLEANUP(strbuf_release) struct strbuf from = STRBUF_INIT(LINE_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf to = STRBUF_INIT(LINE_MAX_BYTES);

    strbuf_addf(&from, "%s: ", title);
    strbuf_addf(&to, "%s: ", title);
    add(&from, a);
    add(&to, b);
    if (strcmp(from.data, to.data) == 0)
        return;
    print_sign(o, false, from.data);
    print_sign(o, true, to.data);
}

static void print_fields(struct output *o, const struct outcome *a, const struct outcome *b)
{
    unsigned fields = outcome_differing_fields(a, b);

    for (unsigned i = 0; i < DRIFT_FIELD_COUNT; i++) {
        CLEANUP(strbuf_release) struct strbuf from = STRBUF_INIT(LINE_MAX_BYTES);
        CLEANUP(strbuf_release) struct strbuf to = STRBUF_INIT(LINE_MAX_BYTES);

        if (!(fields & 1U << i))
            continue;
        strbuf_addf(&from, "%s: %s", drift_field_names[i],
                    explain_field_value(&a->binding->propagation, i));
        strbuf_addf(&to, "%s: %s", drift_field_names[i],
                    explain_field_value(&b->binding->propagation, i));
        print_sign(o, false, from.data);
        print_sign(o, true, to.data);
    }
}

static void print_difference(struct output *o, const struct outcome *a, const struct outcome *b)
{
    print_field(o, "state", add_state, a, b);
    print_field(o, "policy", add_policy, a, b);
    print_fields(o, a, b);
    if (b->undetermined != UNDETERMINED_REASON_COUNT && b->exists) {
        CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);

        strbuf_addf(&line, "only the scheduler knows its clusters then (%s)",
                    undetermined_reason_names[b->undetermined]);
        output_line(o, DETAIL_INDENT, line.data);
        return;
    }
    print_clusters_of(o, a, b, false);
    print_clusters_of(o, b, a, true);
}

static void print_template(struct output *o, const struct plan_template *row)
{
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(LINE_MAX_BYTES);
    const char *ns = entry_ns(row->template);

    strbuf_addf(&name, "%s %s%s%s", entry_kind(row->template), ns, *ns ? "/" : "",
                row->template->name);
    strbuf_addf(&o->text, "%*s", 2 * INDENT, "");
    output_safe(&o->text, name.data);
    strbuf_addc(&o->text, '\n');
    print_difference(o, &row->before, &row->after);
    if (row->when == PLAN_AT_NEXT_CHANGE) {
        output_line(o, DETAIL_INDENT, "then, at its next change:");
        print_difference(o, &row->after, &row->next);
    }
}

static void print_templates(const struct plan_result *r, struct output *o)
{
    if (r->template_count > 0)
        section_print(o, "Templates", r->template_count);
    for (unsigned when = 0; when < PLAN_WHEN_COUNT; when++) {
        if (r->when[when] > 0)
            output_line(o, INDENT, when_titles[when]);
        for (size_t i = 0; i < r->template_count; i++) {
            if (r->templates[i].when == when)
                print_template(o, &r->templates[i]);
        }
    }
    if (r->template_count > 0)
        strbuf_addc(&o->text, '\n');
}

/* ---- the rest ---- */

static void print_conflicts(const struct plan_result *r, struct output *o)
{
    static const char *const headings[] = {"CONFLICT", "CHANGE", "FIELD"};
    CLEANUP(table_release) struct table t = table_make(headings, ARRAY_LEN(headings), INDENT);

    if (r->conflict_count == 0)
        return;
    section_print(o, "Conflicts", r->conflict_count);
    for (size_t i = 0; i < r->conflict_count; i++) {
        const struct plan_conflict *row = &r->conflicts[i];
        struct identity id = resource_identity_of(row->dependency);

        table_add_object(&t, id.kind, id.ns, id.name);
        table_add(&t, row->appears ? STYLE_BAD : STYLE_GOOD, row->appears ? "appears" : "vanishes");
        table_add(&t, STYLE_PLAIN, dependency_field_names[row->field]);
    }
    table_print(&t, o);
    strbuf_addc(&o->text, '\n');
}

static void print_clusters(const struct plan_result *r, struct output *o)
{
    static const char *const headings[] = {"MEMBER CLUSTER", "REPLICAS", "CPU", "MEMORY MiB"};
    CLEANUP(table_release) struct table t = table_make(headings, ARRAY_LEN(headings), INDENT);

    if (r->clusters.count == 0)
        return;
    section_print(o, "Member clusters, of these templates", r->clusters.count);
    for (size_t i = 0; i < r->clusters.count; i++) {
        const struct plan_cluster *row = &r->clusters.items[i];

        table_add(&t, row->overflows ? STYLE_BAD : STYLE_PLAIN, row->name);
        table_addf(&t, STYLE_PLAIN, "%" PRId64 " -> %" PRId64, row->replicas[PLAN_BEFORE],
                   row->replicas[PLAN_AFTER]);
        table_addf(&t, STYLE_PLAIN, "%g -> %g", row->cores[PLAN_BEFORE], row->cores[PLAN_AFTER]);
        table_addf(&t, STYLE_PLAIN, "%.0f -> %.0f%s",
                   row->memory_bytes[PLAN_BEFORE] / BYTES_PER_MIB,
                   row->memory_bytes[PLAN_AFTER] / BYTES_PER_MIB,
                   row->overflows ? ", more than is free" : "");
    }
    table_print(&t, o);
    strbuf_addc(&o->text, '\n');
}

static void add_count(struct strbuf *out, size_t count, const char *one, const char *many)
{
    if (count > 0)
        strbuf_addf(out, "%s%zu %s", out->len > 0 ? ", " : "", count, count == 1 ? one : many);
}

static void add_moves(struct strbuf *out, int64_t change, const char *cluster)
{
    bool one = change == 1 || change == -1;

    strbuf_addf(out, "%s%" PRId64 " replica%s %s%s %s", out->len > 0 ? ", " : "",
                change < 0 ? -change : change, one ? "" : "s", change < 0 ? "leave" : "reach",
                !one         ? ""
                : change < 0 ? "s"
                             : "es",
                cluster);
}

static void print_summary(const struct plan_result *r, struct output *o)
{
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);

    add_count(&line, r->when[PLAN_AT_ONCE], "moves now", "move now");
    add_count(&line, r->when[PLAN_AT_NEXT_CHANGE], "waits", "wait");
    add_count(&line, r->when[PLAN_NEVER], "stays", "stay");
    for (size_t i = 0; i < r->clusters.count; i++) {
        const struct plan_cluster *row = &r->clusters.items[i];
        int64_t change = row->replicas[PLAN_AFTER] - row->replicas[PLAN_BEFORE];

        if (change != 0)
            add_moves(&line, change, row->name);
    }
    add_count(&line, r->conflicts_appear, "conflict appears", "conflicts appear");
    add_count(&line, r->conflicts_vanish, "conflict vanishes", "conflicts vanish");
    add_count(&line, r->undetermined, "is for the scheduler to place",
              "are for the scheduler to place");
    if (line.len > 0)
        strbuf_addc(&line, '.');
    output_line(o, 0, line.len > 0 ? line.data : "The change makes no difference.");
}

void plan_print(const struct plan_result *r, struct output *o)
{
    print_templates(r, o);
    print_conflicts(r, o);
    print_clusters(r, o);
    print_summary(r, o);
    if (!r->settled)
        output_line(o, 0, "Karmada does not come to rest: what is shown is in mid-air.");
    for (unsigned i = 0; i < ASSUMPTION_COUNT; i++) {
        CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);

        if (!(r->assumptions & 1U << i))
            continue;
        strbuf_addf(&line, "Assumed: %s", assumption_texts[i]);
        output_line(o, 0, line.data);
    }
}
