/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/placements.h"

#include "metrics/model/store.h"
#include "metrics/rules/affinity.h"

struct placements {
    struct store *store;
    struct map placements; /* By canonical text. */
    uint64_t seed;
    uint64_t version;        /* Grows with every change of the clusters. */
    struct listing clusters; /* In the order of entry_compare(), which is by name. */
    uint64_t listed;         /* The version as of which `clusters` is right. */
    bool hidden;             /* Not all clusters have been read: as if there were none. */
};

static bool is_of_text(const void *item, const void *key)
{
    const struct resolved_placement *resolved = item;

    return resolved->text == key;
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
    p->placements = MAP_INIT(is_of_text);
    p->version = 1;
    return p;
}

void placements_free(struct placements *p)
{
    if (!p)
        return;
    assert(p->placements.count == 0);
    map_release(&p->placements);
    listing_release(&p->clusters);
    free(p);
}

void placements_clusters_changed(struct placements *p)
{
    p->version++;
}

void placements_hide_clusters(struct placements *p, bool hidden)
{
    p->hidden = hidden;
    p->version++;
}

/* Bring p->clusters up to date. */
static void list_clusters(struct placements *p)
{
    if (p->listed == p->version)
        return;
    p->listed = p->version;
    listing_release(&p->clusters);
    if (!p->hidden)
        p->clusters = listing_make(p->store, CLASS_CLUSTER);
}

static int64_t weigh(const struct placement *placement, const struct entry *cluster)
{
    int64_t weight = 0;

    for (uint32_t i = 0; i < placement->weight_count; i++) {
        const struct static_weight *rule = &placement->weights[i];

        if (rule->weight > weight &&
            affinity_matches(&rule->target, cluster->name, entry_cluster(cluster)))
            weight = rule->weight;
    }
    return weight;
}

/* The clusters that one group allows; without a group all of them. */
static void fill_set(struct placements *p, const struct placement *placement,
                     const struct affinity_group *group, struct cluster_set *out)
{
    struct intern *strings = store_strings(p->store);

    *out = (struct cluster_set){.tolerated = true};
    if (p->clusters.count > 0)
        out->members = xreallocarray(NULL, p->clusters.count, sizeof(*out->members));
    for (size_t i = 0; i < p->clusters.count; i++) {
        const struct entry *cluster = p->clusters.entries[i];

        if (group && !affinity_matches(&group->affinity, cluster->name, entry_cluster(cluster)))
            continue;

        const struct member member = {
            .name = intern_add(strings, cluster->name),
            .weight = weigh(placement, cluster),
            .tolerated = placement_tolerates(placement, entry_cluster(cluster)),
            .cluster = cluster,
        };

        out->tolerated &= member.tolerated;
        out->members[out->count++] = member;
    }
}

static bool group_allows(const struct affinity_group *group, const struct entry *cluster)
{
    if (affinity_matches(&group->affinity, cluster->name, entry_cluster(cluster)))
        return true;
    for (uint32_t i = 0; i < group->overflow_count; i++) {
        if (affinity_matches(&group->overflow[i], cluster->name, entry_cluster(cluster)))
            return true;
    }
    return false;
}

static bool allows(const struct placement *placement, const struct entry *cluster)
{
    for (uint32_t i = 0; i < placement->group_count; i++) {
        if (group_allows(&placement->groups[i], cluster))
            return true;
    }
    return placement->group_count == 0;
}

static void fill_clusters(struct placements *p, struct resolved_placement *resolved)
{
    struct intern *strings = store_strings(p->store);

    if (p->clusters.count > 0)
        resolved->clusters = xreallocarray(NULL, p->clusters.count, sizeof(*resolved->clusters));
    for (size_t i = 0; i < p->clusters.count; i++) {
        if (allows(resolved->placement, p->clusters.entries[i]))
            resolved->clusters[resolved->cluster_count++] =
                intern_add(strings, p->clusters.entries[i]->name);
    }
}

static void clear(struct placements *p, struct resolved_placement *resolved)
{
    struct intern *strings = store_strings(p->store);

    for (uint32_t i = 0; i < resolved->group_count; i++) {
        for (uint32_t k = 0; k < resolved->groups[i].count; k++)
            intern_drop(strings, resolved->groups[i].members[k].name);
        free(resolved->groups[i].members);
    }
    free(resolved->groups);
    decode_texts_release(strings, resolved->clusters, resolved->cluster_count);
    resolved->groups = NULL;
    resolved->clusters = NULL;
    resolved->group_count = resolved->cluster_count = 0;
}

static void fill(struct placements *p, struct resolved_placement *resolved)
{
    const struct placement *placement = resolved->placement;

    clear(p, resolved);
    list_clusters(p);
    resolved->version = p->version;
    resolved->has_clusters = p->clusters.count > 0;
    if (placement->unreadable)
        return;
    resolved->group_count = placement->group_count > 0 ? placement->group_count : 1;
    resolved->groups = xcalloc(resolved->group_count, sizeof(*resolved->groups));
    for (uint32_t i = 0; i < resolved->group_count; i++)
        fill_set(p, placement, placement->group_count > 0 ? &placement->groups[i] : NULL,
                 &resolved->groups[i]);
    fill_clusters(p, resolved);
}

const struct resolved_placement *placements_ref(struct placements *p, const char *text)
{
    uint64_t hash = hash_text(p, text);
    struct resolved_placement *resolved = map_get(&p->placements, hash, text);

    if (!resolved) {
        resolved = xcalloc(1, sizeof(*resolved));
        resolved->text = text ? intern_ref(text) : NULL;
        resolved->placement = placement_new(store_strings(p->store), text);
        map_add(&p->placements, hash, resolved);
    }
    resolved->references++;
    if (resolved->version != p->version)
        fill(p, resolved);
    return resolved;
}

void placements_drop(struct placements *p, const struct resolved_placement *resolved)
{
    if (!resolved)
        return;

    uint64_t hash = hash_text(p, resolved->text);
    struct resolved_placement *own = map_get(&p->placements, hash, resolved->text);

    assert(own == resolved && own->references > 0);
    if (--own->references > 0)
        return;
    map_take(&p->placements, hash, own->text);
    clear(p, own);
    placement_free(store_strings(p->store), own->placement);
    intern_drop(store_strings(p->store), own->text);
    free(own);
}

static int name_before(const void *key, const void *item)
{
    const struct entry *const *cluster = item;

    return strcmp(key, (*cluster)->name);
}

bool placements_has_cluster(struct placements *p, const char *name)
{
    list_clusters(p);
    return p->clusters.count > 0 && bsearch(name, p->clusters.entries, p->clusters.count,
                                            sizeof(struct entry *), name_before);
}

static int text_before(const void *key, const void *item)
{
    return strcmp(key, *(const char *const *)item);
}

static bool group_allows_name(const struct affinity_group *group, const char *name)
{
    if (affinity_allows_name(&group->affinity, name))
        return true;
    for (uint32_t i = 0; i < group->overflow_count; i++) {
        if (affinity_allows_name(&group->overflow[i], name))
            return true;
    }
    return false;
}

bool placements_allow(struct placements *p, const struct resolved_placement *resolved,
                      const char *name)
{
    const struct placement *placement = resolved->placement;

    if (placement->unreadable)
        return true;
    if (placements_has_cluster(p, name))
        return resolved->cluster_count > 0 &&
               bsearch(name, resolved->clusters, resolved->cluster_count,
                       sizeof(*resolved->clusters), text_before);
    for (uint32_t i = 0; i < placement->group_count; i++) {
        if (group_allows_name(&placement->groups[i], name))
            return true;
    }
    return placement->group_count == 0;
}
