/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/observe.h"

#include "metrics/expose/parties.h"

void observe_templates(const struct entry *entry, struct samples *out)
{
    const struct type *type = entry->partition->type;

    SAMPLE(out, 1, template_decision(entry)->state, type->group, type->kind);
}

void observe_namespace_templates(const struct entry *entry, struct samples *out)
{
    SAMPLE(out, 1, template_decision(entry)->state, entry_ns(entry));
}

void observe_stale(const struct entry *entry, struct samples *out)
{
    const struct template_decision *d = template_decision(entry);
    struct policy_name policy = policy_name_of(stale_policy(d));

    if (d->state == STATE_STALE)
        SAMPLE(out, 1, d->reason * PHASE_COUNT + (unsigned)d->phase, policy.kind, policy.ns,
               policy.name);
}

void observe_stale_fields(const struct entry *entry, struct samples *out)
{
    const struct template_decision *d = template_decision(entry);

    for (unsigned i = 0; i < DRIFT_FIELD_COUNT && d->state == STATE_STALE; i++) {
        if (d->fields & 1u << i)
            SAMPLE(out, 1, i);
    }
}

void observe_stale_oldest(const struct entry *entry, struct samples *out)
{
    const struct template_decision *d = template_decision(entry);

    if (d->state == STATE_STALE && d->since_ms > 0)
        SAMPLE(out, d->since_ms, d->phase);
}

void observe_stale_info(const struct entry *entry, struct samples *out)
{
    const struct template_decision *d = template_decision(entry);
    const struct type *type = entry->partition->type;

    if (d->state == STATE_STALE)
        SAMPLE(out, 1, 0, entry_ns(entry), type->group, type->kind, entry->name,
               stale_reason_names[d->reason], phase_names[d->phase]);
}

void observe_pending_info(const struct entry *entry, struct samples *out)
{
    const struct template_decision *d = template_decision(entry);
    const struct type *type = entry->partition->type;

    if (d->state == STATE_PENDING)
        SAMPLE(out, 1, 0, entry_ns(entry), type->group, type->kind, entry->name,
               pending_reason_names[d->reason]);
}

/* A kind with templates but none pending has its rows too: a board shows 0, not a gap. */
void observe_pending(const struct entry *entry, struct samples *out)
{
    const struct template_decision *d = template_decision(entry);
    const struct type *type = entry->partition->type;

    if (d->state == STATE_PENDING)
        SAMPLE(out, 1, d->reason, type->group, type->kind);
    else
        SAMPLE(out, 0, 0, type->group, type->kind);
}

void observe_pending_oldest(const struct entry *entry, struct samples *out)
{
    const struct template_decision *d = template_decision(entry);

    if (d->state == STATE_PENDING && d->since_ms > 0)
        SAMPLE(out, d->since_ms, d->reason);
}

void observe_ignored(const struct entry *entry, struct samples *out)
{
    const struct template_decision *d = template_decision(entry);

    if (d->state == STATE_IGNORED)
        SAMPLE(out, 1, d->reason);
}

void observe_outranked(const struct entry *entry, struct samples *out)
{
    const struct template_decision *d = template_decision(entry);
    struct policy_name policy = policy_name_of(d->claimed);

    if (d->claimed && d->claimed == d->governing && d->winner && d->winner != d->claimed)
        SAMPLE(out, 1, 0, policy.kind, policy.ns, policy.name);
}

void observe_unbound_oldest(const struct entry *entry, struct samples *out)
{
    const struct template_decision *d = template_decision(entry);

    if (d->state == STATE_UNBOUND && d->since_ms > 0)
        SAMPLE(out, d->since_ms, 0);
}

void observe_overlaps(const struct entry *entry, struct samples *out)
{
    const struct template_decision *d = template_decision(entry);
    const struct candidate *best = d->candidates;
    enum rank_step step = RANK_NAME;

    if (d->state == STATE_IGNORED || d->candidate_count < 2)
        return;
    /* Those that are not eligible come last. */
    if (!candidate_eligible(&best[1]))
        return;
    candidate_compare(&best[0], &best[1], &step);
    SAMPLE(out, 1, step - RANK_KIND);
}
