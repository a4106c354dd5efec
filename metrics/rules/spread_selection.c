/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/spread_selection.h"

/* ---- selection by cluster ---- */

/* Input of a selection, and the clusters, which are replaced by the selected ones. */
struct spread_selection {
    const struct spread_input *in;
    struct cluster_set *set;
};

/* A cluster that passes the filters, in the order in which the scheduler prefers clusters. */
struct ranked_cluster {
    const struct member *member;
    int64_t assigned; /* Present replicas. */
    bool target;
};

/*
 * Orders present targets first. Among equals the free capacity decides, which is unknown; a binding
 * without replicas needs none, so that present replicas and then the name decide.
 */
static int compare_ranked(const void *a, const void *b)
{
    const struct ranked_cluster *x = a;
    const struct ranked_cluster *y = b;

    if (x->target != y->target)
        return x->target ? -1 : 1;
    if (x->assigned != y->assigned)
        return x->assigned > y->assigned ? -1 : 1;
    return strcmp(x->member->name, y->member->name);
}

/* Returns true if Karmada does not ask estimators for the free capacity of clusters. */
static bool needs_no_capacity(const struct binding *b)
{
    return b->replicas == 0 && b->component_count == 0;
}

static const struct spread_constraint *find_constraint(const struct placement *placement,
                                                       enum spread_field field)
{
    const struct spread_constraint *found = NULL;

    for (uint32_t i = 0; i < placement->spread_count; i++) {
        if (placement->spread[i].field == field)
            found = &placement->spread[i];
    }
    return found;
}

/* Sorts the clusters of an attempt as the scheduler prefers them. The caller frees the result. */
static struct ranked_cluster *rank_clusters(const struct spread_selection *a)
{
    const struct binding *b = a->in->binding;
    struct ranked_cluster *ranked = xcalloc(a->set->count + 1, sizeof(*ranked));

    for (uint32_t i = 0; i < a->set->count; i++) {
        ranked[i].member = &a->set->members[i];
        for (uint32_t k = 0; k < b->cluster_count; k++) {
            if (b->clusters[k].name == a->set->members[i].name) {
                ranked[i].target = true;
                ranked[i].assigned = b->clusters[k].replicas;
            }
        }
    }
    qsort(ranked, a->set->count, sizeof(*ranked), compare_ranked);
    return ranked;
}

/*
 * Returns true if the first `wanted` of the ranked clusters are known whatever the free capacity
 * is: all of them, or all present targets.
 */
static bool is_cut_known(const struct spread_selection *a, const struct ranked_cluster *ranked,
                         size_t count, size_t wanted)
{
    return wanted == 0 || wanted >= count || needs_no_capacity(a->in->binding) ||
           (!a->in->overflows && ranked[wanted - 1].target != ranked[wanted].target);
}

static int compare_members(const void *a, const void *b)
{
    return strcmp(((const struct member *)a)->name, ((const struct member *)b)->name);
}

void cluster_set_sort(struct cluster_set *set)
{
    if (set->count > 1)
        qsort(set->members, set->count, sizeof(*set->members), compare_members);
}

/* Replaces the clusters of an attempt by the first `count` ranked ones, sorted by name. */
static void keep_ranked(struct spread_selection *a, const struct ranked_cluster *ranked,
                        size_t count)
{
    struct member *members = xreallocarray(NULL, count + 1, sizeof(*members));

    for (size_t i = 0; i < count; i++)
        members[i] = *ranked[i].member;
    free(a->set->members);
    a->set->members = members;
    a->set->count = (uint32_t)count;
    cluster_set_sort(a->set);
}

/* Returns the free replicas that the selected clusters must have; 0 or less if none. */
static int64_t needed_replicas(const struct spread_selection *a,
                               const struct spread_constraint *clusters)
{
    const struct binding *b = a->in->binding;
    bool one = release_has(a->in->release, BEHAVIOUR_RESCHEDULES_ONE_COMPONENT);
    bool whole = b->component_count > (one ? 0U : 1U) && clusters->least == 1 &&
                 clusters->most == 1 && gate_is_on(a->in->gates, GATE_MULTIPLE_POD_TEMPLATES);

    if (a->in->placement->division == DIVISION_DUPLICATED)
        return -1;
    return whole && release_has(a->in->release, BEHAVIOUR_DUPLICATES_COMPONENTS) ? 1 : b->replicas;
}

/* Selects at most `most` clusters (Karmada: selectBestClustersByCluster). */
static enum spread_result select_by_cluster(struct spread_selection *a,
                                            const struct spread_constraint *constraint)
{
    CLEANUP(free_cleanup) struct ranked_cluster *ranked = rank_clusters(a);
    int64_t needed = needed_replicas(a, constraint);
    size_t count = a->set->count;
    size_t wanted = constraint->most < (int64_t)count ? (size_t)constraint->most : count;
    int64_t assigned = 0;

    if ((int64_t)count < constraint->least || constraint->most <= 0)
        return SPREAD_FAILED;
    if (!is_cut_known(a, ranked, count, wanted))
        return SPREAD_UNKNOWN;
    for (size_t i = 0; i < wanted; i++)
        assigned += ranked[i].assigned;
    if (needed > assigned)
        return SPREAD_UNKNOWN;
    keep_ranked(a, ranked, wanted);
    return SPREAD_SELECTED;
}

/* ---- selection by region ---- */

/* Score of a present target (Karmada: ClusterLocality), and of a cluster with enough capacity. */
enum { TARGET_SCORE = 100, VALID_CLUSTER_SCORE = 1000, REGIONS_MAX = 12 };

/* Clusters of one region that pass the filters. */
struct region {
    const char *name;
    size_t count;
    size_t targets; /* Number of present targets; the scheduler prefers these. */
    int64_t score;
};

/* Regions of an attempt, and its ranked clusters. */
struct regions {
    struct region items[REGIONS_MAX];
    size_t count;
    struct ranked_cluster *ranked; /* Owned. */
    size_t ranked_count;
    const struct spread_constraint *constraint; /* By region. */
    struct spread_constraint clusters;          /* By cluster; zero if absent. */
};

static const char *region_name(const struct ranked_cluster *r)
{
    return entry_cluster(r->member->cluster)->region;
}

static size_t region_index(const struct regions *r, const char *name)
{
    size_t at = 0;

    while (at < r->count && r->items[at].name != name)
        at++;
    return at;
}

/* Returns false if there are more than REGIONS_MAX regions. */
static bool group_by_region(struct regions *r)
{
    for (size_t i = 0; i < r->ranked_count; i++) {
        size_t at = region_index(r, region_name(&r->ranked[i]));

        if (at == REGIONS_MAX)
            return false;
        if (at == r->count)
            r->items[r->count++] = (struct region){.name = region_name(&r->ranked[i])};
        r->items[at].count++;
        r->items[at].targets += r->ranked[i].target;
    }
    return true;
}

/* Sets the scores of regions for a binding that needs no capacity (Karmada: calcGroupScore). */
static void score_regions(struct regions *r, bool duplicates)
{
    int64_t least =
        r->clusters.least > r->constraint->least ? r->clusters.least : r->constraint->least;

    for (size_t i = 0; i < r->count; i++) {
        struct region *region = &r->items[i];
        int64_t used = (int64_t)region->count;
        int64_t targets = (int64_t)region->targets;

        if (!duplicates && used > least)
            used = least > 1 ? least : 1;
        if (targets > used)
            targets = used;
        region->score =
            (duplicates ? used * VALID_CLUSTER_SCORE : 0) + targets * TARGET_SCORE / used;
    }
}

/* A set of regions, bits by index, in the order in which Karmada finds them. */
struct region_path {
    unsigned set;
    unsigned length;
    int64_t score;
    int64_t clusters;
};

struct region_search {
    const struct regions *r;
    size_t order[REGIONS_MAX]; /* Regions, those with the fewest clusters first. */
    struct region_path best;
    unsigned found[1 << REGIONS_MAX]; /* Sets of regions, in the order of the search. */
    size_t found_count;
};

static bool is_region_before(const struct region *a, const struct region *b)
{
    if (a->count != b->count)
        return a->count < b->count;
    if (a->score != b->score)
        return a->score > b->score;
    return strcmp(a->name, b->name) < 0;
}

static void sort_regions(struct region_search *search)
{
    const struct region *items = search->r->items;

    for (size_t i = 0; i < search->r->count; i++) {
        size_t at = i;

        for (; at > 0 && is_region_before(&items[i], &items[search->order[at - 1]]); at--)
            search->order[at] = search->order[at - 1];
        search->order[at] = i;
    }
}

static struct region_path make_path(const struct regions *r, unsigned set)
{
    struct region_path path = {.set = set};

    for (size_t i = 0; i < r->count; i++) {
        if (!(set & 1U << i))
            continue;
        path.length++;
        path.score += r->items[i].score;
        path.clusters += (int64_t)r->items[i].count;
    }
    return path;
}

/* Finds the sets of regions that meet both constraints (Karmada: findFeasiblePaths). */
static void find_paths(struct region_search *search, unsigned set, size_t begin)
{
    const struct regions *r = search->r;
    struct region_path path = make_path(r, set);

    if (path.clusters >= r->clusters.least && path.length >= r->constraint->least &&
        path.length <= r->constraint->most) {
        search->found[search->found_count++] = set;
        return;
    }
    if (path.length >= r->constraint->most)
        return;
    for (size_t i = begin; i < r->count; i++) {
        find_paths(search, set | 1U << search->order[i], i + 1);
        if ((int64_t)r->count == r->constraint->least)
            break;
    }
}

/*
 * Returns true if `shorter` has the first regions of `longer`, by score and then by name (Karmada:
 * matchSubPath).
 */
static bool is_start_of(const struct regions *r, const struct region_path *shorter,
                        const struct region_path *longer)
{
    if (shorter->length >= longer->length || (shorter->set & ~longer->set))
        return false;
    for (size_t i = 0; i < r->count; i++) {
        for (size_t k = 0; k < r->count; k++) {
            const struct region *in = &r->items[i], *out = &r->items[k];

            if ((shorter->set & 1U << i) && (longer->set & ~shorter->set & 1U << k) &&
                (out->score > in->score ||
                 (out->score == in->score && strcmp(out->name, in->name) < 0)))
                return false;
        }
    }
    return true;
}

static bool is_path_better(const struct region_path *a, const struct region_path *b)
{
    return a->score != b->score ? a->score > b->score : a->clusters > b->clusters;
}

/* Returns the best of the sets that were found (Karmada: prioritizePaths); 0 if there are none. */
static unsigned best_path(const struct region_search *search)
{
    struct region_path best = {0}, path;
    bool replaced = true;

    for (size_t i = 0; i < search->found_count; i++) {
        path = make_path(search->r, search->found[i]);
        if (i == 0 || is_path_better(&path, &best))
            best = path;
    }
    /* Each start of the best one replaces it; a shorter start of that one may follow. */
    while (replaced) {
        struct region_path next = {0};

        replaced = false;
        for (size_t i = 0; i < search->found_count; i++) {
            path = make_path(search->r, search->found[i]);
            if (is_start_of(search->r, &path, &best) &&
                (!replaced || is_path_better(&path, &next))) {
                next = path;
                replaced = true;
            }
        }
        if (replaced)
            best = next;
    }
    return best.set;
}

/*
 * Sets `chosen` to the regions to use. Without known scores, that is known only if all regions are
 * needed, or no set of regions meets the constraints.
 */
static enum spread_result choose_regions(const struct spread_selection *a, const struct regions *r,
                                         unsigned *chosen)
{
    struct region_search search = {.r = r};
    bool known = needs_no_capacity(a->in->binding) && !a->in->overflows && r->constraint->least > 0;

    sort_regions(&search);
    find_paths(&search, 0, 0);
    *chosen = best_path(&search);
    if (*chosen == 0)
        return SPREAD_FAILED;
    return known || (int64_t)r->count == r->constraint->least ? SPREAD_SELECTED : SPREAD_UNKNOWN;
}

/* Returns true if the first cluster of each region is known whatever the free capacity is. */
static bool are_first_clusters_known(const struct spread_selection *a, const struct regions *r)
{
    for (size_t i = 0; i < r->count; i++) {
        if (r->items[i].count > 1 && r->items[i].targets != 1)
            return needs_no_capacity(a->in->binding);
    }
    return !a->in->overflows || needs_no_capacity(a->in->binding);
}

/*
 * Orders the clusters of the chosen regions: the first one of each region, then the others. Returns
 * their number.
 */
static size_t order_by_region(struct regions *r, unsigned chosen)
{
    struct ranked_cluster *ordered = xcalloc(r->ranked_count + 1, sizeof(*ordered));
    struct ranked_cluster *others = xcalloc(r->ranked_count + 1, sizeof(*others));
    unsigned seen = ~chosen;
    size_t count = 0, other_count = 0;

    for (size_t i = 0; i < r->ranked_count; i++) {
        unsigned bit = 1U << region_index(r, region_name(&r->ranked[i]));

        if (!(seen & bit))
            ordered[count++] = r->ranked[i];
        else if (chosen & bit)
            others[other_count++] = r->ranked[i];
        seen |= bit;
    }
    memcpy(ordered + count, others, other_count * sizeof(*others));
    free(others);
    free(r->ranked);
    r->ranked = ordered;
    return count + other_count;
}

static size_t count_bits(unsigned set)
{
    size_t count = 0;

    for (; set; set &= set - 1)
        count++;
    return count;
}

/* Selects clusters of the chosen regions (Karmada: selectBestClustersByRegion). */
static enum spread_result select_in_regions(struct spread_selection *a, struct regions *r,
                                            unsigned chosen)
{
    bool known = are_first_clusters_known(a, r);
    size_t firsts = count_bits(chosen);
    size_t count = order_by_region(r, chosen);
    size_t most = r->clusters.most > 0 ? (size_t)r->clusters.most : 0;
    size_t wanted = most < count ? most : count;

    if (wanted < firsts)
        wanted = firsts;
    if (wanted < count &&
        (!known || !is_cut_known(a, r->ranked + firsts, count - firsts, wanted - firsts)))
        return SPREAD_UNKNOWN;
    keep_ranked(a, r->ranked, wanted);
    return SPREAD_SELECTED;
}

static enum spread_result select_by_region(struct spread_selection *a,
                                           const struct spread_constraint *constraint)
{
    const struct placement *placement = a->in->placement;
    const struct spread_constraint *clusters = find_constraint(placement, SPREAD_CLUSTER);
    struct regions r = {
        .constraint = constraint, .ranked = rank_clusters(a), .ranked_count = a->set->count};
    unsigned chosen = 0;
    enum spread_result result = SPREAD_UNKNOWN;

    if (clusters)
        r.clusters = *clusters;
    if (group_by_region(&r)) {
        score_regions(&r, placement->division == DIVISION_DUPLICATED);
        result =
            (int64_t)r.count < constraint->least ? SPREAD_FAILED : choose_regions(a, &r, &chosen);
    }
    if (result == SPREAD_SELECTED)
        result = select_in_regions(a, &r, chosen);
    free(r.ranked);
    return result;
}

/*
 * Karmada < 1.14 panics if a group of clusters, such as a region, has none with the capacity for
 * all replicas of a duplicated workload.
 */
static bool may_panic(const struct spread_selection *a)
{
    const struct placement *placement = a->in->placement;
    bool grouped = false;

    for (uint32_t i = 0; i < placement->spread_count; i++)
        grouped |= placement->spread[i].field != SPREAD_CLUSTER &&
                   placement->spread[i].field != SPREAD_OTHER;
    return grouped && placement->division == DIVISION_DUPLICATED &&
           !needs_no_capacity(a->in->binding) &&
           !release_has(a->in->release, BEHAVIOUR_SCORES_FULL_GROUPS);
}

enum spread_result spread_select(const struct spread_input *input, struct cluster_set *set)
{
    const struct placement *placement = input->placement;
    const struct spread_constraint *by_region = find_constraint(placement, SPREAD_REGION);
    const struct spread_constraint *by_cluster = find_constraint(placement, SPREAD_CLUSTER);
    struct spread_selection selection = {input, set};

    if (placement->spread_count == 0 || placement->division == DIVISION_STATIC_WEIGHT)
        return SPREAD_SELECTED;
    if (placement->division == DIVISION_UNKNOWN)
        return SPREAD_UNKNOWN;
    if (may_panic(&selection))
        return SPREAD_UNKNOWN;
    if (by_region)
        return select_by_region(&selection, by_region);
    return by_cluster ? select_by_cluster(&selection, by_cluster) : SPREAD_FAILED;
}
