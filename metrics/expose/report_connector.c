/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/report_items.h"

#include "metrics/base/timestamp.h"
#include "metrics/model/object.h"
#include "metrics/rules/connector.h"

static const char *const container_names[] = {
    [CONTAINER_NONE] = NULL,
    [CONTAINER_PROJECT] = "project",
    [CONTAINER_FOLDER] = "folder",
    [CONTAINER_ORGANIZATION] = "organization",
};

void report_connector(struct writer *w, const struct connector_decision *c)
{
    writer_open(w, "configConnector", '{');
    writer_text(w, "container", container_names[c->identity.container.kind]);
    writer_text(w, "containerId", c->identity.container.id);
    writer_text(w, "location", c->identity.location);
    writer_text(w, "name", c->identity.unclear ? NULL : c->identity.name);
    writer_text(w, "protection", protection_names[c->protection]);
    writer_names(w, "conflicts", c->conflicts, connector_conflict_names);
    writer_close(w, '}');
}

void report_lease(struct writer *w, const struct entry *entry)
{
    const struct lease_decision *d = lease_decision(entry);
    const struct lease *lease = entry_lease(entry);
    char expiration[32];

    format_timestamp(lease->expires_s * 1000, expiration);
    writer_open(w, NULL, '{');
    writer_text(w, "asset", entry->name);
    writer_text(w, "assetType", lease->asset_type);
    writer_text(w, "state", lease_state_names[d->state]);
    writer_text(w, "holder", lease->holder);
    writer_text(w, "namespace", d->holder_ns);
    writer_text(w, "expiration", lease->expires_s > 0 ? expiration : NULL);
    writer_names(w, "conflicts", d->conflicts, connector_conflict_names);
    writer_close(w, '}');
}
