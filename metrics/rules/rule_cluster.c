/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/cluster.h"
#include "metrics/model/object.h"
#include "metrics/rules/rule_connector.h"

static bool same_texts(const char *const *a, uint32_t a_count, const char *const *b,
                       uint32_t b_count)
{
    return a_count == b_count && (a_count == 0 || memcmp(a, b, a_count * sizeof(*a)) == 0);
}

static bool same_labels(const struct labels *a, const struct labels *b)
{
    return a->count == b->count &&
           (a->count == 0 || memcmp(a->items, b->items, a->count * sizeof(*a->items)) == 0);
}

static bool same_taints(const struct cluster *a, const struct cluster *b)
{
    return a->taint_count == b->taint_count &&
           (a->taint_count == 0 ||
            memcmp(a->taints, b->taints, a->taint_count * sizeof(*a->taints)) == 0);
}

/*
 * True if no placement can tell the two apart. Texts are shared, so that they are
 * compared as pointers. Clusters report what they have free every few seconds,
 * and that must not make every policy be looked at again.
 */
static bool same_to_placements(const struct cluster *a, const struct cluster *b)
{
    return a->provider == b->provider && a->region == b->region && a->deleting == b->deleting &&
           same_texts(a->zones, a->zone_count, b->zones, b->zone_count) &&
           same_labels(&a->labels, &b->labels) && same_taints(a, b);
}

static void changed(struct rule_context *c, struct entry *entry, const void *old)
{
    const struct cluster *fresh = entry_cluster(entry);
    struct entry *template;

    if (old && fresh && same_to_placements(old, fresh))
        return;
    placements_clusters_changed(c->placements);
    graph_mark_class(c->graph, CLASS_POLICY);
    for (size_t at = 0; (template = map_next(&c->on_clusters, &at)) != NULL;)
        graph_mark(c->graph, template);
    /* Without bindings these are where their policies' placements lead. */
    if (c->derives)
        connectors_mark(c);
}

const struct rule rule_cluster = {.rank = 3, .changed = changed};
