/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/replica_projection.h"

/* ---- division by weight ---- */

/* A heap of shares; the share at index 0 gets the next replica. */
struct share_heap {
    struct share **items;
    size_t count;
    /* Of equal priority and replicas, the larger name is first; if false, the smaller. */
    bool larger_name;
};

/*
 * Returns the priority of a share that has `replicas`. Uses doubles like Karmada: rounding decides
 * which shares tie.
 */
static double share_priority(const struct share *share, int64_t replicas)
{
    return (double)share->weight / (2 * (double)replicas + 1);
}

static bool share_comes_before(const struct share_heap *heap, const struct share *a,
                               const struct share *b)
{
    double first = share_priority(a, a->replicas);
    double second = share_priority(b, b->replicas);

    if (first != second)
        return first > second;
    if (a->replicas != b->replicas)
        return a->replicas < b->replicas;
    return (strcmp(a->name, b->name) < 0) != heap->larger_name;
}

/* Restores the heap after the priority of the share at index `at` has fallen. */
static void sift_down(struct share_heap *heap, size_t at)
{
    struct share *moved = heap->items[at];

    for (size_t child = 2 * at + 1; child < heap->count; child = 2 * at + 1) {
        if (child + 1 < heap->count &&
            share_comes_before(heap, heap->items[child + 1], heap->items[child]))
            child++;
        if (!share_comes_before(heap, heap->items[child], moved))
            break;
        heap->items[at] = heap->items[child];
        at = child;
    }
    heap->items[at] = moved;
}

/* Returns how many replicas the share receives while its priority is at least `least`. */
static int64_t count_replicas_at_priority(const struct share *share, double least)
{
    int64_t count = (int64_t)((double)share->weight / least / 2 + 0.5);

    /* Correct rounding errors of the estimate. */
    while (count > 0 && share_priority(share, count - 1) < least)
        count--;
    while (share_priority(share, count) >= least)
        count++;
    return count;
}

/*
 * Assigns most of the replicas in one step: each share receives replicas while its priority is at
 * least total / spare. Their number is at most weight / (2 x total / spare) + 1/2, so the sum is
 * below `replicas`. Returns the number of remaining replicas, about one per share, for the heap.
 */
static int64_t assign_majority(struct share *shares, size_t count, int64_t replicas)
{
    double spare = 2 * (double)replicas - (double)count - 2;
    double total = 0;

    for (size_t i = 0; i < count; i++)
        total += (double)shares[i].weight;
    for (size_t i = 0; i < count && spare > 0; i++) {
        shares[i].replicas = count_replicas_at_priority(&shares[i], total / spare);
        replicas -= shares[i].replicas;
    }
    return replicas;
}

void divide_by_weight(struct share *shares, size_t count, int64_t replicas, uint32_t uid_hash)
{
    for (size_t i = 0; i < count; i++)
        shares[i].replicas = 0;
    if (count == 0 || replicas <= 0)
        return;

    CLEANUP(free_cleanup) struct share **items = xreallocarray(NULL, count, sizeof(struct share *));
    struct share_heap heap = {items, count, uid_hash & 1};

    for (size_t i = 0; i < count; i++)
        items[i] = &shares[i];
    replicas = assign_majority(shares, count, replicas);
    assert(replicas >= 0);
    for (size_t i = count; i > 0; i--)
        sift_down(&heap, i - 1);
    for (; replicas > 0; replicas--) {
        items[0]->replicas++;
        sift_down(&heap, 0);
    }
}

/* ---- projection ---- */

const char *const undetermined_reason_names[UNDETERMINED_REASON_COUNT] = {
    [UNDETERMINED_AGGREGATED] = "aggregated",
    [UNDETERMINED_DYNAMIC_WEIGHT] = "dynamic_weight",
    [UNDETERMINED_SPREAD_CONSTRAINTS] = "spread_constraints",
    [UNDETERMINED_TAINTS] = "taints",
    [UNDETERMINED_COMPONENTS] = "components",
    [UNDETERMINED_OVERFLOW] = "overflow",
    [UNDETERMINED_NO_CLUSTERS] = "no_clusters",
    [UNDETERMINED_TEMPLATE_UPDATED] = "template_updated",
    [UNDETERMINED_LOT] = "lot",
    [UNDETERMINED_UID] = "uid",
    [UNDETERMINED_RELEASE] = "release",
    [UNDETERMINED_UNSUPPORTED] = "unsupported",
};

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
    const char *text = b->applied_placement ? b->applied_placement : b->propagation.placement;
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

static void add_cluster(struct projection *out, const char *name, int64_t replicas)
{
    out->clusters[out->count++] =
        (struct target_cluster){.name = intern_ref(name), .replicas = (int32_t)replicas};
}

/* Assigns to every cluster all replicas, which are 0 for a resource without replicas. */
static void duplicate_replicas(const struct cluster_set *set, int32_t replicas,
                               struct projection *out)
{
    for (uint32_t i = 0; i < set->count; i++)
        add_cluster(out, set->members[i].name, replicas);
}

static void divide_replicas(const struct cluster_set *set, const struct binding *b,
                            struct projection *out)
{
    CLEANUP(free_cleanup) struct share *shares = xcalloc(set->count, sizeof(*shares));
    size_t count = 0;

    for (uint32_t i = 0; i < set->count; i++) {
        const struct member *member = &set->members[i];

        if (member->weight > 0)
            shares[count++] = (struct share){.name = member->name, .weight = member->weight};
    }
    /* If no cluster has a weight, all clusters have the same weight. */
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

static void assign_replicas(const struct placement *placement, const struct binding *b,
                            const struct cluster_set *set, struct projection *out)
{
    if (set->count > 0)
        out->clusters = xreallocarray(NULL, set->count, sizeof(*out->clusters));
    if (!binding_is_workload(b) || placement->division == DIVISION_DUPLICATED)
        duplicate_replicas(set, b->replicas, out);
    else if (set->count > 0)
        divide_replicas(set, b, out);
}

void projection_make(struct intern *strings, const struct resolved_placement *resolved,
                     const struct binding *b, struct projection *out)
{
    enum undetermined_reason by_clusters = cluster_obstacle(strings, resolved, b);
    enum undetermined_reason by_placement = placement_obstacle(resolved->placement, b);
    /* Report an obstacle in the placement first, unless no Cluster is known. */
    bool clusters_first = !resolved->has_clusters || by_placement == UNDETERMINED_REASON_COUNT;

    *out = (struct projection){.reason = clusters_first ? by_clusters : by_placement};
    out->determined = out->reason == UNDETERMINED_REASON_COUNT;
    if (out->determined)
        assign_replicas(resolved->placement, b, first_cluster_set(resolved), out);
}

void projection_make_from_candidates(const struct resolved_placement *resolved,
                                     const struct binding *b, const struct cluster_set *candidates,
                                     struct projection *out)
{
    *out = (struct projection){.reason = placement_obstacle(resolved->placement, b)};
    out->determined = out->reason == UNDETERMINED_REASON_COUNT;
    if (out->determined)
        assign_replicas(resolved->placement, b, candidates, out);
}

void projection_release(struct intern *strings, struct projection *p)
{
    for (uint32_t i = 0; i < p->count; i++)
        intern_drop(strings, p->clusters[i].name);
    free(p->clusters);
    *p = (struct projection){0};
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

struct capacity *capacity_new(struct intern *strings, struct placements *placements,
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
        projection_make(strings, resolved, b, &c->projection);
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
