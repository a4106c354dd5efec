/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/explain/explain.h"

#include "metrics/base/timestamp.h"
#include "metrics/explain/explain_objects.h"
#include "metrics/explain/explain_policy.h"
#include "metrics/explain/explain_sections.h"
#include "metrics/explain/explain_template.h"
#include "metrics/expose/decision_text.h"
#include "metrics/expose/problem_text.h"
#include "metrics/model/binding.h"
#include "metrics/model/store.h"
#include "metrics/rules/prediction.h"
#include "metrics/rules/replica_projection.h"
#include "metrics/rules/template_state.h"

/* ---- lines of a problem ---- */

typedef void add_sentence_fn(const struct engine *e, const struct problem *p, struct strbuf *out);

/* Adds a sentence as a detail, after `before`. */
static void add_sentence(struct explain_context *x, const struct problem *p, const char *before,
                         add_sentence_fn *add)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);

    add(x->engine, p, &text);
    explain_detail(x, "%s%s", before, text.data);
}

/* Adds severity, problem, reason, status and beginning; the subject if it is not `entry`. */
static void add_summary(struct explain_context *x, const struct problem *p,
                        const struct entry *entry)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);
    const struct problems *ps = engine_problems(x->engine);
    const enum problem_severity severity = problem_severity(ps, problem_id(p));
    const char *reason = problem_reasons[p->reason].name;
    int64_t since_ms = problem_since_ms(ps, p);
    char since[32];

    strbuf_addf(&text, "%s: %s", severity < SEVERITY_COUNT ? severity_names[severity] : "off",
                problem_table[problem_id(p)].title);
    if (*reason)
        strbuf_addf(&text, " (%s)", reason);
    if (p->subject && p->subject != entry) {
        strbuf_adds(&text, " of ");
        problem_add_subject(p, &text);
    }
    strbuf_addf(&text, ", %s", problem_status_names[p->status]);
    if (since_ms > 0) {
        format_timestamp(since_ms, since);
        strbuf_addf(&text, "%s%s", p->since_seen ? ", first seen " : " since ", since);
    }
    explain_paragraph(x, "%s.", text.data);
}

/* Adds the problem that hides this one. */
static void add_cause_of_hidden(struct explain_context *x, const struct problem *p)
{
    CLEANUP(strbuf_release) struct strbuf subject = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);

    if (p->status != PROBLEM_HIDDEN || !p->cause)
        return;
    problem_add_subject(p->cause, &subject);
    explain_detail(x, "Hidden, because the problem '%s' of %s causes it.",
                   problem_table[problem_id(p->cause)].title, subject.data);
}

/* Names that are collected for one line. */
struct party_names {
    struct strbuf text;
    size_t count;
};

static void add_cluster(void *context, const char *cluster)
{
    struct party_names *names = context;

    strbuf_addf(&names->text, "%s%s", names->count++ ? ", " : "", cluster);
}

static void add_related(void *context, const struct entry *related)
{
    struct party_names *names = context;

    strbuf_adds(&names->text, names->count++ ? ", " : "");
    entry_add_name(&names->text, related);
}

/* Adds the member clusters and the objects that the problem involves besides its subject. */
static void add_parties(struct explain_context *x, const struct problem *p)
{
    struct party_names clusters = {STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES), 0};
    struct party_names related = {STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES), 0};

    problem_each_cluster(x->engine, p, add_cluster, &clusters);
    problem_each_related(x->engine, p, add_related, &related);
    if (clusters.count > 0)
        explain_detail(x, "Member clusters: %s.", clusters.text.data);
    if (related.count > 0)
        explain_detail(x, "Other objects: %s.", related.text.data);
    strbuf_release(&clusters.text);
    strbuf_release(&related.text);
}

static void explain_problem(struct explain_context *x, const struct problem *p,
                            const struct entry *entry)
{
    CLEANUP(strbuf_release) struct strbuf actor = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);

    problem_write(&x->out->facts, x->engine, p, &x->out->locations);
    add_summary(x, p, entry);
    add_cause_of_hidden(x, p);
    add_sentence(x, p, "", problem_add_cause);
    strbuf_addf(&actor, "Action (%s): ", actor_title(problem_actor(p)));
    add_sentence(x, p, actor.data, problem_add_action);
    add_sentence(x, p, "", problem_add_end);
    add_parties(x, p);
}

/* ---- problems of an object ---- */

/*
 * Adds the array "problems" to the open object: the problems about an object, and of a template
 * also those of its binding and the other way round, with the members of problem_write(), and their
 * lines. Open and resolving problems come first, then pending ones, then
 * those that another problem hides. The array is empty before engine_judge_problems().
 */
static void explain_problems(struct explain_context *x, const struct entry *entry)
{
    static const unsigned groups[] = {
        1U << PROBLEM_OPEN | 1U << PROBLEM_RESOLVING,
        1U << PROBLEM_PENDING,
        1U << PROBLEM_HIDDEN,
    };
    const struct problems *ps = engine_problems(x->engine);
    CLEANUP(free_cleanup) const struct problem **list = NULL;
    bool heading = false;
    size_t count = 0;

    if (ps)
        list = problems_list(ps, (1U << PROBLEM_STATUS_COUNT) - 1, &count);
    explanation_open(x->out, "problems", '[');
    x->out->section = "problemList"; /* A policy also has an object of the key "problems". */
    for (size_t group = 0; group < ARRAY_LEN(groups); group++) {
        for (size_t i = 0; i < count; i++) {
            if (!(groups[group] & 1U << list[i]->status) || !problem_is_about(list[i], entry))
                continue;
            if (!heading)
                explanation_add_line(x->out, EXPLAIN_HEADING, "Problems");
            heading = true;
            explain_problem(x, list[i], entry);
            x->judged |= list[i]->status != PROBLEM_HIDDEN;
        }
    }
    explanation_close(x->out, ']');
}

/* ---- problems of many objects ---- */

static void compare_cluster(void *context, const char *cluster)
{
    const char **wanted = context;

    if (*wanted && strcmp(*wanted, cluster) == 0)
        *wanted = NULL;
}

/* Returns true if the problem concerns the member cluster; its subject may be any object. */
static bool concerns_cluster(const struct engine *e, const struct problem *p, const char *cluster)
{
    const char *wanted = cluster;

    problem_each_cluster(e, p, compare_cluster, &wanted);
    return !wanted;
}

/* Selects problems that concern the member cluster `cluster`, or are in the namespace `ns`. */
struct problem_scope {
    const struct entry
        *cluster; /* The scope excludes problems of the cluster itself; NULL: see `ns`. */
    const char *ns;
};

static bool is_in_scope(const struct engine *e, const struct problem *p,
                        const struct problem_scope *scope)
{
    if (scope->cluster)
        return p->subject != scope->cluster && concerns_cluster(e, p, scope->cluster->name);
    return strcmp(problem_ns(p), scope->ns) == 0;
}

/*
 * Adds the array `key` with the open problems in the scope, and a line for each problem and reason
 * with its number. Returns the number of problems.
 */
static size_t explain_problems_of_many(struct explain_context *x, const char *key,
                                       const struct problem_scope *scope)
{
    const struct problems *ps = engine_problems(x->engine);
    CLEANUP(free_cleanup) const struct problem **list = NULL;
    size_t counts[PROBLEM_REASON_COUNT] = {0}, count = 0, found = 0;

    if (ps)
        list = problems_list(ps, 1U << PROBLEM_OPEN | 1U << PROBLEM_RESOLVING, &count);
    explanation_open(x->out, key, '[');
    for (size_t i = 0; i < count; i++) {
        if (!is_in_scope(x->engine, list[i], scope))
            continue;
        if (found++ == 0)
            explanation_add_line(x->out, EXPLAIN_HEADING, "%s",
                                 scope->cluster ? "Problems of templates in this cluster"
                                                : "Problems of objects in this namespace");
        counts[list[i]->reason]++;
        problem_write(&x->out->facts, x->engine, list[i], &x->out->locations);
    }
    /* The list has the most severe problems first. */
    for (size_t i = 0; i < count; i++) {
        enum problem_reason reason = list[i]->reason;
        const char *word = problem_reasons[reason].name;

        if (counts[reason] > 0)
            explain_paragraph(x, "%s: %s%s%s, %zu object%s.",
                              severity_names[problem_severity(ps, problem_id(list[i]))],
                              problem_names[problem_id(list[i])], *word ? "/" : "", word,
                              counts[reason], counts[reason] == 1 ? "" : "s");
        counts[reason] = 0;
    }
    explanation_close(x->out, ']');
    return found;
}

/* ---- bindings ---- */

/* Adds that the state of an object is unknown: the object has no decision yet. */
static void explain_incomplete_kind(struct explain_context *x)
{
    json_writer_text(&x->out->facts, "state", NULL);
    explain_paragraph(x, "The state is unknown: not all objects of the kind have been read yet.");
}

static void explain_bound_template(struct explain_context *x, const struct entry *entry)
{
    const struct binding_decision *d = binding_decision(entry);
    struct identity id = resource_identity_of(entry);

    explain_open_section(x, "propagates", "Template");
    json_writer_open(&x->out->facts, "resource", '{');
    report_put_identity(&x->out->facts, id);
    json_writer_close(&x->out->facts, '}');
    json_writer_bool(&x->out->facts, "exists", binding_decision_template(d) != NULL);
    explain_paragraph(
        x, "%s %s%s%s (%s)%s.", id.kind, id.ns, *id.ns ? "/" : "", id.name, id.api_version,
        binding_decision_template(d) ? ""
                                     : " is unknown: it was deleted, or its kind is not watched");
    explain_assigned_replicas(x, entry_binding(entry));
    if (entry_binding(entry)->deleting) {
        json_writer_bool(&x->out->facts, "deleting", true);
        explain_paragraph(x, "The binding is being deleted.");
    }
    explanation_close(x->out, '}');
    if (!binding_decision_template(d))
        return;
    explanation_open(x->out, "template", '{');
    if (entry_decision(binding_decision_template(d)))
        explain_state(x, binding_decision_template(d));
    else
        explain_incomplete_kind(x);
    explanation_close(x->out, '}');
}

static void explain_binding_policy(struct explain_context *x, const struct entry *entry)
{
    const struct binding *b = entry_binding(entry);
    const struct entry *claimed = binding_claimed_policy(entry);
    bool exists = claimed && entry_exists(claimed);
    bool cluster_scoped = entry_is_cluster_scoped(entry);
    unsigned fields = 0;

    explain_open_section(x, "origin", "Policy");
    json_writer_bool(&x->out->facts, "placed", b->has_placement);
    report_put_policy(&x->out->facts, "claimed", policy_name_of(claimed));
    json_writer_bool(&x->out->facts, "claimedExists", exists);
    if (claimed)
        explain_paragraph(x, "%s has claimed the binding%s.", explain_name(x, claimed),
                          exists ? "" : ", but does not exist any more");
    else
        explain_paragraph(x, "No policy has claimed the binding.");
    if (!b->has_placement)
        explain_paragraph(x, "The binding has no placement: other templates require its template.");
    else if (!claimed)
        explain_paragraph(
            x,
            "The binding has a placement: the policy that set it was deleted, or lost its claim.");
    if (exists && policy_decision(claimed) && b->has_placement) {
        fields = drift_fields(entry_policy(claimed)->propagation,
                              &policy_decision(claimed)->priority, b->propagation, cluster_scoped);
        explain_field_differences(x, fields, claimed, entry);
        if (fields == 0)
            explain_paragraph(x, "The binding has the present settings of that policy.");
    }
    explanation_close(x->out, '}');
}

static void explain_binding(struct explain_context *x, const struct entry *binding)
{
    const struct entry *template = binding_decision_template(binding_decision(binding));

    explain_bound_template(x, binding);
    explain_binding_policy(x, binding);
    explain_referrers(x, binding);
    explain_defects(x, binding);
    if (template && template_decision(template) &&
        template_decision(template)->state != STATE_IGNORED)
        explain_predicted_state(x, template);
}

enum { NAME_MAX_BYTES = 1 << 20 };

/* ---- objects ---- */

static void explain_member_cluster(struct explain_context *x, const struct entry *cluster)
{
    explain_problems_of_many(x, "problemsOfTemplates", &(struct problem_scope){.cluster = cluster});
    explain_cluster(x, cluster);
}

/* Adds the heading: the object's name, with a template's apiVersion or a binding's template. */
static void add_title(struct explain_context *x, const struct entry *entry)
{
    struct identity resource = resource_identity_of(entry);
    const char *ns = entry_ns(entry);

    if (entry_class(entry) == CLASS_BINDING)
        explanation_add_line(x->out, EXPLAIN_HEADING, "%s of %s %s", explain_name(x, entry),
                             resource.kind, resource.name);
    else if (entry_class(entry) == CLASS_TEMPLATE)
        explanation_add_line(x->out, EXPLAIN_HEADING, "%s %s%s%s (%s)", entry_kind(entry), ns,
                             *ns ? "/" : "", entry->name, entry_type(entry)->api_version);
    else
        explanation_add_line(x->out, EXPLAIN_HEADING, "%s", explain_name(x, entry));
}

/* Adds the head of the JSON. Returns the context; release it with end_context(). */
static struct explain_context begin_context(struct engine *e, struct identity id, int64_t now_ms,
                                            struct explanation *x)
{
    struct explain_context context = {.engine = e, .now_ms = now_ms, .out = x};

    for (unsigned i = 0; i < EXPLAIN_NAMES; i++)
        context.names[i] = STRBUF_INIT(NAME_MAX_BYTES);
    json_writer_text(&x->facts, "apiVersion", "karmada-policy-exporter/v1");
    json_writer_text(&x->facts, "kind", "Explanation");
    report_put_release(&x->facts, engine_release(e));
    json_writer_open(&x->facts, "object", '{');
    report_put_identity(&x->facts, id);
    json_writer_close(&x->facts, '}');
    return context;
}

static void end_context(struct explain_context *context)
{
    for (unsigned i = 0; i < EXPLAIN_NAMES; i++)
        strbuf_release(&context->names[i]);
}

/* Adds the line with the releases of Karmada to the verdict. */
static void add_release(struct explain_context *x)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);

    release_range_describe(engine_release(x->engine), &text);
    x->out->section = "verdict";
    explain_paragraph(x, "%s.", text.data);
    x->out->section = NULL;
}

bool explain_namespace(struct engine *e, const char *ns, int64_t now_ms, struct explanation *x)
{
    const struct identity id = {"v1", "Namespace", "", ns};
    const struct entry *entry = store_find(engine_store(e), &id);
    struct explain_context context = begin_context(e, id, now_ms, x);
    size_t problems;
    bool has_templates;

    explanation_add_line(x, EXPLAIN_HEADING, "Namespace %s", ns);
    add_release(&context);
    problems = explain_problems_of_many(&context, "problems", &(struct problem_scope){.ns = ns});
    has_templates = explain_namespace_contents(&context, ns);
    if (entry && entry_template(entry) && entry_decision(entry))
        explain_template(&context, entry);
    end_context(&context);
    return has_templates || problems > 0 || (entry && entry_exists(entry));
}

/* Adds one line: state and stage of a template, and the number of open problems. */
static void add_verdict(struct explain_context *x, const struct entry *entry)
{
    const struct problems *ps = engine_problems(x->engine);
    const struct template_decision *d = template_decision(entry);
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);
    CLEANUP(free_cleanup) const struct problem **list = NULL;
    size_t count = 0, open = 0;

    if (ps)
        list = problems_list(ps, 1U << PROBLEM_OPEN | 1U << PROBLEM_RESOLVING, &count);
    for (size_t i = 0; i < count; i++)
        open += problem_is_about(list[i], entry);
    if (d) {
        const char *reason = reason_name(d->state, d->reason);
        const char *why = stage_reason_names[d->stages.at.reason];

        strbuf_addf(&text, "State %s%s%s, stage %s%s%s", state_names[d->state], reason ? " " : "",
                    reason ? reason : "", stage_names[d->stages.at.stage], *why ? " " : "", why);
    }
    if (ps)
        strbuf_addf(&text, "%s%zu open problem%s", text.len > 0 ? "; " : "", open,
                    open == 1 ? "" : "s");
    x->out->section = "verdict";
    if (text.len > 0)
        explain_paragraph(x, "%s.", text.data);
    x->out->section = NULL;
}

/* Adds a line about a template without a binding that Karmada will not place. */
static void add_prediction(struct explain_context *x, const struct entry *template)
{
    struct predicted predicted;
    struct projection projection;

    if (!template_decision(template) || !template_waits_for_placement(template))
        return;
    predicted = predict_template(x->engine, template, &projection);
    projection_release(store_string_pool(engine_store(x->engine)), &projection);
    if (predicted.outcome != PREDICTION_NOWHERE && predicted.outcome != PREDICTION_REFUSED)
        return;
    x->out->section = "verdict";
    explain_paragraph(x, "Prediction: %s, %s. %s", prediction_names[predicted.outcome],
                      predicted.reason, predicted_text(predicted));
    x->out->section = NULL;
}

void explain_object(struct engine *e, const struct entry *entry, int64_t now_ms,
                    struct explanation *x)
{
    struct explain_context explain_context = begin_context(e, entry_identity(entry), now_ms, x);

    add_title(&explain_context, entry);
    add_verdict(&explain_context, entry);
    add_prediction(&explain_context, entry);
    add_release(&explain_context);
    explain_problems(&explain_context, entry);
    if (entry_class(entry) == CLASS_POLICY)
        explain_policy(&explain_context, entry);
    else if (entry_class(entry) == CLASS_OVERRIDE)
        explain_override(&explain_context, entry);
    else if (entry_class(entry) == CLASS_CLUSTER)
        explain_member_cluster(&explain_context, entry);
    else if (!entry_decision(entry))
        explain_incomplete_kind(&explain_context);
    else if (entry_class(entry) == CLASS_BINDING)
        explain_binding(&explain_context, entry);
    else
        explain_template(&explain_context, entry);
    if (entry_class(entry) == CLASS_TEMPLATE && !x->without_history)
        explain_history(&explain_context, entry);
    end_context(&explain_context);
}
