/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/placement_match.h"

#include "metrics/model/store.h"
#include "metrics/rules/selector.h"

static bool contains_text(const char *const *texts, size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(texts[i], text) == 0)
            return true;
    }
    return false;
}

bool affinity_allows_name(const struct cluster_affinity *affinity, const char *name)
{
    if (contains_text(affinity->exclude, affinity->exclude_count, name))
        return false;
    return affinity->name_count == 0 || contains_text(affinity->names, affinity->name_count, name);
}

const struct cluster_affinity *placement_group_by_name(const struct placement *placement,
                                                       uint32_t group)
{
    const struct cluster_affinity *a =
        group < placement->group_count ? &placement->groups[group].affinity : NULL;

    return a && !a->labels && !a->fields && !a->zones && !a->never ? a : NULL;
}

/*
 * Sets `out` to a field of the cluster if the selector has a requirement on it; else returns false.
 * The key is the selector's copy, because label_selector_matches() compares keys as pointers.
 */
static bool read_selected_field(const struct label_selector *selector, const char *key,
                                const char *value, struct label *out)
{
    for (size_t i = 0; value && i < selector->count; i++) {
        if (strcmp(selector->items[i].key, key) == 0) {
            *out = (struct label){selector->items[i].key, value};
            return true;
        }
    }
    return false;
}

/* Returns the fields of the cluster that the selector reads, in `items`. */
static struct labels selected_fields(const struct label_selector *selector,
                                     const struct cluster *cluster, struct label items[2])
{
    struct labels fields = {.items = items};

    fields.count += read_selected_field(selector, "provider", cluster->provider, items);
    fields.count += read_selected_field(selector, "region", cluster->region, &items[fields.count]);
    return fields;
}

static bool fields_match(const struct label_selector *selector, const struct cluster *cluster)
{
    struct label items[2];
    const struct labels fields = selected_fields(selector, cluster, items);

    return label_selector_matches(selector, &fields);
}

/* Returns the number of the cluster's zones that the requirement lists. */
static uint32_t count_listed_zones(const struct label_requirement *r, const struct cluster *cluster)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < cluster->zone_count; i++)
        count += contains_text(r->values, r->value_count, cluster->zones[i]);
    return count;
}

/*
 * Returns true if the zones of the cluster meet a requirement. One listed zone violates NotIn; with
 * `any`, it satisfies In, else In requires that all zones of the cluster are listed.
 */
static bool zone_matches(const struct label_requirement *r, const struct cluster *cluster, bool any)
{
    uint32_t listed = count_listed_zones(r, cluster);

    switch (r->op) {
    case LABEL_IN:
        return listed > 0 && (any || listed == cluster->zone_count);
    case LABEL_NOT_IN:
        return listed == 0;
    case LABEL_EXISTS:
        return cluster->zone_count > 0;
    case LABEL_DOES_NOT_EXIST:
        return cluster->zone_count == 0;
    }
    abort();
}

/* Ignores `invalid` of the selector: Karmada does not check that zones are valid label values. */
static bool zones_match(const struct label_selector *selector, const struct cluster *cluster,
                        bool any)
{
    for (size_t i = 0; i < selector->count; i++) {
        if (!zone_matches(&selector->items[i], cluster, any))
            return false;
    }
    return true;
}

bool affinity_matches_cluster(const struct cluster_affinity *affinity, const char *name,
                              const struct cluster *cluster, enum release release)
{
    if (affinity->never || !affinity_allows_name(affinity, name))
        return false;
    if (affinity->labels && !label_selector_matches(affinity->labels, &cluster->labels))
        return false;
    if (affinity->fields && !fields_match(affinity->fields, cluster))
        return false;
    return !affinity->zones ||
           zones_match(affinity->zones, cluster, release_has(release, BEHAVIOUR_ANY_ZONE));
}

/* Returns the first requirement that does not hold; NULL if the selector is invalid. */
static const struct label_requirement *find_failing(const struct label_selector *selector,
                                                    const struct labels *labels)
{
    for (size_t i = 0; !selector->invalid && i < selector->count; i++) {
        if (!label_requirement_holds(&selector->items[i], labels))
            return &selector->items[i];
    }
    return NULL;
}

/* Returns the first requirement on fields or zones that does not hold; NULL if it is invalid. */
static const struct label_requirement *find_failing_field(const struct cluster_affinity *affinity,
                                                          const struct cluster *cluster, bool any)
{
    struct label items[2];
    struct labels fields;

    for (size_t i = 0; affinity->zones && i < affinity->zones->count; i++) {
        if (!zone_matches(&affinity->zones->items[i], cluster, any))
            return &affinity->zones->items[i];
    }
    if (!affinity->fields)
        return NULL;
    fields = selected_fields(affinity->fields, cluster, items);
    return find_failing(affinity->fields, &fields);
}

bool affinity_find_mismatch(const struct cluster_affinity *affinity, const char *name,
                            const struct cluster *cluster, enum release release,
                            struct affinity_mismatch *out)
{
    bool any_zone = release_has(release, BEHAVIOUR_ANY_ZONE);

    *out = (struct affinity_mismatch){AFFINITY_EXCLUDE, NULL};
    if (affinity_matches_cluster(affinity, name, cluster, release))
        return false;
    if (contains_text(affinity->exclude, affinity->exclude_count, name))
        return true;
    if (affinity->labels && !label_selector_matches(affinity->labels, &cluster->labels)) {
        *out = (struct affinity_mismatch){AFFINITY_LABELS,
                                          find_failing(affinity->labels, &cluster->labels)};
        return true;
    }
    if (affinity->never || (affinity->fields && !fields_match(affinity->fields, cluster)) ||
        (affinity->zones && !zones_match(affinity->zones, cluster, any_zone))) {
        *out = (struct affinity_mismatch){AFFINITY_FIELDS,
                                          find_failing_field(affinity, cluster, any_zone)};
        return true;
    }
    out->condition = AFFINITY_NAMES;
    return true;
}

enum release_answer affinity_matches_in_range(const struct cluster_affinity *affinity,
                                              const char *name, const struct cluster *cluster,
                                              struct release_range range)
{
    bool oldest = affinity_matches_cluster(affinity, name, cluster, range.oldest);

    if (oldest != affinity_matches_cluster(affinity, name, cluster, range.newest))
        return RELEASE_ANSWER_DIFFERS;
    return oldest ? RELEASE_ANSWER_YES : RELEASE_ANSWER_NO;
}

/* Returns true if the toleration covers the taint (apimachinery: Toleration.ToleratesTaint). */
static bool toleration_covers_taint(const struct toleration *t, const struct taint *taint)
{
    if (*t->effect && strcmp(t->effect, taint->effect) != 0)
        return false;
    if (*t->key && strcmp(t->key, taint->key) != 0)
        return false;
    if (strcmp(t->op, "Exists") == 0)
        return true;
    return (!*t->op || strcmp(t->op, "Equal") == 0) && strcmp(t->value, taint->value) == 0;
}

/* Returns the first toleration that covers the taint; NULL without one. */
static const struct toleration *find_toleration(const struct placement *placement,
                                                const struct taint *taint)
{
    for (uint32_t i = 0; i < placement->toleration_count; i++) {
        if (toleration_covers_taint(&placement->tolerations[i], taint))
            return &placement->tolerations[i];
    }
    return NULL;
}

static bool is_tolerated(const struct placement *placement, const struct taint *taint)
{
    if (find_toleration(placement, taint))
        return true;
    return strcmp(taint->effect, "NoSchedule") != 0 && strcmp(taint->effect, "NoExecute") != 0;
}

const struct taint *placement_find_taint(const struct placement *placement,
                                         const struct cluster *cluster)
{
    for (uint32_t i = 0; i < cluster->taint_count; i++) {
        if (!is_tolerated(placement, &cluster->taints[i]))
            return &cluster->taints[i];
    }
    return NULL;
}

bool placement_tolerates_taints(const struct placement *placement, const struct cluster *cluster)
{
    return !placement_find_taint(placement, cluster);
}

bool placement_tolerates_forever(const struct placement *placement, const struct cluster *cluster)
{
    for (uint32_t i = 0; i < cluster->taint_count; i++) {
        const struct toleration *t = find_toleration(placement, &cluster->taints[i]);

        if (!t || t->limited)
            return false;
    }
    return true;
}

bool placement_tolerates_cluster(const struct placement *placement, const struct cluster *cluster)
{
    /* Karmada taints a cluster in deletion, but with some delay. */
    return !cluster->deleting && placement_tolerates_taints(placement, cluster);
}

/* ---- placements of a store ---- */

struct placements {
    struct store *store;
    struct map placements; /* Resolved placements by canonical text. */
    uint64_t seed;
    uint64_t version;        /* Incremented to mark all resolved placements as outdated. */
    struct listing clusters; /* Sorted by entry_compare(), that is, by name. */
    uint64_t listed;         /* Value of `version` when `clusters` was listed. */
    /*
     * Last placement without a reference, or NULL: it is kept, because templates of one policy,
     * which look at the same placement one after the other, would each parse it again.
     */
    struct resolved_placement *last;
    struct release_range release;
    bool hidden; /* See placements_set_clusters_hidden(). */
};

static bool has_text_address(const void *item, const void *key)
{
    const struct resolved_placement *resolved = item;

    return resolved->text == key;
}

static uint64_t hash_text_address(const struct placements *p, const char *text)
{
    return map_hash(&text, sizeof(text), p->seed);
}

struct placements *placements_new(struct store *store, uint64_t seed)
{
    struct placements *p = xcalloc(1, sizeof(*p));

    p->store = store;
    p->seed = seed;
    p->placements = MAP_INIT(has_text_address);
    p->version = 1;
    p->release = (struct release_range){RELEASE_NEWEST, RELEASE_NEWEST, RELEASE_ASSUMED, false};
    return p;
}

void placements_mark_outdated(struct placements *p)
{
    p->version++;
}

void placements_set_release(struct placements *p, struct release_range range)
{
    if (p->release.oldest != range.oldest || p->release.newest != range.newest)
        p->version++;
    p->release = range;
}

struct release_range placements_release(const struct placements *p)
{
    return p->release;
}

struct intern *placements_strings(const struct placements *p)
{
    return store_string_pool(p->store);
}

void placements_set_clusters_hidden(struct placements *p, bool hidden)
{
    p->hidden = hidden;
    p->version++;
}

/* Lists p->clusters again if `version` has changed. */
static void update_cluster_list(struct placements *p)
{
    if (p->listed == p->version)
        return;
    p->listed = p->version;
    listing_release(&p->clusters);
    if (!p->hidden)
        p->clusters = listing_make(p->store, CLASS_CLUSTER);
}

/* Returns the largest static weight that matches the cluster; 0 without a match. */
static int64_t cluster_weight(const struct placement *placement, const struct entry *cluster,
                              enum release release)
{
    int64_t weight = 0;

    for (uint32_t i = 0; i < placement->weight_count; i++) {
        const struct static_weight *rule = &placement->weights[i];

        if (rule->weight > weight &&
            affinity_matches_cluster(&rule->target, cluster->name, entry_cluster(cluster), release))
            weight = rule->weight;
    }
    return weight;
}

/* Returns 0 if a group allows the cluster, else 1 + index of its overflow that does, else -1. */
static int64_t affinity_order(const struct affinity_group *group, const struct entry *cluster,
                              enum release release)
{
    const struct cluster *object = entry_cluster(cluster);

    if (!group || affinity_matches_cluster(&group->affinity, cluster->name, object, release))
        return 0;
    for (uint32_t i = 0; i < group->overflow_count; i++) {
        if (affinity_matches_cluster(&group->overflow[i], cluster->name, object, release))
            return 1 + (int64_t)i;
    }
    return -1;
}

static void add_member(struct placements *p, const struct placement *placement,
                       const struct entry *cluster, enum release release, struct cluster_set *out)
{
    const struct member member = {
        .name = intern_add(store_string_pool(p->store), cluster->name),
        .weight = cluster_weight(placement, cluster, release),
        .tolerated = placement_tolerates_cluster(placement, entry_cluster(cluster)),
        .untainted = placement_tolerates_taints(placement, entry_cluster(cluster)),
        .cluster = cluster,
    };

    out->members = xreallocarray(out->members, out->count + 1, sizeof(*out->members));
    out->tolerated &= member.tolerated;
    out->members[out->count++] = member;
}

/* Sets the clusters that a group and its overflow allow; all clusters if `group` is NULL. */
static void fill_cluster_sets(struct placements *p, const struct placement *placement,
                              const struct affinity_group *group, enum release release,
                              struct cluster_set *out, struct cluster_set *overflow)
{
    *out = *overflow = (struct cluster_set){.tolerated = true};
    for (size_t i = 0; i < p->clusters.count; i++) {
        int64_t order = affinity_order(group, p->clusters.entries[i], release);

        if (order >= 0)
            add_member(p, placement, p->clusters.entries[i], release, order > 0 ? overflow : out);
    }
}

static bool placement_allows_cluster(const struct placement *placement, const struct entry *cluster,
                                     struct release_range range)
{
    for (uint32_t i = 0; i < placement->group_count; i++) {
        if (affinity_order(&placement->groups[i], cluster, range.newest) >= 0 ||
            affinity_order(&placement->groups[i], cluster, range.oldest) >= 0)
            return true;
    }
    return placement->group_count == 0;
}

static void fill_allowed_clusters(struct placements *p, struct resolved_placement *resolved)
{
    struct intern *strings = store_string_pool(p->store);

    if (p->clusters.count > 0)
        resolved->clusters = xreallocarray(NULL, p->clusters.count, sizeof(*resolved->clusters));
    for (size_t i = 0; i < p->clusters.count; i++) {
        if (placement_allows_cluster(resolved->placement, p->clusters.entries[i], p->release))
            resolved->clusters[resolved->cluster_count++] =
                intern_add(strings, p->clusters.entries[i]->name);
    }
}

static bool has_tolerated_member(const struct cluster_set *set)
{
    for (uint32_t i = 0; i < set->count; i++) {
        if (set->members[i].tolerated)
            return true;
    }
    return false;
}

/* Both arrays are NULL without releases that match zones in another way. */
static bool is_open_in(const struct cluster_set *groups, const struct cluster_set *overflows,
                       uint32_t group)
{
    return groups && overflows &&
           (has_tolerated_member(&groups[group]) || overflows[group].count > 0);
}

/* Returns true if a group may be used in some release of the range. */
static bool is_group_open(const struct resolved_placement *resolved, uint32_t group)
{
    return is_open_in(resolved->groups, resolved->overflows, group) ||
           is_open_in(resolved->older_groups, resolved->older_overflows, group);
}

static uint32_t count_open_groups(const struct placements *p,
                                  const struct resolved_placement *resolved)
{
    uint32_t count = resolved->group_count;

    if (!resolved->has_clusters)
        return p->hidden ? 0 : UINT32_MAX;
    while (count > 0 && !is_group_open(resolved, count - 1))
        count--;
    return count;
}

static void release_sets(struct intern *strings, struct cluster_set *sets, uint32_t count)
{
    for (uint32_t i = 0; sets && i < count; i++) {
        for (uint32_t k = 0; k < sets[i].count; k++)
            intern_drop(strings, sets[i].members[k].name);
        free(sets[i].members);
    }
    free(sets);
}

/* Frees the clusters and groups of a resolved placement. */
static void clear_resolution(struct placements *p, struct resolved_placement *resolved)
{
    struct intern *strings = store_string_pool(p->store);

    release_sets(strings, resolved->groups, resolved->group_count);
    release_sets(strings, resolved->overflows, resolved->group_count);
    release_sets(strings, resolved->older_groups, resolved->group_count);
    release_sets(strings, resolved->older_overflows, resolved->group_count);
    decode_texts_release(strings, resolved->clusters, resolved->cluster_count);
    resolved->groups = resolved->overflows = NULL;
    resolved->older_groups = resolved->older_overflows = NULL;
    resolved->clusters = NULL;
    resolved->group_count = resolved->cluster_count = 0;
}

/* Sets the clusters of all groups and of their overflow in a release. */
static void resolve_groups(struct placements *p, const struct resolved_placement *resolved,
                           enum release release, struct cluster_set **groups,
                           struct cluster_set **overflows)
{
    const struct placement *placement = resolved->placement;

    *groups = xcalloc(resolved->group_count, sizeof(**groups));
    *overflows = xcalloc(resolved->group_count, sizeof(**overflows));
    for (uint32_t i = 0; i < resolved->group_count; i++)
        fill_cluster_sets(p, placement, placement->group_count > 0 ? &placement->groups[i] : NULL,
                          release, &(*groups)[i], &(*overflows)[i]);
}

/* Adds the clusters of the sets to a hash, as addresses of interned names. */
static uint64_t hash_members(const struct cluster_set *sets, uint32_t count, uint64_t hash)
{
    for (uint32_t i = 0; sets && i < count; i++) {
        for (uint32_t k = 0; k < sets[i].count; k++) {
            const struct cluster *cluster = entry_cluster(sets[i].members[k].cluster);
            const struct {
                const char *name, *region, *provider;
                uint64_t group, zones, deleting;
            } member = {sets[i].members[k].name, cluster->region,          cluster->provider, i,
                        cluster->zone_count,     cluster->deleting ? 1 : 0};

            hash = map_hash(&member, sizeof(member), hash);
        }
    }
    return hash;
}

/* Computes which of the present clusters a placement allows. */
static void resolve_placement(struct placements *p, struct resolved_placement *resolved)
{
    const struct placement *placement = resolved->placement;

    clear_resolution(p, resolved);
    update_cluster_list(p);
    resolved->version = p->version;
    resolved->has_clusters = p->clusters.count > 0;
    resolved->open_groups = UINT32_MAX;
    if (placement->unreadable)
        return;
    resolved->group_count = placement->group_count > 0 ? placement->group_count : 1;
    resolve_groups(p, resolved, p->release.newest, &resolved->groups, &resolved->overflows);
    if (release_range_has(p->release, BEHAVIOUR_ANY_ZONE) == RELEASE_ANSWER_DIFFERS)
        resolve_groups(p, resolved, p->release.oldest, &resolved->older_groups,
                       &resolved->older_overflows);
    fill_allowed_clusters(p, resolved);
    resolved->members_hash = hash_members(resolved->groups, resolved->group_count, p->seed);
    resolved->members_hash =
        hash_members(resolved->older_groups, resolved->group_count, resolved->members_hash);
    resolved->open_groups = count_open_groups(p, resolved);
}

const struct resolved_placement *placements_ref(struct placements *p, const char *text)
{
    uint64_t hash = hash_text_address(p, text);
    struct resolved_placement *resolved = map_get(&p->placements, hash, text);

    if (!resolved) {
        resolved = xcalloc(1, sizeof(*resolved));
        resolved->text = text ? intern_ref(text) : NULL;
        resolved->placement = placement_parse(store_string_pool(p->store), text);
        map_add(&p->placements, hash, resolved);
    }
    resolved->references++;
    if (resolved->version != p->version)
        resolve_placement(p, resolved);
    return resolved;
}

/* Frees the placement that was kept without a reference, unless it has one again. */
static void forget_last(struct placements *p)
{
    struct resolved_placement *last = p->last;

    p->last = NULL;
    if (!last || last->references > 0)
        return;
    map_take(&p->placements, hash_text_address(p, last->text), last->text);
    clear_resolution(p, last);
    placement_free(store_string_pool(p->store), last->placement);
    intern_drop(store_string_pool(p->store), last->text);
    free(last);
}

void placements_drop(struct placements *p, const struct resolved_placement *resolved)
{
    struct resolved_placement *own;

    if (!resolved)
        return;
    own = map_get(&p->placements, hash_text_address(p, resolved->text), resolved->text);
    assert(own == resolved && own->references > 0);
    if (--own->references > 0 || p->last == own)
        return;
    forget_last(p);
    p->last = own;
}

void placements_free(struct placements *p)
{
    if (!p)
        return;
    forget_last(p);
    assert(p->placements.count == 0);
    map_release(&p->placements);
    listing_release(&p->clusters);
    free(p);
}

static int compare_cluster_name(const void *key, const void *item)
{
    const struct entry *const *cluster = item;

    return strcmp(key, (*cluster)->name);
}

const struct listing *placements_clusters(struct placements *p)
{
    update_cluster_list(p);
    return &p->clusters;
}

const struct entry *placements_find_cluster(struct placements *p, const char *name)
{
    struct entry *const *found;

    update_cluster_list(p);
    found = p->clusters.count > 0 ? bsearch(name, p->clusters.entries, p->clusters.count,
                                            sizeof(struct entry *), compare_cluster_name)
                                  : NULL;
    return found ? *found : NULL;
}

bool placements_has_cluster(struct placements *p, const char *name)
{
    return placements_find_cluster(p, name) != NULL;
}

bool placements_keep_targets(const struct placements *p, const struct resolved_placement *resolved)
{
    if (resolved->open_groups == 0 || resolved->open_groups == UINT32_MAX ||
        resolved->placement->spread_count > 0 ||
        release_range_has(p->release, BEHAVIOUR_KEEPS_LOST_API) != RELEASE_ANSWER_YES)
        return false;
    for (uint32_t i = 0; i < resolved->group_count; i++) {
        for (uint32_t k = 0; k < resolved->groups[i].count; k++) {
            if (entry_cluster(resolved->groups[i].members[k].cluster)->deleting)
                return false;
        }
    }
    return true;
}

/* Returns true if the release matches zones like the newest release of the range. */
static bool matches_like_newest(const struct resolved_placement *resolved, enum release release)
{
    return !resolved->older_groups || release_has(release, BEHAVIOUR_ANY_ZONE);
}

const struct cluster_set *resolved_group(const struct resolved_placement *resolved, uint32_t group,
                                         enum release release)
{
    return matches_like_newest(resolved, release) ? &resolved->groups[group]
                                                  : &resolved->older_groups[group];
}

const struct cluster_set *resolved_overflow(const struct resolved_placement *resolved,
                                            uint32_t group, enum release release)
{
    return matches_like_newest(resolved, release) ? &resolved->overflows[group]
                                                  : &resolved->older_overflows[group];
}

static int compare_text(const void *key, const void *item)
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

bool placements_allow_cluster(struct placements *p, const struct resolved_placement *resolved,
                              const char *name)
{
    const struct placement *placement = resolved->placement;

    if (placement->unreadable)
        return true;
    if (placements_has_cluster(p, name))
        return resolved->cluster_count > 0 &&
               bsearch(name, resolved->clusters, resolved->cluster_count,
                       sizeof(*resolved->clusters), compare_text);
    for (uint32_t i = 0; i < placement->group_count; i++) {
        if (group_allows_name(&placement->groups[i], name))
            return true;
    }
    return placement->group_count == 0;
}
