/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/explain/explain_template.h"

#include "metrics/explain/explain_connector.h"
#include "metrics/explain/explain_next.h"
#include "metrics/explain/explain_overrides.h"
#include "metrics/explain/explain_selection.h"
#include "metrics/explain/explain_versions.h"
#include "metrics/explain/explain_way.h"
#include "metrics/expose/decision_text.h"
#include "metrics/model/binding.h"
#include "metrics/model/store.h"
#include "metrics/model/template.h"
#include "metrics/rules/drift.h"
#include "metrics/rules/object_index.h"

void explain_state(struct explaining *x, const struct entry *template)
{
    const struct template_decision *d = template_decision(template);
    const char *reason = reason_name(d->state, d->reason);
    const char *phase = d->state == STATE_STALE ? phase_names[d->phase] : NULL;
    enum takeover takeover = engine_takeover(x->engine);
    enum actor actor = explain_actor(d, takeover);
    struct writer *w = &x->out->facts;

    writer_text(w, "state", state_names[d->state]);
    writer_text(w, "reason", reason);
    writer_text(w, "phase", phase);
    writer_text(w, "actor", actor_names[actor]);
    explanation_line(x->out, EXPLAIN_HEADING, "State: %s%s%s%s%s", state_names[d->state],
                     reason ? ", " : "", reason ? reason : "", phase ? ", " : "",
                     phase ? phase : "");
    explain_say(x, "%s", explain_state_words(d));
    if (d->state == STATE_STALE)
        explain_say(x, "%s", explain_phase_words(d, takeover, template_claim_holds(template)));
    if (d->binding && explain_obstacle(d))
        explain_say(x, "%s %s.", explain_name(x, d->governing), explain_obstacle(d));
    else if (d->state == STATE_STALE && d->reason == STALE_TEMPLATE_UPDATED)
        explain_say(x, "Nothing that is seen here keeps it from that: do its controllers run?");
    writer_bool(w, "unread", entry_template(template)->unread);
    if (entry_template(template)->unread)
        explain_say(x, "It may not be read here: all that is said of it comes from its binding.");
    writer_names(w, "flags", d->flags, template_flag_names);
    for (unsigned i = 0; i < TEMPLATE_FLAG_COUNT; i++) {
        if (d->flags & 1U << i)
            explain_say(x, "%s", template_flag_texts[i]);
    }
    explain_since(x, d->since_ms);
    if (actor != ACTOR_NOBODY)
        explain_say(x, "Who must act: %s.", explain_actor_words(actor));
}

/* ---- who governs it ---- */

static void explain_claim(struct explaining *x, const struct entry *template)
{
    const struct template_decision *d = template_decision(template);
    struct writer *w = &x->out->facts;

    explain_section(x, "governance", "Who governs it");
    report_put_policy(w, "claimed", policy_name_of(d->claimed));
    if (d->claimed) {
        const char *place = d->own_claim ? "template" : "binding";
        bool exists = entry_exists(d->claimed);
        bool holds = template_claim_holds(template);

        writer_bool(w, "claimedExists", exists);
        writer_bool(w, "claimHolds", holds);
        writer_text(w, "claimedOn", place);
        explain_say(x, "%s%s has its claim on the %s.", explain_name(x, d->claimed),
                    !exists ? ", which does not exist,"
                    : holds ? ""
                            : ", under another id than it has now,",
                    place);
    } else {
        explain_say(x, "No policy has a claim on it.");
    }
    if (entry_template(template)->half_claim)
        explain_say(x, "It has the id of a claim, but not the rest: to Karmada that is no claim, "
                       "and it matches it anew at each change.");
    explain_version_of(x, template);
    report_put_policy(w, "governing", policy_name_of(d->governing));
    if (d->governing)
        explain_say(x, "%s governs it: %s", explain_name(x, d->governing),
                    explain_governing_words(d, engine_takeover(x->engine)));
    else
        explain_say(x, "No policy governs it.");
    explanation_close(x->out, '}');
}

/* ---- its binding ---- */

static void explain_projected(struct explaining *x, const struct capacity *c)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);

    report_put_projected(&x->out->facts, c);
    if (!c || !c->governed)
        return;
    for (uint32_t i = 0; i < c->projection.count; i++)
        strbuf_addf(&text, "%s%s: %" PRId32, i ? ", " : "", c->projection.clusters[i].name,
                    c->projection.clusters[i].replicas);
    if (!c->projection.determined)
        explain_say(x, "Replicas under the governing policy: undetermined (%s), %s.",
                    undetermined_reason_names[c->projection.reason],
                    explain_undetermined_words(c->projection.reason));
    else
        explain_say(x, "Replicas under the governing policy: %s.", text.len ? text.data : "none");
}

/* What the governing policy would change in a binding that it has yet to apply itself to. */
static unsigned fields_of(const struct template_decision *d, const struct binding *b)
{
    const struct policy *policy = entry_policy(d->governing);

    if (d->state != STATE_STALE || !policy || !b->has_placement)
        return 0;
    return drift_fields(&policy->propagation, &policy_decision(d->governing)->priority,
                        &b->propagation, d->binding->partition->type->def->cluster_scoped);
}

static void explain_binding_of(struct explaining *x, const struct entry *template)
{
    const struct template_decision *d = template_decision(template);
    const struct binding *b = entry_binding(d->binding);

    if (!b)
        return;
    explain_section(x, "binding", "Its binding");
    report_put_object(&x->out->facts, d->binding);
    writer_bool(&x->out->facts, "placed", b->has_placement);
    explain_say(x, "%s %s.", explain_name(x, d->binding),
                b->has_placement ? "was made by a policy" : "has no placement: others require it");
    explain_fields(x, d->fields | fields_of(d, b), d->governing, d->binding);
    explain_assigned(x, b);
    if (d->state == STATE_STALE)
        explain_projected(x, d->capacity);
    explanation_close(x->out, '}');
}

/* ---- what it needs ---- */

/* Whether anybody propagates a dependency. */
static const char *dependency_words(const struct entry *dependency)
{
    const struct template_decision *d = dependency ? template_decision(dependency) : NULL;

    if (!d || !entry_exists(dependency))
        return "is not known here: it does not exist, or its kind is not watched";
    switch (d->state) {
    case STATE_ATTACHED:
        return "is propagated with those that require it";
    case STATE_CURRENT:
    case STATE_STALE:
    case STATE_UNBOUND:
        return "is propagated by a policy of its own";
    case STATE_ORPHANED:
        return "is left behind by a policy of its own, and keeps running";
    case STATE_PENDING:
        return "is propagated by nobody";
    case STATE_IGNORED:
        return "is never propagated: Karmada does not consider it";
    case STATE_COUNT:
        break;
    }
    abort();
}

static void explain_dependency(struct explaining *x, const struct identity *id)
{
    const struct entry *dependency = store_find(engine_store(x->engine), id);
    const struct template_decision *d = dependency ? template_decision(dependency) : NULL;

    explanation_open(x->out, NULL, '{');
    report_put_identity(&x->out->facts, *id);
    writer_text(&x->out->facts, "state",
                d && entry_exists(dependency) ? state_names[d->state] : NULL);
    explain_say(x, "%s %s%s%s (%s) %s", id->kind, id->ns, *id->ns ? "/" : "", id->name,
                id->api_version, dependency_words(dependency));
    explanation_close(x->out, '}');
}

/* What its spec refers to, else what Karmada noted on its binding. False if neither is known. */
static bool explain_references(struct explaining *x, const struct entry *template)
{
    const struct template *t = entry_template(template);
    const struct binding *b = entry_binding(template_decision(template)->binding);
    const struct noted_dependencies *noted = b && !t->references_known ? b->noted : NULL;
    uint32_t told = 0;

    explanation_open(x->out, "items", '[');
    for (uint32_t i = 0; i < t->reference_count; i++) {
        const struct reference *r = &t->references[i];

        /* What is meant by a label has no name. */
        if (r->to->label_key)
            continue;
        explain_dependency(
            x, &(struct identity){r->to->api_version, r->to->kind, entry_ns(template), r->name});
        told++;
    }
    for (uint32_t i = 0; noted && i < noted->count; i++, told++)
        explain_dependency(x, &noted->items[i]);
    explanation_close(x->out, ']');
    if (told == 0 && (t->references_known || noted))
        explain_say(x, "Nothing that is known.");
    return t->references_known || noted;
}

/* By its policy, with it. */
static const char *propagated_words(const struct template_decision *d)
{
    if (!d->governing)
        return "No policy governs it, so nothing propagates this with it.";
    if (d->flags & 1U << FLAG_DEPENDENCIES_STAY)
        return template_flag_texts[FLAG_DEPENDENCIES_STAY];
    if (!d->propagates)
        return "Its policy does not propagate this with it: propagateDeps is not set.";
    return "Its policy propagates this with it (propagateDeps).";
}

static void explain_dependencies(struct explaining *x, const struct entry *template)
{
    const struct template_decision *d = template_decision(template);
    const struct template *t = entry_template(template);

    if (t->reference_count == 0 && !d->propagates)
        return;
    explain_section(x, "dependencies", "What it needs");
    if (!explain_references(x, template))
        explain_say(x, "Not known: its spec has not been read, and its binding does not say.");
    writer_bool(&x->out->facts, "propagated", d->propagates);
    explain_say(x, "%s", propagated_words(d));
    explanation_close(x->out, '}');
}

void explain_template(struct explaining *x, const struct entry *template)
{
    const struct template_decision *d = template_decision(template);

    explain_state(x, template);
    if (d->state == STATE_IGNORED)
        return;
    explain_way(x, template);
    explain_selection(x, template);
    explain_claim(x, template);
    explain_binding_of(x, template);
    explain_overrides_of(x, template);
    explain_required(x, d->dependency ? template : d->binding);
    explain_dependencies(x, template);
    explain_defects(x, template);
    explain_connector(x, template);
    explain_next(x, template);
}
