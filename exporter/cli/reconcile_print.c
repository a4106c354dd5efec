/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/reconcile_print.h"

#include "exporter/cli/plan_findings.h"
#include "exporter/cli/plan_print.h"
#include "exporter/text/check_result.h"
#include "exporter/text/text_table.h"
#include "metrics/expose/report.h"
#include "metrics/expose/report_parts.h"
#include "metrics/model/template.h"

enum { INDENT = 2, LINE_MAX_BYTES = 8192, SAFE_MAX_BYTES = 4 * LINE_MAX_BYTES };

/* In the order of the choices of --accept. */
static const struct {
    unsigned finding; /* Of plan_findings(). */
    const char *word;
    const char *text;
} risks[] = {
    {FINDING_CONFLICT, "conflict", "dependency conflicts appear"},
    {FINDING_PENDING, "pending", "templates become pending"},
    {CONSEQUENCE_OVERFLOW, "overflow", "a member cluster gets more than it has free"},
};

unsigned reconcile_refusals(const struct reconcile *r, const struct options *o)
{
    unsigned found = plan_findings(r->result), refused = 0;

    for (unsigned i = 0; i < ARRAY_LEN(risks); i++) {
        if (found & 1U << risks[i].finding)
            refused |= 1U << i;
    }
    return refused & ~o->accept;
}

static void print_intent(const struct reconcile *r, const struct options *o,
                         const struct entry *policy, struct output *out)
{
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf safe = STRBUF_INIT(SAFE_MAX_BYTES);
    size_t count = r->chosen.count;

    strbuf_addf(&line, "%s %zu template%s", o->undo ? "Undoes" : "Reconciles", count,
                count == 1 ? "" : "s");
    if (policy)
        strbuf_addf(&line, " of %s %s%s%s", entry_kind(policy), entry_ns(policy),
                    *entry_ns(policy) ? "/" : "", policy->name);
    if (*o->selector != '\0')
        strbuf_addf(&line, " with the labels %s", o->selector);
    if (o->undo)
        strbuf_adds(&line, ": takes the annotation " RECONCILE_ANNOTATION " off again. To Karmada "
                           "that is another change by a user: it follows their policies as "
                           "they are now, and brings no old placement back.");
    else
        strbuf_adds(&line, ": sets the annotation " RECONCILE_ANNOTATION ", which Karmada takes "
                           "for a change by a user. It is a part of the template: it travels "
                           "to the member clusters, too.");
    output_safe(&safe, line.data);
    output_wrap(&out->text, safe.data, 0, 0, out->width);
    strbuf_adds(&out->text, "\n\n");
}

static void print_left(const struct reconcile *r, struct output *out)
{
    static const char *const headings[] = {"TEMPLATE", "WHY"};
    CLEANUP(table_release) struct table t = table_make(headings, ARRAY_LEN(headings), INDENT);

    if (r->left.count == 0)
        return;
    section_print(out, "Not touched: a change does not help", r->left.count);
    for (size_t i = 0; i < r->left.count; i++) {
        const struct reconcile_item *item = &r->left.items[i];

        table_add_object(&t, entry_kind(item->template), entry_ns(item->template),
                         item->template->name);
        table_add(&t, STYLE_PLAIN, reconcile_verdict_texts[item->verdict]);
    }
    table_print(&t, out);
    strbuf_addc(&out->text, '\n');
}

static void print_refusal(unsigned refused, struct output *out)
{
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);
    const char *between = "Refused: ";

    for (unsigned i = 0; i < ARRAY_LEN(risks); i++) {
        if (refused & 1U << i) {
            strbuf_addf(&line, "%s%s", between, risks[i].text);
            between = ", ";
        }
    }
    between = ". To go ahead all the same: --accept ";
    for (unsigned i = 0; i < ARRAY_LEN(risks); i++) {
        if (refused & 1U << i) {
            strbuf_addf(&line, "%s%s", between, risks[i].word);
            between = ",";
        }
    }
    output_line(out, 0, line.data);
}

void reconcile_print(const struct reconcile *r, const struct options *o, const struct entry *policy,
                     struct output *out)
{
    CLEANUP(strbuf_release) struct strbuf counts = STRBUF_INIT(LINE_MAX_BYTES);
    unsigned refused = reconcile_refusals(r, o);

    if (r->chosen.count > 0) {
        print_intent(r, o, policy, out);
        plan_print(r->result, out);
        strbuf_addc(&out->text, '\n');
    }
    print_left(r, out);
    if (r->current > 0)
        strbuf_addf(&counts, "%zu %s current already, %zu of them reconciled before. ", r->current,
                    r->current == 1 ? "template is" : "templates are", r->reconciled);
    if (r->beyond > 0)
        strbuf_addf(&counts, "%zu more would move: --max leaves them out. ", r->beyond);
    if (counts.len > 0)
        output_line(out, 0, counts.data);
    if (r->chosen.count == 0)
        output_line(out, 0, o->undo ? "Nothing to undo." : "Nothing to reconcile.");
    else if (refused)
        print_refusal(refused, out);
    else if (!o->yes)
        output_line(out, 0, "This is a dry run: nothing was written. With --yes it is.");
}

static void write_list(struct json_writer *w, const char *key, const struct reconcile_list *list,
                       bool reasons)
{
    json_writer_open(w, key, '[');
    for (size_t i = 0; i < list->count; i++) {
        const struct reconcile_item *item = &list->items[i];
        const struct entry *template = item->template;

        json_writer_open(w, NULL, '{');
        report_put_identity(w, (struct identity){template->partition->type->api_version,
                                                 entry_kind(template), entry_ns(template),
                                                 template->name});
        if (reasons) {
            json_writer_text(w, "reason", reconcile_verdict_names[item->verdict]);
            json_writer_text(w, "message", reconcile_verdict_texts[item->verdict]);
        }
        json_writer_close(w, '}');
    }
    json_writer_close(w, ']');
}

void reconcile_write(struct json_writer *w, const struct reconcile *r, const struct options *o)
{
    unsigned refused = r->chosen.count > 0 ? reconcile_refusals(r, o) : 0;

    json_writer_text(w, "apiVersion", "karmada-policy-exporter/v1");
    json_writer_text(w, "kind", "Reconcile");
    json_writer_bool(w, "dryRun", !o->yes);
    json_writer_bool(w, "undo", o->undo);
    json_writer_text(w, "annotation", RECONCILE_ANNOTATION);
    json_writer_bit_names(w, "refused", refused, option_defs[OPTION_OF_accept].choices);
    json_writer_int(w, "current", (int64_t)r->current);
    json_writer_int(w, "reconciled", (int64_t)r->reconciled);
    json_writer_int(w, "beyond", (int64_t)r->beyond);
    write_list(w, "templates", &r->chosen, false);
    write_list(w, "notTouched", &r->left, true);
    report_put_plan(w, "plan", r->plan, r->result, r->engine);
}
