/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/report_items.h"

#include "metrics/base/timestamp.h"
#include "metrics/expose/report_parts.h"
#include "metrics/model/store.h"
#include "metrics/rules/connector_conflicts.h"

static const char *const container_names[] = {
    [CONTAINER_NONE] = NULL,
    [CONTAINER_PROJECT] = "project",
    [CONTAINER_FOLDER] = "folder",
    [CONTAINER_ORGANIZATION] = "organization",
};

/* Templates that stand for the same cloud resource: the first of them, and how many there are. */
static void put_sharers(struct writer *w, const struct engine *engine, const struct entry *template)
{
    const struct entry *sharers[REPORT_SHARERS_MAX];
    size_t count = engine_sharers(engine, template, sharers, REPORT_SHARERS_MAX);

    writer_int(w, "sharers", (int64_t)count);
    writer_open(w, "sharedWith", '[');
    for (size_t i = 0; i < count && i < REPORT_SHARERS_MAX; i++) {
        writer_open(w, NULL, '{');
        report_put_object(w, sharers[i]);
        writer_close(w, '}');
    }
    writer_close(w, ']');
}

static void put_lease(struct writer *w, const struct engine *engine, const struct entry *template)
{
    const struct entry *lease = engine_lease_of(engine, template);
    const struct lease_decision *d = lease ? lease_decision(lease) : NULL;
    char expiration[32];

    if (!d) {
        writer_text(w, "lease", NULL);
        return;
    }
    writer_open(w, "lease", '{');
    writer_text(w, "asset", lease->name);
    writer_text(w, "state", lease_state_names[d->state]);
    writer_text(w, "holder", entry_lease(lease)->holder);
    writer_text(w, "namespace", d->holder_ns);
    format_timestamp(entry_lease(lease)->expires_s * 1000, expiration);
    writer_text(w, "expiration", entry_lease(lease)->expires_s > 0 ? expiration : NULL);
    writer_close(w, '}');
}

void report_put_connector(struct writer *w, const struct engine *engine,
                          const struct entry *template)
{
    const struct connector_decision *c = template_decision(template)->connector;

    writer_text(w, "container", container_names[c->identity.container.kind]);
    writer_text(w, "containerId", c->identity.container.id);
    writer_text(w, "location", c->identity.location);
    writer_text(w, "name", c->identity.unclear ? NULL : c->identity.name);
    writer_text(w, "protection", protection_names[c->protection]);
    writer_names(w, "conflicts", c->conflicts, connector_conflict_names);
    put_sharers(w, engine, template);
    put_lease(w, engine, template);
}

void report_connector(struct writer *w, const struct engine *engine, const struct entry *template)
{
    writer_open(w, "configConnector", '{');
    report_put_connector(w, engine, template);
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
