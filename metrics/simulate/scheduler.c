/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/simulate/scheduler.h"

#include "metrics/model/cluster.h"
#include "metrics/model/store.h"
#include "metrics/rules/placement_match.h"
#include "metrics/simulate/overlay.h"

static const char default_scheduler[] = "default-scheduler";

/* Returns true if Karmada's default scheduler handles the binding once it is in its queue. */
static bool is_for_default_scheduler(const struct binding *b)
{
    return b->has_placement && !b->deleting && !b->scheduling_suspended &&
           (!b->propagation.scheduler_name ||
            strcmp(b->propagation.scheduler_name, default_scheduler) == 0);
}

static int64_t sum_assigned_replicas(const struct binding *b)
{
    int64_t sum = 0;

    for (uint32_t i = 0; i < b->cluster_count; i++)
        sum += b->clusters[i].replicas;
    return sum;
}

/*
 * Returns the placement that the scheduler applied last. If the placement is not recorded, returns
 * the present one for a binding with clusters, else NULL.
 */
static const char *applied_placement_of(const struct binding *b)
{
    return b->applied_placement || b->cluster_count == 0 ? b->applied_placement
                                                         : b->propagation.placement;
}

/* Returns true if `old` is claimed and was scheduled with placement and replicas of `fresh`. */
static bool has_same_input(const struct binding *old, const struct binding *fresh)
{
    return old && old->cluster_count > 0 && old->claim &&
           applied_placement_of(old) == fresh->propagation.placement &&
           old->replicas == fresh->replicas;
}

uint32_t scheduler_first_group(struct rule_context *c, const struct binding *old,
                               const struct resolved_placement *resolved)
{
    const struct placement *placement = resolved->placement;
    const struct resolved_placement *applied;
    const char *name = NULL;

    if (!old || !old->applied_placement || placement->group_count < 2)
        return 0;
    applied = placements_ref(c->placements, old->applied_placement);
    if (old->observed_group < applied->placement->group_count)
        name = applied->placement->groups[old->observed_group].name;
    placements_drop(c->placements, applied);
    for (uint32_t i = 0; name && i < placement->group_count; i++) {
        if (placement->groups[i].name == name)
            return i;
    }
    return 0;
}

static bool is_target(const struct binding *b, const char *cluster)
{
    for (uint32_t i = 0; b && i < b->cluster_count; i++) {
        if (b->clusters[i].name == cluster)
            return true;
    }
    return false;
}

/* Returns true if a cluster passes the filters TaintToleration and APIEnablement. */
static bool passes_filters(const struct member *member, const struct binding *old,
                           const struct binding *fresh)
{
    const struct cluster *cluster = entry_cluster(member->cluster);

    /* Present targets pass despite taints, and despite a missing API if not all APIs are known. */
    if (is_target(old, member->name) && (!cluster || !cluster->apis_complete))
        return true;
    if (cluster && !cluster_serves(cluster, fresh->api_version, fresh->kind))
        return false;
    return member->tolerated || is_target(old, member->name);
}

/* Returns the members of a set that pass the filters. The caller frees `members`. */
static struct cluster_set filter_members(const struct cluster_set *set, const struct binding *old,
                                         const struct binding *fresh)
{
    struct cluster_set out = {.tolerated = true};

    out.members = xreallocarray(NULL, set->count + 1, sizeof(*out.members));
    for (uint32_t i = 0; i < set->count; i++) {
        if (passes_filters(&set->members[i], old, fresh))
            out.members[out.count++] = set->members[i];
    }
    return out;
}

static bool has_member(const struct cluster_set *set, const char *name)
{
    for (uint32_t i = 0; i < set->count; i++) {
        if (set->members[i].name == name)
            return true;
    }
    return false;
}

/*
 * Returns the clusters that an affinity group names and does not exclude, with their static weight,
 * for sources without Cluster objects. The caller frees `members`.
 */
static struct cluster_set make_named_set(const struct placement *placement,
                                         const struct affinity_group *group)
{
    const struct cluster_affinity *affinity = &group->affinity;
    struct cluster_set out = {.tolerated = true};

    out.members = xreallocarray(NULL, affinity->name_count + 1, sizeof(*out.members));
    for (uint32_t i = 0; i < affinity->name_count; i++) {
        struct member member = {.name = affinity->names[i], .tolerated = true};

        if (!affinity_allows_name(affinity, member.name) || has_member(&out, member.name))
            continue;
        for (uint32_t k = 0; k < placement->weight_count; k++) {
            const struct static_weight *rule = &placement->weights[k];

            if (rule->weight > member.weight && affinity_allows_name(&rule->target, member.name))
                member.weight = rule->weight;
        }
        out.members[out.count++] = member;
    }
    return out;
}

/* Returns true if the affinity group selects clusters by names alone. */
static bool selects_by_names(const struct placement *placement, uint32_t group)
{
    const struct cluster_affinity *a =
        group < placement->group_count ? &placement->groups[group].affinity : NULL;

    return a && a->name_count > 0 && !a->labels && !a->fields && !a->zones;
}

/*
 * Returns the candidate clusters of the first affinity group that has candidates, beginning with
 * the group in use, and sets *group to the index. Returns an empty set if no group has candidates.
 * Without Cluster objects, only the group in use counts if it selects by names. The caller frees
 * `members`.
 */
static struct cluster_set find_candidates(struct rule_context *c, const struct binding *old,
                                          const struct binding *fresh,
                                          const struct resolved_placement *resolved, uint8_t *group)
{
    uint32_t first = scheduler_first_group(c, old, resolved);
    struct cluster_set set = {0};

    if (!resolved->has_clusters && selects_by_names(resolved->placement, first)) {
        *group = (uint8_t)first;
        return make_named_set(resolved->placement, &resolved->placement->groups[first]);
    }
    for (uint32_t i = first; i < resolved->group_count; i++) {
        free(set.members);
        set = filter_members(&resolved->groups[i], old, fresh);
        *group = (uint8_t)i;
        if (set.count > 0)
            break;
    }
    return set;
}

static void assign_clusters(struct overlay *overlay, const struct projection *p,
                            struct binding *fresh)
{
    struct target_cluster *clusters = xcalloc(p->count + 1, sizeof(*clusters));

    for (uint32_t i = 0; i < p->count; i++)
        clusters[i] = (struct target_cluster){.name = overlay_intern(overlay, p->clusters[i].name),
                                              .replicas = p->clusters[i].replicas};
    overlay_assume(overlay, ASSUMED_SCHEDULED_ONLY);
    fresh->clusters = overlay_own_memory(overlay, clusters);
    fresh->cluster_count = p->count;
    fresh->status.required_count = 0;
    fresh->applied_placement = fresh->propagation.placement;
}

void scheduler_schedule_enqueued(struct overlay *overlay, const struct binding *old,
                                 struct binding *fresh)
{
    struct rule_context *c = overlay_context(overlay);
    const struct resolved_placement *resolved;
    uint8_t group = 0;

    if (!is_for_default_scheduler(fresh))
        return;
    resolved = overlay_resolve_placement(overlay, fresh->propagation.placement);
    /* Without new input, the scheduler keeps a division in which all replicas are assigned. */
    bool divides =
        binding_is_workload(fresh) && resolved->placement->division != DIVISION_DUPLICATED;

    if (divides && has_same_input(old, fresh) && sum_assigned_replicas(fresh) == fresh->replicas)
        return;

    struct cluster_set set = find_candidates(c, old, fresh, resolved, &group);
    struct projection p;

    projection_make_from_candidates(resolved, fresh, &set, &p);
    if (p.determined && set.count > 0 && !resolved->has_clusters)
        overlay_assume(overlay, ASSUMED_CLUSTERS_NAMED);
    if (p.determined && (resolved->has_clusters || set.count > 0)) {
        assign_clusters(overlay, &p, fresh);
        fresh->observed_group = group;
    } else if (!has_same_input(old, fresh)) {
        binding_set_undetermined(fresh, p.determined ? UNDETERMINED_NO_CLUSTERS : p.reason);
    }
    projection_release(store_string_pool(c->store), &p);
    free(set.members);
}

void scheduler_schedule_binding(struct overlay *overlay, const struct binding *old,
                                struct binding *fresh)
{
    if (fresh->claim || fresh->managed_by)
        scheduler_schedule_enqueued(overlay, old, fresh);
}
