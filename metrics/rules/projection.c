/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/projection.h"

#include "metrics/rules/division.h"

const char *const undetermined_reason_names[UNDETERMINED_REASON_COUNT] = {
    [UNDETERMINED_AGGREGATED] = "aggregated",
    [UNDETERMINED_DYNAMIC_WEIGHT] = "dynamic_weight",
    [UNDETERMINED_SPREAD_CONSTRAINTS] = "spread_constraints",
    [UNDETERMINED_TAINTS] = "taints",
    [UNDETERMINED_COMPONENTS] = "components",
    [UNDETERMINED_OVERFLOW] = "overflow",
    [UNDETERMINED_NO_CLUSTERS] = "no_clusters",
    [UNDETERMINED_TEMPLATE_UPDATED] = "template_updated",
    [UNDETERMINED_UNSUPPORTED] = "unsupported",
};

static bool has_group(const struct placement *placement, const char *name)
{
    for (uint32_t i = 0; i < placement->group_count; i++) {
        if (placement->groups[i].name == name)
            return true;
    }
    return false;
}

/*
 * Karmada starts at the affinity that it used last, if the placement still has it
 * (schedulerObservingAffinityName). No source says which one that is, but it is one of those
 * that the binding was last scheduled with: true if another than the first may be it.
 */
static bool may_start_later(struct intern *strings, const struct placement *placement,
                            const struct binding *b)
{
    const char *text = b->applied_placement ? b->applied_placement : b->propagation.placement;
    bool found = false;

    if (placement->group_count < 2)
        return false;

    struct placement *applied = placement_new(strings, text);

    for (uint32_t i = 1; i < placement->group_count; i++) {
        const char *name = placement->groups[i].name;

        found |= applied->unreadable || (name && has_group(applied, name));
    }
    placement_free(strings, applied);
    return found;
}

/* The first group that allows any cluster: Karmada tries the next one only if it finds none. */
static const struct cluster_set *first_set(const struct resolved_placement *resolved)
{
    for (uint32_t i = 0; i < resolved->group_count; i++) {
        if (resolved->groups[i].count > 0)
            return &resolved->groups[i];
    }
    return NULL;
}

struct obstacle {
    bool stands;
    enum undetermined_reason reason;
};

/* The reason of the first obstacle that stands; UNDETERMINED_REASON_COUNT if none does. */
static enum undetermined_reason first_of(const struct obstacle *obstacles, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (obstacles[i].stands)
            return obstacles[i].reason;
    }
    return UNDETERMINED_REASON_COUNT;
}

/* What in the placement, or in the workload, only the scheduler can answer. */
static enum undetermined_reason obstacle_in(const struct placement *placement,
                                            const struct binding *b)
{
    bool divides = b->replicas > 0;
    bool overflows = false;

    for (uint32_t i = 0; i < placement->group_count; i++)
        overflows |= placement->groups[i].overflow_count > 0;

    const struct obstacle obstacles[] = {
        {placement->unreadable, UNDETERMINED_UNSUPPORTED},
        {b->component_count > 0, UNDETERMINED_COMPONENTS},
        {placement->has_workload_affinity, UNDETERMINED_UNSUPPORTED},
        {placement->has_spread_constraints, UNDETERMINED_SPREAD_CONSTRAINTS},
        {overflows, UNDETERMINED_OVERFLOW},
        {divides && placement->division == DIVISION_AGGREGATED, UNDETERMINED_AGGREGATED},
        {divides && placement->division == DIVISION_DYNAMIC_WEIGHT, UNDETERMINED_DYNAMIC_WEIGHT},
        {divides && placement->division == DIVISION_UNKNOWN, UNDETERMINED_UNSUPPORTED},
    };

    return first_of(obstacles, ARRAY_LEN(obstacles));
}

/* What is not known of the clusters, before the scheduler has looked at them. */
static enum undetermined_reason obstacle_around(struct intern *strings,
                                                const struct resolved_placement *resolved,
                                                const struct binding *b)
{
    const struct cluster_set *set = first_set(resolved);
    const struct obstacle obstacles[] = {
        {!resolved->has_clusters, UNDETERMINED_NO_CLUSTERS},
        {may_start_later(strings, resolved->placement, b), UNDETERMINED_OVERFLOW},
        {!set, UNDETERMINED_NO_CLUSTERS},
        {set && !set->tolerated, UNDETERMINED_TAINTS},
    };

    return first_of(obstacles, ARRAY_LEN(obstacles));
}

static void add_cluster(struct projection *out, const char *name, int64_t replicas)
{
    out->clusters[out->count++] =
        (struct target_cluster){.name = intern_ref(name), .replicas = (int32_t)replicas};
}

/* Every cluster gets all replicas; what has none goes to every cluster too. */
static void duplicate(const struct cluster_set *set, int32_t replicas, struct projection *out)
{
    for (uint32_t i = 0; i < set->count; i++)
        add_cluster(out, set->members[i].name, replicas);
}

static void divide(const struct cluster_set *set, const struct binding *b, struct projection *out)
{
    CLEANUP(free_cleanup) struct share *shares = xcalloc(set->count, sizeof(*shares));
    size_t count = 0;

    for (uint32_t i = 0; i < set->count; i++) {
        const struct member *member = &set->members[i];

        if (member->weight > 0)
            shares[count++] = (struct share){.name = member->name, .weight = member->weight};
    }
    /* Without any weight all have the same. */
    for (uint32_t i = 0; count == 0 && i < set->count; i++)
        shares[i] = (struct share){.name = set->members[i].name, .weight = 1};
    if (count == 0)
        count = set->count;
    divide_by_weight(shares, count, b->replicas, b->uid_hash);
    for (size_t i = 0; i < count; i++) {
        if (shares[i].replicas > 0)
            add_cluster(out, shares[i].name, shares[i].replicas);
    }
}

static void assign(const struct placement *placement, const struct binding *b,
                   const struct cluster_set *set, struct projection *out)
{
    if (set->count > 0)
        out->clusters = xreallocarray(NULL, set->count, sizeof(*out->clusters));
    if (!binding_is_workload(b) || placement->division == DIVISION_DUPLICATED)
        duplicate(set, b->replicas, out);
    else if (set->count > 0)
        divide(set, b, out);
}

void projection_make(struct intern *strings, const struct resolved_placement *resolved,
                     const struct binding *b, struct projection *out)
{
    enum undetermined_reason around = obstacle_around(strings, resolved, b);
    enum undetermined_reason in = obstacle_in(resolved->placement, b);
    bool around_first = !resolved->has_clusters || in == UNDETERMINED_REASON_COUNT;

    *out = (struct projection){.reason = around_first ? around : in};
    out->determined = out->reason == UNDETERMINED_REASON_COUNT;
    if (out->determined)
        assign(resolved->placement, b, first_set(resolved), out);
}

void projection_among(const struct resolved_placement *resolved, const struct binding *b,
                      const struct cluster_set *candidates, struct projection *out)
{
    *out = (struct projection){.reason = obstacle_in(resolved->placement, b)};
    out->determined = out->reason == UNDETERMINED_REASON_COUNT;
    if (out->determined)
        assign(resolved->placement, b, candidates, out);
}

void projection_release(struct intern *strings, struct projection *p)
{
    for (uint32_t i = 0; i < p->count; i++)
        intern_drop(strings, p->clusters[i].name);
    free(p->clusters);
    *p = (struct projection){0};
}
