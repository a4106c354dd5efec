/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/explain/explain_connector.h"

#include "metrics/base/timestamp.h"
#include "metrics/expose/decision_text.h"
#include "metrics/expose/report_items.h"
#include "metrics/model/binding.h"
#include "metrics/model/store.h"
#include "metrics/model/template.h"
#include "metrics/rules/connector_conflicts.h"

enum { PLACE_MAX_BYTES = 1 << 20 };

/* ---- who refuses it ---- */

/* Who holds the lease that was refused; `cluster` is NULL where the object itself says so. */
static void explain_holder(struct explaining *x, const char *cluster, const char *holder)
{
    const char *ns = engine_namespace_of_id(x->engine, holder);
    const char *where = cluster ? cluster : "Its own status";
    struct writer *w = &x->out->facts;

    explanation_open(x->out, NULL, '{');
    writer_text(w, "cluster", cluster);
    writer_text(w, "holder", *holder ? holder : NULL);
    writer_text(w, "namespace", ns);
    if (*holder == '\0')
        explain_detail(x, "%s reports it, but not who holds the lease", where);
    else if (ns)
        explain_detail(x, "%s: the namespace %s holds the lease (id %s)", where, ns, holder);
    else
        explain_detail(x, "%s: the lease is held under the id %s, which is no namespace's here",
                       where, holder);
    explanation_close(x->out, '}');
}

static void explain_holders(struct explaining *x, const struct entry *template)
{
    const struct connector *connector = template_connector(entry_template(template));
    const struct binding *b = entry_binding(template_decision(template)->binding);

    explanation_open(x->out, "holders", '[');
    if (connector->refused_by)
        explain_holder(x, NULL, connector->refused_by);
    for (const struct member_conflict *m = b ? b->member_conflicts : NULL; m && m->cluster; m++)
        explain_holder(x, m->cluster, m->holder);
    explanation_close(x->out, ']');
}

/* The others that stand for the same cloud resource. */
static void explain_sharers(struct explaining *x, const struct entry *template)
{
    const struct entry *sharers[REPORT_SHARERS_MAX];
    size_t count = engine_sharers(x->engine, template, sharers, REPORT_SHARERS_MAX);

    for (size_t i = 0; i < count && i < REPORT_SHARERS_MAX; i++)
        explain_detail(x, "%s", explain_name(x, sharers[i]));
    if (count > REPORT_SHARERS_MAX)
        explain_detail(x, "and %zu more", count - REPORT_SHARERS_MAX);
}

/* Conflicts of a template, or of the lease on what it stands for. */
static void explain_conflicts(struct explaining *x, const struct entry *entry, unsigned conflicts)
{
    for (unsigned i = 0; i < CONNECTOR_CONFLICT_COUNT; i++) {
        CLEANUP(strbuf_release) struct strbuf subject = STRBUF_INIT(PLACE_MAX_BYTES);

        if (!(conflicts & 1u << i))
            continue;
        if (i == CONNECTOR_DUPLICATE_IDENTITY)
            strbuf_addc(&subject, ':');
        else
            connector_subject_add(x->engine, entry, i, &subject);
        explain_say(x, "%s: %s%s%s", connector_conflict_names[i], connector_conflict_texts[i],
                    subject.data, i == CONNECTOR_DUPLICATE_IDENTITY ? "" : ".");
        if (i == CONNECTOR_DUPLICATE_IDENTITY)
            explain_sharers(x, entry);
    }
}

/* ---- its lease ---- */

/* What an inventory says of the lease on its cloud resource, and what that means for it. */
static void explain_lease(struct explaining *x, const struct entry *template,
                          const struct entry *entry)
{
    static const char *const verdicts[] = {
        [VERDICT_UNPROTECTED] = "Its own namespace does not ask for a lease, and acts regardless.",
        [VERDICT_OBTAINS] = "Its own namespace obtains the lease at its next reconcile.",
        [VERDICT_KEEPS] = "That is its own namespace, which need not extend it yet.",
        [VERDICT_RENEWS] = "That is its own namespace, which extends it at its next reconcile.",
        [VERDICT_TAKES_OVER] = "Its own namespace takes it over at its next reconcile.",
        [VERDICT_REFUSED] = "Its own namespace is refused the lease.",
    };
    static const char *const endings[] = {
        [LEASE_HELD] = "",
        [LEASE_EXPIRING] = ", and should have extended it",
        [LEASE_EXPIRED] = ", and has not extended it",
        [LEASE_ABSENT] = "",
        [LEASE_UNKNOWN] = ", by a snapshot that is too old to say who does now",
    };
    const struct lease *lease = entry_lease(entry);
    const struct lease_decision *d = lease_decision(entry);
    char until[32];

    format_timestamp(lease->expires_s * 1000, until);
    if (!lease->holder)
        explain_say(x, "Nobody holds the lease on it.");
    else
        explain_say(x, "%s %s %s the lease on it%s%s%s.", d->holder_ns ? "The namespace" : "The id",
                    d->holder_ns ? d->holder_ns : lease->holder,
                    d->state == LEASE_EXPIRED || d->state == LEASE_UNKNOWN ? "held" : "holds",
                    lease->expires_s > 0 ? " until " : " without an expiration",
                    lease->expires_s > 0 ? until : "", endings[d->state]);
    if (d->state != LEASE_UNKNOWN)
        explain_detail(x, "%s", verdicts[engine_lease_verdict(x->engine, template, entry)]);
    explain_detail(x, "%s: %s%s%s", entry->name, lease_state_names[d->state],
                   lease->holder ? ", under the id " : "", lease->holder ? lease->holder : "");
    explain_conflicts(x, entry, d->conflicts);
}

/* Whether a lease protects it: what holds now, not what it asks for. */
static const char *protection_words(const struct explaining *x, const struct entry *template,
                                    const struct entry *entry)
{
    const struct connector_decision *c = template_decision(template)->connector;
    const struct lease_decision *lease = entry ? lease_decision(entry) : NULL;

    if (c->protection == PROTECTION_NONE)
        return "It asks for no lease: each controller that reconciles it overwrites the others.";
    if (c->protection == PROTECTION_UNPROTECTABLE)
        return "It asks for a lease, which this kind cannot carry: nothing protects it.";
    if (c->conflicts & 1u << CONNECTOR_REPORTED)
        return "It asks for a lease, and is refused it.";
    if (!lease)
        return "It asks for a lease; who holds it is not known here.";
    if (lease->state == LEASE_UNKNOWN)
        return "It asks for a lease; whether it still has it is not known.";
    switch (engine_lease_verdict(x->engine, template, entry)) {
    case VERDICT_KEEPS:
    case VERDICT_RENEWS:
        return lease->state == LEASE_EXPIRED
                   ? "It asks for a lease; the one it had has expired, and protects nothing."
                   : "A lease protects it.";
    case VERDICT_REFUSED:
        return "It asks for a lease, which another holds.";
    case VERDICT_TAKES_OVER:
        return "It asks for a lease; another's has expired, and protects nothing.";
    case VERDICT_OBTAINS:
    case VERDICT_UNPROTECTED:
        break;
    }
    return "It asks for a lease, and nobody holds one: nothing protects it now.";
}

/* ---- the section ---- */

/* Config Connector takes the namespace for the project of what names an empty container. */
static void add_place(struct strbuf *out, const struct entry *template)
{
    static const char *const containers[] = {
        [CONTAINER_NONE] = "",
        [CONTAINER_PROJECT] = "project",
        [CONTAINER_FOLDER] = "folder",
        [CONTAINER_ORGANIZATION] = "organization",
    };
    const struct connector_identity *id = &template_decision(template)->connector->identity;
    const struct container *container = &id->container;
    bool named = container->id && *container->id;

    if (container->kind != CONTAINER_NONE)
        strbuf_addf(out, " in the %s %s", containers[named ? container->kind : CONTAINER_PROJECT],
                    named ? container->id : entry_ns(template));
    if (id->location)
        strbuf_addf(out, ", %s", id->location);
}

static void explain_identity(struct explaining *x, const struct entry *template,
                             const char *protection)
{
    CLEANUP(strbuf_release) struct strbuf place = STRBUF_INIT(PLACE_MAX_BYTES);
    const struct connector_identity *id = &template_decision(template)->connector->identity;

    add_place(&place, template);
    if (id->unclear)
        explain_say(x, "Its fields do not say which cloud resource it stands for. %s", protection);
    else
        explain_say(x, "It stands for %s%s. %s", id->name, place.data, protection);
}

void explain_connector(struct explaining *x, const struct entry *template)
{
    const struct connector_decision *c = template_decision(template)->connector;
    const struct entry *lease = c ? engine_lease_of(x->engine, template) : NULL;
    const unsigned reported = 1u << CONNECTOR_REPORTED;

    if (!c)
        return;
    explain_section(x, "configConnector", "Config Connector");
    report_put_connector(&x->out->facts, x->engine, template);
    explain_identity(x, template, protection_words(x, template, lease));
    if (lease && lease_decision(lease))
        explain_lease(x, template, lease);
    explain_conflicts(x, template, c->conflicts & reported);
    if (c->conflicts & reported)
        explain_holders(x, template);
    explain_conflicts(x, template, c->conflicts & ~reported);
    explanation_close(x->out, '}');
}
