/* SPDX-License-Identifier: Apache-2.0 */

#include "metrics/expose/policy_names.h"
#include "metrics/expose/samples.h"
#include "metrics/model/event.h"
#include "metrics/model/store.h"

/* API groups are DNS names of at most 253 bytes; a longer text is cut. */
enum { GROUP_SIZE = 256 };

static void collect_conflicts(const struct entry *entry, struct samples *out)
{
    samples_add_bits(out, dependency_conflicts(dependency_decision(entry)));
}

static void collect_conflicted_bindings(const struct entry *entry, struct samples *out)
{
    if (dependency_conflicts(dependency_decision(entry)) > 0)
        SAMPLE(out, 1, 0);
}

static void collect_conflict_info(const struct entry *entry, struct samples *out)
{
    const struct dependency_decision *d = dependency_decision(entry);

    for (unsigned i = 0; d && i < DEPENDENCY_FIELD_COUNT; i++) {
        struct identity id = resource_identity_of(entry);
        size_t group_len = api_group_len(id.api_version);
        char group[GROUP_SIZE];

        if (!d->fields[i].conflict)
            continue;
        snprintf(group, sizeof(group), "%.*s", (int)group_len, id.api_version);
        SAMPLE(out, 1, 0, id.ns, group, id.kind, id.name, dependency_field_names[i],
               dependency_resolved_name(i, d->fields[i].outcome, d->fields[i].resolved));
    }
}

/* Values of the label `value`, two for each field: the text of false, then the text of true. */
static const char *const value_names[] = {"Abort", "Overwrite", "false", "true"};

static bool is_value_of_field(unsigned field, unsigned value)
{
    return value / 2 == field;
}

/* Context of collect_referrer_policy(). */
struct referrer_policies {
    const struct dependency_decision *dependency;
    struct samples *out;
};

/* Counts a policy once for each value, even if the policy sets the value of several referrers. */
static void collect_referrer_policy(void *context, const struct dependency_referrer *referrer)
{
    const struct referrer_policies *c = context;
    struct policy_name policy = referrer_policy(referrer, false);

    if (!referrer->counts_observed || !policy.kind)
        return;
    for (unsigned i = 0; i < DEPENDENCY_FIELD_COUNT; i++) {
        unsigned value = i * 2 + referrer->observed.wants[i]; /* Index in value_names. */

        if (c->dependency->fields[i].conflict)
            SAMPLE_ONCE(c->out, 1, i * (unsigned)ARRAY_LEN(value_names) + value, policy.kind,
                        policy.ns, policy.name);
    }
}

static void collect_conflict_policies(const struct entry *entry, struct samples *out)
{
    const struct dependency_decision *d = dependency_decision(entry);
    struct referrer_policies policies = {d, out};

    if (dependency_conflicts(d) > 0)
        engine_dependency_referrers(out->engine, entry, collect_referrer_policy, &policies);
}

static void collect_conflict_since(const struct entry *entry, struct samples *out)
{
    const struct dependency_decision *d = dependency_decision(entry);

    for (unsigned i = 0; d && i < DEPENDENCY_FIELD_COUNT; i++) {
        if (d->fields[i].conflict && d->since_ms > 0)
            SAMPLE(out, d->since_ms, i);
    }
}

static void collect_predicted_conflicts(const struct entry *entry, struct samples *out)
{
    const struct dependency_decision *d = dependency_decision(entry);

    for (unsigned i = 0; d && i < DEPENDENCY_FIELD_COUNT; i++) {
        if (d->fields[i].predicted)
            SAMPLE(out, 1, i);
    }
}

static void collect_unapplied_resolutions(const struct entry *entry, struct samples *out)
{
    const struct dependency_decision *d = dependency_decision(entry);

    for (unsigned i = 0; d && i < DEPENDENCY_FIELD_COUNT; i++) {
        if (d->fields[i].unapplied)
            SAMPLE(out, 1, i);
    }
}

static void collect_overridden_values(const struct entry *entry, struct samples *out)
{
    const struct dependency_decision *d = dependency_decision(entry);

    for (unsigned i = 0; d && i < DEPENDENCY_FIELD_COUNT; i++) {
        if (d->fields[i].overridden)
            SAMPLE(out, 1, i);
    }
}

static void collect_dangling_references(const struct entry *entry, struct samples *out)
{
    const struct dependency_decision *d = dependency_decision(entry);

    if (d && d->dangling > 0)
        SAMPLE(out, d->dangling, 0);
}

static void collect_shared_bindings(const struct entry *entry, struct samples *out)
{
    const struct dependency_decision *d = dependency_decision(entry);

    if (d && d->attached && d->referrers > 1)
        SAMPLE(out, 1, 0);
}

static void collect_conflict_events(const struct entry *entry, struct samples *out)
{
    const struct event *event = entry_event(entry);

    if (!event->is_conflict || event->ours)
        return;
    if (event->conflict_resolution)
        SAMPLE(out, event->count, DEPENDENCY_CONFLICT_RESOLUTION);
    if (event->preserve)
        SAMPLE(out, event->count, DEPENDENCY_PRESERVE);
}

#define DISPUTED ENUM_LABEL("field", dependency_field_names)

static const struct family_def families[] = {
    {.name = "karmada_dependency_conflicts",
     .help = "Dependencies in conflict, by field: their referrers request different values.",
     .labels = {DISPUTED},
     FROM(DEPENDENCY_ENTRIES, collect_conflicts)},
    {.name = "karmada_dependency_conflicted_bindings",
     .help = "Dependencies in conflict in any field.",
     FROM(DEPENDENCY_ENTRIES, collect_conflicted_bindings)},
    {.name = "karmada_dependency_conflict_info",
     .help = "A dependency in conflict, with the field and the resolved value; always 1.",
     .bound = "detail limit",
     .detail = true,
     .labels = {FREE_LABEL("namespace"), KIND_LABELS, FREE_LABEL("name"), FREE_LABEL("field"),
                FREE_LABEL("resolved")},
     FROM(DEPENDENCY_ENTRIES, collect_conflict_info)},
    {.name = "karmada_propagationpolicy_dependency_conflicts",
     .help = "Dependencies in conflict by policy that takes part, and by the value that the policy "
             "requests.",
     .bound = "policy limit x 4",
     .limit_kind = LIMIT_BY_POLICY,
     .sparse = true,
     .labels = {POLICY_LABELS, DISPUTED, ENUM_LABEL("value", value_names)},
     .pairs = is_value_of_field,
     FROM(DEPENDENCY_ENTRIES, collect_conflict_policies)},
    {.name = "karmada_dependency_conflicts_predicted",
     .help = "Dependencies without a conflict that get one once the bindings follow the present "
             "policies.",
     .labels = {DISPUTED},
     FROM(DEPENDENCY_ENTRIES, collect_predicted_conflicts)},
    {.name = "karmada_dependency_unapplied_resolutions",
     .help = "Bindings of dependencies that do not have the value resolved from their referrers, "
             "by field. Absent if Karmada does not resolve conflicts (before 1.16, see "
             "`--karmada.version`).",
     .supported = engine_resolves_dependencies,
     .labels = {DISPUTED},
     FROM(DEPENDENCY_ENTRIES, collect_unapplied_resolutions)},
    {.name = "karmada_dependency_overridden",
     .help = "Bindings of dependencies with a policy of their own that "
             "overrides the value resolved from their referrers, by field.",
     .labels = {DISPUTED},
     FROM(DEPENDENCY_ENTRIES, collect_overridden_values)},
    {.name = "karmada_dependency_dangling_references",
     .help = "Entries of requiredBy that name a missing binding.",
     FROM(DEPENDENCY_ENTRIES, collect_dangling_references)},
    {.name = "karmada_dependency_shared_bindings",
     .help = "Dependencies with more than one referrer, which can have conflicts.",
     FROM(DEPENDENCY_ENTRIES, collect_shared_bindings)},
    {.name = "karmada_dependency_conflict_oldest_timestamp_seconds",
     .unit = "seconds",
     .help = "Earliest possible start of the oldest conflict, in seconds since the epoch.",
     .aggregation = AGGREGATE_MIN,
     .labels = {DISPUTED},
     FROM(DEPENDENCY_ENTRIES, collect_conflict_since)},
    {.name = "karmada_dependency_conflict_events_total",
     .help = "DependencyPolicyConflict Events of Karmada, by field, without those of "
             "`--events.emit`. Karmada repeats an Event at each reconcile and drops some, so the "
             "number of Events is not the number of conflicts.",
     .type = FAMILY_COUNTER,
     .aggregation = AGGREGATE_INCREASE,
     .labels = {DISPUTED},
     FROM(EVENT_ENTRIES, collect_conflict_events)},
    {.name = "karmada_dependency_conflict_transitions_total",
     .help = "Number of times that a conflict of a dependency began, by field.",
     .type = FAMILY_COUNTER,
     .aggregation = AGGREGATE_INCREASE,
     .labels = {DISPUTED},
     FROM(DEPENDENCY_ENTRIES, collect_conflicts)},
};
const struct family_group dependency_families = {families, ARRAY_LEN(families)};

/* ---- resources and leases of Google Config Connector ---- */

static void collect_connector_resources(const struct entry *entry, struct samples *out)
{
    const struct connector_decision *c = decision_connector(template_decision(entry));

    if (c)
        SAMPLE(out, 1, c->protection, entry_type(entry)->group);
}

static void collect_connector_conflicts(const struct entry *entry, struct samples *out)
{
    samples_add_bits(out, connector_conflicts(entry));
}

static void collect_connector_info(const struct entry *entry, struct samples *out)
{
    const struct type *type = entry_type(entry);
    unsigned conflicts = connector_conflicts(entry);

    for (unsigned i = 0; i < CONNECTOR_CONFLICT_COUNT; i++) {
        if (conflicts & 1u << i)
            SAMPLE(out, 1, 0, entry_ns(entry), type->group, type->kind, entry->name,
                   connector_conflict_names[i]);
    }
}

static void collect_leases(const struct entry *entry, struct samples *out)
{
    SAMPLE(out, 1, lease_decision(entry)->state);
}

static void collect_lease_expiration(const struct entry *entry, struct samples *out)
{
    enum lease_state state = lease_decision(entry)->state;

    if (state == LEASE_HELD || state == LEASE_EXPIRING)
        SAMPLE(out, entry_lease(entry)->expires_s * 1000, 0);
}

static const struct family_def connector_family_rows[] = {
    {.name = "karmada_configconnector_resources",
     .help = "Templates that are Config Connector resources, by protection through leases.",
     .bound = "API groups x 4",
     .labels = {FREE_LABEL("api_group"), ENUM_LABEL("protection", protection_names)},
     FROM(TEMPLATE_ENTRIES, collect_connector_resources)},
    {.name = "karmada_configconnector_conflicts",
     .help = "Config Connector resources and leases in a present or predicted conflict, by class.",
     .labels = {ENUM_LABEL("class", connector_conflict_names)},
     FROM(TEMPLATE_ENTRIES | LEASE_ENTRIES, collect_connector_conflicts)},
    {.name = "karmada_configconnector_conflict_info",
     .help = "A Config Connector resource or lease in a conflict, with the class; always 1.",
     .bound = "detail limit",
     .detail = true,
     .opt_in = true,
     .labels = {OBJECT_LABELS, FREE_LABEL("class")},
     FROM(TEMPLATE_ENTRIES | LEASE_ENTRIES, collect_connector_info)},
    {.name = "karmada_configconnector_leases",
     .help = "Leases in the asset export, by state; unknown if the export is too old.",
     .labels = {ENUM_LABEL("state", lease_state_names)},
     FROM(LEASE_ENTRIES, collect_leases)},
    {.name = "karmada_configconnector_lease_expiration_min_timestamp_seconds",
     .unit = "seconds",
     .help = "Expiry of the held lease that expires first, in seconds since the epoch.",
     .aggregation = AGGREGATE_MIN,
     FROM(LEASE_ENTRIES, collect_lease_expiration)},
};
const struct family_group connector_families = {connector_family_rows,
                                                ARRAY_LEN(connector_family_rows)};
