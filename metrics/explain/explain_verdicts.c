/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/explain/explain_verdicts.h"

#include "metrics/expose/report_parts.h"
#include "metrics/expose/verdict_text.h"

enum { TEMPLATES_SHOWN = 20 };

/* Adds the line of one cluster: name, verdict and reason. */
static void add_verdict_line(struct explain_context *x, const struct cluster_verdict *v)
{
    CLEANUP(strbuf_release) struct strbuf reason = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);

    verdict_add_reason(v, &reason);
    explain_detail(x, "%s: %s%s%s", v->cluster->name, verdict_word(v->kind),
                   reason.len > 0 ? ", " : "", reason.data);
}

static void put_verdicts(struct explain_context *x, const struct cluster_verdicts *v)
{
    explanation_open(x->out, "verdicts", '[');
    for (size_t i = 0; i < v->count; i++) {
        explanation_open(x->out, NULL, '{');
        verdict_put_members(&x->out->facts, &v->items[i]);
        add_verdict_line(x, &v->items[i]);
        explanation_close(x->out, '}');
    }
    explanation_close(x->out, ']');
}

/* Adds the number of clusters by verdict. */
static void put_counts(struct explain_context *x, const struct cluster_verdicts *v)
{
    size_t counts[CLUSTER_VERDICT_COUNT + 1] = {0};

    for (size_t i = 0; i < v->count; i++)
        counts[v->items[i].kind]++;
    json_writer_open(&x->out->facts, "counts", '{');
    for (unsigned i = 0; i < CLUSTER_VERDICT_COUNT; i++) {
        if (counts[i] > 0)
            json_writer_int(&x->out->facts, cluster_verdict_names[i], (int64_t)counts[i]);
    }
    json_writer_close(&x->out->facts, '}');
}

void explain_template_verdicts(struct explain_context *x, const struct entry *template)
{
    CLEANUP(cluster_verdicts_release)
    struct cluster_verdicts v = template_verdicts(x->engine, template);
    CLEANUP(strbuf_release) struct strbuf summary = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);

    if (!v.has_placement)
        return;
    explain_open_section(x, "placement", "Placement by member cluster");
    json_writer_text(&x->out->facts, "group", v.group);
    put_counts(x, &v);
    if (v.clusters_unknown) {
        explain_paragraph(x, "Unknown: the Clusters have not been read.");
    } else if (v.placement_invalid) {
        explain_paragraph(x, "Unknown: Karmada cannot read the placement.");
    } else {
        verdicts_add_summary(&v, &summary);
        explain_paragraph(x, "%s", summary.data);
        if (v.group)
            explain_paragraph(x, "Affinity group: %s.", v.group);
    }
    explanation_close(x->out, '}');
    put_verdicts(x, &v);
}

void explain_policy_verdicts(struct explain_context *x, const struct entry *policy)
{
    CLEANUP(cluster_verdicts_release)
    struct cluster_verdicts v = policy_verdicts(x->engine, policy);
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);

    if (v.count == 0)
        return;
    explain_open_section(x, "where", "Member clusters that the placement allows");
    json_writer_open(&x->out->facts, "clusters", '[');
    for (size_t i = 0; i < v.count; i++) {
        if (!verdict_is_allowed(&v.items[i]))
            continue;
        json_writer_text(&x->out->facts, NULL, v.items[i].cluster->name);
        strbuf_addf(&text, "%s%s", text.len > 0 ? ", " : "", v.items[i].cluster->name);
    }
    json_writer_close(&x->out->facts, ']');
    explain_paragraph(x, "%s.", text.len > 0 ? text.data : "No existing member cluster");
    if (v.group)
        explain_paragraph(x, "First affinity group: %s.", v.group);
    explanation_open(x->out, "verdicts", '[');
    for (size_t i = 0; i < v.count; i++) {
        explanation_open(x->out, NULL, '{');
        verdict_put_members(&x->out->facts, &v.items[i]);
        if (v.items[i].kind != CLUSTER_VERDICT_COUNT)
            add_verdict_line(x, &v.items[i]);
        explanation_close(x->out, '}');
    }
    explanation_close(x->out, ']');
    explanation_close(x->out, '}');
}

/* ---- member clusters ---- */

static void add_template_line(struct explain_context *x, const struct entry *template,
                              const struct entry *cluster)
{
    CLEANUP(strbuf_release) struct strbuf reason = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);
    struct cluster_verdict v;

    if (!template_verdict_of_cluster(x->engine, template, cluster, true, &v))
        return;
    verdict_add_reason(&v, &reason);
    explanation_open(x->out, NULL, '{');
    report_put_object(&x->out->facts, template);
    verdict_put_members(&x->out->facts, &v);
    explain_detail(x, "%s: %s%s%s", explain_name(x, template), verdict_word(v.kind),
                   reason.len > 0 ? ", " : "", reason.data);
    explanation_close(x->out, '}');
    cluster_verdict_release(&v);
}

static void put_template_counts(struct explain_context *x, const size_t *counts, size_t total)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);

    json_writer_open(&x->out->facts, "counts", '{');
    for (unsigned i = 0; i < CLUSTER_VERDICT_COUNT; i++) {
        if (counts[i] == 0)
            continue;
        json_writer_int(&x->out->facts, cluster_verdict_names[i], (int64_t)counts[i]);
        strbuf_addf(&text, "%s%s %zu", text.len > 0 ? ", " : ": ", cluster_verdict_names[i],
                    counts[i]);
    }
    json_writer_close(&x->out->facts, '}');
    explain_paragraph(x, "%zu template%s%s.", total, total == 1 ? "" : "s", text.data);
}

void explain_cluster_verdicts(struct explain_context *x, const struct entry *cluster)
{
    CLEANUP(template_rejections_release)
    struct template_rejections r = template_rejections_of(x->engine, cluster);

    if (r.count == 0)
        return;
    explain_open_section(x, "notPlaced", "Templates that are not placed on the member cluster");
    put_template_counts(x, r.counts, r.count);
    explanation_open(x->out, "templates", '[');
    for (size_t i = 0; i < r.count && i < TEMPLATES_SHOWN; i++)
        add_template_line(x, r.templates[i], cluster);
    explanation_close(x->out, ']');
    if (r.count > TEMPLATES_SHOWN)
        explain_detail(x, "and %zu more", r.count - TEMPLATES_SHOWN);
    explanation_close(x->out, '}');
}
