/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/explain/explain_quota.h"

#include "metrics/expose/report_parts.h"
#include "metrics/model/template.h"
#include "metrics/rules/admission/admission.h"
#include "metrics/rules/admission/quota.h"
#include "metrics/rules/engine.h"
#include "metrics/rules/prediction.h"
#include "metrics/rules/rule.h"

enum { AMOUNT_MAX = 64, NAMES_SHOWN = 20 };

/* A template and its usage, now and after its next scheduling. */
struct subject_load {
    const struct entry *template;
    struct quota_load now;
    struct quota_load then;
    bool then_known;
    struct resource_request *owned; /* Requests of a template without a binding; else NULL. */
};

static struct quota_scope scope_of(const struct explain_context *x)
{
    const struct rule_context *c = engine_context_const(x->engine);

    return (struct quota_scope){c->store, c->gates, c->release, &c->incomplete, NULL};
}

/* ---- usage of a template ---- */

/* Returns the clusters that the scheduler would select for a binding under its own placement. */
static struct projection project_binding(const struct explain_context *x, const struct binding *b)
{
    struct placements *placements = engine_context_const(x->engine)->placements;
    const struct resolved_placement *resolved =
        placements_ref(placements, b->propagation->placement);
    struct projection p = {0};

    projection_make(placements, resolved, b, &p);
    placements_drop(placements, resolved);
    return p;
}

static void release_subject(const struct explain_context *x, struct subject_load *s)
{
    for (uint32_t i = 0; s->owned && i < s->then.request_count; i++)
        intern_drop(store_string_pool(engine_store(x->engine)), s->owned[i].resource);
    free(s->owned);
}

static void read_bound_load(const struct explain_context *x, const struct binding *b,
                            struct subject_load *out)
{
    struct projection p = {0};

    out->now = out->then = quota_load_of(b);
    out->then_known = quota_usage_is_known(b);
    if (!out->then_known || !b->has_placement || !has_failed_scheduling(&b->status))
        return;
    p = project_binding(x, b);
    out->then.replicas = projection_count_replicas(&p, b);
    out->then_known = out->then.replicas >= 0;
    projection_release(store_string_pool(engine_store(x->engine)), &p);
}

static void read_unbound_load(const struct explain_context *x, const struct entry *template,
                              struct subject_load *out)
{
    struct intern *strings = store_string_pool(engine_store(x->engine));
    struct projection p = {0};
    struct predicted predicted = predict_template(x->engine, template, &p);
    const struct binding wanted = {.replicas = template_replicas(entry_template(template))};
    int64_t sum = projection_count_replicas(&p, &wanted);

    out->owned = requests_parse(strings, template_requests(entry_template(template)),
                                &out->then.request_count);
    out->then.requests = out->owned;
    out->then.replicas = sum > 0 ? sum : 0;
    out->then_known = sum >= 0 || predicted.outcome != PREDICTION_UNDETERMINED;
    projection_release(strings, &p);
}

static struct subject_load load_of_template(const struct explain_context *x,
                                            const struct entry *template)
{
    const struct template_decision *d = template_decision(template);
    const struct binding *b = d ? entry_binding(decision_binding(d)) : NULL;
    struct subject_load load = {.template = template};

    if (b)
        read_bound_load(x, b, &load);
    else if (d)
        read_unbound_load(x, template, &load);
    return load;
}

/* Returns how much more of a resource the template needs. */
static int64_t need_of(const struct subject_load *s, const char *resource)
{
    return quota_usage(&s->then, resource) - quota_usage(&s->now, resource);
}

/* ---- one quota ---- */

/* Returns the amount that counts as used: the webhook reads that of the status. */
static int64_t used_amount(const struct quota_limit *limit, const struct quota_sum *sum)
{
    return limit->used_known ? limit->used : sum->amount;
}

static void put_amount(struct json_writer *w, const char *key, const char *resource, int64_t units)
{
    json_writer_number(w, key, quota_base_units(resource, units));
}

/* Returns an amount as text, in `out`. */
static const char *amount_text(struct strbuf *out, const char *resource, int64_t units)
{
    strbuf_reset(out);
    quota_add_amount(out, resource, units);
    return out->data;
}

/* Adds the columns of a template: its usage now, and how much more it needs. */
static void add_subject_columns(struct explain_context *x, const struct quota_limit *limit,
                                const struct subject_load *s, struct strbuf *row)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(AMOUNT_MAX);
    struct json_writer *w = &x->out->facts;
    int64_t now = quota_usage(&s->now, limit->resource);
    int64_t need = need_of(s, limit->resource);

    put_amount(w, "usedByTemplate", limit->resource, now);
    strbuf_addf(row, "  %13s", amount_text(&text, limit->resource, now));
    if (s->then_known)
        put_amount(w, "needed", limit->resource, need);
    else
        json_writer_text(w, "needed", NULL);
    strbuf_addf(row, "  %10s", s->then_known ? amount_text(&text, limit->resource, need) : "?");
}

/* Adds one limit as a row of the table. `s` is NULL for a namespace. */
static void explain_limit(struct explain_context *x, const struct entry *quota,
                          const struct quota_limit *limit, const struct subject_load *s)
{
    struct quota_sum sum =
        quota_sum_bindings(engine_store(x->engine), entry_ns(quota), limit->resource);
    CLEANUP(strbuf_release) struct strbuf row = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(AMOUNT_MAX);
    struct json_writer *w = &x->out->facts;
    int64_t used = used_amount(limit, &sum);
    const struct quota_scope scope = scope_of(x);
    bool counts = (quota_resource_is_requested(limit->resource) || sum.requested) &&
                  quota_is_admitted(&scope, quota);

    explanation_open(x->out, NULL, '{');
    json_writer_text(w, "resource", limit->resource);
    put_amount(w, "limit", limit->resource, limit->amount);
    put_amount(w, "used", limit->resource, used);
    put_amount(w, "usedByBindings", limit->resource, sum.amount);
    json_writer_bool(w, "enforced", counts);
    strbuf_addf(&row, "%-20s", limit->resource);
    strbuf_addf(&row, "  %10s", amount_text(&text, limit->resource, limit->amount));
    strbuf_addf(&row, "  %10s", counts ? amount_text(&text, limit->resource, used) : "ignored");
    if (s && counts)
        add_subject_columns(x, limit, s, &row);
    explain_row(x, "%s", row.data);
    explanation_close(x->out, '}');
}

/* Adds the sentences about limits that do not work as a reader of the table expects. */
static void explain_limit_notes(struct explain_context *x, const struct entry *quota,
                                const struct quota_limit *limit)
{
    struct quota_sum sum =
        quota_sum_bindings(engine_store(x->engine), entry_ns(quota), limit->resource);
    CLEANUP(strbuf_release) struct strbuf status = STRBUF_INIT(AMOUNT_MAX);
    CLEANUP(strbuf_release) struct strbuf bindings = STRBUF_INIT(AMOUNT_MAX);

    if (!quota_resource_is_requested(limit->resource) && !sum.requested) {
        explain_detail(x,
                       "%s: Karmada ignores this limit. It compares the names of requests in "
                       "bindings, such as cpu, memory and example.com/gpu.",
                       limit->resource);
        return;
    }
    if (!sum.is_complete)
        explain_detail(x,
                       "%s: the bindings have more than the exporter can count, because some "
                       "workloads have several components.",
                       limit->resource);
    else if (limit->used_known && limit->used != sum.amount)
        explain_detail(x,
                       "%s: the status of the quota has %s, the bindings have %s. Karmada counts "
                       "the bindings again every 5 minutes.",
                       limit->resource, amount_text(&status, limit->resource, limit->used),
                       amount_text(&bindings, limit->resource, sum.amount));
    if (used_amount(limit, &sum) > limit->amount)
        explain_detail(
            x,
            "%s: the use is above the limit. Karmada takes nothing away, and refuses "
            "each change of the usage that does not end within the limit, also a change to "
            "less.",
            limit->resource);
}

/* Adds the member clusters of static assignments. */
static void explain_assignments(struct explain_context *x, const struct federated_quota *q)
{
    CLEANUP(strbuf_release) struct strbuf names = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);

    json_writer_open(&x->out->facts, "staticAssignments", '[');
    for (uint32_t i = 0; i < q->cluster_count; i++) {
        json_writer_text(&x->out->facts, NULL, q->clusters[i]);
        strbuf_addf(&names, "%s%s", i ? ", " : "", q->clusters[i]);
    }
    json_writer_close(&x->out->facts, ']');
    if (q->cluster_count > 0)
        explain_detail(x,
                       "staticAssignments: Karmada creates a ResourceQuota in %s. It limits the "
                       "pods there; the scheduler does not consider it.",
                       names.data);
}

/* Adds that no API server stores the quota, so that it limits nothing. */
static void explain_refused_quota(struct explain_context *x, const struct entry *quota)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);
    const struct quota_scope scope = scope_of(x);

    if (quota_is_admitted(&scope, quota))
        return;
    admission_add_text(entry_quota(quota)->admission, scope.release, false, &text);
    explain_detail(x, "The API server refuses the quota, so that it limits nothing: %s.",
                   text.data);
}

/* Adds the limits of a quota as a table, and remarks about it. */
static void explain_quota(struct explain_context *x, const struct entry *quota,
                          const struct subject_load *s)
{
    const struct federated_quota *q = entry_quota(quota);
    const struct quota_scope scope = scope_of(x);

    json_writer_text(&x->out->facts, "name", quota->name);
    json_writer_bool(&x->out->facts, "deleting", q->deleting);
    explain_paragraph(x, "%s%s%s", explain_name(x, quota),
                      q->deleting ? ", in deletion: it limits the namespace until it is gone" : "",
                      q->limit_count > 0 ? ":" : " limits nothing: spec.overall has no amount.");
    if (q->limit_count > 0)
        explain_row(x, "%-20s  %10s  %10s%s", "RESOURCE", "LIMIT", "USED",
                    s ? "  THIS TEMPLATE  NEEDS MORE" : "");
    explanation_open(x->out, "resources", '[');
    for (uint32_t i = 0; i < q->limit_count; i++)
        explain_limit(x, quota, &q->limits[i], s);
    explanation_close(x->out, ']');
    for (uint32_t i = 0; quota_is_admitted(&scope, quota) && i < q->limit_count; i++)
        explain_limit_notes(x, quota, &q->limits[i]);
    explain_assignments(x, q);
    explain_refused_quota(x, quota);
}

/* ---- refused templates ---- */

/* Returns the message of the scheduler about a quota; NULL if no quota refuses the binding. */
static const char *refusal_message(const struct binding *b)
{
    const char *message = b->status.problem ? b->status.problem->message : NULL;
    size_t len;

    if (b->status.scheduled == SCHEDULED_QUOTA_EXCEEDED)
        return message ? message : "";
    /* Before Karmada 1.15.5 and 1.16.2, the reason of the condition is SchedulerError. */
    return b->status.scheduled == SCHEDULED_ERROR && quota_of_message(message, &len) ? message
                                                                                     : NULL;
}

/* Returns true if the message names the quota; if it names none, for every quota. */
static bool message_fits(const char *message, const struct entry *quota)
{
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);
    size_t len;
    const char *named = quota_of_message(message, &len);

    strbuf_addf(&name, "%s/%s", entry_ns(quota), quota->name);
    return !named || (len == name.len && memcmp(named, name.data, len) == 0);
}

/* Appends the templates of the namespace that the quota refuses, in the order of lists. */
static void list_refused(const struct store *store, const struct entry *quota,
                         struct entry_list *out)
{
    const struct kind_def *def = kind_of_bindings(false);
    const struct type *type = store_find_type(store, def->api_version, def->name);
    const struct partition *p = type ? type_find_partition(store, type, entry_ns(quota)) : NULL;

    for (size_t i = 0; p && i < p->count; i++) {
        const struct binding *b = entry_binding(partition_entry(p, i));
        const struct binding_decision *d = binding_decision(partition_entry(p, i));
        const char *message = b ? refusal_message(b) : NULL;
        struct entry *template = d ? binding_decision_template(d) : NULL;
        size_t at;

        if (!message || !template || !message_fits(message, quota))
            continue;
        at = entry_sort_index(out->items, out->count, template);
        entry_list_add(out, template);
        memmove(&out->items[at + 1], &out->items[at],
                (out->count - 1 - at) * sizeof(struct entry *));
        out->items[at] = template;
    }
}

/* Adds the templates that the quota refuses. */
static void explain_refused_templates(struct explain_context *x, const struct entry *quota)
{
    CLEANUP(entry_list_release) struct entry_list refused = {0};
    CLEANUP(strbuf_release) struct strbuf names = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);

    list_refused(engine_store(x->engine), quota, &refused);
    json_writer_open(&x->out->facts, "refused", '[');
    for (size_t i = 0; i < refused.count; i++) {
        json_writer_open(&x->out->facts, NULL, '{');
        report_put_object(&x->out->facts, refused.items[i]);
        json_writer_close(&x->out->facts, '}');
        if (i < NAMES_SHOWN)
            strbuf_addf(&names, "%s%s %s", i ? ", " : "", entry_kind(refused.items[i]),
                        refused.items[i]->name);
    }
    json_writer_close(&x->out->facts, ']');
    if (refused.count == 0)
        return;
    if (refused.count > NAMES_SHOWN)
        strbuf_addf(&names, " and %zu more", refused.count - NAMES_SHOWN);
    explain_detail(x, "Refused templates (quota_exceeded): %s.", names.data);
}

/* Returns true if the template has no placement yet, or a quota refused its last change. */
static bool waits_for_room(const struct entry *template)
{
    const struct template_decision *d = template_decision(template);
    const struct binding *b = d ? entry_binding(decision_binding(d)) : NULL;

    if (!d || !entry_exists(template))
        return false;
    return b ? refusal_message(b) != NULL : template_waits_for_placement(template);
}

/* Templates of a namespace, other than one, that wait for room in its quotas. */
struct rivals {
    struct subject_load *items;
    size_t count;
};

static struct rivals find_rivals(const struct explain_context *x, const struct entry *template)
{
    const struct store *store = engine_store(x->engine);
    struct rivals out = {0};

    for (const struct type *type = store_first_type(store); type; type = type->next) {
        const struct partition *p = type->def->class == CLASS_TEMPLATE
                                        ? type_find_partition(store, type, entry_ns(template))
                                        : NULL;

        for (size_t i = 0; p && i < p->count; i++) {
            if (partition_entry(p, i) == template || !waits_for_room(partition_entry(p, i)))
                continue;
            out.items = xreallocarray(out.items, out.count + 1, sizeof(*out.items));
            out.items[out.count++] = load_of_template(x, partition_entry(p, i));
        }
    }
    return out;
}

static void release_rivals(const struct explain_context *x, struct rivals *rivals)
{
    for (size_t i = 0; i < rivals->count; i++)
        release_subject(x, &rivals->items[i]);
    free(rivals->items);
}

/* Adds that there is no room for all templates that wait, if one limit has none. */
static void explain_competition(struct explain_context *x, const struct entry *quota,
                                const struct quota_limit *limit, const struct subject_load *s,
                                const struct rivals *rivals)
{
    struct quota_sum sum =
        quota_sum_bindings(engine_store(x->engine), entry_ns(quota), limit->resource);
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(AMOUNT_MAX);
    int64_t free_now = limit->amount - used_amount(limit, &sum);
    int64_t need_here = need_of(s, limit->resource);
    int64_t needed = 0;
    size_t count = 0;

    for (size_t i = 0; i < rivals->count; i++) {
        int64_t need = need_of(&rivals->items[i], limit->resource);

        /* A template that never fits takes no room. */
        if (need <= 0 || need > free_now || need > INT64_MAX - needed)
            continue;
        count++;
        needed += need;
    }
    if (need_here > 0 && needed > free_now - need_here)
        explain_paragraph(
            x,
            "%zu other template%s of the namespace need%s %s of %s as well, and there "
            "is no room for all: the order in which Karmada handles them decides.",
            count, count == 1 ? "" : "s", count == 1 ? "s" : "",
            amount_text(&text, limit->resource, needed), limit->resource);
}

/* Adds competition for the limits of all quotas. */
static void explain_order(struct explain_context *x, const struct subject_load *s,
                          const struct entry_list *quotas)
{
    struct rivals rivals = find_rivals(x, s->template);

    for (size_t i = 0; rivals.count > 0 && i < quotas->count; i++) {
        const struct federated_quota *q = entry_quota(quotas->items[i]);

        for (uint32_t k = 0; k < q->limit_count; k++)
            explain_competition(x, quotas->items[i], &q->limits[k], s, &rivals);
    }
    release_rivals(x, &rivals);
}

/* Adds the quota that refuses the template, or that it has room for it now. */
static void explain_refusal(struct explain_context *x, const struct subject_load *s,
                            const struct entry_list *quotas)
{
    const struct binding *b = entry_binding(decision_binding(template_decision(s->template)));
    const struct quota_scope scope = scope_of(x);
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);
    struct quota_excess excess;
    bool refuses = s->then_known && quota_judge(&scope, entry_ns(s->template), &s->now, &s->then,
                                                true, &excess) == QUOTA_REFUSES;

    report_put_quota_excess(&x->out->facts, "refusedBy", refuses ? &excess : NULL);
    if (refuses) {
        quota_excess_add_text(&excess, &text);
        explain_paragraph(x, "Karmada refuses the template: %s.", text.data);
        return;
    }
    if (b && refusal_message(b) && s->then_known)
        explain_paragraph(x, "The last attempt was refused. There is room for the template now; "
                             "the scheduler tries again within 10 seconds.");
    explain_order(x, s, quotas);
}

/* ---- sections ---- */

/* Returns true if a binding of the namespace shows that Karmada enforces quotas. */
static bool is_enforcement_seen(const struct store *store, const struct entry_list *quotas)
{
    bool seen = false;

    for (size_t i = 0; i < quotas->count && !seen; i++) {
        CLEANUP(entry_list_release) struct entry_list refused = {0};

        list_refused(store, quotas->items[i], &refused);
        seen = refused.count > 0;
    }
    return seen;
}

/* Adds whether Karmada enforces the quotas. Returns false if it does not. */
static bool explain_enforcement(struct explain_context *x, const struct entry_list *quotas)
{
    bool enforced = quotas_are_enforced(engine_context_const(x->engine)->gates);
    CLEANUP(strbuf_release) struct strbuf names = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);

    json_writer_bool(&x->out->facts, "enforced", enforced);
    if (enforced)
        return true;
    if (is_enforcement_seen(engine_store(x->engine), quotas)) {
        explain_paragraph(x,
                          "Karmada has refused templates of the namespace because of a quota, so "
                          "the gate is on. Set --karmada.feature-gates %s=true.",
                          gate_name(GATE_FEDERATED_QUOTA_ENFORCEMENT));
        return false;
    }
    for (size_t i = 0; i < quotas->count && i < NAMES_SHOWN; i++)
        strbuf_addf(&names, "%s%s", i ? ", " : "", quotas->items[i]->name);
    explain_paragraph(x,
                      "The scheduler does not enforce the limits of %s %s: %s is off "
                      "(--karmada.feature-gates).",
                      QUOTA_KIND, names.data, gate_name(GATE_FEDERATED_QUOTA_ENFORCEMENT));
    return false;
}

static void explain_quotas(struct explain_context *x, const struct entry_list *quotas,
                           const struct subject_load *s)
{
    bool enforced = explain_enforcement(x, quotas);

    explanation_open(x->out, "items", '[');
    for (size_t i = 0; i < quotas->count; i++) {
        explanation_open(x->out, NULL, '{');
        if (enforced) {
            explain_quota(x, quotas->items[i], s);
        } else {
            json_writer_text(&x->out->facts, "name", quotas->items[i]->name);
            explain_assignments(x, entry_quota(quotas->items[i]));
        }
        if (enforced && !s)
            explain_refused_templates(x, quotas->items[i]);
        explanation_close(x->out, '}');
    }
    explanation_close(x->out, ']');
    if (s && enforced)
        explain_refusal(x, s, quotas);
}

/*
 * Adds the section if quotas limit templates, and not all of them have been read. Returns false if
 * all have been read.
 */
static bool explain_unread_quotas(struct explain_context *x)
{
    const struct rule_context *c = engine_context_const(x->engine);

    if (!incomplete_has(&c->incomplete, QUOTA_API_VERSION, QUOTA_KIND))
        return false;
    if (!quotas_are_enforced(c->gates))
        return true;
    explain_open_section(x, "quotas", "Quotas");
    json_writer_bool(&x->out->facts, "enforced", true);
    json_writer_text(&x->out->facts, "items", NULL);
    explain_paragraph(x, "Unknown: the " QUOTA_KIND "s have not been read. Grant the exporter list "
                         "and watch of federatedresourcequotas.");
    explanation_close(x->out, '}');
    return true;
}

void explain_template_quotas(struct explain_context *x, const struct entry *template)
{
    CLEANUP(entry_list_release) struct entry_list quotas = {0};
    struct subject_load load;

    if (!*entry_ns(template))
        return;
    load = load_of_template(x, template);
    quotas_of_namespace(engine_store(x->engine), entry_ns(template), &quotas);
    if (load.then.request_count > 0 && !explain_unread_quotas(x) && quotas.count > 0) {
        explain_open_section(x, "quotas", "Quotas");
        explain_quotas(x, &quotas, &load);
        explanation_close(x->out, '}');
    }
    release_subject(x, &load);
}

size_t explain_namespace_quotas(struct explain_context *x, const char *ns)
{
    CLEANUP(entry_list_release) struct entry_list quotas = {0};

    quotas_of_namespace(engine_store(x->engine), ns, &quotas);
    if (explain_unread_quotas(x) || quotas.count == 0)
        return quotas.count;
    explain_open_section(x, "quotas", "Quotas");
    explain_quotas(x, &quotas, NULL);
    explanation_close(x->out, '}');
    return quotas.count;
}
