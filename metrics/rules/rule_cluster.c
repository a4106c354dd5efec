/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/cluster.h"
#include "metrics/model/store.h"
#include "metrics/rules/rule_connector.h"

static bool same_bytes(const void *a, const void *b, size_t bytes)
{
    return bytes == 0 || memcmp(a, b, bytes) == 0;
}

/*
 * True if the two differ in nothing that a placement chooses by. Clusters report their free
 * resources every few seconds, and that must not cause an evaluation of every policy. Texts are
 * shared, so they are compared as pointers.
 */
static bool same_to_placements(const struct cluster *a, const struct cluster *b)
{
    return a->provider == b->provider && a->region == b->region && a->deleting == b->deleting &&
           a->zone_count == b->zone_count && a->labels.count == b->labels.count &&
           a->taint_count == b->taint_count &&
           same_bytes(a->zones, b->zones, a->zone_count * sizeof(*a->zones)) &&
           same_bytes(a->labels.items, b->labels.items,
                      a->labels.count * sizeof(*a->labels.items)) &&
           same_bytes(a->taints, b->taints, a->taint_count * sizeof(*a->taints));
}

void rule_clusters_changed(struct rule_context *c)
{
    struct entry *template;

    placements_clusters_changed(c->placements);
    graph_mark_class(c->graph, CLASS_POLICY);
    for (size_t at = 0; (template = map_next(&c->on_clusters, &at)) != NULL;)
        graph_mark(c->graph, template);
    /* Where connectors without a binding would run follows from placements. */
    connectors_mark(c);
}

static void changed(struct rule_context *c, struct entry *entry, const void *old)
{
    const struct cluster *fresh = entry_cluster(entry), *last = old;
    bool differs = !last || !fresh || !same_to_placements(last, fresh);

    members_change(&c->members, entry, differs || last->ready != fresh->ready);
    if (differs)
        rule_clusters_changed(c);
}

const struct rule rule_cluster = {.rank = RULE_RANK_LAST, .changed = changed};
