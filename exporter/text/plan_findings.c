/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/text/plan_findings.h"

#include "exporter/text/findings_format.h"
#include "exporter/text/object_name.h"
#include "exporter/text/plan_text.h"
#include "metrics/expose/policy_names.h"

enum {
    TEXT_MAX_BYTES = 1024 * 1024,
    ROW_MAX_BYTES = 1024,
    ROWS_MAX = 50, /* Rows of a table in the details. */
};

/* Results that are findings only if --fail-on names them, because every change may have them. */
static const unsigned quiet_failures = 1U << PLAN_FAILURE_MOVE | 1U << PLAN_FAILURE_WAIT;

/* ---- findings ---- */

struct plan_context {
    struct findings *findings;
    const struct plan_places *places;
    unsigned failures;
};

static void add_subject(struct strbuf *out, const struct plan_failing *failing)
{
    if (failing->entry)
        object_name_add(out, failing->entry);
    else
        object_name_add_identity(out, &failing->object);
}

/* Appends the sentence of the rule, then the reason or the change of the template. */
static void add_message(struct strbuf *out, const char *subject, const char *sentence,
                        const struct plan_failing *failing)
{
    strbuf_addf(out, "%s: %s", subject, sentence);
    if (failing->text) {
        size_t len = strlen(failing->text);

        strbuf_addf(out, " %s%s", failing->text,
                    len > 0 && failing->text[len - 1] == '.' ? "" : ".");
    }
    if (!failing->template)
        return;
    strbuf_adds(out, " Change: ");
    plan_add_change(out, failing->template, false);
    strbuf_addc(out, '.');
}

static void add_failing_finding(void *context, const struct plan_failing *failing)
{
    const struct plan_context *c = context;
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(TEXT_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf subject = STRBUF_INIT(TEXT_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf message = STRBUF_INIT(TEXT_MAX_BYTES);
    CLEANUP(finding_rule_release) struct finding_rule rule;
    struct finding finding = {.severity = SEVERITY_COUNT, .object = failing->object};

    strbuf_addf(&name, "plan/%s", plan_failure_names[failing->failure]);
    finding_rule_describe(name.data, &rule);
    add_subject(&subject, failing);
    add_message(&message, subject.data, rule.description.data, failing);
    if (!c->places->find(c->places->context, &failing->object, failing->entry, &finding.place))
        finding.place = (struct location){NULL, 0, 0};
    finding.level = c->failures >> failing->failure & 1 ? FINDING_ERROR : rule.level;
    finding.rule = name.data;
    finding.subject = subject.data;
    finding.message = message.data;
    finding.action = rule.help.data;
    findings_add(c->findings, &finding);
}

/* ---- details ---- */

static const char *const when_cells[PLAN_WHEN_COUNT] = {
    [PLAN_AT_ONCE] = "at once",
    [PLAN_AT_NEXT_CHANGE] = "at its next change",
    [PLAN_NEVER] = "same result",
};

static void add_template_rows(struct findings *f, const struct plan_result *r)
{
    struct strbuf *out = &f->details;

    if (r->template_count == 0)
        return;
    strbuf_adds(out, "\n| Template | When | Change |\n|---|---|---|\n");
    for (size_t i = 0; i < r->template_count && i < ROWS_MAX; i++) {
        CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX_BYTES);
        const struct plan_template *t = &r->templates[i];

        object_name_add(&text, t->template);
        strbuf_adds(out, "| ");
        findings_add_cell(out, text.data);
        strbuf_addf(out, " | %s | ", when_cells[t->when]);
        strbuf_reset(&text);
        plan_add_change(&text, t, false);
        if (text.len > ROW_MAX_BYTES)
            strbuf_cut(&text, ROW_MAX_BYTES);
        findings_add_cell(out, text.data);
        strbuf_adds(out, " |\n");
    }
    if (r->template_count > ROWS_MAX)
        strbuf_addf(out, "\nand %zu more templates\n", r->template_count - ROWS_MAX);
}

static void add_conflict_rows(struct findings *f, const struct plan_result *r)
{
    struct strbuf *out = &f->details;

    if (r->conflict_count == 0)
        return;
    strbuf_adds(out, "\n| Dependency | Conflict | Field |\n|---|---|---|\n");
    for (size_t i = 0; i < r->conflict_count && i < ROWS_MAX; i++) {
        CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(TEXT_MAX_BYTES);
        const struct plan_conflict *row = &r->conflicts[i];
        struct identity id = resource_identity_of(row->dependency);

        object_name_add_identity(&name, &id);
        strbuf_adds(out, "| ");
        findings_add_cell(out, name.data);
        strbuf_addf(out, " | %s | %s |\n", row->appears ? "appears" : "vanishes",
                    dependency_field_names[row->field]);
    }
    if (r->conflict_count > ROWS_MAX)
        strbuf_addf(out, "\nand %zu more conflicts\n", r->conflict_count - ROWS_MAX);
}

static void add_cluster_rows(struct findings *f, const struct plan_result *r)
{
    struct strbuf *out = &f->details;

    if (r->clusters.count == 0)
        return;
    strbuf_adds(out, "\n| Member cluster | Replicas before | after |\n|---|--:|--:|\n");
    for (size_t i = 0; i < r->clusters.count && i < ROWS_MAX; i++) {
        const struct plan_cluster *c = &r->clusters.items[i];

        strbuf_adds(out, "| ");
        findings_add_cell(out, c->name);
        strbuf_addf(out, " | %" PRId64 " | %" PRId64 " |\n", c->replicas[PLAN_BEFORE],
                    c->replicas[PLAN_AFTER]);
    }
    if (r->clusters.count > ROWS_MAX)
        strbuf_addf(out, "\nand %zu more member clusters\n", r->clusters.count - ROWS_MAX);
}

/* Sets the summary to the lines of plan_print_summary(), as one paragraph. */
static void set_summary(struct findings *f, const struct plan_result *r)
{
    struct output o = {.text = STRBUF_INIT(TEXT_MAX_BYTES)};
    size_t failing = findings_count(f, FINDING_ERROR);

    plan_print_summary(r, &o);
    while (o.text.len > 0 && o.text.data[o.text.len - 1] == '\n')
        strbuf_cut(&o.text, o.text.len - 1);
    for (char *line = o.text.data; (line = strchr(line, '\n'));)
        *line = ' ';
    strbuf_adds(&f->summary, o.text.data);
    if (failing > 0)
        strbuf_addf(&f->summary, " %zu result%s the plan.", failing,
                    failing == 1 ? " fails" : "s fail");
    output_release(&o);
}

void findings_add_plan(struct findings *f, const struct plan_result *r, unsigned failures,
                       const struct plan_places *places)
{
    struct plan_context c = {f, places, failures};
    struct output o = {.text = f->text};

    plan_each_failing(r, ~quiet_failures | failures, add_failing_finding, &c);
    set_summary(f, r);
    add_template_rows(f, r);
    add_conflict_rows(f, r);
    add_cluster_rows(f, r);
    plan_print(r, PLAN_LAYOUT_GROUPS, failures, &o);
    f->text = o.text;
}
