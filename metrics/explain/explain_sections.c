/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/explain/explain_sections.h"

#include "metrics/rules/admission/admission.h"

#include "metrics/base/timestamp.h"
#include "metrics/expose/decision_text.h"
#include "metrics/expose/report.h"
#include "metrics/expose/report_items.h"
#include "metrics/expose/report_parts.h"
#include "metrics/model/binding.h"
#include "metrics/model/store.h"
#include "metrics/model/template.h"
#include "metrics/rules/connector_conflicts.h"
#include "metrics/rules/overrides.h"
#include "metrics/simulate/reconcile.h"

enum { PLACE_MAX_BYTES = 1 << 20 };

/* ---- admission ---- */

/* Appends the releases of a finding, such as "1.15, 1.16", if not all of the range have it. */
static void add_finding_releases(release_set releases, release_set asked, struct strbuf *out)
{
    if ((releases & asked) == asked)
        return;
    strbuf_adds(out, "Karmada ");
    for (unsigned i = 0, count = 0; i < RELEASE_COUNT; i++) {
        if (releases & asked & 1U << i)
            strbuf_addf(out, "%s%s", count++ > 0 ? ", " : "", release_name((enum release)i));
    }
    strbuf_adds(out, ": ");
}

static void explain_finding(struct explain_context *x, const struct admission_finding *f,
                            release_set asked)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);
    struct json_writer *w = &x->out->facts;

    explanation_open(x->out, NULL, '{');
    json_writer_text(w, "field", f->field);
    json_writer_text(w, "text", f->text);
    json_writer_bool(w, "dropped", f->pruned);
    json_writer_open(w, "releases", '[');
    for (unsigned i = 0; i < RELEASE_COUNT; i++) {
        if (f->releases & asked & 1U << i)
            json_writer_text(w, NULL, release_name((enum release)i));
    }
    json_writer_close(w, ']');
    explanation_close(x->out, '}');
    add_finding_releases(f->releases, asked, &text);
    strbuf_addf(&text, "the API server %s: %s%s%s.",
                f->pruned ? "drops a field" : "refuses a write", f->field, *f->field ? " " : "",
                f->text);
    if (text.data[0] == 't')
        text.data[0] = 'T';
    explain_paragraph(x, "%s", text.data);
}

void explain_admission(struct explain_context *x, const struct entry *entry)
{
    const struct admission *a = admission_of_entry(entry);
    struct release_range range = engine_context_const(x->engine)->release;
    release_set asked = release_range_set(range);

    if (!a || ((a->refused | a->pruned) & asked) == 0)
        return;
    explain_open_section(x, "admission", "Admission by the API server");
    explanation_open(x->out, "findings", '[');
    for (uint32_t i = 0; i < a->count; i++) {
        if (a->items[i].releases & asked)
            explain_finding(x, &a->items[i], asked);
    }
    explanation_close(x->out, ']');
    if (a->stored && admission_refuses(a, range) == RELEASE_ANSWER_YES)
        explain_paragraph(x, "The stored object stays in force until its next write.");
    explanation_close(x->out, '}');
}

/* ---- conflicts between resources of Google Config Connector ---- */

/*
 * Adds the holder of the lease that Config Connector was refused: an id of a namespace, "" if
 * unknown. `cluster` is the member cluster that reports the refusal; NULL if the status of the
 * template itself reports it.
 */
static void explain_holder(struct explain_context *x, const char *cluster, const char *holder)
{
    const char *ns = engine_namespace_of_id(x->engine, holder);
    const char *where = cluster ? cluster : "The template's own status";
    struct json_writer *w = &x->out->facts;

    explanation_open(x->out, NULL, '{');
    json_writer_text(w, "cluster", cluster);
    json_writer_text(w, "holder", *holder ? holder : NULL);
    json_writer_text(w, "namespace", ns);
    if (*holder == '\0')
        explain_detail(x, "%s reports the conflict, without the holder of the lease", where);
    else if (ns)
        explain_detail(x, "%s: the namespace %s holds the lease (id %s)", where, ns, holder);
    else
        explain_detail(x, "%s: the id %s holds the lease; no namespace has this id", where, holder);
    explanation_close(x->out, '}');
}

static void explain_reported_holders(struct explain_context *x, const struct entry *template)
{
    const struct connector *connector = template_connector(entry_template(template));
    const struct binding *b = entry_binding(decision_binding(template_decision(template)));

    explanation_open(x->out, "holders", '[');
    if (connector->conflict_holder)
        explain_holder(x, NULL, connector->conflict_holder);
    for (const struct member_conflict *m = b ? binding_rare(b)->member_conflicts : NULL;
         m && m->cluster; m++)
        explain_holder(x, m->cluster, m->holder);
    explanation_close(x->out, ']');
}

/*
 * Adds the other templates that represent the same cloud resource: at most REPORT_SHARERS_MAX by
 * name, the rest as a number.
 */
static void explain_same_resource_templates(struct explain_context *x, const struct entry *template)
{
    const struct entry *sharers[REPORT_SHARERS_MAX];
    size_t count = engine_same_resource_templates(x->engine, template, sharers, REPORT_SHARERS_MAX);

    for (size_t i = 0; i < count && i < REPORT_SHARERS_MAX; i++)
        explain_detail(x, "%s", explain_name(x, sharers[i]));
    if (count > REPORT_SHARERS_MAX)
        explain_detail(x, "and %zu more", count - REPORT_SHARERS_MAX);
}

/*
 * Adds the conflicts of `entry`: a template, or the lease on its cloud resource. `conflicts` are
 * bits by enum connector_conflict.
 */
static void explain_connector_conflicts(struct explain_context *x, const struct entry *entry,
                                        unsigned conflicts)
{
    for (unsigned i = 0; i < CONNECTOR_CONFLICT_COUNT; i++) {
        CLEANUP(strbuf_release) struct strbuf subject = STRBUF_INIT(PLACE_MAX_BYTES);

        if (!(conflicts & 1u << i))
            continue;
        if (i == CONNECTOR_DUPLICATE_IDENTITY)
            strbuf_addc(&subject, ':');
        else
            connector_conflict_add_subject(x->engine, entry, i, &subject);
        explain_paragraph(x, "%s: %s%s%s", connector_conflict_names[i], connector_conflict_texts[i],
                          subject.data, i == CONNECTOR_DUPLICATE_IDENTITY ? "" : ".");
        if (i == CONNECTOR_DUPLICATE_IDENTITY)
            explain_same_resource_templates(x, entry);
    }
}

/* ---- lease on the cloud resource of a Google Config Connector object ---- */

/* Adds the lease `entry` on the cloud resource of a template, and its effect on the template. */
static void explain_lease(struct explain_context *x, const struct entry *template,
                          const struct entry *entry)
{
    static const char *const verdicts[] = {
        [VERDICT_UNPROTECTED] = "The template's namespace requests no lease, and reconciles the "
                                "resource without one.",
        [VERDICT_OBTAINS] = "The template's namespace obtains the lease at its next reconcile.",
        [VERDICT_KEEPS] =
            "The holder is the template's namespace; the lease need not be renewed yet.",
        [VERDICT_RENEWS] =
            "The holder is the template's namespace, which renews the lease at its next reconcile.",
        [VERDICT_TAKES_OVER] = "The template's namespace takes over the lease at its next "
                               "reconcile.",
        [VERDICT_REFUSED] =
            "Config Connector does not obtain the lease for the template's namespace.",
    };
    static const char *const endings[] = {
        [LEASE_HELD] = "",
        [LEASE_EXPIRING] = ", and is late to renew it",
        [LEASE_EXPIRED] = ", and has not renewed it",
        [LEASE_ABSENT] = "",
        [LEASE_UNKNOWN] =
            " according to an asset export that is too old to show the present holder",
    };
    const struct lease *lease = entry_lease(entry);
    const struct lease_decision *d = lease_decision(entry);
    char until[32];

    format_timestamp(lease->expires_s * 1000, until);
    if (!lease->holder)
        explain_paragraph(x, "No namespace holds the lease on the cloud resource.");
    else
        explain_paragraph(x, "%s %s %s the lease on the cloud resource%s%s%s.",
                          d->holder_ns ? "The namespace" : "The id",
                          d->holder_ns ? d->holder_ns : lease->holder,
                          d->state == LEASE_EXPIRED || d->state == LEASE_UNKNOWN ? "held" : "holds",
                          lease->expires_s > 0 ? " until " : " without an expiration",
                          lease->expires_s > 0 ? until : "", endings[d->state]);
    if (d->state != LEASE_UNKNOWN &&
        decision_connector(template_decision(template))->protection != PROTECTION_INVALID)
        explain_detail(x, "%s", verdicts[engine_lease_verdict(x->engine, template, entry)]);
    explain_detail(x, "%s: %s%s%s", entry->name, lease_state_names[d->state],
                   lease->holder ? ", under the id " : "", lease->holder ? lease->holder : "");
    explain_connector_conflicts(x, entry, d->conflicts);
}

/*
 * Returns a sentence that says whether a lease protects the template now. `entry` is the lease, or
 * NULL. A request alone does not protect it.
 */
static const char *lease_protection_text(const struct explain_context *x,
                                         const struct entry *template, const struct entry *entry)
{
    const struct connector_decision *c = decision_connector(template_decision(template));
    const struct lease_decision *lease = entry ? lease_decision(entry) : NULL;

    if (c->protection == PROTECTION_NONE)
        return "The template requests no lease: each controller that reconciles "
               "the resource overwrites the others.";
    if (c->protection == PROTECTION_INVALID)
        return "Its conflict prevention policy is invalid: Config Connector refuses the template, "
               "and no controller reconciles the resource through it.";
    if (c->protection == PROTECTION_UNPROTECTABLE)
        return "The template requests a lease, but its kind does not support leases: no lease "
               "protects the resource.";
    if (c->conflicts & 1u << CONNECTOR_REPORTED)
        return "The template requests a lease, but Config Connector could not obtain it.";
    if (!lease)
        return "The template requests a lease; the holder is unknown.";
    if (lease->state == LEASE_UNKNOWN)
        return "The template requests a lease; the exporter has no current data "
               "about the holder.";
    switch (engine_lease_verdict(x->engine, template, entry)) {
    case VERDICT_KEEPS:
    case VERDICT_RENEWS:
        return lease->state == LEASE_EXPIRED ? "The template requests a lease. The lease has "
                                               "expired and does not protect the resource."
                                             : "A lease protects the resource.";
    case VERDICT_REFUSED:
        return "The template requests a lease that another namespace holds.";
    case VERDICT_TAKES_OVER:
        return "The template requests a lease; the lease of another namespace has "
               "expired.";
    case VERDICT_OBTAINS:
    case VERDICT_UNPROTECTED:
        break;
    }
    return "The template requests a lease that no namespace holds: no lease "
           "protects the resource now.";
}

/* ---- section about Google Config Connector ---- */

/*
 * Appends the container of the cloud resource, unless it is CONTAINER_NONE, and the location, if
 * known. If the container has no name, Config Connector uses the namespace as the project.
 */
static void add_cloud_container(struct strbuf *out, const struct entry *template)
{
    static const char *const containers[] = {
        [CONTAINER_NONE] = "",
        [CONTAINER_PROJECT] = "project",
        [CONTAINER_FOLDER] = "folder",
        [CONTAINER_ORGANIZATION] = "organization",
    };
    const struct connector_identity *id =
        &decision_connector(template_decision(template))->identity;
    const struct container *container = &id->container;
    bool named = container->id && *container->id;

    if (container->kind != CONTAINER_NONE)
        strbuf_addf(out, " in the %s %s", containers[named ? container->kind : CONTAINER_PROJECT],
                    named ? container->id : entry_ns(template));
    if (id->location)
        strbuf_addf(out, ", %s", id->location);
}

static void explain_cloud_identity(struct explain_context *x, const struct entry *template,
                                   const char *protection)
{
    CLEANUP(strbuf_release) struct strbuf place = STRBUF_INIT(PLACE_MAX_BYTES);
    const struct connector_identity *id =
        &decision_connector(template_decision(template))->identity;

    add_cloud_container(&place, template);
    if (id->placeholder)
        explain_paragraph(
            x,
            "The identity of the cloud resource is unknown until the placeholders in "
            "its name, container or location, such as ${PROJECT}, are substituted. %s",
            protection);
    else if (id->unclear)
        explain_paragraph(x, "The fields of the template do not identify the cloud resource. %s",
                          protection);
    else
        explain_paragraph(x, "The template declares %s%s. %s", id->name, place.data, protection);
}

void explain_connector(struct explain_context *x, const struct entry *template)
{
    const struct connector_decision *c = decision_connector(template_decision(template));
    const struct entry *lease = c ? engine_lease_of(x->engine, template) : NULL;
    const unsigned reported = 1u << CONNECTOR_REPORTED;

    if (!c)
        return;
    explain_open_section(x, "configConnector", "Config Connector");
    report_put_connector(&x->out->facts, x->engine, template);
    explain_cloud_identity(x, template, lease_protection_text(x, template, lease));
    if (lease && lease_decision(lease))
        explain_lease(x, template, lease);
    explain_connector_conflicts(x, template, c->conflicts & reported);
    if (c->conflicts & reported)
        explain_reported_holders(x, template);
    explain_connector_conflicts(x, template, c->conflicts & ~reported);
    explanation_close(x->out, '}');
}

/* ---- history of a template ---- */

enum { TRANSITIONS_MAX = 20, TEXT_MAX_BYTES = 16 * 1024 };

static void explain_transition(struct explain_context *x, const struct transition *t)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX_BYTES);
    char time[32];

    transition_write(&x->out->facts, t);
    format_timestamp(t->time_ms, time);
    transition_add_text(&text, t);
    explain_detail(x, "%s: %s. %s", time, text.data, cause_texts[t->cause]);
}

void explain_history(struct explain_context *x, const struct entry *template)
{
    const struct transitions *t = engine_transitions(x->engine);
    uint64_t below = UINT64_MAX;
    struct transition next;
    unsigned count = 0;
    char since[32];

    if (!t)
        return;
    explain_open_section(x, "history", "History");
    report_put_time(&x->out->facts, "since", transitions_complete_since_ms(t));
    format_timestamp(transitions_complete_since_ms(t), since);
    explain_paragraph(x,
                      "The history is complete since %s; a restart or a reload of the "
                      "exporter clears it.",
                      since);
    explanation_open(x->out, "transitions", '[');
    while (count < TRANSITIONS_MAX && transitions_next_of_template(t, template, &below, &next)) {
        explain_transition(x, &next);
        count++;
    }
    explanation_close(x->out, ']');
    if (count == 0)
        explain_paragraph(x, "The state and the stage have not changed since.");
    if (count == TRANSITIONS_MAX)
        explain_paragraph(x, "Older transitions may exist: see /api/v1/history.");
    explanation_close(x->out, '}');
}

/* ---- a user's next change of a template ---- */

/* Adds the clusters of an outcome with their replicas, or why they are undetermined. */
static void explain_outcome_clusters(struct explain_context *x, const struct outcome *o)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);

    if (o->undetermined != UNDETERMINED_REASON_COUNT) {
        explain_detail(x, "clusters undetermined (%s): %s",
                       undetermined_reason_names[o->undetermined],
                       undetermined_text(o->undetermined));
        if (outcome_by_release(o))
            explain_detail(x, "by release: %s", outcome_by_release(o));
        return;
    }
    for (uint32_t i = 0; i < o->cluster_count; i++)
        strbuf_addf(&text, "%s%s: %" PRId32 "%s", i ? ", " : "", o->clusters[i].name,
                    o->clusters[i].replicas, o->clusters[i].item.suspended ? " (suspended)" : "");
    if (text.len > 0)
        explain_detail(x, "on %s", text.data);
}

/* Adds a predicted outcome that is no success: the sentence about the state would describe one. */
static void explain_failure(struct explain_context *x, const char *words, struct predicted p)
{
    explain_paragraph(x, "%s: %s, %s.", words, prediction_names[p.outcome], p.reason);
    explain_detail(x, "%s", predicted_text(p));
}

/* Adds a predicted state with policy and clusters; `words` say when or why it is reached. */
static void explain_outcome(struct explain_context *x, const char *words, const struct outcome *o)
{
    const struct template_decision then = {.state = o->state, .reason = o->reason & 15};
    const char *reason = reason_name(o->state, o->reason);

    if (failed_outcome_text(o)) {
        explain_failure(x, words, o->predicted);
    } else {
        explain_paragraph(x, "%s: %s%s%s.", words, state_names[o->state], reason ? ", " : "",
                          reason ? reason : "");
        explain_detail(x, "%s", state_text(&then));
    }
    if (o->policy)
        explain_detail(x, "by %s", explain_name(x, o->policy));
    explain_outcome_clusters(x, o);
}

/* Context of explain_next_change(). */
struct next {
    struct explain_context *x;
    bool late;                   /* Karmada's pending work is overdue. */
    struct predicted dependency; /* Outcome of a dependency that waits for its referrers. */
    enum next_change_note why;
};

static void explain_assumptions(struct explain_context *x, unsigned assumptions)
{
    json_writer_bit_names(&x->out->facts, "assumptions", assumptions, assumption_texts);
    for (unsigned i = 0; i < ASSUMPTION_COUNT; i++) {
        if (assumptions & 1u << i)
            explain_paragraph(x, "Assumed: %s", assumption_texts[i]);
    }
}

/* Returns true if the template is stale because its binding lacks the user's last change. */
static bool lacks_user_change(const struct outcome *o)
{
    return o->state == STATE_STALE && o->reason == STALE_TEMPLATE_UPDATED;
}

/* Adds that a restart of Karmada has the effect of a user's change, which has the outcome `o`. */
static void explain_restart(struct explain_context *x, const struct outcome *o)
{
    if (o->state == STATE_PENDING)
        explain_paragraph(x, "A restart of Karmada's controllers also delivers the change.");
    else
        explain_paragraph(x, "A restart of Karmada's controllers has the same effect.");
}

/* Adds the outcome of Karmada's pending work, then the outcome of the user's next change. */
static void explain_next_change(void *context, const struct next_change *f)
{
    const struct next *next = context;
    struct explain_context *x = next->x;
    struct json_writer *w = &x->out->facts;
    /* `moves`: the outcome changes by itself; `waits`: it changes with a change by the user. */
    bool moves = !outcome_equal(&f->now, &f->rest);
    bool waits = !outcome_equal(&f->rest, &f->next);
    bool static_takeover = engine_takeover(x->engine) == TAKEOVER_STATIC;

    json_writer_text(w, "when",
                     plan_when_names[moves   ? PLAN_AT_ONCE
                                     : waits ? PLAN_AT_NEXT_CHANGE
                                             : PLAN_NEVER]);
    json_writer_bool(w, "settled", f->settled);
    report_put_outcome(w, "atRest", &f->rest);
    report_put_outcome(w, "afterNextChange", &f->next);
    if (!f->settled)
        explain_paragraph(
            x, "The simulation did not reach a stable state: later changes are missing.");
    if (moves && next->late)
        explain_outcome(x, "Overdue change by Karmada", &f->rest);
    else if (moves)
        explain_outcome(x, "Pending change by Karmada", &f->rest);
    else
        explain_paragraph(x, "Karmada changes nothing until a user changes the template.");
    if (moves && next->late)
        explain_paragraph(x, "A restart of Karmada's controllers, or the user's next change of the "
                             "template, makes Karmada try again.");
    if (waits || failed_outcome_text(&f->next))
        explain_outcome(x, "After the user's next change of the template", &f->next);
    if (!waits && next->dependency.outcome == PREDICTION_NOWHERE)
        explain_failure(x, "After the user's next change of the template", next->dependency);
    if (failed_outcome_text(&f->next) || next->dependency.outcome == PREDICTION_NOWHERE)
        return explain_assumptions(x, moves || waits ? f->assumptions : 0);
    if (!waits || lacks_user_change(&f->next))
        explain_paragraph(x, "%s", next_change_note_text(&f->next, next->why, static_takeover));
    else if ((!moves || f->next.state == STATE_PENDING) && !static_takeover &&
             f->next.state != STATE_STALE)
        explain_restart(x, &f->next);
    explain_assumptions(x, moves || waits ? f->assumptions : 0);
}

/* Returns true if the present content of the binding does not run in all its member clusters. */
static bool is_delivery_blocked(enum stage delivery)
{
    return delivery < STAGE_UNHEALTHY && delivery != STAGE_PLACED_NOWHERE;
}

void explain_predicted_state(struct explain_context *x, const struct entry *template)
{
    const struct template_decision *d = template_decision(template);
    struct next next = {
        .x = x,
        .late = d->state == STATE_STALE && d->phase == PHASE_OVERDUE,
        .why = next_change_note_of(d, template),
    };

    if (d->state == STATE_ATTACHED && template_waits_for_placement(template)) {
        struct projection projection;

        next.dependency = predict_template(x->engine, template, &projection);
        projection_release(store_string_pool(engine_store(x->engine)), &projection);
    }
    explain_open_section(x, "next", "Next change");
    if (is_delivery_blocked(d->stages.delivery.stage))
        explain_paragraph(x, "This section is about the binding. The section Stage states why the "
                             "binding is not delivered.");
    next_change_predict_outcomes(x->engine, template, explain_next_change, &next);
    explanation_close(x->out, '}');
}
