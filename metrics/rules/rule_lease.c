/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/connector_lookup.h"
#include "metrics/rules/rule.h"

/* The resources that it may be about: who holds it decides whether they are refused. */
static void mark_resources(struct rule_context *c, const struct entry *entry)
{
    CLEANUP(entry_list_release) struct entry_list resources = {0};

    cloud_index_resources(c->cloud_names, entry, &resources);
    for (size_t i = 0; i < resources.count; i++)
        graph_mark(c->graph, resources.items[i]);
}

static void changed(struct rule_context *c, struct entry *entry, const void *old)
{
    if (!old)
        cloud_index_add_lease(c->cloud_names, entry);
    if (!entry_exists(entry))
        cloud_index_remove_lease(c->cloud_names, entry);
    mark_resources(c, entry);
}

static void gather(const struct rule_context *c, struct entry *entry, struct gathered *out)
{
    out->lease = (struct lease_facts){
        .lease = entry_lease(entry),
        .ids = connector_known_ids(c->store),
        .clock = {c->now_ms / 1000, c->options.lease_skew_ms / 1000},
    };
}

static void *decide(const struct gathered *g, int64_t *due_ms)
{
    const struct lease_facts *f = &g->lease;
    struct lease_decision *d = xmalloc(sizeof(*d));
    int64_t ends_s = lease_state_ends_s(f->lease, f->clock);

    lease_decide(f->lease, f->ids, f->clock, d);
    /* The decision may outlive the object with the ids. */
    if (d->holder_ns)
        intern_ref(d->holder_ns);
    if (ends_s != INT64_MAX)
        *due_ms = ends_s * 1000;
    return d;
}

static void release(const struct rule_context *c, void *decision)
{
    struct lease_decision *d = decision;

    if (d)
        intern_drop(store_strings(c->store), d->holder_ns);
    free(d);
}

const struct rule rule_lease = {.rank = RULE_RANK_LAST,
                                .changed = changed,
                                .gather = gather,
                                .decide = decide,
                                .release = release};
