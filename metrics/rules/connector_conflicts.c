/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/connector_conflicts.h"

#include "metrics/base/map.h"
#include "metrics/model/template.h"
#include "metrics/rules/decision.h"

/* ---- leases ---- */

const char *const lease_state_names[LEASE_STATE_COUNT] = {
    [LEASE_HELD] = "held",     [LEASE_EXPIRING] = "expiring", [LEASE_EXPIRED] = "expired",
    [LEASE_ABSENT] = "absent", [LEASE_UNKNOWN] = "unknown",
};

const char *const lease_verdict_names[VERDICT_REFUSED + 1] = {
    [VERDICT_UNPROTECTED] = "unprotected",
    [VERDICT_OBTAINS] = "obtains",
    [VERDICT_KEEPS] = "keeps",
    [VERDICT_RENEWS] = "renews",
    [VERDICT_TAKES_OVER] = "takes over",
    [VERDICT_REFUSED] = "refused",
};

/* Returns true if the lease has expired even by a clock that is behind by the skew. */
static bool is_surely_expired(int64_t expires_s, struct lease_clock clock)
{
    return clock.now_s - clock.skew_s > expires_s;
}

static int64_t snapshot_usable_until_s(const struct lease *l)
{
    return l->snapshot_ms / 1000 + LEASE_LIFE_S;
}

/* Returns a clock set to the time of the snapshot, or to `clock` if the snapshot is later. */
static struct lease_clock clock_at_snapshot(const struct lease *l, struct lease_clock clock)
{
    int64_t snapshot_s = l->snapshot_ms / 1000;

    return (struct lease_clock){snapshot_s < clock.now_s ? snapshot_s : clock.now_s, clock.skew_s};
}

enum lease_state lease_state(const struct lease *l, struct lease_clock clock)
{
    struct lease_clock then = clock_at_snapshot(l, clock);

    if (!l->holder)
        return LEASE_ABSENT;
    if (clock.now_s > snapshot_usable_until_s(l))
        return LEASE_UNKNOWN;
    if (is_surely_expired(l->expires_s, then))
        return LEASE_EXPIRED;
    /* The holder may have extended the lease since the snapshot. */
    if (is_surely_expired(l->expires_s, clock))
        return LEASE_UNKNOWN;
    /* The holder's clock may be behind by the skew, so that more time remains for the holder. */
    return l->expires_s - (then.now_s - then.skew_s) < LEASE_RENEWAL_S ? LEASE_EXPIRING
                                                                       : LEASE_HELD;
}

int64_t lease_state_ends_s(const struct lease *l, struct lease_clock clock)
{
    int64_t renewal_s = l->expires_s - LEASE_RENEWAL_S + clock.skew_s + 1;
    const int64_t ends_s[] = {
        /* After the snapshot the holder may extend the lease, so LEASE_HELD does not end. */
        renewal_s <= l->snapshot_ms / 1000 ? renewal_s : INT64_MAX,
        l->expires_s + clock.skew_s + 1,
        snapshot_usable_until_s(l) + 1,
    };
    int64_t next_s = INT64_MAX;

    if (lease_state(l, clock) == LEASE_ABSENT || lease_state(l, clock) == LEASE_UNKNOWN)
        return INT64_MAX;
    for (size_t i = 0; i < ARRAY_LEN(ends_s); i++) {
        if (ends_s[i] > clock.now_s && ends_s[i] < next_s)
            next_s = ends_s[i];
    }
    return next_s;
}

enum lease_verdict lease_verdict(enum prevention prevention, const struct lease *l,
                                 const char *own_id, struct lease_clock clock)
{
    if (prevention != PREVENTION_RESOURCE)
        return VERDICT_UNPROTECTED;
    if (!l->holder)
        return VERDICT_OBTAINS;
    if (own_id && strcmp(l->holder, own_id) == 0)
        return l->expires_s - clock.now_s < LEASE_RENEWAL_S ? VERDICT_RENEWS : VERDICT_KEEPS;
    return is_surely_expired(l->expires_s, clock) ? VERDICT_TAKES_OVER : VERDICT_REFUSED;
}

/* ---- conflicts between resources of Google Config Connector ---- */

const char *const connector_conflict_names[CONNECTOR_CONFLICT_COUNT] = {
    [CONNECTOR_REPORTED] = "reported",
    [CONNECTOR_DUPLICATE_IDENTITY] = "duplicate_identity",
    [CONNECTOR_MULTI_CLUSTER] = "multi_cluster_placement",
    [CONNECTOR_REFUSED] = "refused",
    [CONNECTOR_SILENT] = "silent",
    [CONNECTOR_UNKNOWN_HOLDER] = "unknown_holder",
    [CONNECTOR_EXPIRED] = "expired",
    [CONNECTOR_EXPIRING] = "expiring",
    [CONNECTOR_LAPSE_HAZARD] = "lapse_hazard",
    [CONNECTOR_UNPROTECTABLE] = "unprotectable",
    [CONNECTOR_DELETION_TRAP] = "deletion_trap",
    [CONNECTOR_INVALID_PREVENTION] = "invalid_prevention",
};

const char *const connector_conflict_texts[CONNECTOR_CONFLICT_COUNT] = {
    [CONNECTOR_REPORTED] =
        "Config Connector did not get the lease: another controller manages the resource",
    [CONNECTOR_DUPLICATE_IDENTITY] = "another object has the same cloud resource",
    [CONNECTOR_MULTI_CLUSTER] =
        "the object is placed on several member clusters, and each manages the same cloud resource",
    [CONNECTOR_REFUSED] = "the object requests the lease, which another namespace holds",
    [CONNECTOR_SILENT] =
        "the object requests no lease, and overwrites the settings of the lease holder",
    [CONNECTOR_UNKNOWN_HOLDER] = "the id of the lease holder belongs to no known namespace",
    [CONNECTOR_EXPIRED] = "the lease has expired: another controller may take over the resource",
    [CONNECTOR_EXPIRING] = "less than 20 minutes remain of the lease: its holder does not renew it",
    [CONNECTOR_LAPSE_HAZARD] =
        "the reconcile interval exceeds the lease, which expires between two reconciles",
    [CONNECTOR_UNPROTECTABLE] =
        "the object requests a lease, but the kind has no labels to store it",
    [CONNECTOR_DELETION_TRAP] =
        "leaving one member cluster deletes the cloud resource that the others use",
    [CONNECTOR_INVALID_PREVENTION] =
        "Config Connector refuses the object, because its conflict prevention policy is invalid",
};

const char *const protection_names[PROTECTION_COUNT] = {
    [PROTECTION_NONE] = "none",
    [PROTECTION_RESOURCE] = "resource",
    [PROTECTION_UNPROTECTABLE] = "unprotectable",
    [PROTECTION_INVALID] = "invalid",
};

/*
 * An annotation of the object wins. The Namespace's default applies only to kinds with labels. For
 * another value than none and resource, Config Connector's webhook refuses the object, and its
 * controller does not reconcile the object (valueToManagementConflictPreventionPolicy).
 */
static enum protection protection_of_object(const struct connector_facts *f)
{
    bool lacks_labels = connector_traits(entry_kind(f->entry)) & CONNECTOR_NO_LABELS;
    enum prevention prevention = f->connector->prevention;

    if (prevention == PREVENTION_UNSET && f->defaults && !lacks_labels)
        prevention = f->defaults->prevention;
    if (prevention == PREVENTION_INVALID)
        return PROTECTION_INVALID;
    if (prevention != PREVENTION_RESOURCE)
        return PROTECTION_NONE;
    return lacks_labels ? PROTECTION_UNPROTECTABLE : PROTECTION_RESOURCE;
}

static struct container container_of_object(const struct connector_facts *f)
{
    if (connector_traits(entry_kind(f->entry)) & CONNECTOR_GLOBAL)
        return (struct container){CONTAINER_NONE, ""};
    if (f->connector->container.id)
        return f->connector->container;
    if (f->defaults && f->defaults->container.id)
        return f->defaults->container;
    return (struct container){CONTAINER_PROJECT, entry_ns(f->entry)};
}

/*
 * Returns true if the object does not determine its cloud resource, or takes its container from a
 * Namespace with several container annotations.
 */
static bool is_identity_unclear(const struct connector_facts *f)
{
    bool own =
        f->connector->container.id || connector_traits(entry_kind(f->entry)) & CONNECTOR_GLOBAL;

    return f->connector->unclear || (!own && f->defaults && f->defaults->unclear);
}

/*
 * Returns true if a part of the identity has a placeholder: the file is not rendered yet, and equal
 * placeholders may stand for different values.
 */
static bool has_placeholder(const struct connector_identity *id)
{
    const char *const texts[] = {id->container.id, id->location, id->parent, id->name};

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        const char *open = texts[i] ? strstr(texts[i], "${") : NULL;

        if (open && strchr(open, '}'))
            return true;
    }
    return false;
}

void connector_identify(const struct connector_facts *facts, struct connector_identity *out)
{
    const struct connector *c = facts->connector;

    *out = (struct connector_identity){
        .container = container_of_object(facts),
        .location = c->location,
        .parent = c->parent,
        .unclear = is_identity_unclear(facts),
        .name = c->resource_id ? c->resource_id : facts->entry->name,
    };
    out->placeholder = has_placeholder(out);
    out->unclear = out->unclear || out->placeholder;
}

/*
 * Returns the id of another namespace that holds an unexpired lease on the resource; NULL if there
 * is no such lease, its state is unknown, or no namespace's id is known.
 */
static const char *find_other_holder(const struct connector_facts *f)
{
    enum lease_state state = f->lease ? lease_state(f->lease, f->clock) : LEASE_ABSENT;
    const char *own = f->ids ? labels_get(&f->ids->ids, entry_ns(f->entry)) : NULL;

    if (!f->ids || (state != LEASE_HELD && state != LEASE_EXPIRING))
        return NULL;
    return own && strcmp(own, f->lease->holder) == 0 ? NULL : f->lease->holder;
}

void connector_decide(const struct connector_facts *facts, struct connector_decision *out)
{
    const struct connector *c = facts->connector;
    const char *holder = find_other_holder(facts);
    bool shared = facts->several_clusters;
    bool lapses = c->reconcile_s == 0 || c->reconcile_s > LEASE_LIFE_S;

    *out = (struct connector_decision){.protection = protection_of_object(facts)};
    connector_identify(facts, &out->identity);
    const bool found[CONNECTOR_CONFLICT_COUNT] = {
        [CONNECTOR_REPORTED] = c->conflict_holder ||
                               (facts->binding && binding_rare(facts->binding)->member_conflicts),
        [CONNECTOR_MULTI_CLUSTER] = shared,
        /* If the holder is no known namespace, the lease gets CONNECTOR_UNKNOWN_HOLDER. */
        [CONNECTOR_REFUSED] =
            out->protection == PROTECTION_RESOURCE && holder && namespace_of_id(facts->ids, holder),
        [CONNECTOR_SILENT] = out->protection != PROTECTION_RESOURCE &&
                             out->protection != PROTECTION_INVALID && holder,
        [CONNECTOR_INVALID_PREVENTION] = out->protection == PROTECTION_INVALID,
        [CONNECTOR_LAPSE_HAZARD] = lapses && out->protection == PROTECTION_RESOURCE,
        [CONNECTOR_UNPROTECTABLE] = out->protection == PROTECTION_UNPROTECTABLE,
        [CONNECTOR_DELETION_TRAP] = shared && !c->abandons,
    };

    for (unsigned i = 0; i < CONNECTOR_CONFLICT_COUNT; i++)
        out->conflicts |= (uint16_t)(found[i] << i);
}

unsigned connector_conflicts(const struct entry *entry)
{
    const struct template_decision *d = template_decision(entry);
    const struct lease_decision *l = lease_decision(entry);

    if (d)
        return decision_connector(d) ? decision_connector(d)->conflicts : 0;
    return l ? l->conflicts : 0;
}

const char *namespace_of_id(const struct namespace_ids *ids, const char *id)
{
    for (size_t i = 0; ids && i < ids->ids.count; i++) {
        if (strcmp(ids->ids.items[i].value, id) == 0)
            return ids->ids.items[i].key;
    }
    return NULL;
}

void lease_decide(const struct lease *lease, const struct namespace_ids *ids,
                  struct lease_clock clock, struct lease_decision *out)
{
    *out = (struct lease_decision){.state = lease_state(lease, clock)};
    out->holder_ns = lease->holder ? namespace_of_id(ids, lease->holder) : NULL;

    const bool found[CONNECTOR_CONFLICT_COUNT] = {
        [CONNECTOR_UNKNOWN_HOLDER] = ids && lease->holder && !out->holder_ns,
        [CONNECTOR_EXPIRED] = out->state == LEASE_EXPIRED,
        [CONNECTOR_EXPIRING] = out->state == LEASE_EXPIRING,
    };

    for (unsigned i = 0; i < CONNECTOR_CONFLICT_COUNT; i++)
        out->conflicts |= (uint16_t)(found[i] << i);
}

static bool is_same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

bool connector_is_same_resource(const struct entry *a, const struct connector_identity *a_identity,
                                const struct entry *b, const struct connector_identity *b_identity)
{
    const struct type *left = entry_type(a);
    const struct type *right = entry_type(b);

    return strcmp(left->group, right->group) == 0 && strcmp(left->kind, right->kind) == 0 &&
           a_identity->container.kind == b_identity->container.kind &&
           is_same_text(a_identity->container.id, b_identity->container.id) &&
           is_same_text(a_identity->location, b_identity->location) &&
           is_same_text(a_identity->parent, b_identity->parent) &&
           is_same_text(a_identity->name, b_identity->name);
}

uint64_t connector_resource_hash(const struct entry *entry,
                                 const struct connector_identity *identity, uint64_t seed)
{
    const char *const texts[] = {entry_type(entry)->group, entry_kind(entry),
                                 identity->container.id,   identity->location,
                                 identity->parent,         identity->name};
    uint64_t hash = seed;

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        hash = map_hash(texts[i] ? texts[i] : "", texts[i] ? strlen(texts[i]) : 0, hash);
    return hash;
}

/* ---- settings of Config Connector ---- */

/*
 * Versions under which the store may have a Namespace or ConfigMap: v1 for a template,
 * SETTING_API_VERSION for a setting.
 */
static const char *const setting_versions[] = {"v1", SETTING_API_VERSION};

/* Returns the object with this identity, as a template or setting; NULL if it does not exist. */
static const struct template *find_namespace_or_config_map(const struct store *s,
                                                           const struct identity *id)
{
    return entry_template_or_setting(store_find(s, id));
}

const struct namespace_ids *connector_namespace_ids(const struct store *s)
{
    for (size_t i = 0; i < ARRAY_LEN(setting_versions); i++) {
        const struct namespace_ids *ids = template_namespace_ids(
            find_namespace_or_config_map(s, &(struct identity){setting_versions[i], "ConfigMap",
                                                               "cnrm-system", "namespace-id"}));

        if (ids && ids->ids.count > 0)
            return ids;
    }
    return NULL;
}

const struct connector_defaults *connector_defaults_of(const struct store *s,
                                                       const struct entry *template)
{
    const struct connector_defaults *defaults = NULL;

    for (size_t i = 0; !defaults && i < ARRAY_LEN(setting_versions); i++)
        defaults = template_connector_defaults(find_namespace_or_config_map(
            s, &(struct identity){setting_versions[i], "Namespace", "", entry_ns(template)}));
    return defaults;
}

enum lease_verdict connector_lease_verdict(const struct store *s, const struct entry *template,
                                           const struct entry *lease, struct lease_clock clock)
{
    bool protects =
        decision_connector(template_decision(template))->protection == PROTECTION_RESOURCE;
    const struct namespace_ids *ids = connector_namespace_ids(s);

    return lease_verdict(protects ? PREVENTION_RESOURCE : PREVENTION_NONE, entry_lease(lease),
                         ids ? labels_get(&ids->ids, entry_ns(template)) : NULL, clock);
}
