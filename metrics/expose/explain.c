/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/explain.h"

#include "metrics/base/timestamp.h"
#include "metrics/expose/connector_words.h"
#include "metrics/expose/explain_words.h"
#include "metrics/model/binding.h"
#include "metrics/model/object.h"
#include "metrics/model/template.h"
#include "metrics/rules/connector.h"

enum { LINE_MAX_BYTES = 1 << 20 };

struct explanation {
    const struct engine *engine;
    explain_fn *line; /* Receives the lines. */
    void *context;
    struct strbuf text; /* Memory for full_name and the like. */
};

static void emit(struct explanation *x, enum explain_style style, const char *fmt, ...)
    PRINTF_LIKE(3, 4);

static void emit(struct explanation *x, enum explain_style style, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    int len = vsnprintf(NULL, 0, fmt, args);
    va_end(args);

    CLEANUP(free_cleanup) char *text = xmalloc((size_t)len + 1);
    va_start(args, fmt);
    vsnprintf(text, (size_t)len + 1, fmt, args);
    va_end(args);
    x->line(x->context, style, text);
}

/* "Deployment default/web"; true until the next call. */
static const char *full_name(struct explanation *x, const struct entry *entry)
{
    const char *ns = entry_ns(entry);

    strbuf_reset(&x->text);
    strbuf_addf(&x->text, "%s %s%s%s", entry_kind(entry), ns, *ns ? "/" : "", entry->name);
    return x->text.data;
}

static void explain_state(struct explanation *x, const struct template_decision *d)
{
    const char *reason = reason_name(d->state, d->reason);

    emit(x, EXPLAIN_HEADING, "State: %s%s%s%s%s", state_names[d->state], reason ? ", " : "",
         reason ? reason : "", d->state == STATE_STALE ? ", " : "",
         d->state == STATE_STALE ? phase_names[d->phase] : "");
    emit(x, EXPLAIN_PARAGRAPH, "%s", explain_state_words(d));
    if (d->state == STATE_STALE)
        emit(x, EXPLAIN_PARAGRAPH, "%s", explain_phase_words(d, engine_takeover(x->engine)));
    for (unsigned i = 0; i < TEMPLATE_FLAG_COUNT; i++) {
        if (d->flags & 1U << i)
            emit(x, EXPLAIN_PARAGRAPH, "%s", template_flag_texts[i]);
    }
    if (d->since_ms > 0) {
        char since[32];

        format_timestamp(d->since_ms, since);
        emit(x, EXPLAIN_PARAGRAPH, "Since %s, as far as the objects show.", since);
    }
}

static void explain_candidates(struct explanation *x, const struct template_decision *d)
{
    emit(x, EXPLAIN_HEADING, "Policies that select it, best first");
    for (uint32_t i = 0; i < d->candidate_count; i++) {
        const struct candidate *c = &d->candidates[i];
        const struct policy *policy = entry_policy(c->policy);
        enum rank_step step = RANK_NAME;

        emit(x, EXPLAIN_PARAGRAPH, "%u. %s, selects it by %s, priority %" PRId32, i + 1,
             full_name(x, c->policy), explain_score_words(c->score), policy->priority);
        if (c->excluded)
            emit(x, EXPLAIN_DETAIL, "ruled out: a rule of its excludedResources matches");
        else if (c->deleting)
            emit(x, EXPLAIN_DETAIL, "ruled out: it is being deleted");
        else if (i == 0)
            emit(x, EXPLAIN_DETAIL, "wins a fresh match");
        else if (candidate_compare(&d->candidates[0], c, &step) < 0)
            emit(x, EXPLAIN_DETAIL, "loses: %s", explain_step_words(step));
    }
    if (d->candidate_count == 0)
        emit(x, EXPLAIN_PARAGRAPH, "None.");
}

static void explain_claim(struct explanation *x, const struct template_decision *d)
{
    emit(x, EXPLAIN_HEADING, "Who governs it");
    if (d->claimed)
        emit(x, EXPLAIN_PARAGRAPH, "%s%s has its claim on the %s.", full_name(x, d->claimed),
             entry_exists(d->claimed) ? "" : ", which does not exist,",
             d->own_claim ? "template" : "binding");
    else
        emit(x, EXPLAIN_PARAGRAPH, "No policy has a claim on it.");
    if (d->governing)
        emit(x, EXPLAIN_PARAGRAPH, "%s governs it: %s", full_name(x, d->governing),
             explain_governing_words(d));
    else
        emit(x, EXPLAIN_PARAGRAPH, "No policy governs it.");
}

static void explain_fields(struct explanation *x, const struct template_decision *d,
                           const struct binding *b)
{
    const struct policy *policy = entry_policy(d->governing);

    for (unsigned i = 0; policy && i < DRIFT_FIELD_COUNT; i++) {
        if (!(d->fields & 1U << i))
            continue;
        emit(x, EXPLAIN_PARAGRAPH, "%s differs:", drift_field_names[i]);
        emit(x, EXPLAIN_DETAIL, "policy:  %s", explain_field_value(&policy->propagation, i));
        emit(x, EXPLAIN_DETAIL, "binding: %s", explain_field_value(&b->propagation, i));
    }
}

static void explain_binding(struct explanation *x, const struct template_decision *d)
{
    const struct binding *b = entry_binding(d->binding);

    if (!b)
        return;
    emit(x, EXPLAIN_HEADING, "Its binding");
    emit(x, EXPLAIN_PARAGRAPH, "%s %s.", full_name(x, d->binding),
         b->has_placement ? "was made by a policy" : "has no placement: others require it");
    explain_fields(x, d, b);
    strbuf_reset(&x->text);
    for (uint32_t i = 0; i < b->cluster_count; i++)
        strbuf_addf(&x->text, "%s%s: %" PRId32, i ? ", " : "", b->clusters[i].name,
                    b->clusters[i].replicas);
    if (b->cluster_count > 0)
        emit(x, EXPLAIN_PARAGRAPH, "Replicas now: %s.", x->text.data);
}

/* Who requires it, and what each wants. */
static void explain_ballot(void *context, const struct ballot *ballot)
{
    struct explanation *x = context;
    const struct entry *who = ballot->template ? ballot->template : ballot->binding;

    if (ballot->binding && !entry_exists(ballot->binding)) {
        emit(x, EXPLAIN_PARAGRAPH, "%s is listed, but does not exist.",
             full_name(x, ballot->binding));
        return;
    }
    /* Either there is a binding, or a template without. */
    assert(who);
    emit(x, EXPLAIN_PARAGRAPH, "%s%s:", full_name(x, who),
         ballot->counts_observed ? " wants" : " does not count yet, but will want");
    for (unsigned i = 0; i < DEPENDENCY_FIELD_COUNT; i++)
        emit(x, EXPLAIN_DETAIL, "%s %s", dependency_field_names[i],
             dependency_value_name(i, ballot->observed.wants[i]));
}

static void explain_dependency(struct explanation *x, const struct entry *template,
                               const struct template_decision *d)
{
    const struct entry *dependency = d->dependency ? template : d->binding;
    const struct dependency_decision *about = dependency ? dependency_decision(dependency) : NULL;

    if (!about || about->referrers + about->dangling == 0)
        return;
    emit(x, EXPLAIN_HEADING, "Who requires it");
    engine_ballots(x->engine, dependency, explain_ballot, x);
    for (unsigned i = 0; i < DEPENDENCY_FIELD_COUNT; i++) {
        const struct field_resolution *f = &about->fields[i];

        emit(x, EXPLAIN_PARAGRAPH, "%s %s %s%s.", dependency_field_names[i],
             f->conflict ? "is in conflict, and resolves to" : "resolves to",
             dependency_value_name(i, f->resolved),
             f->overridden  ? ", but its own policy's value stands"
             : f->unapplied ? ", which the binding does not have yet"
                            : "");
        if (f->predicted)
            emit(x, EXPLAIN_DETAIL,
                 "it will be in conflict once the policies are applied as they are now");
    }
}

/* Who holds the lease that was refused; `cluster` is NULL where the object itself says so. */
static void explain_holder(struct explanation *x, const char *cluster, const char *holder)
{
    const char *ns = engine_namespace_of_id(x->engine, holder);
    const char *where = cluster ? cluster : "Its own status";

    if (*holder == '\0')
        emit(x, EXPLAIN_DETAIL, "%s reports it, but not who holds the lease", where);
    else if (ns)
        emit(x, EXPLAIN_DETAIL, "%s: the namespace %s holds the lease (id %s)", where, ns, holder);
    else
        emit(x, EXPLAIN_DETAIL,
             "%s: the lease is held under the id %s, which is no namespace's here", where, holder);
}

static void explain_holders(struct explanation *x, const struct entry *template,
                            const struct template_decision *d)
{
    const struct connector *connector = template_connector(entry_template(template));
    const struct binding *b = entry_binding(d->binding);

    if (connector->refused_by)
        explain_holder(x, NULL, connector->refused_by);
    for (const struct member_conflict *m = b ? b->member_conflicts : NULL; m && m->cluster; m++)
        explain_holder(x, m->cluster, m->holder);
}

/* What an inventory says of the lease on its cloud resource, and what that means for it. */
static void explain_lease(struct explanation *x, const struct entry *template)
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
        [LEASE_UNKNOWN] = ", by a snapshot of the assets that is too old to rely on",
    };
    const struct entry *entry = engine_lease_of(x->engine, template);
    const struct lease *lease = entry_lease(entry);
    const struct lease_decision *d = entry ? lease_decision(entry) : NULL;
    char until[32];

    if (!d)
        return;
    format_timestamp(lease->expires_s * 1000, until);
    if (!lease->holder)
        emit(x, EXPLAIN_PARAGRAPH, "Nobody holds the lease on it.");
    else
        emit(x, EXPLAIN_PARAGRAPH, "%s %s %s the lease on it%s%s%s.",
             d->holder_ns ? "The namespace" : "The id", d->holder_ns ? d->holder_ns : lease->holder,
             d->state == LEASE_EXPIRED ? "held" : "holds",
             lease->expires_s > 0 ? " until " : " without an expiration",
             lease->expires_s > 0 ? until : "", endings[d->state]);
    if (d->state != LEASE_UNKNOWN)
        emit(x, EXPLAIN_DETAIL, "%s", verdicts[engine_lease_verdict(x->engine, template, entry)]);
}

static void explain_connector(struct explanation *x, const struct entry *template,
                              const struct template_decision *d)
{
    static const char *const containers[] = {
        [CONTAINER_NONE] = "",
        [CONTAINER_PROJECT] = " in the project ",
        [CONTAINER_FOLDER] = " in the folder ",
        [CONTAINER_ORGANIZATION] = " in the organization ",
    };
    static const char *const protections[PROTECTION_COUNT] = {
        [PROTECTION_NONE] =
            "No lease protects it: each controller that reconciles it overwrites the others.",
        [PROTECTION_RESOURCE] = "A lease protects it.",
        [PROTECTION_UNPROTECTABLE] = "It asks for a lease, which this kind cannot carry.",
    };
    const struct connector_decision *c = d->connector;

    if (!c)
        return;
    emit(x, EXPLAIN_HEADING, "Config Connector");
    if (c->identity.unclear)
        emit(x, EXPLAIN_PARAGRAPH, "Its fields do not say which cloud resource it stands for. %s",
             protections[c->protection]);
    else
        emit(x, EXPLAIN_PARAGRAPH, "It stands for %s%s%s%s%s. %s", c->identity.name,
             containers[c->identity.container.kind], c->identity.container.id,
             c->identity.location ? ", " : "", c->identity.location ? c->identity.location : "",
             protections[c->protection]);
    explain_lease(x, template);
    for (unsigned i = 0; i < CONNECTOR_CONFLICT_COUNT; i++) {
        if (!(c->conflicts & 1u << i))
            continue;
        strbuf_reset(&x->text);
        connector_subject_add(x->engine, template, i, &x->text);
        emit(x, EXPLAIN_PARAGRAPH, "%s: %s%s.", connector_conflict_names[i],
             connector_conflict_texts[i], x->text.data);
        if (i == CONNECTOR_REPORTED)
            explain_holders(x, template, d);
    }
}

void explain_template(const struct engine *e, const struct entry *template, explain_fn *line,
                      void *context)
{
    struct explanation x = {
        .engine = e, .line = line, .context = context, .text = STRBUF_INIT(LINE_MAX_BYTES)};
    const struct template_decision *d = template_decision(template);

    explain_state(&x, d);
    if (d->state != STATE_IGNORED) {
        explain_candidates(&x, d);
        explain_claim(&x, d);
        explain_binding(&x, d);
        explain_dependency(&x, template, d);
        explain_connector(&x, template, d);
        emit(&x, EXPLAIN_HEADING, "What comes next");
        emit(&x, EXPLAIN_PARAGRAPH, "%s", explain_next_words(d, engine_takeover(e)));
    }
    strbuf_release(&x.text);
}
