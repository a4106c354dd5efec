/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/scheduling/replica_assignment.h"

#include "metrics/model/metadata.h"

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
    [UNDETERMINED_QUOTA_ORDER] = "quota_order",
    [UNDETERMINED_UNSUPPORTED] = "unsupported",
};

void projection_release(struct intern *strings, struct projection *p)
{
    for (uint32_t i = 0; i < p->count; i++)
        intern_drop(strings, p->clusters[i].name);
    free(p->clusters);
    intern_drop(strings, p->by_release);
    *p = (struct projection){0};
}

bool projection_equal(const struct projection *a, const struct projection *b)
{
    if (a->determined != b->determined || a->count != b->count)
        return false;
    if (!a->determined && a->reason != b->reason)
        return false;
    return targets_equal(a->clusters, b->clusters, a->count);
}

int64_t projection_count_replicas(const struct projection *p, const struct binding *b)
{
    int64_t sum = 0;

    if (!p->determined)
        return p->reason == UNDETERMINED_LOT || p->reason == UNDETERMINED_UID ? b->replicas : -1;
    for (uint32_t i = 0; i < p->count; i++)
        sum += p->clusters[i].replicas;
    return sum;
}

/* ---- Webster method ---- */

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

/* ---- floor and remainder ---- */

/* Orders shares by weight, then by replicas before the division, both descending. */
static int compare_claims(const void *a, const void *b)
{
    const struct share *x = *(struct share *const *)a;
    const struct share *y = *(struct share *const *)b;

    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return (x->last < y->last) - (x->last > y->last);
}

bool divide_by_remainder(struct share *shares, size_t count, int64_t replicas)
{
    CLEANUP(free_cleanup)
    struct share **items = xreallocarray(NULL, count + 1, sizeof(struct share *));
    int64_t left = replicas, sum = 0;
    bool exact = true;

    for (size_t i = 0; i < count; i++) {
        exact &= !__builtin_add_overflow(sum, shares[i].weight, &sum);
        items[i] = &shares[i];
    }
    for (size_t i = 0; i < count; i++) {
        int64_t product;

        exact &= !__builtin_mul_overflow(shares[i].weight, replicas, &product);
        shares[i].replicas = exact ? product / sum : 0;
        left -= shares[i].replicas;
    }
    if (!exact || count == 0)
        return exact;
    qsort(items, count, sizeof(struct share *), compare_claims);
    for (int64_t i = 0; i < left; i++)
        items[i]->replicas++;
    return left <= 0 || (size_t)left >= count || compare_claims(&items[left - 1], &items[left]) < 0;
}

/* ---- assignment ---- */

bool assigns_replicas(const struct binding *b, enum release release)
{
    bool single = b->component_count <= 1 || !release_has(release, BEHAVIOUR_DUPLICATES_COMPONENTS);
    bool counts_zero = b->has_requirements && release_has(release, BEHAVIOUR_ZERO_REPLICAS_NOWHERE);

    return single && (b->replicas > 0 || counts_zero);
}

static void add_cluster(struct projection *out, const char *name, int64_t replicas)
{
    out->clusters = xreallocarray(out->clusters, out->count + 1, sizeof(*out->clusters));
    out->clusters[out->count++] =
        (struct target_cluster){.name = intern_ref(name), .replicas = (int32_t)replicas};
}

static void set_undetermined(struct projection *out, enum undetermined_reason reason)
{
    out->determined = false;
    out->reason = reason;
}

static int64_t present_replicas(const struct binding *b, const char *cluster)
{
    for (uint32_t i = 0; i < b->cluster_count; i++) {
        if (b->clusters[i].name == cluster)
            return b->clusters[i].replicas;
    }
    return 0;
}

/* Returns true if a division with the other direction of ties gives the same result. */
static bool is_direction_irrelevant(const struct share *shares, size_t count, int64_t replicas)
{
    CLEANUP(free_cleanup) struct share *other = xreallocarray(NULL, count + 1, sizeof(*other));
    bool same = true;

    memcpy(other, shares, count * sizeof(*other));
    divide_by_weight(other, count, replicas, ~uid_hash("") & 1);
    for (size_t i = 0; i < count; i++)
        same &= other[i].replicas == shares[i].replicas;
    return same;
}

static int compare_share_names(const void *a, const void *b)
{
    return strcmp(((const struct share *)a)->name, ((const struct share *)b)->name);
}

/* Divides the replicas as the release does, and appends the clusters that get some. */
static void divide_replicas(struct share *shares, size_t count, const struct binding *b,
                            enum release release, struct projection *out)
{
    if (!release_has(release, BEHAVIOUR_WEBSTER_DIVISION)) {
        if (!divide_by_remainder(shares, count, b->replicas)) {
            set_undetermined(out, UNDETERMINED_LOT);
            return;
        }
    } else {
        divide_by_weight(shares, count, b->replicas, b->uid_hash);
        if (b->uid_hash == uid_hash("") && !is_direction_irrelevant(shares, count, b->replicas)) {
            set_undetermined(out, UNDETERMINED_UID);
            return;
        }
    }
    qsort(shares, count, sizeof(*shares), compare_share_names);
    for (size_t i = 0; i < count; i++) {
        if (shares[i].replicas > 0)
            add_cluster(out, shares[i].name, shares[i].replicas);
    }
}

static void assign_by_static_weight(const struct placement *placement, const struct binding *b,
                                    const struct cluster_set *selected, enum release release,
                                    struct projection *out)
{
    CLEANUP(free_cleanup)
    struct share *shares = xreallocarray(NULL, selected->count, sizeof(*shares));
    size_t count = 0;
    bool equal;

    for (uint32_t i = 0; i < selected->count; i++) {
        const struct member *m = &selected->members[i];

        if (m->weight > 0)
            shares[count++] = (struct share){
                .name = m->name, .weight = m->weight, .last = present_replicas(b, m->name)};
    }
    /* If no weight is above 0, all clusters have the same weight; Karmada then forgets `last`. */
    equal = count == 0;
    for (uint32_t i = 0; equal && i < selected->count; i++) {
        const char *name = selected->members[i].name;

        shares[count++] = (struct share){
            .name = name,
            .weight = 1,
            .last = placement->weight_count == 0 ? present_replicas(b, name) : 0,
        };
    }
    divide_replicas(shares, count, b, release, out);
}

static bool is_selected(const struct cluster_set *selected, const char *cluster)
{
    for (uint32_t i = 0; i < selected->count; i++) {
        if (selected->members[i].name == cluster)
            return true;
    }
    return false;
}

/* Returns the replicas of the present targets that are selected. */
static int64_t sum_of_selected(const struct binding *b, const struct cluster_set *selected)
{
    int64_t sum = 0;

    for (uint32_t i = 0; i < b->cluster_count; i++) {
        if (is_selected(selected, b->clusters[i].name))
            sum += b->clusters[i].replicas;
    }
    return sum;
}

/*
 * Inserts a share before those of smaller weight. Karmada sorts targets by replicas; its order of
 * equal ones is stable for up to STABLE_SORT_MAX elements.
 */
enum { STABLE_SORT_MAX = 12 };

static void insert_share(struct share *shares, size_t count, struct share share)
{
    size_t at = count;

    for (; at > 0 && shares[at - 1].weight < share.weight; at--)
        shares[at] = shares[at - 1];
    shares[at] = share;
}

/*
 * Returns the number of largest shares that together have `replicas`; 0 if it depends on the order
 * of equal shares which of them belong to these.
 */
static size_t count_largest(const struct share *shares, size_t count, int64_t replicas)
{
    int64_t sum = 0;
    size_t used = 0;

    while (used < count && (used == 0 || sum < replicas))
        sum += shares[used++].weight;
    if (count > STABLE_SORT_MAX && used < count && shares[used - 1].weight == shares[used].weight)
        return 0;
    return used;
}

/* Divides fewer replicas than the present targets have, by the replicas that they have. */
static void scale_down(const struct placement *placement, const struct binding *b,
                       const struct cluster_set *selected, enum release release,
                       struct projection *out)
{
    CLEANUP(free_cleanup)
    struct share *shares = xreallocarray(NULL, b->cluster_count + 1, sizeof(*shares));
    bool candidates_only = release_has(release, BEHAVIOUR_SCALES_DOWN_CANDIDATES);
    size_t count = 0;

    for (uint32_t i = 0; i < b->cluster_count; i++) {
        const struct target_cluster *target = &b->clusters[i];

        if (target->replicas > 0 && (!candidates_only || is_selected(selected, target->name)))
            insert_share(shares, count++,
                         (struct share){.name = target->name, .weight = target->replicas});
    }
    if (placement->division == DIVISION_AGGREGATED && count > 0) {
        count = count_largest(shares, count, b->replicas);
        if (count == 0) {
            set_undetermined(out, UNDETERMINED_AGGREGATED);
            return;
        }
    }
    divide_replicas(shares, count, b, release, out);
}

/*
 * Assigns replicas where the free capacity of clusters decides (Karmada: assignByDynamicStrategy).
 * The result is determined if the present targets have enough replicas.
 */
static void assign_by_capacity(const struct placement *placement, const struct binding *b,
                               const struct cluster_set *selected, enum release release,
                               struct projection *out)
{
    int64_t present = sum_of_selected(b, selected);

    if (b->status.reschedule_requested || present < b->replicas) {
        set_undetermined(out, placement->division == DIVISION_AGGREGATED
                                  ? UNDETERMINED_AGGREGATED
                                  : UNDETERMINED_DYNAMIC_WEIGHT);
        return;
    }
    if (present > b->replicas) {
        scale_down(placement, b, selected, release, out);
        return;
    }
    for (uint32_t i = 0; i < selected->count; i++) {
        int64_t replicas = present_replicas(b, selected->members[i].name);

        if (replicas > 0)
            add_cluster(out, selected->members[i].name, replicas);
    }
}

void assign_replicas(const struct placement *placement, const struct binding *b,
                     const struct cluster_set *selected, enum release release,
                     struct projection *out)
{
    bool assigns = assigns_replicas(b, release);

    out->determined = true;
    if (!assigns || placement->division == DIVISION_DUPLICATED) {
        for (uint32_t i = 0; i < selected->count && (!assigns || b->replicas > 0); i++)
            add_cluster(out, selected->members[i].name, assigns ? b->replicas : 0);
        return;
    }
    switch (placement->division) {
    case DIVISION_STATIC_WEIGHT:
        assign_by_static_weight(placement, b, selected, release, out);
        break;
    case DIVISION_DYNAMIC_WEIGHT:
    case DIVISION_AGGREGATED:
        assign_by_capacity(placement, b, selected, release, out);
        break;
    case DIVISION_DUPLICATED:
    case DIVISION_UNKNOWN:
        set_undetermined(out, UNDETERMINED_UNSUPPORTED);
    }
}
