/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/explain/explain_binding.h"

#include "metrics/explain/explain_next.h"
#include "metrics/explain/explain_template.h"
#include "metrics/expose/decision_text.h"
#include "metrics/model/binding.h"
#include "metrics/model/store.h"
#include "metrics/rules/drift.h"

/* ---- what it propagates ---- */

static void explain_resource(struct explaining *x, const struct entry *entry)
{
    const struct binding_decision *d = binding_decision(entry);
    struct identity id = dependency_resource(entry);

    explain_section(x, "propagates", "What it propagates");
    writer_open(&x->out->facts, "resource", '{');
    report_put_identity(&x->out->facts, id);
    writer_close(&x->out->facts, '}');
    writer_bool(&x->out->facts, "exists", d->template != NULL);
    explain_say(x, "%s %s%s%s (%s)%s.", id.kind, id.ns, *id.ns ? "/" : "", id.name, id.api_version,
                d->template ? "" : ", which is not known here: it was deleted, or is not watched");
    explain_assigned(x, entry_binding(entry));
    if (entry_binding(entry)->deleting) {
        writer_bool(&x->out->facts, "deleting", true);
        explain_say(x, "The binding is being deleted.");
    }
    explanation_close(x->out, '}');
    if (!d->template)
        return;
    explanation_open(x->out, "template", '{');
    explain_state(x, d->template);
    explanation_close(x->out, '}');
}

/* ---- by whose will ---- */

static void explain_maker(struct explaining *x, const struct entry *entry)
{
    const struct binding *b = entry_binding(entry);
    const struct entry *claimed = binding_claimed(entry);
    bool exists = claimed && entry_exists(claimed);
    bool cluster_scoped = entry->partition->type->def->cluster_scoped;
    unsigned fields = 0;

    explain_section(x, "origin", "Who made it");
    writer_bool(&x->out->facts, "placed", b->has_placement);
    report_put_policy(&x->out->facts, "claimed", policy_name_of(claimed));
    writer_bool(&x->out->facts, "claimedExists", exists);
    if (claimed)
        explain_say(x, "It carries the claim of %s%s.", explain_name(x, claimed),
                    exists ? "" : ", which does not exist");
    else
        explain_say(x, "It carries no policy's claim.");
    if (!b->has_placement)
        explain_say(x, "It has no placement: it was made because others require it.");
    else if (!claimed)
        explain_say(x, "It has a placement: a policy made it, and was deleted or lost it since.");
    if (exists && b->has_placement) {
        fields = drift_fields(&entry_policy(claimed)->propagation,
                              &policy_decision(claimed)->priority, &b->propagation, cluster_scoped);
        explain_fields(x, fields, claimed, entry);
        if (fields == 0)
            explain_say(x, "It says what that policy says now.");
    }
    explanation_close(x->out, '}');
}

void explain_binding(struct explaining *x, const struct entry *binding)
{
    const struct entry *template = binding_decision(binding)->template;

    explain_resource(x, binding);
    explain_maker(x, binding);
    explain_required(x, binding);
    explain_defects(x, binding);
    if (template && template_decision(template) &&
        template_decision(template)->state != STATE_IGNORED)
        explain_next(x, template);
}
