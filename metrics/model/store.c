/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/store.h"

#include "metrics/base/handle_map.h"

enum { EMPTY_PARTITIONS_MIN = 64, PARTITION_ENTRIES_MAX = 1 << 30 };

struct store {
    struct intern *strings;
    const char *owner_key;
    struct admission *(*review)(const cJSON *object);
    uint64_t seed;
    struct handle_map entries;
    struct map partitions;
    struct map types;
    struct type *first_type;
    size_t empty_partitions;
    struct store_listener listener;
    size_t counts[CLASS_COUNT];
    enum kept_documents documents;
};

struct partition_key {
    const struct type *type;
    const char *ns;
};

struct entry_key {
    const struct partition *partition;
    const char *name;
};

static bool type_equals(const void *item, const void *key)
{
    const struct type *type = item;
    const char *const *names = key;

    return type->api_version == names[0] && type->kind == names[1];
}

static bool partition_equals(const void *item, const void *key)
{
    const struct partition *partition = item;
    const struct partition_key *k = key;

    return partition->type == k->type && partition->scope.ns == k->ns;
}

static bool entry_equals(const void *item, const void *key)
{
    const struct entry *entry = item;
    const struct entry_key *k = key;

    return entry_partition(entry) == k->partition && strcmp(entry->name, k->name) == 0;
}

static uint64_t hash_entry(const struct store *s, const struct partition *partition,
                           const char *name)
{
    return map_hash(name, strlen(name), s->seed ^ (uint64_t)(uintptr_t)partition);
}

struct store *store_new(uint64_t seed)
{
    struct store *s = xcalloc(1, sizeof(*s));

    s->seed = seed;
    s->strings = intern_new(seed);
    s->entries = HANDLE_MAP_INIT(intern_memory(s->strings), entry_equals);
    s->partitions = MAP_INIT(partition_equals);
    s->types = MAP_INIT(type_equals);
    return s;
}

static void free_entry(struct entry *entry)
{
    pool_free(pool_beside(entry, entry->reads));
    if (!entry->read_once)
        pool_free(pool_beside(entry, entry->readers));
    pool_free(entry);
}

static void free_partition(struct partition *partition)
{
    pool_free(pool_beside(partition, partition->entries));
    pool_free(partition);
}

void store_free(struct store *s)
{
    void *item;

    if (!s)
        return;
    for (uint64_t at = 0; (item = handle_map_next(&s->entries, &at));) {
        struct entry *entry = item;

        entry_type(entry)->def->release(s->strings, entry_object(entry));
        free_entry(entry);
    }
    for (size_t at = 0; (item = map_next(&s->partitions, &at));) {
        free_partition(item);
    }
    for (size_t at = 0; (item = map_next(&s->types, &at));)
        free(item);
    handle_map_release(&s->entries);
    map_release(&s->partitions);
    map_release(&s->types);
    intern_drop(s->strings, s->owner_key);
    intern_free(s->strings);
    free(s);
}

void store_set_listener(struct store *s, struct store_listener listener)
{
    s->listener = listener;
}

struct intern *store_string_pool(const struct store *s)
{
    return s->strings;
}

void store_set_owner_key(struct store *s, const char *owner_key)
{
    intern_drop(s->strings, s->owner_key);
    s->owner_key = owner_key ? intern_add(s->strings, owner_key) : NULL;
}

void store_set_review(struct store *s, struct admission *(*review)(const cJSON *object))
{
    s->review = review;
}

void store_keep_documents(struct store *s, enum kept_documents documents)
{
    s->documents = documents;
}

enum kept_documents store_kept_documents(const struct store *s)
{
    return s->documents;
}

struct decode store_make_decoder(const struct store *s, struct error *err)
{
    return (struct decode){.strings = s->strings,
                           .review = s->review,
                           .err = err,
                           .owner_key = s->owner_key,
                           .documents = s->documents};
}

size_t store_object_count(const struct store *s, enum object_class class)
{
    return s->counts[class];
}

struct type *store_find_interned_type(const struct store *s, const char *api_version,
                                      const char *kind)
{
    const char *names[] = {api_version, kind};

    return map_get(&s->types, map_hash(names, sizeof(names), s->seed), names);
}

struct type *store_first_type(const struct store *s)
{
    return s->first_type;
}

struct partition *type_find_partition(const struct store *s, const struct type *type,
                                      const char *ns)
{
    struct partition_key key = {type, ns};

    return map_get(&s->partitions, map_hash(&key, sizeof(key), s->seed), &key);
}

/* Adds a type. Only store_free() frees it, because partitions and metric series point to it. */
static struct type *add_type(struct store *s, const struct kind_def *def, const char *names[2])
{
    struct type *type = xcalloc(1, sizeof(*type));

    type->api_version = intern_ref(names[0]);
    type->kind = intern_ref(names[1]);
    type->group = intern_add_len(s->strings, names[0], api_group_len(names[0]));
    type->def = def;
    type->same_kind = type;
    for (struct type *other = s->first_type; other; other = other->next) {
        if (other->kind != type->kind)
            continue;
        type->same_kind = other->same_kind;
        other->same_kind = type;
        break;
    }
    type->next = s->first_type;
    s->first_type = type;
    map_add(&s->types, map_hash(names, 2 * sizeof(*names), s->seed), type);
    return type;
}

const char *entry_distinct_version(const struct entry *e)
{
    const struct type *type = entry_type(e);

    if (type->def->class != CLASS_TEMPLATE)
        return NULL;
    for (const struct type *other = type->same_kind; other != type; other = other->same_kind) {
        if (other->def->class == CLASS_TEMPLATE && other->objects > 0 &&
            other->group != type->group)
            return type->api_version;
    }
    return NULL;
}

void entry_add_name(struct strbuf *out, const struct entry *e)
{
    const char *ns = entry_ns(e);
    const char *version = entry_distinct_version(e);

    strbuf_addf(out, "%s %s%s%s", entry_kind(e), ns, *ns ? "/" : "", e->name);
    if (version)
        strbuf_addf(out, " (%s)", version);
}

static struct partition *add_partition(struct store *s, struct type *type, const char *ns)
{
    struct partition_key key = {type, ns};
    struct partition *partition = pool_alloc_zeroed(intern_memory(s->strings), sizeof(*partition));

    partition->type = type;
    partition->scope = (struct object_scope){type->api_version, type->kind, intern_ref(ns)};
    partition->next_of_type = type->partitions;
    type->partitions = partition;
    map_add(&s->partitions, map_hash(&key, sizeof(key), s->seed), partition);
    s->empty_partitions++;
    return partition;
}

static struct entry *find_in_partition(const struct store *s, const struct partition *partition,
                                       const char *name)
{
    struct entry_key key = {partition, name};

    return handle_map_get(&s->entries, hash_entry(s, partition, name), &key);
}

struct entry *store_find(const struct store *s, const struct identity *id)
{
    const struct kind_def *def = kind_of(id->api_version, id->kind);
    const char *names[] = {
        intern_find(s->strings, def->api_version ? def->api_version : id->api_version),
        intern_find(s->strings, id->kind),
    };
    const char *ns = intern_find(s->strings, def->cluster_scoped ? "" : id->ns);
    struct type *type =
        names[0] && names[1] && ns ? store_find_interned_type(s, names[0], names[1]) : NULL;
    struct partition *partition = type ? type_find_partition(s, type, ns) : NULL;

    return partition ? find_in_partition(s, partition, id->name) : NULL;
}

/* Makes room for one more entry in the array of a partition, which grows by an eighth. */
static pool_handle *reserve_entry(struct store *s, struct partition *partition)
{
    pool_handle *entries = pool_beside(partition, partition->entries);

    if (partition->count < partition->capacity)
        return entries;
    if (partition->count >= PARTITION_ENTRIES_MAX)
        memory_exhausted(PARTITION_ENTRIES_MAX * sizeof(*entries));
    partition->capacity += partition->capacity / 8 / 2 * 2 + 2;
    entries =
        pool_resize(intern_memory(s->strings), entries, partition->capacity * sizeof(*entries));
    partition->entries = pool_handle_of(entries);
    return entries;
}

static struct entry *add_entry(struct store *s, struct partition *partition, const char *name)
{
    size_t len = strlen(name) + 1;
    struct entry *entry =
        pool_alloc_zeroed(intern_memory(s->strings), offsetof(struct entry, name) + len);

    entry->partition = pool_handle_of(partition);
    entry->class = (uint8_t)partition->type->def->class;
    memcpy(entry->name, name, len);
    s->empty_partitions -= partition->count == 0;
    entry->position = partition->count;
    reserve_entry(s, partition)[partition->count++] = pool_handle_of(entry);
    handle_map_add(&s->entries, hash_entry(s, partition, name), entry);
    return entry;
}

struct entry *store_find_or_add(struct store *s, const struct identity *id)
{
    const struct kind_def *def = kind_of(id->api_version, id->kind);
    const char *names[] = {
        intern_add(s->strings, def->api_version ? def->api_version : id->api_version),
        intern_add(s->strings, id->kind),
    };
    const char *ns = intern_add(s->strings, def->cluster_scoped ? "" : id->ns);
    struct type *type = store_find_interned_type(s, names[0], names[1]);
    struct partition *partition = type ? type_find_partition(s, type, ns) : NULL;
    struct entry *entry = partition ? find_in_partition(s, partition, id->name) : NULL;

    if (!type)
        type = add_type(s, def, names);
    if (!partition)
        partition = add_partition(s, type, ns);
    intern_drop(s->strings, names[0]);
    intern_drop(s->strings, names[1]);
    intern_drop(s->strings, ns);
    return entry ? entry : add_entry(s, partition, id->name);
}

void store_free_if_unused(struct store *s, struct entry *entry)
{
    struct partition *partition = entry_partition(entry);
    pool_handle *entries = pool_beside(partition, partition->entries);
    struct entry_key key = {partition, entry->name};

    if (entry_exists(entry) || entry->pins > 0 || entry->readers || entry->reads || entry->dirty ||
        entry_decision(entry) || entry_contribution(entry))
        return;
    handle_map_take(&s->entries, hash_entry(s, partition, entry->name), &key);

    struct entry *last = partition_entry(partition, --partition->count);
    entries[entry->position] = pool_handle_of(last);
    last->position = entry->position;
    s->empty_partitions += partition->count == 0;
    free_entry(entry);
}

void *store_swap_object(struct store *s, struct entry *entry, void *fresh)
{
    const struct kind_def *def = entry_type(entry)->def;
    void *old = entry_object(entry);

    entry_set_object(entry, fresh);
    if (!old && fresh) {
        s->counts[def->class]++;
        entry_type(entry)->objects++;
    } else if (old && !fresh) {
        s->counts[def->class]--;
        entry_type(entry)->objects--;
    }
    if (s->listener.changed)
        s->listener.changed(s->listener.context, entry, old);
    return old;
}

/* Replaces the entry's object (removes it if `fresh` is NULL) and frees the previous one. */
static void replace_object(struct store *s, struct entry *entry, void *fresh)
{
    entry_type(entry)->def->release(s->strings, store_swap_object(s, entry, fresh));
}

/*
 * Marks the entry as seen, sets its version to that of `json`, and puts `object`, which was decoded
 * from `json`. If `object` is NULL because `json` is invalid, the entry keeps its object.
 */
static enum store_outcome put_decoded_object(struct store *s, struct entry *entry,
                                             const cJSON *json, void *object, struct origin origin)
{
    bool added = !entry_exists(entry);
    const struct kind_def *def = entry_type(entry)->def;
    bool inherits = !added && entry->sweep != short_sweep(STORE_HISTORY_INVALID) && def->inherit;
    /* If pass or source differ, versions between the two objects may have been missed. */
    bool relisted = entry->source != origin.source || entry->sweep != short_sweep(origin.sweep);

    entry_mark_seen(entry, origin);
    entry->version = short_version_of_object(json);
    if (!object)
        return STORE_REJECTED;
    if (inherits)
        def->inherit(object, entry_object(entry), relisted);
    replace_object(s, entry, object);
    return added ? STORE_ADDED : STORE_CHANGED;
}

static void *decode_as_kind(struct store *s, const struct kind_def *def, const struct identity *id,
                            const cJSON *json, struct error *err)
{
    struct decode d = store_make_decoder(s, err);
    void *object = def->decode(&d, json);

    if (!object)
        fail_in(err, "%s '%s%s%s'", id->kind, id->ns, *id->ns ? "/" : "", id->name);
    return object;
}

enum store_outcome store_put_at(struct store *s, struct entry *entry, const cJSON *json,
                                struct origin origin, struct error *err)
{
    const struct type *type = entry_type(entry);
    struct identity id = {type->api_version, type->kind, entry_ns(entry), entry->name};

    return put_decoded_object(s, entry, json, decode_as_kind(s, type->def, &id, json, err), origin);
}

enum store_outcome store_put(struct store *s, const cJSON *json, struct origin origin,
                             struct error *err)
{
    struct identity id;

    if (!identity_read(json, &id, err))
        return STORE_REJECTED;

    void *object = decode_as_kind(s, kind_of(id.api_version, id.kind), &id, json, err);
    struct entry *entry = object ? store_find_or_add(s, &id) : store_find(s, &id);
    return entry ? put_decoded_object(s, entry, json, object, origin) : STORE_REJECTED;
}

static void remove_object(struct store *s, struct entry *entry)
{
    if (entry_exists(entry))
        replace_object(s, entry, NULL);
    store_free_if_unused(s, entry);
}

/*
 * Frees the empty partitions if they are at least EMPTY_PARTITIONS_MIN and more than half of all.
 * Without this, memory would grow in a control plane with a new namespace for every test run.
 */
static void free_empty_partitions_if_many(struct store *s)
{
    if (s->empty_partitions < EMPTY_PARTITIONS_MIN ||
        s->empty_partitions <= s->partitions.count / 2)
        return;
    for (struct type *type = s->first_type; type; type = type->next) {
        struct partition **at = &type->partitions;

        while (*at) {
            struct partition *partition = *at;

            if (partition->count > 0) {
                at = &partition->next_of_type;
                continue;
            }
            struct partition_key key = {type, partition->scope.ns};

            *at = partition->next_of_type;
            map_take(&s->partitions, map_hash(&key, sizeof(key), s->seed), &key);
            intern_drop(s->strings, partition->scope.ns);
            free_partition(partition);
        }
    }
    s->empty_partitions = 0;
}

void store_remove(struct store *s, struct entry *entry)
{
    remove_object(s, entry);
    free_empty_partitions_if_many(s);
}

size_t store_sweep(struct store *s, struct origin origin)
{
    size_t swept = 0;

    for (struct type *type = s->first_type; type; type = type->next) {
        for (struct partition *p = type->partitions; p; p = p->next_of_type) {
            /*
             * Iterates backwards, because a removal moves the last entry to the free index. The
             * listener may free other entries too, so the index must not exceed the count.
             */
            for (size_t i = p->count; (i = i < p->count ? i : p->count) > 0;) {
                struct entry *entry = partition_entry(p, --i);

                if (!entry_is_from_source(entry, origin.source) ||
                    entry->sweep == short_sweep(origin.sweep))
                    continue;
                remove_object(s, entry);
                swept++;
            }
        }
    }
    free_empty_partitions_if_many(s);
    return swept;
}

void entry_list_add(struct entry_list *list, struct entry *entry)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 16;
        list->items = xreallocarray(list->items, list->capacity, sizeof(struct entry *));
    }
    list->items[list->count++] = entry;
}

bool entry_list_has(const struct entry_list *list, const struct entry *entry)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i] == entry)
            return true;
    }
    return false;
}

size_t entry_sort_index(struct entry *const *entries, size_t count, const struct entry *entry)
{
    size_t first = 0, end = count;

    while (first < end) {
        size_t middle = first + (end - first) / 2;

        if (entry_compare(entries[middle], entry) < 0)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

void entry_list_release(struct entry_list *list)
{
    free(list->items);
    *list = (struct entry_list){0};
}

static int compare_by_identity(const void *a, const void *b)
{
    return entry_compare(*(const struct entry *const *)a, *(const struct entry *const *)b);
}

/* Appends the entries of a partition that have an object. The array must have room. */
static void add_objects(struct listing *listing, const struct partition *p)
{
    for (size_t i = 0; i < p->count; i++) {
        if (entry_exists(partition_entry(p, i)))
            listing->entries[listing->count++] = partition_entry(p, i);
    }
}

struct listing listing_make_unordered(const struct store *store, enum object_class class)
{
    struct listing listing = {0};
    size_t count = store_object_count(store, class);

    if (count == 0)
        return listing;
    listing.entries = xreallocarray(NULL, count, sizeof(const struct entry *));
    for (const struct type *type = store_first_type(store); type; type = type->next) {
        if (type->def->class != class)
            continue;
        for (const struct partition *p = type->partitions; p; p = p->next_of_type)
            add_objects(&listing, p);
    }
    assert(listing.count == count);
    return listing;
}

static int compare_partitions(const void *left, const void *right)
{
    const struct partition *a = *(const struct partition *const *)left;
    const struct partition *b = *(const struct partition *const *)right;
    int order = strcmp(a->type->kind, b->type->kind);

    return order ? order : strcmp(a->scope.ns, b->scope.ns);
}

/* Returns the partitions of a class that have entries, by kind and namespace. */
static const struct partition **sorted_partitions(const struct store *store,
                                                  enum object_class class, size_t *count)
{
    const struct partition **sorted = NULL;
    size_t capacity = 0;

    *count = 0;
    for (const struct type *type = store_first_type(store); type; type = type->next) {
        for (const struct partition *p = type->partitions; p; p = p->next_of_type) {
            if (type->def->class != class || p->count == 0)
                continue;
            if (*count == capacity) {
                capacity = capacity ? 2 * capacity : 64;
                sorted = xreallocarray(sorted, capacity, sizeof(const struct partition *));
            }
            sorted[(*count)++] = p;
        }
    }
    if (*count > 1)
        qsort(sorted, *count, sizeof(const struct partition *), compare_partitions);
    return sorted;
}

/* Sorts each group of partitions of one kind and namespace: faster than one sort of all entries. */
struct listing listing_make(const struct store *store, enum object_class class)
{
    struct listing listing = {0};
    size_t objects = store_object_count(store, class), count, group = 0;

    if (objects == 0)
        return listing;

    CLEANUP(free_cleanup)
    const struct partition **partitions = sorted_partitions(store, class, &count);

    listing.entries = xreallocarray(NULL, objects, sizeof(const struct entry *));
    for (size_t i = 0; i < count; i++) {
        add_objects(&listing, partitions[i]);
        if (i + 1 < count && compare_partitions(&partitions[i], &partitions[i + 1]) == 0)
            continue;
        if (listing.count - group > 1)
            qsort(&listing.entries[group], listing.count - group, sizeof(const struct entry *),
                  compare_by_identity);
        group = listing.count;
    }
    assert(listing.count == objects);
    return listing;
}

void listing_release(struct listing *listing)
{
    free(listing->entries);
    *listing = (struct listing){0};
}

void store_walk_stop(struct store_walk *w)
{
    struct entry *anchor = w->anchor;

    w->anchor = NULL;
    w->position = 0;
    if (anchor)
        store_unpin(w->store, anchor);
}

/*
 * Returns the first non-empty partition from `p` on. Without one, searches the types of w->classes
 * from `type` on. Returns NULL if these have none either.
 */
static struct partition *find_nonempty_partition(const struct store_walk *w, struct partition *p,
                                                 const struct type *type)
{
    for (;;) {
        for (; p; p = p->next_of_type) {
            if (p->count > 0)
                return p;
        }
        while (type && !(w->classes & 1U << type->def->class))
            type = type->next;
        if (!type)
            return NULL;
        p = type->partitions;
        type = type->next;
    }
}

/* Moves the iterator to the next non-empty partition. Returns false after the last one. */
static bool enter_next_partition(struct store_walk *w)
{
    const struct partition *last = w->anchor ? entry_partition(w->anchor) : NULL;
    struct partition *p = last ? find_nonempty_partition(w, last->next_of_type, last->type->next)
                               : find_nonempty_partition(w, NULL, store_first_type(w->store));
    struct entry *anchor = p ? partition_entry(p, 0) : NULL;

    if (anchor)
        store_pin(anchor);
    store_walk_stop(w);
    w->anchor = anchor;
    w->position = p ? p->count : 0;
    return p;
}

/*
 * Visits the entries of a partition from the last to the first: a removal moves the last entry to
 * a lower index, so no entry is skipped.
 */
struct entry *store_walk_next(struct store_walk *w)
{
    if (w->anchor && w->position > entry_partition(w->anchor)->count)
        w->position = entry_partition(w->anchor)->count;
    while (!w->anchor || w->position == 0) {
        if (!enter_next_partition(w))
            return NULL;
    }
    return partition_entry(entry_partition(w->anchor), --w->position);
}
