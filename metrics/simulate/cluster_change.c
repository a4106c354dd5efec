/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/simulate/cluster_change.h"

#include "metrics/model/store.h"
#include "metrics/rules/placement_match.h"
#include "metrics/rules/scheduling/scheduling.h"
#include "metrics/simulate/dependencies_distributor.h"
#include "metrics/simulate/overlay.h"
#include "metrics/simulate/scheduler.h"

/* A changed Cluster, before and after the change; NULL if the Cluster does not exist. */
struct cluster_versions {
    const char *name;
    const struct cluster *old;
    const struct cluster *fresh;
};

/* ---- bindings that the scheduler handles again ---- */

/* Returns true if the affinity may match the cluster in some release that Karmada may have. */
static bool may_match(const struct cluster_affinity *affinity, const char *name,
                      const struct cluster *cluster, struct release_range range)
{
    return cluster &&
           affinity_matches_in_range(affinity, name, cluster, range) != RELEASE_ANSWER_NO;
}

/* Returns true if the scheduler handles the binding after the change of the Cluster. */
static bool is_enqueued(struct overlay *overlay, const struct binding *b,
                        const struct cluster_versions *versions)
{
    struct rule_context *c = overlay_context(overlay);
    struct scheduling s = {.placements = c->placements, .binding = b, .gates = c->gates};
    const struct affinity_group *group;

    if (!b || !b->has_placement || b->deleting)
        return false;
    s.resolved = overlay_resolve_placement(overlay, b->propagation.placement);
    if (s.resolved->placement->unreadable)
        return false;
    if (s.resolved->placement->group_count == 0)
        return true;
    /* The scheduler does not trust the observed group before it has handled the last write. */
    if (s.resolved->placement->has_groups && !b->status.observed)
        return true;
    group = &s.resolved->placement->groups[scheduling_first_group(&s, c->release.newest)];
    return may_match(&group->affinity, versions->name, versions->old, c->release) ||
           may_match(&group->affinity, versions->name, versions->fresh, c->release);
}

/* Bindings with equal placements are neighbours, so that each placement is resolved once. */
static int by_placement(const void *a, const void *b)
{
    const struct entry *x = *(const struct entry *const *)a;
    const struct entry *y = *(const struct entry *const *)b;
    uintptr_t left = (uintptr_t)entry_binding(x)->propagation.placement;
    uintptr_t right = (uintptr_t)entry_binding(y)->propagation.placement;

    return left != right ? (left > right) - (left < right) : entry_compare(x, y);
}

bool cluster_change_keeps_targets(const struct binding *a, const struct binding *b)
{
    if (a->cluster_count != b->cluster_count || a->undetermined != b->undetermined ||
        a->observed_group != b->observed_group || a->applied_placement != b->applied_placement ||
        a->status.scheduled != b->status.scheduled)
        return false;
    return targets_equal(a->clusters, b->clusters, a->cluster_count);
}

void reschedule_binding(struct overlay *overlay, struct entry *entry)
{
    const struct binding *old = entry_binding(entry);
    struct binding fresh = *old;

    scheduler_schedule_enqueued(overlay, old, &fresh);
    distributor_update_targets(overlay, old, &fresh);
    if (cluster_change_keeps_targets(old, &fresh))
        return;
    overlay_replace(overlay, entry, overlay_copy_binding(overlay, &fresh));
    distributor_sync(overlay, entry, false);
}

static void reschedule_bindings(struct overlay *overlay, const struct cluster_versions *versions)
{
    CLEANUP(listing_release)
    struct listing all = listing_make_unordered(overlay_context(overlay)->store, CLASS_BINDING);

    if (all.count > 1)
        qsort(all.entries, all.count, sizeof(const struct entry *), by_placement);
    for (size_t i = 0; i < all.count && !overlay_limit_reached(overlay); i++) {
        if (is_enqueued(overlay, entry_binding(all.entries[i]), versions))
            reschedule_binding(overlay, (struct entry *)(uintptr_t)all.entries[i]);
    }
    overlay_evaluate(overlay);
}

/* ---- NoExecute taints ---- */

static bool has_taint(const struct cluster *c, const struct taint *taint)
{
    for (uint32_t i = 0; c && i < c->taint_count; i++) {
        if (c->taints[i].key == taint->key && c->taints[i].value == taint->value &&
            c->taints[i].effect == taint->effect)
            return true;
    }
    return false;
}

/* Appends the taints NoExecute of `fresh` that `old` does not have to `out`. */
static void list_new_evicting_taints(const struct cluster *old, const struct cluster *fresh,
                                     struct cluster *out)
{
    for (uint32_t i = 0; i < fresh->taint_count; i++) {
        if (strcmp(fresh->taints[i].effect, "NoExecute") == 0 && !has_taint(old, &fresh->taints[i]))
            out->taints[out->taint_count++] = fresh->taints[i];
    }
}

bool cluster_change_evicts(struct overlay *overlay, const struct binding *b, const char *name,
                           const struct cluster *taints)
{
    const char *placement = b->applied_placement ? b->applied_placement : b->propagation.placement;

    assert(name);
    for (uint32_t i = 0; i < b->cluster_count && !b->deleting; i++) {
        if (strcmp(b->clusters[i].name, name) == 0)
            return !placement_tolerates_forever(
                overlay_resolve_placement(overlay, placement)->placement, taints);
    }
    return false;
}

/* Returns true if a binding with the cluster as a target does not tolerate its new taints. */
static bool has_intolerant_target(struct overlay *overlay, const struct entry *entry,
                                  const struct cluster *fresh)
{
    CLEANUP(free_cleanup)
    struct taint *taints = xcalloc(fresh->taint_count + (size_t)1, sizeof(*taints));
    struct cluster added = {.taints = taints};

    list_new_evicting_taints(entry_cluster(entry), fresh, &added);
    if (added.taint_count == 0)
        return false;

    CLEANUP(listing_release)
    struct listing all = listing_make_unordered(overlay_context(overlay)->store, CLASS_BINDING);

    for (size_t i = 0; i < all.count; i++) {
        if (cluster_change_evicts(overlay, entry_binding(all.entries[i]), entry->name, &added))
            return true;
    }
    return false;
}

/*
 * Returns true if Karmada may evict a template because of a new taint (Karmada:
 * NoExecuteTaintManager). Records ASSUMED_EVICTION_OFF if only a gate that is off prevents it.
 */
static bool may_evict(struct overlay *overlay, const struct entry *entry,
                      const struct cluster *fresh)
{
    struct release_range range = overlay_context(overlay)->release;

    if (!has_intolerant_target(overlay, entry, fresh))
        return false;
    if (overlay_gate_is_on(overlay, GATE_FAILOVER) ||
        release_range_has(range, BEHAVIOUR_EVICTS_WITH_GATE) != RELEASE_ANSWER_YES)
        return true;
    overlay_assume(overlay, ASSUMED_EVICTION_OFF);
    return false;
}

/* ---- changes of a Cluster ---- */

static bool has_equal_labels(const struct cluster *a, const struct cluster *b)
{
    if (a->labels.count != b->labels.count)
        return false;
    for (size_t i = 0; i < a->labels.count; i++) {
        if (labels_get(&b->labels, a->labels.items[i].key) != a->labels.items[i].value)
            return false;
    }
    return true;
}

/*
 * Returns true if both versions of a Cluster have equal labels and an equal spec, as far as the
 * exporter reads it. Karmada's scheduler then sees no update (Karmada: updateCluster).
 */
static bool is_unchanged(const struct cluster *old, const struct cluster *fresh)
{
    if (old->provider != fresh->provider || old->region != fresh->region ||
        old->zone_count != fresh->zone_count || old->taint_count != fresh->taint_count ||
        !has_equal_labels(old, fresh))
        return false;
    for (uint32_t i = 0; i < old->zone_count; i++) {
        if (old->zones[i] != fresh->zones[i])
            return false;
    }
    for (uint32_t i = 0; i < old->taint_count; i++) {
        if (!has_taint(fresh, &old->taints[i]))
            return false;
    }
    return true;
}

struct cluster *cluster_change_copy(struct overlay *overlay, const struct cluster *c)
{
    struct cluster *copy = overlay_alloc_cell(overlay, sizeof(*copy));

    *copy = *c;
    return copy;
}

void cluster_change_replace(struct overlay *overlay, struct entry *entry, struct cluster *fresh)
{
    const struct cluster_versions versions = {entry->name, entry_cluster(entry), fresh};

    overlay_replace(overlay, entry, fresh);
    overlay_evaluate(overlay);
    reschedule_bindings(overlay, &versions);
}

static bool has_status(const struct cluster *c)
{
    return c->apis_known || c->resource_count > 0 || c->ready || c->ready_since_ms > 0;
}

/* Sets the status of `fresh` to that of `old`, which only Karmada writes. */
static void keep_status(struct cluster *fresh, const struct cluster *old)
{
    fresh->apis = old->apis;
    fresh->api_count = old->api_count;
    fresh->apis_complete = old->apis_complete;
    fresh->apis_known = old->apis_known;
    fresh->resources = old->resources;
    fresh->resource_count = old->resource_count;
    fresh->ready = old->ready;
    fresh->ready_since_ms = old->ready_since_ms;
}

/* Returns true if a target of some binding is the cluster (Karmada: isTargetClusterRemoved). */
static bool is_target_of_any(const struct store *store, const char *name)
{
    CLEANUP(listing_release) struct listing all = listing_make_unordered(store, CLASS_BINDING);

    for (size_t i = 0; i < all.count; i++) {
        const struct binding *b = entry_binding(all.entries[i]);

        for (uint32_t k = 0; k < b->cluster_count; k++) {
            if (strcmp(b->clusters[k].name, name) == 0)
                return true;
        }
    }
    return false;
}

bool cluster_change_apply(struct overlay *overlay, struct entry *entry, const struct cluster *fresh)
{
    const struct cluster *old = entry_cluster(entry);
    struct cluster *copy = cluster_change_copy(overlay, fresh);
    bool evicts = false;

    if (old && has_status(old))
        keep_status(copy, old);
    copy->deleting = old && old->deleting;
    if (!old || !is_unchanged(old, fresh)) {
        evicts = may_evict(overlay, entry, copy);
        cluster_change_replace(overlay, entry, copy);
    }
    if (fresh->deleting)
        cluster_change_delete(overlay, entry);
    return evicts;
}

void cluster_change_delete(struct overlay *overlay, struct entry *entry)
{
    const struct cluster *old = entry_cluster(entry);

    if (!old->deleting) {
        struct cluster *deleting = cluster_change_copy(overlay, old);

        deleting->deleting = true;
        cluster_change_replace(overlay, entry, deleting);
    }
    if (is_target_of_any(overlay_context(overlay)->store, entry->name))
        return;
    overlay_replace(overlay, entry, NULL);
    overlay_evaluate(overlay);
}
