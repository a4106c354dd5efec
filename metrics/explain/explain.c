/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/explain/explain.h"

#include "metrics/explain/explain_policy.h"
#include "metrics/explain/explain_sections.h"
#include "metrics/explain/explain_template.h"
#include "metrics/expose/decision_text.h"
#include "metrics/model/binding.h"
#include "metrics/model/store.h"
#include "metrics/rules/template_state.h"

/* ---- bindings ---- */

/* Adds that the state of an object is unknown: the object has no decision yet. */
static void explain_incomplete_kind(struct explain_context *x)
{
    json_writer_text(&x->out->facts, "state", NULL);
    explain_paragraph(x, "Its state is not known: not all objects of its kind have been read yet.");
}

static void explain_bound_template(struct explain_context *x, const struct entry *entry)
{
    const struct binding_decision *d = binding_decision(entry);
    struct identity id = resource_identity_of(entry);

    explain_open_section(x, "propagates", "What it propagates");
    json_writer_open(&x->out->facts, "resource", '{');
    report_put_identity(&x->out->facts, id);
    json_writer_close(&x->out->facts, '}');
    json_writer_bool(&x->out->facts, "exists", d->template != NULL);
    explain_paragraph(
        x, "%s %s%s%s (%s)%s.", id.kind, id.ns, *id.ns ? "/" : "", id.name, id.api_version,
        d->template ? "" : ", which is not known here: it was deleted, or is not watched");
    explain_assigned_replicas(x, entry_binding(entry));
    if (entry_binding(entry)->deleting) {
        json_writer_bool(&x->out->facts, "deleting", true);
        explain_paragraph(x, "The binding is being deleted.");
    }
    explanation_close(x->out, '}');
    if (!d->template)
        return;
    explanation_open(x->out, "template", '{');
    if (d->template->decision)
        explain_state(x, d->template);
    else
        explain_incomplete_kind(x);
    explanation_close(x->out, '}');
}

static void explain_binding_policy(struct explain_context *x, const struct entry *entry)
{
    const struct binding *b = entry_binding(entry);
    const struct entry *claimed = binding_claimed_policy(entry);
    bool exists = claimed && entry_exists(claimed);
    bool cluster_scoped = entry->partition->type->def->cluster_scoped;
    unsigned fields = 0;

    explain_open_section(x, "origin", "Who made it");
    json_writer_bool(&x->out->facts, "placed", b->has_placement);
    report_put_policy(&x->out->facts, "claimed", policy_name_of(claimed));
    json_writer_bool(&x->out->facts, "claimedExists", exists);
    if (claimed)
        explain_paragraph(x, "It carries the claim of %s%s.", explain_name(x, claimed),
                          exists ? "" : ", which does not exist");
    else
        explain_paragraph(x, "It carries no policy's claim.");
    if (!b->has_placement)
        explain_paragraph(x, "It has no placement: it was made because others require it.");
    else if (!claimed)
        explain_paragraph(
            x, "It has a placement: a policy made it, and was deleted or lost it since.");
    if (exists && policy_decision(claimed) && b->has_placement) {
        fields = drift_fields(&entry_policy(claimed)->propagation,
                              &policy_decision(claimed)->priority, &b->propagation, cluster_scoped);
        explain_field_differences(x, fields, claimed, entry);
        if (fields == 0)
            explain_paragraph(x, "It says what that policy says now.");
    }
    explanation_close(x->out, '}');
}

static void explain_binding(struct explain_context *x, const struct entry *binding)
{
    const struct entry *template = binding_decision(binding)->template;

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

/* Adds the heading: the object's name, with a template's apiVersion or a binding's template. */
static void add_title(struct explain_context *x, const struct entry *entry)
{
    struct identity resource = resource_identity_of(entry);

    if (entry_class(entry) == CLASS_BINDING)
        explanation_add_line(x->out, EXPLAIN_HEADING, "%s of %s %s", explain_name(x, entry),
                             resource.kind, resource.name);
    else if (entry_class(entry) == CLASS_TEMPLATE)
        explanation_add_line(x->out, EXPLAIN_HEADING, "%s (%s)", explain_name(x, entry),
                             entry->partition->type->api_version);
    else
        explanation_add_line(x->out, EXPLAIN_HEADING, "%s", explain_name(x, entry));
}

void explain_object(struct engine *e, const struct entry *entry, int64_t now_ms,
                    struct explanation *x)
{
    const struct type *type = entry->partition->type;
    struct explain_context explain_context = {.engine = e, .now_ms = now_ms, .out = x};

    for (unsigned i = 0; i < EXPLAIN_NAMES; i++)
        explain_context.names[i] = STRBUF_INIT(NAME_MAX_BYTES);
    json_writer_text(&x->facts, "apiVersion", "karmada-policy-exporter/v1");
    json_writer_text(&x->facts, "kind", "Explanation");
    json_writer_open(&x->facts, "object", '{');
    report_put_identity(&x->facts, (struct identity){type->api_version, entry_kind(entry),
                                                     entry_ns(entry), entry->name});
    json_writer_close(&x->facts, '}');
    add_title(&explain_context, entry);
    if (entry_class(entry) == CLASS_POLICY)
        explain_policy(&explain_context, entry);
    else if (!entry->decision)
        explain_incomplete_kind(&explain_context);
    else if (entry_class(entry) == CLASS_BINDING)
        explain_binding(&explain_context, entry);
    else
        explain_template(&explain_context, entry);
    if (entry_class(entry) == CLASS_TEMPLATE && !x->without_history)
        explain_history(&explain_context, entry);
    for (unsigned i = 0; i < EXPLAIN_NAMES; i++)
        strbuf_release(&explain_context.names[i]);
}
