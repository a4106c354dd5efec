/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/placements.h"

#include "metrics/rules/affinity.h"

struct placements {
    struct store *store;
    struct map found;
    uint64_t seed;
    uint64_t version; /* Grows with every change of the clusters. */
    struct entry **clusters;
    size_t cluster_count;
    uint64_t listed; /* The version that `clusters` is of. */
};

static bool is_of_text(const void *item, const void *key)
{
    const struct placed *placed = item;

    return placed->text == key;
}

static uint64_t hash_text(const struct placements *p, const char *text)
{
    return map_hash(&text, sizeof(text), p->seed);
}

struct placements *placements_new(struct store *store, uint64_t seed)
{
    struct placements *p = xcalloc(1, sizeof(*p));

    p->store = store;
    p->seed = seed;
    p->found = MAP_INIT(is_of_text);
    p->version = 1;
    return p;
}

void placements_free(struct placements *p)
{
    if (!p)
        return;
    assert(p->found.count == 0);
    map_release(&p->found);
    free(p->clusters);
    free(p);
}

void placements_clusters_changed(struct placements *p)
{
    p->version++;
}

static int by_name(const void *a, const void *b)
{
    const struct entry *const *x = a;
    const struct entry *const *y = b;

    return strcmp((*x)->name, (*y)->name);
}

static void list_clusters_of(struct placements *p, const struct partition *partition)
{
    if (partition->count == 0)
        return;
    p->clusters =
        xreallocarray(p->clusters, p->cluster_count + partition->count, sizeof(struct entry *));
    for (size_t i = 0; i < partition->count; i++) {
        if (partition->entries[i]->object)
            p->clusters[p->cluster_count++] = partition->entries[i];
    }
}

/* All clusters by name. */
static void list_clusters(struct placements *p)
{
    if (p->listed == p->version)
        return;
    p->listed = p->version;
    p->cluster_count = 0;
    for (const struct type *type = store_types(p->store); type; type = type->next) {
        if (type->def->class != CLASS_CLUSTER)
            continue;
        for (const struct partition *partition = type->partitions; partition;
             partition = partition->next_of_type)
            list_clusters_of(p, partition);
    }
    if (p->cluster_count > 1)
        qsort(p->clusters, p->cluster_count, sizeof(struct entry *), by_name);
}

static int64_t weigh(const struct placement *placement, const struct entry *cluster)
{
    int64_t weight = 0;

    for (uint32_t i = 0; i < placement->weight_count; i++) {
        const struct static_weight *rule = &placement->weights[i];

        if (rule->weight > weight &&
            affinity_matches(&rule->target, cluster->name, cluster->object))
            weight = rule->weight;
    }
    return weight;
}

/* What one group means; without a group that is every cluster. */
static void fill_reach(struct placements *p, const struct placement *placement,
                       const struct affinity_group *group, struct reach *out)
{
    struct intern *strings = store_strings(p->store);

    *out = (struct reach){.tolerated = true};
    if (p->cluster_count > 0)
        out->members = xreallocarray(NULL, p->cluster_count, sizeof(*out->members));
    for (size_t i = 0; i < p->cluster_count; i++) {
        const struct entry *cluster = p->clusters[i];

        if (group && !affinity_matches(&group->affinity, cluster->name, cluster->object))
            continue;
        out->tolerated &= placement_tolerates(placement, cluster->object);
        out->members[out->count++] = (struct member){
            .name = intern_add(strings, cluster->name),
            .weight = weigh(placement, cluster),
        };
    }
}

static bool group_means(const struct affinity_group *group, const struct entry *cluster)
{
    if (affinity_matches(&group->affinity, cluster->name, cluster->object))
        return true;
    for (uint32_t i = 0; i < group->overflow_count; i++) {
        if (affinity_matches(&group->overflow[i], cluster->name, cluster->object))
            return true;
    }
    return false;
}

static bool is_meant(const struct placement *placement, const struct entry *cluster)
{
    for (uint32_t i = 0; i < placement->group_count; i++) {
        if (group_means(&placement->groups[i], cluster))
            return true;
    }
    return placement->group_count == 0;
}

static void fill_clusters(struct placements *p, struct placed *placed)
{
    struct intern *strings = store_strings(p->store);

    if (p->cluster_count > 0)
        placed->clusters = xreallocarray(NULL, p->cluster_count, sizeof(*placed->clusters));
    for (size_t i = 0; i < p->cluster_count; i++) {
        if (is_meant(placed->placement, p->clusters[i]))
            placed->clusters[placed->cluster_count++] = intern_add(strings, p->clusters[i]->name);
    }
}

static void clear(struct placements *p, struct placed *placed)
{
    struct intern *strings = store_strings(p->store);

    for (uint32_t i = 0; i < placed->group_count; i++) {
        for (uint32_t k = 0; k < placed->groups[i].count; k++)
            intern_drop(strings, placed->groups[i].members[k].name);
        free(placed->groups[i].members);
    }
    free(placed->groups);
    decode_texts_release(strings, placed->clusters, placed->cluster_count);
    placed->groups = NULL;
    placed->clusters = NULL;
    placed->group_count = placed->cluster_count = 0;
}

static void fill(struct placements *p, struct placed *placed)
{
    const struct placement *placement = placed->placement;

    clear(p, placed);
    list_clusters(p);
    placed->version = p->version;
    placed->has_clusters = p->cluster_count > 0;
    if (placement->unreadable)
        return;
    placed->group_count = placement->group_count > 0 ? placement->group_count : 1;
    placed->groups = xcalloc(placed->group_count, sizeof(*placed->groups));
    for (uint32_t i = 0; i < placed->group_count; i++)
        fill_reach(p, placement, placement->group_count > 0 ? &placement->groups[i] : NULL,
                   &placed->groups[i]);
    fill_clusters(p, placed);
}

const struct placed *placements_hold(struct placements *p, const char *text)
{
    uint64_t hash = hash_text(p, text);
    struct placed *placed = map_get(&p->found, hash, text);

    if (!placed) {
        placed = xcalloc(1, sizeof(*placed));
        placed->text = text ? intern_ref(text) : NULL;
        placed->placement = placement_new(store_strings(p->store), text);
        map_add(&p->found, hash, placed);
    }
    placed->holders++;
    if (placed->version != p->version)
        fill(p, placed);
    return placed;
}

void placements_drop(struct placements *p, const struct placed *placed)
{
    if (!placed)
        return;

    uint64_t hash = hash_text(p, placed->text);
    struct placed *held = map_get(&p->found, hash, placed->text);

    assert(held == placed && held->holders > 0);
    if (--held->holders > 0)
        return;
    map_take(&p->found, hash, held->text);
    clear(p, held);
    placement_free(store_strings(p->store), held->placement);
    intern_drop(store_strings(p->store), held->text);
    free(held);
}

static int name_before(const void *key, const void *item)
{
    const struct entry *const *cluster = item;

    return strcmp(key, (*cluster)->name);
}

bool placements_has_cluster(struct placements *p, const char *name)
{
    list_clusters(p);
    return p->cluster_count > 0 &&
           bsearch(name, p->clusters, p->cluster_count, sizeof(struct entry *), name_before);
}

static int text_before(const void *key, const void *item)
{
    return strcmp(key, *(const char *const *)item);
}

static bool group_names(const struct affinity_group *group, const char *name)
{
    if (affinity_names(&group->affinity, name))
        return true;
    for (uint32_t i = 0; i < group->overflow_count; i++) {
        if (affinity_names(&group->overflow[i], name))
            return true;
    }
    return false;
}

bool placements_allow(struct placements *p, const struct placed *placed, const char *name)
{
    const struct placement *placement = placed->placement;

    if (placement->unreadable)
        return true;
    if (placements_has_cluster(p, name))
        return placed->cluster_count > 0 && bsearch(name, placed->clusters, placed->cluster_count,
                                                    sizeof(*placed->clusters), text_before);
    for (uint32_t i = 0; i < placement->group_count; i++) {
        if (group_names(&placement->groups[i], name))
            return true;
    }
    return placement->group_count == 0;
}
