/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/observe.h"

#include "metrics/expose/parties.h"
#include "metrics/model/binding.h"
#include "metrics/model/event.h"
#include "metrics/model/template.h"

/* API groups are DNS names of at most 253 bytes; what is longer is no group and may be cut. */
enum { GROUP_SIZE = 256 };

/* The row of the label `scope`: namespaced, cluster. */
static unsigned scope_row(const struct entry *entry)
{
    return entry->partition->type->def->cluster_scoped;
}

static enum binding_origin origin_of(const struct binding *b)
{
    bool required = b->referrer_count > 0;

    if (b->claim)
        return required ? ORIGIN_BOTH : ORIGIN_POLICY;
    return required ? ORIGIN_DEPENDENCY : ORIGIN_UNCLAIMED;
}

void observe_bindings(const struct entry *entry, struct samples *out)
{
    SAMPLE(out, 1, scope_row(entry) * BINDING_ORIGIN_COUNT + origin_of(entry->object));
}

void observe_binding_delay(const struct entry *entry, struct samples *out)
{
    const struct binding_decision *d = binding_decision(entry);
    const struct binding *b = entry->object;
    const struct template *t = d->template ? d->template->object : NULL;
    const struct entry *claimed = binding_claimed(entry);
    const struct policy *policy = claimed ? claimed->object : NULL;

    if (!b->has_placement || !t || !policy)
        return;
    if (b->created_ms == 0 || t->created_ms == 0 || policy->created_ms == 0)
        return;
    bool follows = policy->created_ms > t->created_ms;
    int64_t since_ms = follows ? policy->created_ms : t->created_ms;
    if (b->created_ms >= since_ms && !(follows && policy->lazy))
        SAMPLE(out, b->created_ms - since_ms, 0);
}

/* Both texts are canonical and shared, so that equal is the same. */
void observe_not_rescheduled(const struct entry *entry, struct samples *out)
{
    const struct binding *b = entry->object;

    if (b->has_placement && b->propagation.placement != b->applied_placement)
        SAMPLE(out, 1, scope_row(entry));
}

static bool has_defect(const struct entry *entry, enum defect defect)
{
    return entry_defects(entry) & 1u << defect;
}

void observe_collisions(const struct entry *entry, struct samples *out)
{
    if (has_defect(entry, DEFECT_NAME_COLLISION))
        SAMPLE(out, 1, 0);
}

void observe_dangling_claims(const struct entry *entry, struct samples *out)
{
    if (has_defect(entry, DEFECT_DANGLING_CLAIM))
        SAMPLE(out, 1, entry_class(entry) == CLASS_BINDING ? HOLDER_BINDING : HOLDER_TEMPLATE);
}

void observe_without_template(const struct entry *entry, struct samples *out)
{
    if (has_defect(entry, DEFECT_MISSING_TEMPLATE))
        SAMPLE(out, 1, scope_row(entry));
}

static bool is_conflicted(const struct dependency_decision *d)
{
    for (unsigned i = 0; i < DEPENDENCY_FIELD_COUNT; i++) {
        if (d->fields[i].conflict)
            return true;
    }
    return false;
}

void observe_conflicts(const struct entry *entry, struct samples *out)
{
    const struct dependency_decision *d = dependency_decision(entry);

    for (unsigned i = 0; d && i < DEPENDENCY_FIELD_COUNT; i++) {
        if (d->fields[i].conflict)
            SAMPLE(out, 1, i);
    }
}

void observe_conflicted(const struct entry *entry, struct samples *out)
{
    const struct dependency_decision *d = dependency_decision(entry);

    if (d && is_conflicted(d))
        SAMPLE(out, 1, 0);
}

void observe_conflict_info(const struct entry *entry, struct samples *out)
{
    const struct dependency_decision *d = dependency_decision(entry);

    for (unsigned i = 0; d && i < DEPENDENCY_FIELD_COUNT; i++) {
        struct identity id = dependency_resource(entry);
        size_t group_len = api_group_len(id.api_version);
        char group[GROUP_SIZE];

        if (!d->fields[i].conflict)
            continue;
        snprintf(group, sizeof(group), "%.*s", (int)group_len, id.api_version);
        SAMPLE(out, 1, 0, id.ns, group, id.kind, id.name, dependency_field_names[i],
               dependency_value_name(i, d->fields[i].resolved));
    }
}

struct parties {
    const struct dependency_decision *dependency;
    struct samples *out;
};

/* A policy with several referrers that want the same takes part once. */
static void observe_party(void *context, const struct ballot *ballot)
{
    const struct parties *parties = context;
    struct policy_name policy = ballot_policy(ballot, false);

    if (!ballot->counts_observed || !policy.kind)
        return;
    for (unsigned i = 0; i < DEPENDENCY_FIELD_COUNT; i++) {
        if (parties->dependency->fields[i].conflict)
            SAMPLE_ONCE(parties->out, 1, 0, policy.kind, policy.ns, policy.name,
                        dependency_field_names[i],
                        dependency_value_name(i, ballot->observed.wants[i]));
    }
}

void observe_conflict_parties(const struct entry *entry, struct samples *out)
{
    const struct dependency_decision *d = dependency_decision(entry);
    struct parties parties = {d, out};

    if (d && is_conflicted(d))
        engine_ballots(samples_engine(out), entry, observe_party, &parties);
}

void observe_conflict_oldest(const struct entry *entry, struct samples *out)
{
    const struct dependency_decision *d = dependency_decision(entry);

    for (unsigned i = 0; d && i < DEPENDENCY_FIELD_COUNT; i++) {
        if (d->fields[i].conflict && d->since_ms > 0)
            SAMPLE(out, d->since_ms, i);
    }
}

void observe_predicted(const struct entry *entry, struct samples *out)
{
    const struct dependency_decision *d = dependency_decision(entry);

    for (unsigned i = 0; d && i < DEPENDENCY_FIELD_COUNT; i++) {
        if (d->fields[i].predicted)
            SAMPLE(out, 1, i);
    }
}

void observe_unapplied(const struct entry *entry, struct samples *out)
{
    const struct dependency_decision *d = dependency_decision(entry);

    for (unsigned i = 0; d && i < DEPENDENCY_FIELD_COUNT; i++) {
        if (d->fields[i].unapplied)
            SAMPLE(out, 1, i);
    }
}

void observe_overridden(const struct entry *entry, struct samples *out)
{
    const struct dependency_decision *d = dependency_decision(entry);

    for (unsigned i = 0; d && i < DEPENDENCY_FIELD_COUNT; i++) {
        if (d->fields[i].overridden)
            SAMPLE(out, 1, i);
    }
}

void observe_dangling(const struct entry *entry, struct samples *out)
{
    const struct dependency_decision *d = dependency_decision(entry);

    if (d && d->dangling > 0)
        SAMPLE(out, d->dangling, 0);
}

void observe_shared(const struct entry *entry, struct samples *out)
{
    const struct dependency_decision *d = dependency_decision(entry);

    if (d && d->attached && d->referrers > 1)
        SAMPLE(out, 1, 0);
}

void observe_conflict_events(const struct entry *entry, struct samples *out)
{
    const struct event *event = entry->object;

    if (event->is_conflict && event->conflict_resolution)
        SAMPLE(out, event->count, DEPENDENCY_CONFLICT_RESOLUTION);
    if (event->is_conflict && event->preserve)
        SAMPLE(out, event->count, DEPENDENCY_PRESERVE);
}
