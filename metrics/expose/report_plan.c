/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/report_plan.h"

#include "metrics/expose/report_items.h"
#include "metrics/expose/report_parts.h"

enum { MILLI = 1000 };

void report_put_outcome(struct writer *w, const char *key, const struct outcome *o)
{
    if (!o->exists) {
        writer_text(w, key, NULL);
        return;
    }
    writer_open(w, key, '{');
    writer_text(w, "state", state_names[o->state]);
    writer_text(w, "reason", reason_name(o->state, o->reason));
    report_put_policy(w, "policy", policy_name_of(o->policy));
    if (o->undetermined != UNDETERMINED_REASON_COUNT)
        writer_text(w, "undetermined", undetermined_reason_names[o->undetermined]);
    else
        report_put_clusters(w, "clusters", o->clusters, o->cluster_count);
    writer_close(w, '}');
}

static void put_template(struct writer *w, const struct plan_template *row)
{
    const struct entry *template = row->template;

    writer_open(w, NULL, '{');
    report_put_identity(w, (struct identity){template->partition->type->api_version,
                                             entry_kind(template), entry_ns(template),
                                             template->name});
    writer_text(w, "when", plan_when_names[row->when]);
    /* In what the binding changes. */
    writer_names(w, "fields", outcome_fields(&row->before, &row->after), drift_field_names);
    report_put_outcome(w, "before", &row->before);
    report_put_outcome(w, "after", &row->after);
    if (row->when == PLAN_AT_NEXT_CHANGE)
        report_put_outcome(w, "next", &row->next);
    writer_close(w, '}');
}

static double rounded_to_milli(double value)
{
    int64_t thousandths = (int64_t)(value * MILLI + (value < 0 ? -0.5 : 0.5));

    return (double)thousandths / MILLI;
}

static void put_pair(struct writer *w, const char *key, double before, double after)
{
    writer_open(w, key, '{');
    writer_number(w, "before", rounded_to_milli(before));
    writer_number(w, "after", rounded_to_milli(after));
    writer_close(w, '}');
}

static void put_cluster(struct writer *w, const struct plan_cluster *row)
{
    double before = (double)row->replicas[PLAN_BEFORE], after = (double)row->replicas[PLAN_AFTER];

    writer_open(w, NULL, '{');
    writer_text(w, "cluster", row->name);
    put_pair(w, "replicas", before, after);
    put_pair(w, "cpu", row->cores[PLAN_BEFORE], row->cores[PLAN_AFTER]);
    put_pair(w, "memory", row->memory_bytes[PLAN_BEFORE], row->memory_bytes[PLAN_AFTER]);
    put_pair(w, "pods", before, after);
    writer_bool(w, "overflow", row->overflows);
    writer_close(w, '}');
}

static void put_summary(struct writer *w, const struct plan_result *r)
{
    writer_open(w, "summary", '{');
    writer_int(w, "atOnce", (int64_t)r->when[PLAN_AT_ONCE]);
    writer_int(w, "atNextChange", (int64_t)r->when[PLAN_AT_NEXT_CHANGE]);
    writer_int(w, "never", (int64_t)r->when[PLAN_NEVER]);
    writer_int(w, "conflictsAppear", (int64_t)r->conflicts_appear);
    writer_int(w, "conflictsVanish", (int64_t)r->conflicts_vanish);
    writer_int(w, "undetermined", (int64_t)r->undetermined);
    writer_open(w, "replicas", '{');
    for (size_t i = 0; i < r->clusters.count; i++) {
        const struct plan_cluster *row = &r->clusters.items[i];
        int64_t difference = row->replicas[PLAN_AFTER] - row->replicas[PLAN_BEFORE];

        if (difference != 0)
            writer_int(w, row->name, difference);
    }
    writer_close(w, '}');
    writer_close(w, '}');
}

/* What appears is read from the engine as it is, what vanishes after plan_undo(). */
static void put_conflicts(struct writer *w, struct plan *p, const struct plan_result *r,
                          const struct engine *engine)
{
    size_t i = 0;

    writer_open(w, "conflicts", '[');
    for (; i < r->conflict_count && r->conflicts[i].appears; i++)
        report_conflict(w, engine, r->conflicts[i].dependency, r->conflicts[i].field, "appears");
    if (i < r->conflict_count)
        plan_undo(p);
    for (; i < r->conflict_count; i++)
        report_conflict(w, engine, r->conflicts[i].dependency, r->conflicts[i].field, "vanishes");
    writer_close(w, ']');
}

static void put_plan(struct writer *w, const char *key, struct plan *p, const struct plan_result *r,
                     const struct engine *engine, const char *fails)
{
    writer_open(w, key, '{');
    writer_text(w, "apiVersion", "karmada-policy-exporter/v1");
    writer_text(w, "kind", "Plan");
    writer_bool(w, "settled", r->settled);
    put_summary(w, r);
    writer_open(w, "templates", '[');
    for (size_t i = 0; i < r->template_count; i++)
        put_template(w, &r->templates[i]);
    writer_close(w, ']');
    writer_open(w, "clusters", '[');
    for (size_t i = 0; i < r->clusters.count; i++)
        put_cluster(w, &r->clusters.items[i]);
    writer_close(w, ']');
    writer_names(w, "assumptions", r->assumptions, assumption_texts);
    put_conflicts(w, p, r, engine);
    if (fails)
        writer_json(w, "fails", fails);
    writer_close(w, '}');
}

void report_put_plan(struct writer *w, const char *key, struct plan *p, const struct plan_result *r,
                     const struct engine *engine)
{
    put_plan(w, key, p, r, engine, NULL);
}

void report_plan(struct plan *p, const struct plan_result *r, const struct engine *engine,
                 const char *fails, struct strbuf *out)
{
    struct writer w = {.out = out, .lines = 2};

    put_plan(&w, NULL, p, r, engine, fails);
    strbuf_addc(out, '\n');
}
