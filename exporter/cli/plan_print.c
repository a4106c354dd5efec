/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/plan_print.h"

#include "exporter/cli/findings_table.h"
#include "exporter/cli/table.h"
#include "metrics/expose/parties.h"
#include "metrics/expose/writer.h"

enum { INDENT = 2, LINE_MAX_BYTES = 8192, MILLI = 1000, BYTES_PER_MIB = 1 << 20 };

/* "stale, policy_updated (pp1)": a decision in a few words. */
static void describe(struct strbuf *out, const struct template_decision *d)
{
    const char *reason = reason_name(d->state, d->reason);

    strbuf_adds(out, state_names[d->state]);
    if (reason)
        strbuf_addf(out, ", %s", reason);
    if (d->governing)
        strbuf_addf(out, " (%s)", d->governing->name);
}

/* The template, as it is after the change if it still exists. */
static const struct entry *entry_of(const struct template_comparison *row)
{
    const struct entry *entry = row->after ? row->after : row->before;

    assert(entry);
    return entry;
}

static const enum output_style change_styles[TEMPLATE_CHANGE_COUNT] = {
    [CHANGE_ADDED] = STYLE_PLAIN, [CHANGE_REMOVED] = STYLE_BAD,   [CHANGE_GAINED] = STYLE_GOOD,
    [CHANGE_LOST] = STYLE_BAD,    [CHANGE_MOVED] = STYLE_CAUTION, [CHANGE_OUTDATED] = STYLE_CAUTION,
    [CHANGE_STATE] = STYLE_PLAIN,
};

static void print_templates(const struct comparison *c, struct output *o)
{
    static const char *const headings[] = {"TEMPLATE", "CHANGE", "FROM -> TO"};
    CLEANUP(table_release) struct table t = table_make(headings, ARRAY_LEN(headings), INDENT);

    if (c->template_count == 0)
        return;
    section_print(o, "Templates", c->template_count);
    for (size_t i = 0; i < c->template_count; i++) {
        const struct template_comparison *row = &c->templates[i];
        CLEANUP(strbuf_release) struct strbuf words = STRBUF_INIT(LINE_MAX_BYTES);
        const struct entry *entry = entry_of(row);

        if (row->before)
            describe(&words, template_decision(row->before));
        strbuf_adds(&words, row->before && row->after ? " -> " : "");
        if (row->after)
            describe(&words, template_decision(row->after));
        table_add_object(&t, entry_kind(entry), entry_ns(entry), entry->name);
        table_add(&t, change_styles[row->change], template_change_names[row->change]);
        table_add(&t, STYLE_PLAIN, words.data);
    }
    table_print(&t, o);
    strbuf_addc(&o->text, '\n');
}

static void print_conflicts(const struct comparison *c, struct output *o)
{
    static const char *const headings[] = {"CONFLICT", "CHANGE", "FIELD"};
    CLEANUP(table_release) struct table t = table_make(headings, ARRAY_LEN(headings), INDENT);

    if (c->conflict_count == 0)
        return;
    section_print(o, "Conflicts", c->conflict_count);
    for (size_t i = 0; i < c->conflict_count; i++) {
        const struct conflict_comparison *row = &c->conflicts[i];
        struct identity id = dependency_resource(row->dependency);

        table_add_object(&t, id.kind, id.ns, id.name);
        table_add(&t, row->appears ? STYLE_BAD : STYLE_GOOD, row->appears ? "appears" : "vanishes");
        table_add(&t, STYLE_PLAIN, dependency_field_names[row->field]);
    }
    table_print(&t, o);
    strbuf_addc(&o->text, '\n');
}

static void print_clusters(const struct comparison *c, struct output *o)
{
    static const char *const headings[] = {"MEMBER CLUSTER", "REPLICAS", "CPU", "MEMORY MiB"};
    CLEANUP(table_release) struct table t = table_make(headings, ARRAY_LEN(headings), INDENT);

    if (c->cluster_count == 0)
        return;
    section_print(o, "Member clusters", c->cluster_count);
    for (size_t i = 0; i < c->cluster_count; i++) {
        const struct cluster_comparison *row = &c->clusters[i];

        table_add(&t, STYLE_PLAIN, row->name);
        table_addf(&t, STYLE_PLAIN, "%" PRId64 " -> %" PRId64, row->replicas[0], row->replicas[1]);
        table_addf(&t, STYLE_PLAIN, "%g -> %g", row->cores[0], row->cores[1]);
        table_addf(&t, STYLE_PLAIN, "%.0f -> %.0f", row->memory_bytes[0] / BYTES_PER_MIB,
                   row->memory_bytes[1] / BYTES_PER_MIB);
    }
    table_print(&t, o);
    if (c->undetermined > 0) {
        CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);

        strbuf_addf(&line, "Only the scheduler knows where %zu template%s will go: counted as now.",
                    c->undetermined, c->undetermined == 1 ? "" : "s");
        strbuf_addf(&o->text, "%*s", INDENT, "");
        output_wrap(&o->text, line.data, INDENT, INDENT, o->width);
        strbuf_addc(&o->text, '\n');
    }
    strbuf_addc(&o->text, '\n');
}

void plan_print(const struct comparison *c, struct output *o)
{
    print_templates(c, o);
    print_conflicts(c, o);
    print_clusters(c, o);
    if (c->template_count + c->conflict_count == 0)
        output_styled(o, STYLE_GOOD, "The change makes no difference.");
    else
        strbuf_adds(&o->text, "`explain` shows what comes next for each template.");
    strbuf_addc(&o->text, '\n');
}

static void write_decision(struct writer *w, const char *key, const struct entry *entry)
{
    const struct template_decision *d = entry ? template_decision(entry) : NULL;

    if (!d) {
        writer_text(w, key, NULL);
        return;
    }
    writer_open(w, key, '{');
    writer_text(w, "state", state_names[d->state]);
    writer_text(w, "reason", reason_name(d->state, d->reason));
    writer_text(w, "phase", d->state == STATE_STALE ? phase_names[d->phase] : NULL);
    writer_text(w, "policy", d->governing ? d->governing->name : NULL);
    writer_close(w, '}');
}

static void write_template(struct writer *w, const struct template_comparison *row)
{
    const struct entry *entry = entry_of(row);

    writer_open(w, NULL, '{');
    writer_text(w, "apiVersion", entry->partition->type->api_version);
    writer_text(w, "kind", entry_kind(entry));
    writer_text(w, "namespace", entry_ns(entry));
    writer_text(w, "name", entry->name);
    writer_text(w, "change", template_change_names[row->change]);
    write_decision(w, "before", row->before);
    write_decision(w, "after", row->after);
    writer_close(w, '}');
}

static void write_pair(struct writer *w, const char *key, int64_t before, int64_t after)
{
    writer_open(w, key, '[');
    writer_int(w, NULL, before);
    writer_int(w, NULL, after);
    writer_close(w, ']');
}

static void write_conflict(struct writer *w, const struct conflict_comparison *row)
{
    struct identity id = dependency_resource(row->dependency);

    writer_open(w, NULL, '{');
    writer_open(w, "resource", '{');
    writer_text(w, "apiVersion", id.api_version);
    writer_text(w, "kind", id.kind);
    writer_text(w, "namespace", id.ns);
    writer_text(w, "name", id.name);
    writer_close(w, '}');
    writer_text(w, "field", dependency_field_names[row->field]);
    writer_text(w, "change", row->appears ? "appears" : "vanishes");
    writer_close(w, '}');
}

void plan_write_json(const struct comparison *c, struct strbuf *out)
{
    struct writer w = {.out = out, .lines = 2};

    writer_open(&w, NULL, '{');
    writer_text(&w, "apiVersion", "karmada-policy-exporter/v1");
    writer_open(&w, "templates", '[');
    for (size_t i = 0; i < c->template_count; i++)
        write_template(&w, &c->templates[i]);
    writer_close(&w, ']');
    writer_open(&w, "clusters", '[');
    for (size_t i = 0; i < c->cluster_count; i++) {
        const struct cluster_comparison *row = &c->clusters[i];

        writer_open(&w, NULL, '{');
        writer_text(&w, "cluster", row->name);
        write_pair(&w, "replicas", row->replicas[0], row->replicas[1]);
        write_pair(&w, "cpu", (int64_t)(row->cores[0] * MILLI), (int64_t)(row->cores[1] * MILLI));
        write_pair(&w, "memory", (int64_t)row->memory_bytes[0], (int64_t)row->memory_bytes[1]);
        writer_close(&w, '}');
    }
    writer_close(&w, ']');
    writer_int(&w, "undetermined", (int64_t)c->undetermined);
    writer_open(&w, "conflicts", '[');
    for (size_t i = 0; i < c->conflict_count; i++)
        write_conflict(&w, &c->conflicts[i]);
    writer_close(&w, ']');
    writer_close(&w, '}');
    strbuf_addc(out, '\n');
}
