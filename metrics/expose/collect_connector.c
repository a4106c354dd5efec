/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/collect.h"

#include "metrics/model/store.h"

static void collect_connector_resources(const struct entry *entry, struct samples *out)
{
    const struct connector_decision *c = template_decision(entry)->connector;

    if (c)
        SAMPLE(out, 1, c->protection, entry->partition->type->group);
}

static void collect_connector_conflicts(const struct entry *entry, struct samples *out)
{
    samples_add_bits(out, connector_conflicts(entry));
}

static void collect_connector_info(const struct entry *entry, struct samples *out)
{
    const struct type *type = entry->partition->type;
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

static const struct family_def families[] = {
    {.name = "karmada_configconnector_resources",
     .help = "Templates that are resources of Config Connector, by whether leases protect them.",
     .bound = "API groups x 3",
     .labels = {FREE_LABEL("api_group"), ENUM_LABEL("protection", protection_names)},
     FROM(TEMPLATES, collect_connector_resources)},
    {.name = "karmada_configconnector_conflicts",
     .help = "Resources of Config Connector and leases that are in a conflict, or will be, by its "
             "class.",
     .labels = {ENUM_LABEL("class", connector_conflict_names)},
     FROM(TEMPLATES | LEASES, collect_connector_conflicts)},
    {.name = "karmada_configconnector_conflict_info",
     .help = "One series for each of these resources and leases, and class of conflict.",
     .bound = "detail limit",
     .detail = true,
     .opt_in = true,
     .labels = {OBJECT, FREE_LABEL("class")},
     FROM(TEMPLATES | LEASES, collect_connector_info)},
    {.name = "karmada_configconnector_leases",
     .help = "Leases in the snapshot of the assets, by their state in it; unknown where it is too "
             "old to tell.",
     .labels = {ENUM_LABEL("state", lease_state_names)},
     FROM(LEASES, collect_leases)},
    {.name = "karmada_configconnector_lease_expiration_min_timestamp_seconds",
     .unit = "seconds",
     .help = "When the first of the held leases expires.",
     .aggregation = AGGREGATE_MIN,
     FROM(LEASES, collect_lease_expiration)},
};
const struct family_group connector_families = {families, ARRAY_LEN(families)};
