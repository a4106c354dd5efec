/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/delivery_index.h"

#include "metrics/model/binding.h"
#include "metrics/rules/object_index.h"

enum { BINDINGS_PER_STEP = 64 };

/* ---- clusters by name ---- */

struct member_cluster {
    const char *name; /* Interned: equal names have the same address. */
    const struct cluster *cluster;
};

static bool has_name(const void *item, const void *key)
{
    return ((const struct member_cluster *)item)->name == key;
}

static bool is_same_address(const void *item, const void *key)
{
    return item == key;
}

void members_init(struct members *m, struct store *store)
{
    *m = (struct members){
        .store = store,
        .by_name = MAP_INIT(has_name),
        .changed = MAP_INIT(is_same_address),
        .bindings = store_walk_begin(store, 1U << CLASS_BINDING),
    };
}

static void clear_changed_clusters(struct members *m)
{
    const char *name;

    for (size_t at = 0; (name = map_next(&m->changed, &at)) != NULL;)
        intern_drop(store_string_pool(m->store), name);
    map_release(&m->changed);
    m->all = false;
}

void members_release(struct members *m)
{
    struct member_cluster *member;

    store_walk_stop(&m->bindings);
    clear_changed_clusters(m);
    for (size_t at = 0; (member = map_next(&m->by_name, &at)) != NULL;) {
        intern_drop(store_string_pool(m->store), member->name);
        free(member);
    }
    map_release(&m->by_name);
}

bool members_are_known(const struct members *m)
{
    return m->by_name.count > 0 && !m->hidden;
}

enum member_state members_state(const struct members *m, const char *name)
{
    const struct member_cluster *member;

    if (!members_are_known(m))
        return MEMBER_UNKNOWN;
    member = map_get(&m->by_name, map_hash_address(name), name);
    return member && member->cluster->ready ? MEMBER_READY : MEMBER_NOT_READY;
}

/* ---- search for affected templates ---- */

bool members_is_searching(const struct members *m)
{
    return m->all || m->changed.count > 0;
}

static bool is_cluster_changed(const struct members *m, const char *name)
{
    return map_get(&m->changed, map_hash_address(name), name) != NULL;
}

static void start_search_of_all(struct members *m)
{
    store_walk_stop(&m->bindings);
    m->all = true;
}

void members_update(struct members *m, const struct entry *entry, bool affects_stages)
{
    struct intern *strings = store_string_pool(m->store);
    const struct cluster *cluster = entry_cluster(entry);
    const char *name = intern_add(strings, entry->name);
    struct member_cluster *member = map_get(&m->by_name, map_hash_address(name), name);
    bool known = m->by_name.count > 0;

    if (affects_stages) {
        /* A search that runs already restarts at the first binding. */
        store_walk_stop(&m->bindings);
        if (!is_cluster_changed(m, name))
            map_add(&m->changed, map_hash_address(name), (void *)(uintptr_t)intern_ref(name));
    }
    if (cluster && !member) {
        member = xcalloc(1, sizeof(*member));
        member->name = intern_ref(name);
        map_add(&m->by_name, map_hash_address(name), member);
    }
    if (cluster) {
        member->cluster = cluster;
    } else if (member) {
        map_take(&m->by_name, map_hash_address(name), name);
        intern_drop(strings, name);
        free(member);
    }
    /* Names without a Cluster are UNKNOWN while the store has no Clusters, else NOT_READY. */
    if (known != (m->by_name.count > 0))
        start_search_of_all(m);
    intern_drop(strings, name);
}

void members_set_incomplete(struct members *m, bool hidden)
{
    if (m->hidden != hidden)
        start_search_of_all(m);
    m->hidden = hidden;
}

static bool is_binding_affected(const struct members *m, const struct binding *b)
{
    const struct status_problem *problem = b->status.problem;

    if (m->all)
        return true;
    for (uint32_t i = 0; i < binding_target_count(b); i++) {
        if (is_cluster_changed(m, b->clusters[i].name))
            return true;
    }
    for (uint32_t i = 0; problem && i < problem->eviction_count; i++) {
        if (is_cluster_changed(m, problem->evictions[i].cluster))
            return true;
    }
    return false;
}

/* The search may miss a binding that is added meanwhile: its change marks the template anyway. */
void members_search_step(struct members *m, struct graph *g)
{
    for (unsigned i = 0; i < BINDINGS_PER_STEP; i++) {
        const struct entry *entry = store_walk_next(&m->bindings);
        const struct binding *b = entry ? entry_binding(entry) : NULL;
        struct entry *template =
            b && is_binding_affected(m, b) ? binding_template(m->store, b) : NULL;

        if (template)
            graph_mark(g, template);
        if (!entry) {
            clear_changed_clusters(m);
            return;
        }
    }
}

/* ---- Works ---- */

void works_init(struct works *w, uint64_t seed)
{
    *w = (struct works){0};
    subject_index_init(&w->index, seed);
}

void works_release(struct works *w)
{
    subject_index_release(&w->index);
}

/* Returns the key of a binding, without a kind: the namespace determines the kind. */
static struct subject subject_of_binding(const char *binding_ns, const char *binding_name)
{
    return (struct subject){.kind = "", .ns = binding_ns, .name = binding_name};
}

static bool belongs_in_index(const struct entry *entry, const struct work *work)
{
    return work && work->binding_name && cluster_of_execution_ns(entry_ns(entry));
}

bool works_update(struct works *w, struct entry *entry, const struct work *old)
{
    const struct work *fresh = entry_work(entry);
    bool was_in_index = belongs_in_index(entry, old), is_in_index = belongs_in_index(entry, fresh);

    if (was_in_index && is_in_index && work_equal(old, fresh))
        return false;
    if (was_in_index) {
        struct subject subject = subject_of_binding(old->binding_ns, old->binding_name);

        subject_index_remove(&w->index, &subject, entry);
    }
    if (is_in_index) {
        struct subject subject = subject_of_binding(fresh->binding_ns, fresh->binding_name);

        subject_index_add(&w->index, &subject, entry);
    }
    return was_in_index || is_in_index;
}

/*
 * Returns the index of the cluster's first Work in a group, or the index where it would be. The
 * group is sorted by namespace, and the namespace of a Work contains the cluster's name.
 */
static uint32_t index_of_first_work(const struct subject_group *group, const char *cluster)
{
    uint32_t first = 0, end = group->count;

    while (first < end) {
        uint32_t middle = first + (end - first) / 2;
        const char *ns = entry_ns(group->entries[middle]);

        if (strcmp(cluster_of_execution_ns(ns), cluster) < 0)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

const struct work *work_in_cluster(const struct works *w, const struct entry *binding,
                                   const char *cluster)
{
    struct subject subject = subject_of_binding(entry_ns(binding), binding->name);
    const struct subject_group *group = subject_index_find(&w->index, &subject);
    const struct binding *b = entry_binding(binding);

    for (uint32_t i = group ? index_of_first_work(group, cluster) : 0; group && i < group->count;
         i++) {
        const struct work *work = entry_work(group->entries[i]);

        if (strcmp(cluster_of_execution_ns(entry_ns(group->entries[i])), cluster) != 0)
            break;
        if (!b || !uid_hashes_differ(b->id_hash, work->binding_id))
            return work;
    }
    return NULL;
}
