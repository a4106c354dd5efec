/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/template.h"
#include "metrics/rules/cloud_name.h"
#include "metrics/rules/engine_state.h"

static struct lease_clock clock_of(const struct engine *e)
{
    return (struct lease_clock){e->now_ms / 1000, e->options.lease_skew_ms / 1000};
}

/* A Namespace or a ConfigMap is there as a template or as a setting. */
static const char *const setting_versions[] = {"v1", SETTING_API_VERSION};

/* What the object says, where it is there; NULL if not. */
static const struct template *find_object(const struct engine *e, const struct identity *id)
{
    const struct entry *entry = store_find(e->store, id);

    return entry ? entry->object : NULL;
}

/* NULL also where they are not told, as in metadata alone: then nobody is a stranger. */
static const struct namespace_ids *known_ids(const struct engine *e)
{
    for (size_t i = 0; i < ARRAY_LEN(setting_versions); i++) {
        const struct namespace_ids *ids = template_namespace_ids(
            find_object(e, &(struct identity){setting_versions[i], "ConfigMap", "cnrm-system",
                                              "namespace-id"}));

        if (ids && ids->ids.count > 0)
            return ids;
    }
    return NULL;
}

const char *engine_namespace_of_id(const struct engine *e, const char *id)
{
    return namespace_of_id(known_ids(e), id);
}

static const struct connector_defaults *defaults_of(const struct engine *e,
                                                    const struct entry *entry)
{
    const struct connector_defaults *defaults = NULL;

    for (size_t i = 0; !defaults && i < ARRAY_LEN(setting_versions); i++)
        defaults = template_connector_defaults(find_object(
            e, &(struct identity){setting_versions[i], "Namespace", "", entry_ns(entry)}));
    return defaults;
}

/* ---- leases ---- */

void engine_lease_forget(struct engine *e, struct entry *entry)
{
    struct lease_decision *d = entry->decision;

    if (!d)
        return;
    engine_wait_no_more(e, &d->waiting);
    intern_drop(store_strings(e->store), d->holder_ns);
    free(d);
    entry->decision = NULL;
}

void engine_decide_lease(struct engine *e, struct entry *entry)
{
    const struct lease *lease = entry->object;
    struct lease_decision *d = xmalloc(sizeof(*d));
    int64_t ends_s = lease_state_ends_s(lease, clock_of(e));

    lease_decide(lease, known_ids(e), clock_of(e), d);
    if (d->holder_ns)
        intern_ref(d->holder_ns);
    engine_lease_forget(e, entry);
    entry->decision = d;
    engine_wait(e, entry, &d->waiting, ends_s == INT64_MAX ? INT64_MAX : ends_s * 1000);
}

static const struct entry *lease_in(const struct partition *partition, const struct entry *template,
                                    const struct entry *first)
{
    const struct connector_identity *identity = &template_decision(template)->connector->identity;

    for (size_t i = 0; i < partition->count; i++) {
        const struct entry *entry = partition->entries[i];
        const struct lease *lease = entry->object;

        if (lease && cloud_name_is(entry->name, lease->asset_type, template, identity) &&
            (!first || strcmp(entry->name, first->name) < 0))
            first = entry;
    }
    return first;
}

const struct entry *engine_lease_of(const struct engine *e, const struct entry *template)
{
    const struct entry *first = NULL;

    for (const struct type *type = store_types(e->store); type; type = type->next) {
        if (type->def->class != CLASS_LEASE)
            continue;
        for (const struct partition *partition = type->partitions; partition;
             partition = partition->next_of_type)
            first = lease_in(partition, template, first);
    }
    return first;
}

enum lease_verdict engine_lease_verdict(const struct engine *e, const struct entry *template,
                                        const struct entry *lease)
{
    bool protects = template_decision(template)->connector->protection == PROTECTION_RESOURCE;
    const struct namespace_ids *ids = known_ids(e);

    return lease_verdict(protects ? PREVENTION_RESOURCE : PREVENTION_NONE, lease->object,
                         ids ? labels_get(&ids->ids, entry_ns(template)) : NULL, clock_of(e));
}

/* ---- templates that are resources of Config Connector ---- */

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

static void mark_shaken(struct engine *e)
{
    for (size_t i = 0; i < e->shaken.count; i++)
        engine_mark(e, e->shaken.items[i]);
}

/* The objects that the texts are from may go before the decision does. */
static void hold_identity(struct engine *e, struct connector_identity *id)
{
    struct intern *strings = store_strings(e->store);

    id->container.id = intern_add(strings, id->container.id);
    id->location = id->location ? intern_add(strings, id->location) : NULL;
    id->parent = id->parent ? intern_add(strings, id->parent) : NULL;
    id->name = intern_add(strings, id->name);
}

static void drop_identity(struct engine *e, const struct connector_identity *id)
{
    struct intern *strings = store_strings(e->store);

    intern_drop(strings, id->container.id);
    intern_drop(strings, id->location);
    intern_drop(strings, id->parent);
    intern_drop(strings, id->name);
}

/*
 * It is on several member clusters. In manifests without bindings: its policy's placement
 * means several, and nothing keeps it from all of them, for what has no replicas is not
 * divided.
 */
static bool is_on_several(const struct engine *e, const struct template_decision *d)
{
    const struct binding *b = d->binding ? d->binding->object : NULL;
    const struct policy_decision *policy = d->governing ? policy_decision(d->governing) : NULL;
    const struct placed *placed = policy ? policy->placed : NULL;

    if (b)
        return b->cluster_count > 1;
    if (!e->derives || !placed || !placed->has_clusters || placed->group_count == 0)
        return false;
    return placed->groups[0].count > 1 && placed->groups[0].tolerated &&
           !placed->placement->has_spread_constraints && !placed->placement->unreadable;
}

void engine_add_connector(struct engine *e, struct entry *entry, struct template_decision *old,
                          struct template_decision *fresh)
{
    const struct connector *connector = template_connector(entry->object);
    struct connector_decision *before = old ? old->connector : NULL;

    if (!connector || fresh->state == STATE_IGNORED)
        return;
    fresh->connector = xmalloc(sizeof(*fresh->connector));
    connector_decide(
        &(struct connector_facts){
            .entry = entry,
            .connector = connector,
            .defaults = defaults_of(e, entry),
            .binding = fresh->binding ? fresh->binding->object : NULL,
            .several_clusters = is_on_several(e, fresh),
        },
        fresh->connector);
    hold_identity(e, &fresh->connector->identity);
    /* Leaving and coming back would shake the others each time that one of them is looked at. */
    if (before && before->registered && !fresh->connector->identity.unclear &&
        connector_same(entry, &before->identity, entry, &fresh->connector->identity)) {
        fresh->connector->registered = true;
        before->registered = false;
    }
}

void engine_compare_connector(struct engine *e, struct entry *entry)
{
    struct connector_decision *c = template_decision(entry)->connector;

    if (!c || c->identity.unclear)
        return;
    if (!c->registered) {
        e->shaken.count = 0;
        collisions_add(e->duplicates, entry, &e->shaken);
        mark_shaken(e);
        c->registered = true;
    }
    if (collisions_has(e->duplicates, entry))
        c->conflicts |= 1u << CONNECTOR_DUPLICATE_IDENTITY;
}

void engine_drop_connector(struct engine *e, struct entry *entry, struct template_decision *d)
{
    if (!d->connector)
        return;
    if (d->connector->registered) {
        e->shaken.count = 0;
        collisions_remove(e->duplicates, entry, &e->shaken);
        mark_shaken(e);
    }
    drop_identity(e, &d->connector->identity);
    free(d->connector);
    d->connector = NULL;
}

/* ---- what others have from a Namespace and from the ids of namespaces ---- */

static bool same_defaults(const struct connector_defaults *a, const struct connector_defaults *b)
{
    if (!a || !b)
        return a == b;
    return a->prevention == b->prevention && a->unclear == b->unclear &&
           a->container.kind == b->container.kind && a->container.id == b->container.id;
}

static void mark_namespace(struct engine *e, const char *name)
{
    /* Not shared by anybody: then no partition has that name. */
    const char *ns = intern_find(store_strings(e->store), name);

    if (!ns)
        return;
    for (const struct type *type = store_types(e->store); type; type = type->next) {
        const struct partition *partition =
            connector_manages(type->api_version) ? type_partition(e->store, type, ns) : NULL;

        for (size_t i = 0; partition && i < partition->count; i++) {
            if (partition->entries[i]->object)
                engine_mark(e, partition->entries[i]);
        }
    }
}

void engine_mark_connectors(struct engine *e)
{
    for (const struct type *type = store_types(e->store); type; type = type->next) {
        if (type->def->class == CLASS_TEMPLATE && connector_manages(type->api_version))
            engine_mark_type(e, type);
    }
}

static void mark_leases(struct engine *e)
{
    for (const struct type *type = store_types(e->store); type; type = type->next) {
        if (type->def->class == CLASS_LEASE)
            engine_mark_type(e, type);
    }
}

void engine_connector_changed(struct engine *e, const struct entry *entry,
                              const struct template *old)
{
    const struct template *fresh = entry->object;

    if (!same_defaults(template_connector_defaults(old), template_connector_defaults(fresh)))
        mark_namespace(e, entry->name);
    if (template_namespace_ids(old) || template_namespace_ids(fresh))
        mark_leases(e);
}
