/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/replica_projection.h"

/* ---- projection ---- */

static bool has_group_name(const struct placement *placement, const char *name)
{
    for (uint32_t i = 0; i < placement->group_count; i++) {
        if (placement->groups[i].name == name)
            return true;
    }
    return false;
}

/*
 * Returns true if Karmada may start with another affinity group than the first. Karmada starts with
 * the group that it used last, if the placement still has a group of this name (getAffinityIndex).
 * Here any group of the placement with which the binding was last scheduled may be the last used.
 */
static bool may_start_at_later_group(struct intern *strings, const struct placement *placement,
                                     const struct binding *b)
{
    const char *text = b->applied_placement ? b->applied_placement : b->propagation->placement;
    bool found = false;

    if (placement->group_count < 2)
        return false;

    struct placement *applied = placement_parse(strings, text);

    for (uint32_t i = 1; i < placement->group_count; i++) {
        const char *name = placement->groups[i].name;

        found |= applied->unreadable || (name && has_group_name(applied, name));
    }
    placement_free(strings, applied);
    return found;
}

/* Returns the first group that allows a cluster, or NULL: Karmada skips groups without clusters. */
static const struct cluster_set *first_cluster_set(const struct resolved_placement *resolved)
{
    for (uint32_t i = 0; i < resolved->group_count; i++) {
        if (resolved->groups[i].count > 0)
            return &resolved->groups[i];
    }
    return NULL;
}

/* A condition that makes a projection undetermined. */
struct obstacle {
    bool applies;
    enum undetermined_reason reason;
};

/* Returns the reason of the first obstacle that applies; UNDETERMINED_REASON_COUNT without one. */
static enum undetermined_reason first_obstacle_reason(const struct obstacle *obstacles,
                                                      size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (obstacles[i].applies)
            return obstacles[i].reason;
    }
    return UNDETERMINED_REASON_COUNT;
}

/*
 * Returns the first reason why a projection is undetermined that lies in the placement or the
 * workload; UNDETERMINED_REASON_COUNT without one.
 */
static enum undetermined_reason placement_obstacle(const struct placement *placement,
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

    return first_obstacle_reason(obstacles, ARRAY_LEN(obstacles));
}

/*
 * Returns the first reason why a projection is undetermined that lies in the clusters or the choice
 * of the affinity group; UNDETERMINED_REASON_COUNT without one.
 */
static enum undetermined_reason cluster_obstacle(struct intern *strings,
                                                 const struct resolved_placement *resolved,
                                                 const struct binding *b)
{
    const struct cluster_set *set = first_cluster_set(resolved);
    const struct obstacle obstacles[] = {
        {!resolved->has_clusters, UNDETERMINED_NO_CLUSTERS},
        {may_start_at_later_group(strings, resolved->placement, b), UNDETERMINED_OVERFLOW},
        {!set, UNDETERMINED_NO_CLUSTERS},
        {set && !set->tolerated, UNDETERMINED_TAINTS},
    };

    return first_obstacle_reason(obstacles, ARRAY_LEN(obstacles));
}

void projection_make(struct placements *placements, const struct resolved_placement *resolved,
                     const struct binding *b, struct projection *out)
{
    struct intern *strings = placements_strings(placements);
    enum undetermined_reason by_clusters = cluster_obstacle(strings, resolved, b);
    enum undetermined_reason by_placement = placement_obstacle(resolved->placement, b);
    /* Report an obstacle in the placement first, unless no Cluster is known. */
    bool clusters_first = !resolved->has_clusters || by_placement == UNDETERMINED_REASON_COUNT;
    const struct scheduling s = {.placements = placements, .binding = b, .resolved = resolved};
    struct schedule_result result;

    *out = (struct projection){.reason = clusters_first ? by_clusters : by_placement};
    if (out->reason != UNDETERMINED_REASON_COUNT)
        return;
    scheduling_run_in_range(&s, true, &result);
    *out = result.targets;
}

/* ---- capacity ---- */

const char *const movement_names[MOVEMENT_COUNT] = {
    [MOVEMENT_STAYING] = "staying",
    [MOVEMENT_LEAVING] = "leaving",
    [MOVEMENT_ARRIVING] = "arriving",
    [MOVEMENT_UNDETERMINED] = "undetermined",
};

static int compare_assigned_clusters(const void *a, const void *b)
{
    const struct assigned_cluster *x = a;
    const struct assigned_cluster *y = b;

    return strcmp(x->name, y->name);
}

struct capacity *capacity_new(struct placements *placements,
                              const struct resolved_placement *resolved, const struct binding *b,
                              bool change_missing, bool moves)
{
    struct capacity *c = xcalloc(1, sizeof(*c));

    c->governed = resolved != NULL;
    c->moves = moves;
    if (b->cluster_count > 0)
        c->assigned = xreallocarray(NULL, b->cluster_count, sizeof(*c->assigned));
    for (uint32_t i = 0; i < b->cluster_count; i++) {
        const char *name = b->clusters[i].name;

        c->assigned[c->assigned_count++] = (struct assigned_cluster){
            .name = intern_ref(name),
            .replicas = b->clusters[i].replicas,
            .forbidden = resolved && !placements_allow_cluster(placements, resolved, name),
        };
    }
    if (c->assigned_count > 1)
        qsort(c->assigned, c->assigned_count, sizeof(*c->assigned), compare_assigned_clusters);
    if (b->request_count > 0)
        c->requests = xreallocarray(NULL, b->request_count, sizeof(*c->requests));
    for (uint32_t i = 0; i < b->request_count; i++)
        c->requests[c->request_count++] = (struct resource_request){
            .resource = intern_ref(b->requests[i].resource),
            .amount = b->requests[i].amount,
        };
    if (resolved && change_missing)
        c->projection.reason = UNDETERMINED_TEMPLATE_UPDATED;
    else if (resolved)
        projection_make(placements, resolved, b, &c->projection);
    return c;
}

/* Compares the names of the next assigned and the next projected cluster; a list's end is last. */
static int compare_next_names(const struct capacity *c, const struct movement_walk *at)
{
    if (at->assigned == c->assigned_count)
        return 1;
    if (at->projected == c->projection.count)
        return -1;
    return strcmp(c->assigned[at->assigned].name, c->projection.clusters[at->projected].name);
}

bool capacity_next_movement(const struct capacity *c, struct movement_walk *at,
                            struct cluster_movement *out)
{
    int32_t now = 0, then = 0;

    if (!c || !c->moves ||
        (at->assigned == c->assigned_count && at->projected == c->projection.count))
        return false;

    int next = compare_next_names(c, at);

    *out = (struct cluster_movement){0};
    if (next >= 0) {
        out->cluster = c->projection.clusters[at->projected].name;
        then = c->projection.clusters[at->projected++].replicas;
    }
    if (next <= 0) {
        out->cluster = c->assigned[at->assigned].name;
        now = c->assigned[at->assigned++].replicas;
    }
    if (!c->projection.determined) {
        out->replicas[MOVEMENT_UNDETERMINED] = now;
        return true;
    }
    out->replicas[MOVEMENT_STAYING] = now < then ? now : then;
    out->replicas[MOVEMENT_LEAVING] = now - out->replicas[MOVEMENT_STAYING];
    out->replicas[MOVEMENT_ARRIVING] = then - out->replicas[MOVEMENT_STAYING];
    return true;
}

void capacity_free(struct intern *strings, struct capacity *c)
{
    if (!c)
        return;
    for (uint32_t i = 0; i < c->assigned_count; i++)
        intern_drop(strings, c->assigned[i].name);
    for (uint32_t i = 0; i < c->request_count; i++)
        intern_drop(strings, c->requests[i].resource);
    projection_release(strings, &c->projection);
    free(c->assigned);
    free(c->requests);
    free(c);
}

int64_t requests_in_thousandths(double amount, int32_t replicas)
{
    double scaled = amount * 1000;
    int64_t product;

    if (!(scaled < 0x1p62) || __builtin_mul_overflow((int64_t)(scaled + 0.5), replicas, &product))
        return INT64_MAX;
    return product;
}

/* Adds an amount; the largest number stands for all sums above it. */
static void add_saturated(int64_t *sum, int64_t amount)
{
    if (__builtin_add_overflow(*sum, amount, sum))
        *sum = INT64_MAX;
}

void replica_load_add(struct replica_load *load, const struct resource_request *requests,
                      uint32_t count, int32_t replicas)
{
    load->replicas += replicas;
    /* requests_in_thousandths() of a very large request is not 0 without replicas. */
    for (uint32_t i = 0; replicas != 0 && i < count; i++) {
        int64_t amount = requests_in_thousandths(requests[i].amount, replicas);

        if (strcmp(requests[i].resource, "cpu") == 0)
            add_saturated(&load->cores, amount);
        else if (strcmp(requests[i].resource, "memory") == 0)
            add_saturated(&load->bytes, amount);
    }
}
