/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/observe.h"

#include "metrics/rules/connector.h"
#include "metrics/rules/decision.h"

void observe_connector_resources(const struct entry *entry, struct samples *out)
{
    const struct connector_decision *c = template_decision(entry)->connector;

    if (c)
        SAMPLE(out, 1, c->protection, entry->partition->type->group);
}

void observe_connector_conflicts(const struct entry *entry, struct samples *out)
{
    unsigned conflicts = connector_conflicts(entry);

    for (unsigned i = 0; i < CONNECTOR_CONFLICT_COUNT; i++) {
        if (conflicts & 1u << i)
            SAMPLE(out, 1, i);
    }
}

void observe_connector_info(const struct entry *entry, struct samples *out)
{
    const struct type *type = entry->partition->type;
    unsigned conflicts = connector_conflicts(entry);

    for (unsigned i = 0; i < CONNECTOR_CONFLICT_COUNT; i++) {
        if (conflicts & 1u << i)
            SAMPLE(out, 1, 0, entry_ns(entry), type->group, type->kind, entry->name,
                   connector_conflict_names[i]);
    }
}

void observe_leases(const struct entry *entry, struct samples *out)
{
    enum lease_state state = lease_decision(entry)->state;

    if (state != LEASE_UNKNOWN)
        SAMPLE(out, 1, state);
}

void observe_lease_expiration(const struct entry *entry, struct samples *out)
{
    enum lease_state state = lease_decision(entry)->state;

    if (state == LEASE_HELD || state == LEASE_EXPIRING)
        SAMPLE(out, ((const struct lease *)entry->object)->expires_s * 1000, 0);
}
