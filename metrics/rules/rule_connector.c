/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/rule_connector.h"

#include "metrics/model/store.h"
#include "metrics/rules/affinity.h"
#include "metrics/rules/connector_lookup.h"

/* ---- the register of cloud resources ---- */

static const struct connector_identity *identity_of(const struct entry *entry)
{
    return &template_decision(entry)->connector->identity;
}

static uint64_t hash_resource(const struct entry *entry, uint64_t seed)
{
    return connector_hash(entry, identity_of(entry), seed);
}

static bool same_resource(const void *item, const void *key)
{
    const struct entry *a = collisions_first(item);

    return a == key || connector_same(a, identity_of(a), key, identity_of(key));
}

const struct collision_rule collision_cloud_resource = {hash_resource, same_resource};

/* True of a decision whose template is in the register of cloud resources. */
static bool is_compared(const struct template_decision *d)
{
    return d && d->connector && !d->connector->identity.unclear;
}

/* True if both decisions about the entry put it in the register as the same resource. */
static bool stays_compared(const struct entry *entry, const struct template_decision *a,
                           const struct template_decision *b)
{
    return is_compared(a) && is_compared(b) &&
           connector_same(entry, &a->connector->identity, entry, &b->connector->identity);
}

void template_connector_leave(struct rule_context *c, struct entry *entry,
                              const struct template_decision *next)
{
    const struct template_decision *d = template_decision(entry);

    /* Leaving and entering again would mark the others, and they in turn this one, without end. */
    if (!is_compared(d) || stays_compared(entry, d, next))
        return;
    rule_leave(c->graph, c->cloud_resources, entry);
    cloud_index_remove_resource(c->cloud_names, entry, &d->connector->identity);
}

void template_connector_enter(struct rule_context *c, struct entry *entry,
                              const struct template_decision *last)
{
    const struct template_decision *d = template_decision(entry);

    if (!is_compared(d))
        return;
    if (!stays_compared(entry, last, d)) {
        rule_enter(c->graph, c->cloud_resources, entry);
        cloud_index_add_resource(c->cloud_names, entry, &d->connector->identity);
    }
    if (collisions_has(c->cloud_resources, entry))
        d->connector->conflicts |= 1u << CONNECTOR_DUPLICATE_IDENTITY;
}

/* ---- the decision ---- */

void template_connector_gather(const struct rule_context *c, const struct entry *entry,
                               struct template_facts *facts)
{
    struct connector_facts f = {
        .entry = entry,
        .connector = template_connector(entry_template(entry)),
    };
    struct connector_identity identity;

    if (!f.connector)
        return;
    facts->namespaces_incomplete = incomplete_has(&c->incomplete, SETTING_API_VERSION, "Namespace");
    facts->connector_defaults = f.defaults = connector_defaults_of(c->store, entry);
    facts->lease.ids = connector_known_ids(c->store);
    facts->lease.clock = (struct lease_clock){c->now_ms / 1000, c->options.lease_skew_ms / 1000};
    connector_identify(&f, &identity);
    if (!identity.unclear)
        facts->lease.lease = entry_lease(cloud_index_lease(c->cloud_names, entry, &identity));
}

/* True if the first group of a placement names several clusters, and asks nothing else of them. */
static bool names_several(const struct placement *placement)
{
    const struct cluster_affinity *a =
        placement->group_count > 0 ? &placement->groups[0].affinity : NULL;
    const char *first = NULL;

    if (!a || a->labels || a->fields || a->zones || a->never)
        return false;
    for (uint32_t i = 0; i < a->name_count; i++) {
        if (!affinity_allows_name(a, a->names[i]))
            continue;
        if (first && strcmp(first, a->names[i]) != 0)
            return true;
        first = a->names[i];
    }
    return false;
}

/*
 * True if it is on several member clusters. Without a binding: if its policy's placement allows
 * several and the scheduler will use all of them, because what has no replicas is not divided.
 * Where no Cluster is known, the names in the placement are taken for clusters that exist.
 */
static bool is_on_several(const struct binding *b, const struct resolved_placement *placement)
{
    if (b)
        return b->cluster_count > 1;
    if (!placement || placement->placement->has_spread_constraints ||
        placement->placement->unreadable)
        return false;
    if (!placement->has_clusters)
        return names_several(placement->placement);
    return placement->group_count > 0 && placement->groups[0].count > 1 &&
           placement->groups[0].tolerated;
}

struct connector_decision *template_connector_decide(const struct template_facts *f,
                                                     const struct template_decision *d,
                                                     const struct resolved_placement *placement,
                                                     int64_t *due_ms)
{
    const struct entry *entry = f->situation.template;
    const struct connector *connector = template_connector(entry_template(entry));
    const struct binding *b = entry_binding(d->binding);
    struct connector_decision *fresh;

    if (!connector || d->state == STATE_IGNORED || f->namespaces_incomplete)
        return NULL;
    fresh = xmalloc(sizeof(*fresh));
    connector_decide(
        &(struct connector_facts){
            .entry = entry,
            .connector = connector,
            .defaults = f->connector_defaults,
            .binding = b,
            .lease = f->lease.lease,
            .ids = f->lease.ids,
            .clock = f->lease.clock,
            .several_clusters = is_on_several(b, placement),
        },
        fresh);
    int64_t ends_s =
        f->lease.lease ? lease_state_ends_s(f->lease.lease, f->lease.clock) : INT64_MAX;
    if (ends_s != INT64_MAX && ends_s * 1000 < *due_ms)
        *due_ms = ends_s * 1000;
    /* The decision may outlive the objects that the texts are from. */
    struct connector_identity *id = &fresh->identity;
    id->container.id = intern_add(f->strings, id->container.id);
    id->location = id->location ? intern_add(f->strings, id->location) : NULL;
    id->parent = id->parent ? intern_add(f->strings, id->parent) : NULL;
    id->name = intern_add(f->strings, id->name);
    return fresh;
}

void template_connector_release(struct intern *strings, struct connector_decision *d)
{
    if (!d)
        return;
    intern_drop(strings, d->identity.container.id);
    intern_drop(strings, d->identity.location);
    intern_drop(strings, d->identity.parent);
    intern_drop(strings, d->identity.name);
    free(d);
}

/* ---- what depends on a Namespace and on the ids of namespaces ---- */

static bool same_defaults(const struct connector_defaults *a, const struct connector_defaults *b)
{
    if (!a || !b)
        return a == b;
    return a->prevention == b->prevention && a->unclear == b->unclear &&
           a->container.kind == b->container.kind && a->container.id == b->container.id;
}

/* Mark the resources of Config Connector in a namespace. */
static void mark_namespace(struct rule_context *c, const char *name)
{
    /* The name of every partition is a shared text. */
    const char *ns = intern_find(store_strings(c->store), name);

    if (!ns)
        return;
    for (const struct type *type = store_types(c->store); type; type = type->next) {
        const struct partition *partition =
            connector_manages(type->api_version) ? type_partition(c->store, type, ns) : NULL;

        for (size_t i = 0; partition && i < partition->count; i++) {
            if (entry_exists(partition->entries[i]))
                graph_mark(c->graph, partition->entries[i]);
        }
    }
}

void connectors_mark(struct rule_context *c)
{
    for (const struct type *type = store_types(c->store); type; type = type->next) {
        if (type->def->class == CLASS_TEMPLATE && connector_manages(type->api_version))
            graph_mark_type(c->graph, type);
    }
}

void template_connector_changed(struct rule_context *c, struct entry *entry, const void *old)
{
    const struct template *fresh = entry_template_or_setting(entry);

    if (!same_defaults(template_connector_defaults(old), template_connector_defaults(fresh)))
        mark_namespace(c, entry->name);
    if (template_namespace_ids(old) || template_namespace_ids(fresh)) {
        graph_mark_class(c->graph, CLASS_LEASE);
        connectors_mark(c);
    }
}
