/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/problems/problem_subjects.h"

#include "metrics/rules/problems/problem_history.h"

static struct pool *memory_of(const struct problem_subjects *s)
{
    return intern_memory(store_string_pool(s->store));
}

/* ---- search ---- */

static bool is_judged_entry(const void *item, const void *key)
{
    return ((const struct judged *)item)->entry == *(const pool_handle *)key;
}

static uint64_t hash_entry(pool_handle entry)
{
    return map_hash(&entry, sizeof(entry), 0);
}

static bool is_judged_external(const void *item, const void *key)
{
    const struct external_subject *a = &((const struct external_judged *)item)->external, *b = key;

    return strcmp(a->name, b->name) == 0 && strcmp(a->kind, b->kind) == 0 &&
           strcmp(a->ns, b->ns) == 0 && strcmp(a->api_version, b->api_version) == 0;
}

static uint64_t hash_external(const struct problem_subjects *s,
                              const struct external_subject *subject)
{
    uint64_t hash = map_hash(subject->kind, strlen(subject->kind), s->seed);

    hash = map_hash(subject->api_version, strlen(subject->api_version), hash);
    hash = map_hash(subject->ns, strlen(subject->ns), hash);
    return map_hash(subject->name, strlen(subject->name), hash);
}

struct judged *problem_subjects_find(const struct problem_subjects *s, const struct entry *entry)
{
    pool_handle handle = pool_handle_of(entry);

    return entry->is_subject ? handle_map_get(&s->by_entry, hash_entry(handle), &handle) : NULL;
}

struct external_judged *problem_subjects_find_external(const struct problem_subjects *s,
                                                       const struct external_subject *subject)
{
    return handle_map_get(&s->externals, hash_external(s, subject), subject);
}

/* ---- subjects ---- */

void problem_subjects_init(struct problem_subjects *s, struct store *store, uint64_t seed)
{
    *s = (struct problem_subjects){.store = store, .seed = seed};
    s->by_entry = HANDLE_MAP_INIT(memory_of(s), is_judged_entry);
    s->externals = HANDLE_MAP_INIT(memory_of(s), is_judged_external);
}

struct judged *problem_subjects_add(struct problem_subjects *s, struct entry *entry)
{
    struct judged *j = pool_alloc(memory_of(s), sizeof(*j));

    *j = (struct judged){.entry = pool_handle_of(entry)};
    store_pin(entry);
    handle_map_add(&s->by_entry, hash_entry(j->entry), j);
    entry->is_subject = true;
    return j;
}

struct external_judged *problem_subjects_add_external(struct problem_subjects *s,
                                                      const struct external_subject *subject)
{
    struct external_judged *j = pool_alloc(memory_of(s), sizeof(*j));
    struct intern *strings = store_string_pool(s->store);

    *j = (struct external_judged){
        .external = {intern_add(strings, subject->api_version), intern_add(strings, subject->kind),
                     intern_add(strings, subject->ns), intern_add(strings, subject->name)}};
    handle_map_add(&s->externals, hash_external(s, subject), j);
    return j;
}

static void free_external(struct intern *strings, struct external_judged *j)
{
    intern_drop(strings, j->external.api_version);
    intern_drop(strings, j->external.kind);
    intern_drop(strings, j->external.ns);
    intern_drop(strings, j->external.name);
    condition_list_release(&j->reported);
    pool_free(j);
}

/* Frees a subject that the maps no longer have. */
static void free_subject(struct problem_subjects *s, struct judged *j)
{
    struct entry *entry = judged_entry(j);

    for (struct problem *i = judged_first(j); i; i = judged_next(i))
        i->dead = true;
    judged_remove_dead(s, j);
    if (!entry) {
        free_external(store_string_pool(s->store), judged_external(j));
        return;
    }
    pool_free(pool_beside(j, j->begins));
    pool_free(j);
    entry->is_subject = false;
    store_unpin(s->store, entry);
}

void problem_subjects_remove(struct problem_subjects *s, struct judged *j)
{
    const struct external_judged *e = judged_external(j);

    if (e)
        handle_map_take(&s->externals, hash_external(s, &e->external), &e->external);
    else
        handle_map_take(&s->by_entry, hash_entry(j->entry), &j->entry);
    free_subject(s, j);
}

void problem_subjects_release(struct problem_subjects *s)
{
    struct judged *j;

    for (uint64_t at = 0; (j = handle_map_next(&s->by_entry, &at)) != NULL;)
        free_subject(s, j);
    for (uint64_t at = 0; (j = handle_map_next(&s->externals, &at)) != NULL;)
        free_subject(s, j);
    handle_map_release(&s->by_entry);
    handle_map_release(&s->externals);
}

/* ---- instances ---- */

struct problem *judged_add(struct problem_subjects *s, struct judged *j,
                           const struct problem *given)
{
    struct problem *i = pool_alloc(memory_of(s), sizeof(*i));

    *i = *given;
    i->subject = judged_entry(j);
    i->cause = NULL;
    if (i->subject)
        i->names = problem_names_copy(given->names, store_string_pool(s->store));
    else
        i->external = &judged_external(j)->external;
    i->next = j->first;
    j->first = pool_handle_of(i);
    return i;
}

void judged_remove_dead(struct problem_subjects *s, struct judged *j)
{
    for (pool_handle *at = &j->first; *at;) {
        struct problem *i = pool_beside(j, *at);

        if (!i->dead) {
            at = &i->next;
            continue;
        }
        *at = i->next;
        if (i->subject)
            problem_names_release(i->names, store_string_pool(s->store));
        pool_free(i);
    }
}

const struct conflict_begins *judged_conflict_begins(const struct judged *j)
{
    static const struct conflict_begins no_conflicts;

    return j->begins ? pool_beside(j, j->begins) : &no_conflicts;
}

void judged_set_conflict_begins(struct problem_subjects *s, struct judged *j,
                                const struct conflict_begins *begins)
{
    struct conflict_begins *own = pool_beside(j, j->begins);

    if (!own)
        own = pool_alloc(memory_of(s), sizeof(*own));
    *own = *begins;
    j->begins = pool_handle_of(own);
}
