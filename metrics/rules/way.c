/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/way.h"

#include "metrics/base/timestamp.h"
#include "metrics/rules/priority.h"
#include "metrics/rules/risk.h"

static struct standing unmatched(enum stage_reason reason)
{
    return (struct standing){STAGE_UNMATCHED, reason};
}

static struct standing unbound(enum stage_reason reason)
{
    return (struct standing){STAGE_UNBOUND, reason};
}

static struct standing outdated(enum stage_reason reason)
{
    return (struct standing){STAGE_OUTDATED, reason};
}

/*
 * A template that was applied, and that nobody has claimed in time: the controllers are down. One
 * without a uid is not at an API server yet. `due_ms` is when that is told.
 */
static bool is_not_claimed(const struct situation *s, const struct template_decision *d,
                           int64_t *due_ms)
{
    const struct template *t = entry_template(s->template);

    if (s->own_claim || t->uid_hash == uid_hash(""))
        return false;
    *due_ms = unbound_due_ms(s, d);
    if (s->now_ms < *due_ms)
        return false;
    *due_ms = INT64_MAX;
    return true;
}

static struct standing of_unbound(const struct situation *s, const struct template_decision *d,
                                  int64_t *due_ms)
{
    static const enum stage_reason reasons[UNBOUND_REASON_COUNT] = {
        [UNBOUND_NAMESAKE] = WHY_NAMESAKE,
        [UNBOUND_PRIORITY_CLASS_MISSING] = WHY_PRIORITY_CLASS_MISSING,
        [UNBOUND_STUCK] = WHY_STUCK,
        [UNBOUND_WAITING] = WHY_WAITING,
    };

    if (d->reason == UNBOUND_WAITING && is_not_claimed(s, d, due_ms))
        return unbound(WHY_NOT_CLAIMED);
    return unbound(reasons[d->reason]);
}

/* What the template's last change waits for. */
static enum stage_reason why_not_taken_up(const struct template_decision *d)
{
    const struct policy_decision *policy = d->governing ? policy_decision(d->governing) : NULL;

    if (policy && policy->priority.state == PRIORITY_MISSING)
        return WHY_PRIORITY_CLASS_MISSING;
    if (policy && policy->override_missing)
        return WHY_OVERRIDE_MISSING;
    return WHY_TEMPLATE_UPDATED;
}

static struct standing of_stale(const struct template_decision *d)
{
    switch ((enum stale_reason)d->reason) {
    case STALE_POLICY_UPDATED:
        return outdated(WHY_POLICY_UPDATED);
    case STALE_POLICY_REPLACED:
        return outdated(WHY_POLICY_REPLACED);
    case STALE_SELECTOR_MISMATCH:
        return outdated(WHY_SELECTOR_MISMATCH);
    case STALE_POLICY_GONE:
        return outdated(WHY_POLICY_GONE);
    case STALE_NEVER_BOUND:
        return unbound(WHY_LAZY);
    case STALE_TEMPLATE_UPDATED:
        return outdated(why_not_taken_up(d));
    case STALE_REASON_COUNT:
        break;
    }
    abort();
}

/* Where the state says it; STAGE_NONE where it does not. */
static struct standing of_state(const struct situation *s, const struct template_decision *d,
                                int64_t *due_ms)
{
    switch (d->state) {
    case STATE_IGNORED:
        return unmatched(WHY_IGNORED);
    case STATE_PENDING:
        if (d->reason == PENDING_OVERRIDE_MISSING)
            return unbound(WHY_OVERRIDE_MISSING);
        if (d->reason == PENDING_POLICY_GONE)
            return unmatched(WHY_LEFT_BEHIND_CHANGED);
        return unmatched(d->binding ? WHY_LEFT_BEHIND : WHY_NO_POLICY);
    case STATE_ORPHANED:
        return unmatched(WHY_LEFT_BEHIND);
    case STATE_UNBOUND:
        return of_unbound(s, d, due_ms);
    case STATE_STALE:
        return of_stale(d);
    case STATE_CURRENT:
    case STATE_ATTACHED:
        return (struct standing){STAGE_NONE, WHY_NONE};
    case STATE_COUNT:
        break;
    }
    abort();
}

static unsigned flags_of(const struct delivery_facts *f, struct standing delivery)
{
    const struct binding *b = f->binding;
    const struct trouble *t = b->status.trouble;
    unsigned flags = 0;

    if (b->observed_group > 0 && b->cluster_count > 0)
        flags |= 1U << FLAG_FALLBACK;
    if (f->off_placement)
        flags |= 1U << FLAG_OFF_PLACEMENT;
    if (delivery.stage == STAGE_UNSCHEDULED && b->cluster_count > 0)
        flags |= 1U << FLAG_KEPT;
    for (uint32_t i = 0; t && i < t->eviction_count; i++) {
        if (!eviction_counts(&t->evictions[i]))
            flags |= 1U << FLAG_TWO_COPIES_HELD;
    }
    return flags;
}

int64_t way_decide(const struct situation *s, const struct delivery_facts *delivery,
                   struct template_decision *out)
{
    struct way *way = &out->way;
    int64_t due_ms = INT64_MAX;
    int64_t changed_ms = entry_template(s->template)->changed_ms;

    way->delivery = (struct standing){STAGE_NONE, WHY_NONE};
    if (delivery) {
        delivery_of_targets(delivery, decision_targets(out));
        way->delivery = delivery_of(delivery, decision_targets(out));
        way->delivery_since_s =
            delivery_since_s(delivery->binding, way->delivery.stage, changed_ms);
        out->flags |= (uint8_t)flags_of(delivery, way->delivery);
    }
    way->at = of_state(s, out, &due_ms);
    if (way->at.stage != STAGE_NONE) {
        way->since_s = timestamp_seconds(out->since_ms);
    } else {
        way->at = delivery ? way->delivery : unbound(WHY_WAITING);
        way->since_s = way->delivery_since_s;
    }
    out->risks = (uint8_t)risks_of(out, delivery);
    return due_ms;
}
