/* SPDX-License-Identifier: Apache-2.0 */

#include "metrics/model/cluster.h"
#include "metrics/model/store.h"
#include "metrics/rules/connector_conflicts.h"
#include "metrics/rules/problems/problem_tallies.h"
#include "metrics/rules/rule.h"
#include "metrics/rules/rule_template.h"

/* ---- rule of member clusters ---- */

static bool has_equal_bytes(const void *a, const void *b, size_t bytes)
{
    return bytes == 0 || memcmp(a, b, bytes) == 0;
}

/*
 * Returns true if both objects are equal in the properties that the scheduler reads. Clusters
 * report their free resources every few seconds, which must not cause an evaluation of every
 * policy. Texts are interned and compared as pointers.
 */
static bool is_equal_for_placements(const struct cluster *a, const struct cluster *b)
{
    return a->provider == b->provider && a->region == b->region && a->deleting == b->deleting &&
           a->zone_count == b->zone_count && a->labels.count == b->labels.count &&
           a->taint_count == b->taint_count &&
           has_equal_bytes(a->zones, b->zones, a->zone_count * sizeof(*a->zones)) &&
           has_equal_bytes(a->labels.items, b->labels.items,
                           a->labels.count * sizeof(*a->labels.items)) &&
           has_equal_bytes(a->taints, b->taints, a->taint_count * sizeof(*a->taints)) &&
           a->apis_known == b->apis_known && a->apis_complete == b->apis_complete &&
           a->api_count == b->api_count &&
           has_equal_bytes(a->apis, b->apis, a->api_count * sizeof(*a->apis));
}

void rule_mark_cluster_dependents(struct rule_context *c)
{
    struct entry *template;

    placements_mark_outdated(c->placements);
    graph_mark_class(c->graph, CLASS_POLICY);
    for (uint64_t at = 0; (template = handle_map_next(&c->on_clusters, &at)) != NULL;)
        graph_mark(c->graph, template);
    /* Placements determine the clusters of Config Connector's resources without a binding. */
    mark_connector_resources(c);
    if (store_object_count(c->store, CLASS_OVERRIDE) > 0)
        rule_mark_overridden_templates(c);
}

void rule_mark_overridden_templates(struct rule_context *c)
{
    if (c->problems && store_kept_documents(c->store) != DOCUMENTS_OF_NONE)
        graph_mark_class(c->graph, CLASS_TEMPLATE);
}

/* Updates the tallies after a change of a Cluster; not for one of a simulation. */
static void note_readiness(struct rule_context *c, struct entry *entry, const struct cluster *last)
{
    const struct cluster *fresh = entry_cluster(entry);

    if (c->policy_versions.paused)
        return;
    if (!fresh)
        problem_tallies_forget_readiness(c->tallies, entry);
    else if (last && last->ready != fresh->ready)
        problem_tallies_note_readiness(c->tallies, entry);
}

static void cluster_on_change(struct rule_context *c, struct entry *entry, const void *old)
{
    const struct cluster *fresh = entry_cluster(entry), *last = old;
    bool differs = !last || !fresh || !is_equal_for_placements(last, fresh);
    bool known = members_are_known(&c->members);

    members_update(&c->members, entry, differs || last->ready != fresh->ready);
    note_readiness(c, entry, last);
    if (known != members_are_known(&c->members) && !c->policy_versions.paused)
        problem_tallies_queue_clusters(c->tallies, c->problems);
    if (differs)
        rule_mark_cluster_dependents(c);
}

const struct rule rule_cluster = {.rank = RULE_RANK_LAST, .changed = cluster_on_change};

/* ---- rule of Config Connector's leases ---- */

/*
 * Marks the Config Connector resources that a lease may be about: the holder of the lease decides
 * whether Config Connector refuses them.
 */
static void mark_resources_of_lease(struct rule_context *c, const struct entry *entry)
{
    CLEANUP(entry_list_release) struct entry_list resources = {0};

    cloud_index_list_resources(c->cloud_names, entry, &resources);
    for (size_t i = 0; i < resources.count; i++)
        graph_mark(c->graph, resources.items[i]);
}

static void lease_on_change(struct rule_context *c, struct entry *entry, const void *old)
{
    if (!old)
        cloud_index_add_lease(c->cloud_names, entry);
    if (!entry_exists(entry))
        cloud_index_remove_lease(c->cloud_names, entry);
    mark_resources_of_lease(c, entry);
}

static void gather_lease_facts(const struct rule_context *c, struct entry *entry,
                               struct gathered *out)
{
    out->lease = (struct lease_facts){
        .lease = entry_lease(entry),
        .ids = connector_namespace_ids(c->store),
        .clock = {c->now_ms / 1000, c->options.lease_skew_ms / 1000},
    };
}

static void *decide_lease(const struct gathered *g, int64_t *due_ms)
{
    const struct lease_facts *f = &g->lease;
    struct lease_decision *d = pool_alloc(g->memory, sizeof(*d));
    int64_t ends_s = lease_state_ends_s(f->lease, f->clock);

    lease_decide(f->lease, f->ids, f->clock, d);
    /* The decision needs its own reference: the object with the ids may be freed first. */
    if (d->holder_ns)
        intern_ref(d->holder_ns);
    if (ends_s != INT64_MAX)
        *due_ms = ends_s * 1000;
    return d;
}

static void release_lease_decision(const struct rule_context *c, void *decision)
{
    struct lease_decision *d = decision;

    if (d)
        intern_drop(store_string_pool(c->store), d->holder_ns);
    pool_free(d);
}

const struct rule rule_lease = {.rank = RULE_RANK_LAST,
                                .changed = lease_on_change,
                                .gather = gather_lease_facts,
                                .decide = decide_lease,
                                .release = release_lease_decision};
