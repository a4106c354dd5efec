/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/selector_index.h"

#include "metrics/model/store.h"
#include "metrics/model/template.h"

/* ---- references to kinds ---- */

struct type_count {
    const char *names[2]; /* apiVersion and kind. */
    size_t references;
};

static bool has_type_names(const void *item, const void *key)
{
    const struct type_count *type = item;

    return memcmp(type->names, key, sizeof(type->names)) == 0;
}

void type_counts_init(struct type_counts *c, uint64_t seed)
{
    *c = (struct type_counts){.types = MAP_INIT(has_type_names), .seed = seed};
}

void type_counts_release(struct type_counts *c)
{
    for (size_t i = 0; i < c->count; i++)
        free(c->order[i]);
    free(c->order);
    map_release(&c->types);
}

void type_counts_add(struct type_counts *c, const char *api_version, const char *kind)
{
    const char *names[] = {api_version, kind};
    uint64_t hash = map_hash(names, sizeof(names), c->seed);
    struct type_count *type = map_get(&c->types, hash, names);

    if (!type) {
        type = xcalloc(1, sizeof(*type));
        memcpy(type->names, names, sizeof(names));
        map_add(&c->types, hash, type);
        c->order = xreallocarray(c->order, c->count + 1, sizeof(struct type_count *));
        c->order[c->count++] = type;
        c->version++;
    }
    type->references++;
}

void type_counts_remove(struct type_counts *c, const char *api_version, const char *kind)
{
    const char *names[] = {api_version, kind};
    uint64_t hash = map_hash(names, sizeof(names), c->seed);
    struct type_count *type = map_get(&c->types, hash, names);
    size_t at = 0;

    assert(type && type->references > 0);
    if (--type->references > 0)
        return;
    map_take(&c->types, hash, names);
    while (c->order[at] != type)
        at++;
    memmove(&c->order[at], &c->order[at + 1], (--c->count - at) * sizeof(struct type_count *));
    free(type);
    c->version++;
}

size_t type_counts_get(const struct type_counts *c, const char *api_version, const char *kind)
{
    const char *names[] = {api_version, kind};
    const struct type_count *type =
        map_get(&c->types, map_hash(names, sizeof(names), c->seed), names);

    return type ? type->references : 0;
}

bool type_counts_next(const struct type_counts *c, size_t *at, const char **api_version,
                      const char **kind)
{
    if (*at == c->count)
        return false;
    *api_version = c->order[*at]->names[0];
    *kind = c->order[(*at)++]->names[1];
    return true;
}

/* ---- selectors of policies ---- */

/*
 * Properties of the templates that the selectors of a bucket select. Interned texts; NULL for a
 * property that the selectors do not restrict.
 */
struct bucket_key {
    const char *policy_ns; /* NULL for cluster-wide policies. */
    const char *api_version;
    const char *kind;
    const char *ns;
    const char *name;
    const char *label_key;
    const char *label_value;
};

struct indexed_selector {
    struct entry *policy;
    const struct resource_selector *selector;
};

struct bucket {
    struct bucket_key key;
    struct indexed_selector *items;
    size_t count;
    size_t capacity;
};

/* Selectors without a name, in policies that are not in deletion, of one kind and namespace. */
struct broad_scope {
    /* apiVersion, kind and namespace; NULL: templates of all namespaces, or without one. */
    const char *key[3];
    size_t selectors;
    int64_t since_ms; /* Time since which such selectors exist; 0 if unknown. */
};

struct selector_index {
    const struct store *store;
    uint64_t seed;
    struct map buckets;
    struct map broad_scopes;
    struct type_counts types;
    struct selection *found; /* Result of the last search. */
    size_t found_count;
    size_t found_capacity;
};

static bool has_bucket_key(const void *item, const void *key)
{
    const struct bucket *bucket = item;

    return memcmp(&bucket->key, key, sizeof(bucket->key)) == 0;
}

static bool has_scope_key(const void *item, const void *key)
{
    const struct broad_scope *scope = item;

    return memcmp(scope->key, key, sizeof(scope->key)) == 0;
}

struct selector_index *selector_index_new(const struct store *store, uint64_t seed)
{
    struct selector_index *index = xcalloc(1, sizeof(*index));

    index->store = store;
    index->seed = seed;
    index->buckets = MAP_INIT(has_bucket_key);
    index->broad_scopes = MAP_INIT(has_scope_key);
    type_counts_init(&index->types, seed);
    return index;
}

static void free_bucket(struct bucket *bucket)
{
    free(bucket->items);
    free(bucket);
}

void selector_index_free(struct selector_index *index)
{
    void *item;

    if (!index)
        return;
    for (size_t at = 0; (item = map_next(&index->buckets, &at));)
        free_bucket(item);
    map_release(&index->buckets);
    for (size_t at = 0; (item = map_next(&index->broad_scopes, &at));)
        free(item);
    map_release(&index->broad_scopes);
    type_counts_release(&index->types);
    free(index->found);
    free(index);
}

/* Returns the first requirement In with one value; NULL if there is no such requirement. */
static const struct label_requirement *required_label(const struct label_selector *selector)
{
    for (size_t i = 0; selector && i < selector->count; i++) {
        const struct label_requirement *r = &selector->items[i];

        if (r->op == LABEL_IN && r->value_count == 1)
            return r;
    }
    return NULL;
}

/* Position of a selector's bucket in the index. */
struct slot {
    struct bucket_key key;
    uint64_t hash;
    struct bucket *bucket; /* NULL if the bucket does not exist yet. */
};

/*
 * Sets `out` to the position of the selector's bucket, which need not exist yet. Returns false if
 * the selector never matches, because it names a foreign namespace.
 */
static bool slot_of_selector(const struct selector_index *index, const struct entry *policy,
                             const struct resource_selector *selector, struct slot *out)
{
    bool cluster_wide = entry_is_cluster_scoped(policy);
    const struct label_requirement *label =
        selector->name ? NULL : required_label(selector->labels);

    if (!cluster_wide && selector->ns && selector->ns != entry_ns(policy))
        return false;
    out->key = (struct bucket_key){
        .policy_ns = cluster_wide ? NULL : entry_ns(policy),
        .api_version = selector->api_version,
        .kind = selector->kind,
        /* A PropagationPolicy selects templates of its own namespace only. */
        .ns = cluster_wide ? selector->ns : entry_ns(policy),
        .name = selector->name,
        .label_key = label ? label->key : NULL,
        .label_value = label ? label->values[0] : NULL,
    };
    out->hash = map_hash(&out->key, sizeof(out->key), index->seed);
    out->bucket = map_get(&index->buckets, out->hash, &out->key);
    return true;
}

void selector_index_add_kind(struct selector_index *index, const char *api_version,
                             const char *kind)
{
    type_counts_add(&index->types, api_version, kind);
}

void selector_index_remove_kind(struct selector_index *index, const char *api_version,
                                const char *kind)
{
    type_counts_remove(&index->types, api_version, kind);
}

bool selector_index_next_type(const struct selector_index *index, size_t *at,
                              const char **api_version, const char **kind)
{
    return type_counts_next(&index->types, at, api_version, kind);
}

uint64_t selector_index_types_version(const struct selector_index *index)
{
    return index->types.version;
}

size_t selector_index_count_selectors(const struct selector_index *index, const char *api_version,
                                      const char *kind)
{
    return type_counts_get(&index->types, api_version, kind);
}

/* ---- broad selectors ---- */

static bool is_broad(const struct policy *policy, const struct resource_selector *selector)
{
    return !policy->deleting && !selector->name && !(selector->labels && selector->labels->invalid);
}

/* `ns` is an interned namespace, or NULL. */
static struct broad_scope *find_broad_scope(const struct selector_index *index,
                                            const char *api_version, const char *kind,
                                            const char *ns)
{
    const char *key[] = {api_version, kind, ns};

    return map_get(&index->broad_scopes, map_hash(key, sizeof(key), index->seed), key);
}

static void add_broad_selector(struct selector_index *index, const struct bucket_key *key,
                               const struct policy *policy)
{
    struct broad_scope *scope = find_broad_scope(index, key->api_version, key->kind, key->ns);
    int64_t since_ms = policy->undated ? 0 : policy->changed_ms;

    if (!scope) {
        scope = xmalloc(sizeof(*scope));
        *scope = (struct broad_scope){.key = {key->api_version, key->kind, key->ns},
                                      .since_ms = since_ms};
        map_add(&index->broad_scopes, map_hash(scope->key, sizeof(scope->key), index->seed), scope);
    }
    scope->selectors++;
    if (since_ms < scope->since_ms)
        scope->since_ms = since_ms;
}

static void remove_broad_selector(struct selector_index *index, const struct bucket_key *key)
{
    struct broad_scope *scope = find_broad_scope(index, key->api_version, key->kind, key->ns);

    assert(scope);
    if (--scope->selectors > 0)
        return;
    map_take(&index->broad_scopes, map_hash(scope->key, sizeof(scope->key), index->seed),
             scope->key);
    free(scope);
}

bool selector_index_has_broad(const struct selector_index *index, const struct entry *policy,
                              const struct resource_selector *selector)
{
    struct slot slot;

    return slot_of_selector(index, policy, selector, &slot) &&
           find_broad_scope(index, slot.key.api_version, slot.key.kind, slot.key.ns);
}

bool selector_index_find_broad(const struct selector_index *index, const struct entry *template,
                               int64_t *since_ms)
{
    const struct type *type = entry_type(template);
    const struct broad_scope *all = find_broad_scope(index, type->api_version, type->kind, NULL);
    const struct broad_scope *own =
        *entry_ns(template)
            ? find_broad_scope(index, type->api_version, type->kind, entry_ns(template))
            : NULL;

    *since_ms = 0;
    if (all && own)
        *since_ms = all->since_ms < own->since_ms ? all->since_ms : own->since_ms;
    else if (all || own)
        *since_ms = all ? all->since_ms : own->since_ms;
    return all || own;
}

static void add_selector(struct selector_index *index, struct entry *policy,
                         const struct policy *object, const struct resource_selector *selector)
{
    struct slot slot;

    type_counts_add(&index->types, selector->api_version, selector->kind);
    if (!slot_of_selector(index, policy, selector, &slot))
        return;
    if (is_broad(object, selector))
        add_broad_selector(index, &slot.key, object);

    struct bucket *bucket = slot.bucket;
    if (!bucket) {
        bucket = xcalloc(1, sizeof(*bucket));
        bucket->key = slot.key;
        map_add(&index->buckets, slot.hash, bucket);
    }
    if (bucket->count == bucket->capacity) {
        bucket->capacity = bucket->capacity ? 2 * bucket->capacity : 1;
        bucket->items = xreallocarray(bucket->items, bucket->capacity, sizeof(*bucket->items));
    }
    bucket->items[bucket->count++] = (struct indexed_selector){policy, selector};
}

static void remove_selector(struct selector_index *index, struct entry *policy,
                            const struct policy *object, const struct resource_selector *selector)
{
    struct slot slot;

    type_counts_remove(&index->types, selector->api_version, selector->kind);
    if (!slot_of_selector(index, policy, selector, &slot))
        return;
    if (is_broad(object, selector))
        remove_broad_selector(index, &slot.key);

    struct bucket *bucket = slot.bucket;
    for (size_t i = 0; i < bucket->count; i++) {
        if (bucket->items[i].selector != selector)
            continue;
        bucket->items[i] = bucket->items[--bucket->count];
        break;
    }
    if (bucket->count == 0)
        free_bucket(map_take(&index->buckets, slot.hash, &slot.key));
}

void selector_index_add(struct selector_index *index, struct entry *entry,
                        const struct policy *policy)
{
    for (size_t i = 0; i < policy->selector_count; i++)
        add_selector(index, entry, policy, &policy->selectors[i]);
}

void selector_index_remove(struct selector_index *index, struct entry *entry,
                           const struct policy *policy)
{
    for (size_t i = 0; i < policy->selector_count; i++)
        remove_selector(index, entry, policy, &policy->selectors[i]);
}

static void search_bucket(struct selector_index *index, const struct bucket_key *key,
                          const struct entry *template)
{
    const struct bucket *bucket =
        map_get(&index->buckets, map_hash(key, sizeof(*key), index->seed), key);

    for (size_t i = 0; bucket && i < bucket->count; i++) {
        enum selector_score score =
            selector_score_in_version(bucket->items[i].selector, key->api_version, template);

        if (score == SCORE_NONE)
            continue;
        if (index->found_count == index->found_capacity) {
            index->found_capacity = index->found_capacity ? 2 * index->found_capacity : 16;
            index->found =
                xreallocarray(index->found, index->found_capacity, sizeof(*index->found));
        }
        index->found[index->found_count++] = (struct selection){bucket->items[i].policy, score};
    }
}

/*
 * Searches the buckets of the PropagationPolicies in the template's namespace, then those of
 * cluster-wide policies with this namespace, then those without a namespace.
 */
static void search_scopes(struct selector_index *index, struct bucket_key key,
                          const struct entry *template)
{
    const char *ns = entry_ns(template);

    key.ns = ns;
    if (*ns) {
        key.policy_ns = ns;
        search_bucket(index, &key, template);
    }
    key.policy_ns = NULL;
    if (*ns)
        search_bucket(index, &key, template);
    key.ns = NULL;
    search_bucket(index, &key, template);
}

static int compare_policies_found(const void *a, const void *b)
{
    const struct selection *left = a, *right = b;

    if (left->policy != right->policy)
        return (uintptr_t)left->policy < (uintptr_t)right->policy ? -1 : 1;
    return (int)right->score - (int)left->score;
}

/* Merges the search results: keeps each policy once, with its best score. */
static void merge_policies_found(struct selector_index *index)
{
    size_t kept = 0;

    if (index->found_count > 1)
        qsort(index->found, index->found_count, sizeof(*index->found), compare_policies_found);
    for (size_t i = 0; i < index->found_count; i++) {
        if (kept == 0 || index->found[kept - 1].policy != index->found[i].policy)
            index->found[kept++] = index->found[i];
    }
    index->found_count = kept;
}

/*
 * Collects the selectors of the buckets of one apiVersion that fit the template. Each selector is
 * in one bucket: without label and name, with one label, or with a name.
 */
static void search_api_version(struct selector_index *index, const char *api_version,
                               const struct entry *template)
{
    const struct template *t = entry_template(template);
    const struct labels labels = template_labels(t);
    struct bucket_key key = {.api_version = api_version, .kind = entry_kind(template)};

    index->found_count = 0;
    search_scopes(index, key, template);
    for (size_t i = 0; i < labels.count; i++) {
        const struct label label = labels_at(&labels, i);

        key.label_key = label.key;
        key.label_value = label.value;
        search_scopes(index, key, template);
    }
    key.label_key = key.label_value = NULL;
    key.name = intern_find(store_string_pool(index->store), template->name);
    if (key.name)
        search_scopes(index, key, template);
    merge_policies_found(index);
}

const struct selection *selector_index_find_policies(struct selector_index *index,
                                                     const struct entry *template,
                                                     size_t *out_count)
{
    const struct type *type = entry_type(template);

    index->found_count = 0;
    if (selector_index_count_selectors(index, type->api_version, type->kind) > 0)
        search_api_version(index, type->api_version, template);
    *out_count = index->found_count;
    return index->found;
}

struct entry *selector_index_find_other_version(struct selector_index *index,
                                                const struct entry *template,
                                                struct release_range release)
{
    const struct type *type = entry_type(template);
    const char *api_version, *kind;

    for (size_t at = 0; selector_index_next_type(index, &at, &api_version, &kind);) {
        if (kind != type->kind || !api_version || api_version == type->api_version ||
            !api_group_equals(api_version, type->api_version))
            continue;
        search_api_version(index, api_version, template);
        for (size_t i = 0; i < index->found_count; i++) {
            const struct policy *policy = entry_policy(index->found[i].policy);

            if (!policy->deleting && !policy_excludes_template(policy, template, release))
                return index->found[i].policy;
        }
    }
    return NULL;
}
