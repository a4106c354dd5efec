/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/explain/parts.h"

#include "metrics/base/timestamp.h"
#include "metrics/explain/differences.h"
#include "metrics/explain/field_text.h"
#include "metrics/expose/decision_text.h"
#include "metrics/expose/report_items.h"
#include "metrics/model/binding.h"
#include "metrics/model/store.h"

const char *explain_name(struct explaining *x, const struct entry *entry)
{
    struct strbuf *text = &x->names[x->turn++ % EXPLAIN_NAMES];
    const char *ns = entry_ns(entry);

    strbuf_reset(text);
    strbuf_addf(text, "%s %s%s%s", entry_kind(entry), ns, *ns ? "/" : "", entry->name);
    return text->data;
}

void explain_section(struct explaining *x, const char *key, const char *heading)
{
    explanation_open(x->out, key, '{');
    explanation_line(x->out, EXPLAIN_HEADING, "%s", heading);
}

void explain_since(struct explaining *x, int64_t since_ms)
{
    char since[32];

    if (since_ms > 0)
        format_timestamp(since_ms, since);
    report_put_time(&x->out->facts, "since", since_ms);
    if (since_ms > 0)
        explain_say(x, "Since %s, as far as the objects show.", since);
}

/* ---- fields ---- */

struct field {
    struct explaining *x;
    const char *name;
};

static void put_difference(void *context, const struct difference *d)
{
    const struct field *field = context;
    struct explaining *x = field->x;

    explanation_open(x->out, NULL, '{');
    writer_text(&x->out->facts, "path", d->path);
    writer_json(&x->out->facts, "binding", d->before);
    writer_json(&x->out->facts, "policy", d->after);
    explain_say(x, "%s%s%s:", field->name, *d->path == '\0' || *d->path == '[' ? "" : ".", d->path);
    explain_detail(x, "binding: %s", d->before ? d->before : EXPLAIN_NOT_SET);
    explain_detail(x, "policy: %s", d->after ? d->after : EXPLAIN_NOT_SET);
    explanation_close(x->out, '}');
}

/* What the policy asks for, as a binding would have it: a PriorityClass by its value. */
static const char *policy_json(const struct entry *policy, enum drift_field field,
                               struct strbuf *out)
{
    const struct policy_decision *d = policy_decision(policy);

    if (field != FIELD_SCHEDULE_PRIORITY || !d || d->priority.state != PRIORITY_VALUE)
        return explain_field_json(&entry_policy(policy)->propagation, field, out);
    strbuf_addf(out, "{\"priority\":%" PRId32 "}", d->priority.value);
    return out->data;
}

void explain_fields(struct explaining *x, unsigned fields, const struct entry *policy,
                    const struct entry *binding)
{
    const struct binding *b = entry_binding(binding);

    explanation_open(x->out, "fields", '[');
    for (unsigned i = 0; entry_policy(policy) && b && i < DRIFT_FIELD_COUNT; i++) {
        CLEANUP(strbuf_release) struct strbuf before = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);
        CLEANUP(strbuf_release) struct strbuf after = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);
        struct field field = {x, drift_field_names[i]};

        if (!(fields & 1U << i))
            continue;
        explanation_open(x->out, NULL, '{');
        writer_text(&x->out->facts, "field", field.name);
        explanation_open(x->out, "differences", '[');
        differences_each(explain_field_json(&b->propagation, i, &before),
                         policy_json(policy, i, &after), put_difference, &field);
        explanation_close(x->out, ']');
        explanation_close(x->out, '}');
    }
    explanation_close(x->out, ']');
}

void explain_assigned(struct explaining *x, const struct binding *b)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);

    report_put_assigned(&x->out->facts, b);
    for (uint32_t i = 0; b && i < b->cluster_count; i++)
        strbuf_addf(&text, "%s%s: %" PRId32, i ? ", " : "", b->clusters[i].name,
                    b->clusters[i].replicas);
    if (text.len > 0)
        explain_say(x, "Replicas now: %s.", text.data);
    if (!b || !b->has_placement || b->propagation.placement == b->applied_placement)
        return;
    writer_json(&x->out->facts, "appliedPlacement", b->applied_placement);
    explain_say(x, "The scheduler has not applied its placement yet. What it applied last:");
    explain_detail(x, "%s", b->applied_placement ? b->applied_placement : EXPLAIN_NOT_SET);
}

/* ---- who requires it ---- */

/* Null where it does not count. */
static void put_votes(struct explaining *x, const char *key, const struct vote *vote)
{
    if (!vote) {
        writer_text(&x->out->facts, key, NULL);
        return;
    }
    writer_open(&x->out->facts, key, '{');
    for (unsigned i = 0; i < DEPENDENCY_FIELD_COUNT; i++)
        report_put_value(&x->out->facts, dependency_field_names[i], i, vote->wants[i]);
    writer_close(&x->out->facts, '}');
}

/* What a referrer wants, and what it will want once its policy is applied as it is now. */
static void explain_votes(struct explaining *x, const struct ballot *ballot)
{
    put_votes(x, "wants", ballot->counts_observed ? &ballot->observed : NULL);
    put_votes(x, "willWant", ballot->counts_current ? &ballot->current : NULL);
    for (unsigned i = 0; i < DEPENDENCY_FIELD_COUNT; i++) {
        const char *now = dependency_value_name(i, ballot->observed.wants[i]);
        const char *then = dependency_value_name(i, ballot->current.wants[i]);

        if (ballot->counts_observed && ballot->counts_current && now != then)
            explain_detail(x, "%s %s, and %s once its policy is applied as it is now",
                           dependency_field_names[i], now, then);
        else
            explain_detail(x, "%s %s", dependency_field_names[i],
                           ballot->counts_observed ? now : then);
    }
}

/* By whose will a referrer wants what it wants, and where that is written. */
static void explain_origin(struct explaining *x, const struct ballot *ballot)
{
    struct policy_name policy = ballot_policy(ballot, !ballot->counts_observed);
    struct writer *w = &x->out->facts;

    report_put_policy(w, "policy", policy);
    writer_text(w, "origin",
                ballot->derived           ? "derived"
                : ballot->counts_observed ? "observed"
                                          : "predicted");
    if (policy.kind)
        explain_detail(x, "by %s %s%s%s", policy.kind, policy.ns, *policy.ns ? "/" : "",
                       policy.name);
    if (ballot->derived)
        explain_detail(x, "derived from what it refers to: it has no binding yet");
    else if (ballot->binding)
        explain_detail(x, "in %s", explain_name(x, ballot->binding));
}

static void explain_ballot(void *context, const struct ballot *ballot)
{
    struct explaining *x = context;
    bool missing = ballot->binding && !entry_exists(ballot->binding);
    const struct entry *who = ballot->template ? ballot->template : ballot->binding;

    /* Either there is a binding, or a template without. */
    assert(who);
    explanation_open(x->out, NULL, '{');
    report_put_object(&x->out->facts, who);
    if (ballot->binding)
        report_put_binding(&x->out->facts, "binding", ballot->binding);
    writer_bool(&x->out->facts, "exists", !missing);
    if (missing) {
        explain_say(x, "%s is listed, but does not exist.", explain_name(x, ballot->binding));
        explain_detail(x, "Karmada does not update the dependency's binding while it is listed");
    } else {
        explain_say(x, "%s %s:", explain_name(x, who),
                    ballot->counts_observed ? "wants" : "does not count yet, but will want");
        explain_votes(x, ballot);
        explain_origin(x, ballot);
    }
    explanation_close(x->out, '}');
}

static void explain_resolution(struct explaining *x, const struct entry *dependency,
                               enum dependency_field field)
{
    const struct field_resolution *f = &dependency_decision(dependency)->fields[field];
    struct writer *w = &x->out->facts;

    explanation_open(x->out, NULL, '{');
    writer_text(w, "field", dependency_field_names[field]);
    writer_bool(w, "conflict", f->conflict);
    report_put_value(w, "resolved", field, f->resolved);
    report_put_stored(w, dependency, field);
    writer_bool(w, "overridden", f->overridden);
    writer_bool(w, "predicted", f->predicted);
    if (f->unsupported)
        writer_bool(w, "unsupported", true);
    explain_say(x, "%s %s %s.", dependency_field_names[field],
                f->conflict ? "is in conflict, and resolves to" : "resolves to",
                dependency_value_name(field, f->resolved));
    if (f->overridden)
        explain_detail(x, "its own policy's value stands against that: %s",
                       dependency_value_name(field, f->stored));
    else if (f->unapplied)
        explain_detail(x, "its binding still has %s", dependency_value_name(field, f->stored));
    else if (f->unsupported)
        explain_detail(x,
                       "unsupported: its binding has %s, for Karmada before 1.16 takes over what "
                       "the last of them wants",
                       dependency_value_name(field, f->stored));
    if (f->predicted)
        explain_detail(x,
                       "it will be in conflict, and resolve to %s, once the policies are applied "
                       "as they are now",
                       dependency_value_name(field, f->predicted_resolved));
    explanation_close(x->out, '}');
}

void explain_required(struct explaining *x, const struct entry *dependency)
{
    const struct dependency_decision *d = dependency ? dependency_decision(dependency) : NULL;

    if (!d || d->referrers + d->dangling == 0)
        return;
    explain_section(x, "requiredBy", "Who requires it");
    explanation_open(x->out, "referrers", '[');
    engine_ballots(x->engine, dependency, explain_ballot, x);
    explanation_close(x->out, ']');
    explanation_open(x->out, "fields", '[');
    for (unsigned i = 0; i < DEPENDENCY_FIELD_COUNT; i++)
        explain_resolution(x, dependency, i);
    explanation_close(x->out, ']');
    explanation_close(x->out, '}');
}

/* ---- what is broken ---- */

void explain_defects(struct explaining *x, const struct entry *entry)
{
    unsigned defects = entry_defects(entry);

    if (defects == 0)
        return;
    explain_section(x, "broken", "What is broken");
    explanation_open(x->out, "defects", '[');
    report_defects(&x->out->facts, entry);
    explanation_close(x->out, ']');
    for (unsigned i = 0; i < DEFECT_COUNT; i++) {
        CLEANUP(strbuf_release) struct strbuf subject = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);

        if (!(defects & 1u << i))
            continue;
        defect_subject(entry, i, &subject);
        explain_say(x, "%s: %s (%s).", defect_names[i], defect_texts[i], subject.data);
    }
    explanation_close(x->out, '}');
}
