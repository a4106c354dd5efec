/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/explain.h"

#include "metrics/base/timestamp.h"
#include "metrics/expose/explain_words.h"
#include "metrics/model/binding.h"
#include "metrics/model/object.h"
#include "metrics/model/template.h"
#include "metrics/rules/connector.h"

enum { LINE_MAX_BYTES = 1 << 20 };

/* Where the lines go, and the one that is being written. */
struct telling {
    const struct engine *engine;
    explain_fn *line;
    void *context;
    struct strbuf text;
};

static void tell(struct telling *t, enum explain_style style, const char *fmt, ...)
    PRINTF_LIKE(3, 4);

static void tell(struct telling *t, enum explain_style style, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    int len = vsnprintf(NULL, 0, fmt, args);
    va_end(args);

    CLEANUP(free_cleanup) char *text = xmalloc((size_t)len + 1);
    va_start(args, fmt);
    vsnprintf(text, (size_t)len + 1, fmt, args);
    va_end(args);
    t->line(t->context, style, text);
}

/* "Deployment default/web", written after what is in the buffer. */
static const char *full_name(struct telling *t, const struct entry *entry)
{
    const char *ns = entry_ns(entry);

    strbuf_reset(&t->text);
    strbuf_addf(&t->text, "%s %s%s%s", entry_kind(entry), ns, *ns ? "/" : "", entry->name);
    return t->text.data;
}

static void tell_state(struct telling *t, const struct template_decision *d)
{
    const char *reason = reason_name(d->state, d->reason);

    tell(t, EXPLAIN_HEADING, "State: %s%s%s%s%s", state_names[d->state], reason ? ", " : "",
         reason ? reason : "", d->state == STATE_STALE ? ", " : "",
         d->state == STATE_STALE ? phase_names[d->phase] : "");
    tell(t, EXPLAIN_PARAGRAPH, "%s", explain_state_words(d));
    if (d->state == STATE_STALE)
        tell(t, EXPLAIN_PARAGRAPH, "%s", explain_phase_words(d, engine_takeover(t->engine)));
    if (d->since_ms > 0) {
        char since[32];

        format_timestamp(d->since_ms, since);
        tell(t, EXPLAIN_PARAGRAPH, "Since %s, as far as the objects tell.", since);
    }
}

/* What made a candidate lose against the one before it. */
static void tell_candidate(struct telling *t, const struct template_decision *d, uint32_t at)
{
    const struct candidate *c = &d->candidates[at];
    const struct policy *policy = entry_policy(c->policy);
    enum rank_step step = RANK_NAME;

    tell(t, EXPLAIN_PARAGRAPH, "%u. %s, selects it by %s, priority %" PRId32, at + 1,
         full_name(t, c->policy), explain_score_words(c->score), policy->priority);
    if (c->excluded)
        tell(t, EXPLAIN_DETAIL, "out: a rule of its excludedResources matches");
    else if (c->deleting)
        tell(t, EXPLAIN_DETAIL, "out: it is being deleted");
    else if (at == 0)
        tell(t, EXPLAIN_DETAIL, "wins a fresh match");
    else if (candidate_compare(&d->candidates[0], c, &step) < 0)
        tell(t, EXPLAIN_DETAIL, "loses: %s", explain_step_words(step));
}

static void tell_candidates(struct telling *t, const struct template_decision *d)
{
    tell(t, EXPLAIN_HEADING, "Policies that select it, best first");
    for (uint32_t i = 0; i < d->candidate_count; i++)
        tell_candidate(t, d, i);
    if (d->candidate_count == 0)
        tell(t, EXPLAIN_PARAGRAPH, "None.");
}

static void tell_claim(struct telling *t, const struct template_decision *d)
{
    tell(t, EXPLAIN_HEADING, "Who governs it");
    if (d->claimed)
        tell(t, EXPLAIN_PARAGRAPH, "%s has its claim on the %s%s.", full_name(t, d->claimed),
             d->own_claim ? "template" : "binding",
             entry_exists(d->claimed) ? "" : ", and does not exist");
    else
        tell(t, EXPLAIN_PARAGRAPH, "No policy has a claim on it.");
    if (d->governing)
        tell(t, EXPLAIN_PARAGRAPH, "%s governs it: %s", full_name(t, d->governing),
             explain_governing_words(d));
    else
        tell(t, EXPLAIN_PARAGRAPH, "No policy governs it.");
}

static void tell_fields(struct telling *t, const struct template_decision *d,
                        const struct binding *b)
{
    const struct policy *policy = entry_policy(d->governing);

    for (unsigned i = 0; policy && i < DRIFT_FIELD_COUNT; i++) {
        if (!(d->fields & 1U << i))
            continue;
        tell(t, EXPLAIN_PARAGRAPH, "%s differs:", drift_field_names[i]);
        tell(t, EXPLAIN_DETAIL, "policy:  %s", explain_field_value(&policy->propagation, i));
        tell(t, EXPLAIN_DETAIL, "binding: %s", explain_field_value(&b->propagation, i));
    }
}

static void tell_assigned(struct telling *t, const struct binding *b)
{
    strbuf_reset(&t->text);
    for (uint32_t i = 0; i < b->cluster_count; i++)
        strbuf_addf(&t->text, "%s%s: %" PRId32, i ? ", " : "", b->clusters[i].name,
                    b->clusters[i].replicas);
    if (b->cluster_count > 0)
        tell(t, EXPLAIN_PARAGRAPH, "Replicas now: %s.", t->text.data);
}

static void tell_binding(struct telling *t, const struct template_decision *d)
{
    const struct binding *b = entry_binding(d->binding);

    if (!b)
        return;
    tell(t, EXPLAIN_HEADING, "Its binding");
    tell(t, EXPLAIN_PARAGRAPH, "%s %s.", full_name(t, d->binding),
         b->has_placement ? "was made by a policy" : "has no placement: others require it");
    tell_fields(t, d, b);
    tell_assigned(t, b);
}

/* Who requires it, and what each wants. */
static void tell_ballot(void *context, const struct ballot *ballot)
{
    struct telling *t = context;
    const struct entry *who = ballot->template ? ballot->template : ballot->binding;

    if (ballot->binding && !entry_exists(ballot->binding)) {
        tell(t, EXPLAIN_PARAGRAPH, "%s is named, but there is no such binding",
             full_name(t, ballot->binding));
        return;
    }
    /* Either there is a binding, or (derived) a template. */
    assert(who);
    tell(t, EXPLAIN_PARAGRAPH, "%s wants", full_name(t, who));
    for (unsigned i = 0; i < DEPENDENCY_FIELD_COUNT; i++)
        tell(t, EXPLAIN_DETAIL, "%s %s", dependency_field_names[i],
             dependency_value_name(i, ballot->observed.wants[i]));
}

static void tell_dependency(struct telling *t, const struct entry *template,
                            const struct template_decision *d)
{
    const struct entry *dependency = d->dependency ? template : d->binding;
    const struct dependency_decision *about = dependency ? dependency_decision(dependency) : NULL;

    if (!about || about->referrers + about->dangling == 0)
        return;
    tell(t, EXPLAIN_HEADING, "Who requires it");
    engine_ballots(t->engine, dependency, tell_ballot, t);
    for (unsigned i = 0; i < DEPENDENCY_FIELD_COUNT; i++) {
        const struct field_resolution *f = &about->fields[i];

        tell(t, EXPLAIN_PARAGRAPH, "%s %s %s%s.", dependency_field_names[i],
             f->conflict ? "is in conflict, and resolves to" : "resolves to",
             dependency_value_name(i, f->resolved),
             f->overridden  ? ", but its own policy's value stands"
             : f->unapplied ? ", which the binding does not have yet"
                            : "");
        if (f->predicted)
            tell(t, EXPLAIN_DETAIL, "by what the policies say now it will be in conflict");
    }
}

/* Who holds the lease that was refused; `cluster` is NULL where the object itself says so. */
static void tell_holder(struct telling *t, const char *cluster, const char *holder)
{
    const char *ns = engine_namespace_of_id(t->engine, holder);
    const char *where = cluster ? cluster : "Its own status";

    if (*holder == '\0')
        tell(t, EXPLAIN_DETAIL, "%s says so, and not who holds the lease", where);
    else if (ns)
        tell(t, EXPLAIN_DETAIL, "%s: the namespace %s holds the lease (id %s)", where, ns, holder);
    else
        tell(t, EXPLAIN_DETAIL, "%s: the lease is held under the id %s, of no namespace known here",
             where, holder);
}

static void tell_holders(struct telling *t, const struct entry *template,
                         const struct template_decision *d)
{
    const struct connector *connector = template_connector(entry_template(template));
    const struct binding *b = entry_binding(d->binding);

    if (connector->refused_by)
        tell_holder(t, NULL, connector->refused_by);
    for (const struct member_conflict *m = b ? b->member_conflicts : NULL; m && m->cluster; m++)
        tell_holder(t, m->cluster, m->holder);
}

/* What an inventory says of the lease on its cloud resource, and what that means for it. */
static void tell_lease(struct telling *t, const struct entry *template)
{
    static const char *const verdicts[] = {
        [VERDICT_UNPROTECTED] = "Its own namespace does not ask for a lease, and acts regardless.",
        [VERDICT_OBTAINS] = "Its own namespace obtains the lease at its next look.",
        [VERDICT_KEEPS] = "That is its own namespace, which has time enough left.",
        [VERDICT_RENEWS] = "That is its own namespace, which extends it at its next look.",
        [VERDICT_TAKES_OVER] = "Its own namespace takes it over at its next look.",
        [VERDICT_REFUSED] = "Its own namespace is refused the lease.",
    };
    const struct entry *entry = engine_lease_of(t->engine, template);
    const struct lease *lease = entry_lease(entry);
    const struct lease_decision *d = entry ? lease_decision(entry) : NULL;
    char until[32];

    if (!d)
        return;
    format_timestamp(lease->expires_s * 1000, until);
    if (!lease->holder)
        tell(t, EXPLAIN_PARAGRAPH, "Nobody holds the lease on it.");
    else
        tell(t, EXPLAIN_PARAGRAPH, "The lease on it is %s, by %s %s, until %s.",
             d->state == LEASE_UNKNOWN ? "held, as an inventory has it that is too old to tell"
                                       : lease_state_names[d->state],
             d->holder_ns ? "the namespace" : "the id", d->holder_ns ? d->holder_ns : lease->holder,
             lease->expires_s > 0 ? until : "a time that is not told");
    if (d->state != LEASE_UNKNOWN)
        tell(t, EXPLAIN_DETAIL, "%s", verdicts[engine_lease_verdict(t->engine, template, entry)]);
}

static void tell_connector(struct telling *t, const struct entry *template,
                           const struct template_decision *d)
{
    static const char *const containers[] = {"the cloud", "the project", "the folder",
                                             "the organization"};
    static const char *const protections[PROTECTION_COUNT] = {
        [PROTECTION_NONE] = "No lease protects it: whoever reconciles it overwrites the others.",
        [PROTECTION_RESOURCE] = "A lease protects it.",
        [PROTECTION_UNPROTECTABLE] = "A lease is asked for, and cannot be written on this kind.",
    };
    const struct connector_decision *c = d->connector;

    if (!c)
        return;
    tell(t, EXPLAIN_HEADING, "Config Connector");
    if (c->identity.unclear)
        tell(t, EXPLAIN_PARAGRAPH, "Which cloud resource it stands for cannot be told. %s",
             protections[c->protection]);
    else
        tell(t, EXPLAIN_PARAGRAPH, "It stands for %s in %s %s%s%s. %s", c->identity.name,
             containers[c->identity.container.kind], c->identity.container.id,
             c->identity.location ? ", " : "", c->identity.location ? c->identity.location : "",
             protections[c->protection]);
    tell_lease(t, template);
    for (unsigned i = 0; i < CONNECTOR_CONFLICT_COUNT; i++) {
        if (!(c->conflicts & 1u << i))
            continue;
        tell(t, EXPLAIN_PARAGRAPH, "%s: %s.", connector_conflict_names[i],
             connector_conflict_texts[i]);
        if (i == CONNECTOR_REPORTED)
            tell_holders(t, template, d);
    }
}

void explain_template(const struct engine *e, const struct entry *template, explain_fn *line,
                      void *context)
{
    struct telling t = {
        .engine = e, .line = line, .context = context, .text = STRBUF_INIT(LINE_MAX_BYTES)};
    const struct template_decision *d = template_decision(template);

    tell_state(&t, d);
    if (d->state != STATE_IGNORED) {
        tell_candidates(&t, d);
        tell_claim(&t, d);
        tell_binding(&t, d);
        tell_dependency(&t, template, d);
        tell_connector(&t, template, d);
        tell(&t, EXPLAIN_HEADING, "What comes next");
        tell(&t, EXPLAIN_PARAGRAPH, "%s", explain_next_words(d, engine_takeover(e)));
    }
    strbuf_release(&t.text);
}
