/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/map.h"
#include "metrics/model/identity.h"
#include "metrics/model/kind.h"

/*
 * Every object that a source has told of, found by its identity.
 *
 * A source puts objects as it reads them and sweeps what it no longer saw, so
 * reading everything again (a relist, a changed file) removes nothing half-way.
 * Whoever listens is told of each change once.
 */
struct store;
struct entry;

/* One apiVersion and kind. */
struct type {
    const char *api_version;
    const char *kind;
    const char *group;
    const struct kind_def *def;
    struct partition *partitions; /* Linked by next_of_type. */
    struct type *next;            /* Of all types of the store. */
    size_t objects;
};

/*
 * The objects of one type in one namespace. It stays while it has entries; an
 * empty one may go in store_remove and store_sweep, and in nothing else.
 */
struct partition {
    struct type *type;
    const char *ns;
    struct partition *next_of_type;
    struct entry **entries;
    size_t count;
    size_t capacity;
    int verdict; /* Of the rules, kept here because it is the same for the whole partition. */
};

struct edge {
    struct entry *read;
    uint32_t position; /* Of the reader in read->readers. */
};

/*
 * One identity. It stays, without an object, while others refer to it; the
 * fields below `object` belong to the source, the rules and the exposition.
 */
struct entry {
    struct partition *partition;
    void *object; /* What def->decode made; NULL while the object does not exist. */
    void *decision;
    void *contribution;
    struct edge *reads;
    struct entry **readers;
    struct entry *next_dirty;
    uint32_t read_count;
    uint32_t reader_count;
    uint32_t reader_capacity;
    uint32_t timer; /* Its slot among the rules' timers, 1-based; 0 while it waits for nothing. */
    uint32_t position; /* In partition->entries. */
    uint32_t source;
    uint32_t sweep;
    uint32_t pins; /* See store_pin. */
    bool dirty;
    char name[];
};

/*
 * Told after a change; `old` is the object before it, NULL if new, and gone after
 * the call. It may refer to other entries and tidy them, but not put, remove or
 * sweep, nor tidy the entry that it is told of.
 */
struct store_listener {
    void (*changed)(void *context, struct entry *entry, const void *old);
    void *context;
};

struct store *store_new(uint64_t seed) MUST_USE;
/* Everything in it goes too. Takes NULL. What the rules hung on entries must be gone before. */
void store_free(struct store *s);
void store_listen(struct store *s, struct store_listener listener);
struct intern *store_strings(const struct store *s);

/* Which source brought an object, and in which of its passes. */
struct origin {
    uint32_t source;
    uint32_t sweep;
};

enum store_outcome { STORE_REJECTED, STORE_ADDED, STORE_CHANGED };

/*
 * Take one object. What cannot be read is rejected with the reason and leaves
 * the version before it in place, marked as seen, so that one bad write never
 * removes an object from sight.
 */
enum store_outcome store_put(struct store *s, const cJSON *json, struct origin origin,
                             struct error *err);

/* As store_put, for a source that has asked store_refer for the entry of this very object. */
enum store_outcome store_put_at(struct store *s, struct entry *entry, const cJSON *json,
                                struct origin origin, struct error *err);

/* The object is gone. */
void store_remove(struct store *s, struct entry *entry);

/* Remove what `origin.source` brought in another pass than `origin.sweep`. How many that were. */
size_t store_sweep(struct store *s, struct origin origin);

/* The entry of an identity, with or without an object; NULL if nobody knows it. */
struct entry *store_find(const struct store *s, const struct identity *id);

/* As store_find, but makes it, so that others can refer to what does not exist (yet). */
struct entry *store_refer(struct store *s, const struct identity *id);

/* Let an entry go that has no object and that nobody refers to any more; else nothing. */
void store_tidy(struct store *s, struct entry *entry);

/*
 * For a source that remembers an entry: it stays, with or without an object,
 * until each store_pin has met its store_unpin. The last one tidies.
 */
static inline void store_pin(struct entry *entry)
{
    entry->pins++;
}

static inline void store_unpin(struct store *s, struct entry *entry)
{
    assert(entry->pins > 0);
    entry->pins--;
    store_tidy(s, entry);
}

/* True if the entry has an object, and this source brought it. */
static inline bool store_is_from(const struct entry *entry, uint32_t source)
{
    return entry->object && entry->source == source;
}

/* The source has seen the object in this pass, be it unreadable: the pass does not sweep it. */
static inline void store_mark(struct entry *entry, struct origin origin)
{
    entry->source = origin.source;
    entry->sweep = origin.sweep;
}

/* The type of an apiVersion and kind, NULL if no entry has it. Both as shared strings. */
struct type *store_type(const struct store *s, const char *api_version, const char *kind);
/* The first of all types, linked by `next`. */
struct type *store_types(const struct store *s);
/* The partition of a type and namespace, NULL if no entry is in it. */
struct partition *type_partition(const struct store *s, const struct type *type, const char *ns);

/* How many entries have an object of a class. */
size_t store_count(const struct store *s, enum object_class class);

/* The object exists; an entry stays without one while others refer to it. */
static inline bool entry_exists(const struct entry *e)
{
    return e->object != NULL;
}

static inline enum object_class entry_class(const struct entry *e)
{
    return e->partition->type->def->class;
}

static inline const char *entry_kind(const struct entry *e)
{
    return e->partition->type->kind;
}

static inline const char *entry_ns(const struct entry *e)
{
    return e->partition->ns;
}

/* By kind, namespace, name, apiVersion, in byte order: the order of every list that people see. */
int entry_compare(const struct entry *a, const struct entry *b);
