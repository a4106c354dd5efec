/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/map.h"
#include "metrics/model/decode.h"
#include "metrics/model/kind.h"
#include "metrics/model/metadata.h"

/*
 * Every object that the sources have read, by its identity.
 *
 * A source puts objects as it reads them, and after a pass over all of them sweeps those that
 * the pass has not seen: reading everything again (a relist, a changed file) removes nothing
 * half-way. The listener is called once for each change.
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
 * The entries of one type in one namespace, "" for what is cluster-scoped. Partitions are freed
 * only when empty, and only by store_remove() and store_sweep().
 */
struct partition {
    struct type *type;
    const char *ns;
    struct partition *next_of_type;
    struct entry **entries;
    size_t count;
    size_t capacity;
    int verdict; /* Of rules/ignored.h: the same for all objects of the partition. */
};

/* That an entry reads another one (rules/graph.h). */
struct edge {
    struct entry *read;
    uint32_t position; /* Of the reader in read->readers. */
};

/*
 * One identity, with its object if that exists. An entry without an object stays while others
 * refer to it. `object`, `position`, `source`, `sweep`, `pins` and `version` belong to the store,
 * the other fields to the rules, `contribution` to the exposition.
 */
struct entry {
    struct partition *partition;
    void *object; /* What def->decode made; NULL while the object does not exist. See object.h. */
    void *decision;
    void *contribution;
    struct edge *reads;
    struct entry **readers;
    uint32_t read_count;
    uint32_t reader_count;
    uint32_t reader_capacity;
    uint32_t timer;    /* Its slot among the timers of the graph, 1-based; 0 without a timer. */
    uint32_t position; /* In partition->entries. */
    uint32_t source;
    uint32_t sweep;
    uint32_t version;     /* Of the object, as version_mark(); 0 if unknown. */
    uint32_t pins : 30;   /* See store_pin. */
    uint32_t wanted : 1;  /* See store_want. */
    uint32_t audited : 1; /* For the source, while it compares what is here with what should be. */
    bool dirty : 1;       /* It is marked, */
    unsigned cause : 7;   /* and why (rules/graph.h). */
    char name[];
};

/*
 * `changed` is called after a change of an entry's object; `old` is the object before it, NULL if
 * there was none, and is freed after the call. The listener may refer to other entries and tidy
 * them, but must not put, remove or sweep, nor tidy the changed entry.
 */
struct store_listener {
    void (*changed)(void *context, struct entry *entry, const void *old);
    void *context;
};

struct store *store_new(uint64_t seed) MUST_USE;
/* Takes NULL. Frees all entries and objects; decisions and contributions must be freed before. */
void store_free(struct store *s);
/* From now on there is this listener and no other; all zero for none. */
void store_listen(struct store *s, struct store_listener listener);
/* The shared texts of everything in the store. */
struct intern *store_strings(const struct store *s);

/* The label or annotation that says whose a template is; NULL: nobody asks. Before any is put. */
void store_own_by(struct store *s, const char *owner_key);
/* What an object is decoded with that is to be in the store, or stands for one that is. */
struct decode store_decode(const struct store *s, struct error *err);

/* Which source has read an object, and in which of its passes. */
struct origin {
    uint32_t source;
    uint32_t sweep;
};

/*
 * A pass that no source has. What is put in the place of an object that is marked as seen in it
 * does not succeed that (struct kind_def): what it went through was undone, as by a backup.
 */
#define STORE_UNDONE UINT32_MAX

enum store_outcome { STORE_REJECTED, STORE_ADDED, STORE_CHANGED };

/*
 * Add or replace one object. An object that is not valid is rejected with the reason: its last
 * valid version stays in place and counts as seen, so that one bad write removes nothing.
 */
enum store_outcome store_put(struct store *s, const cJSON *json, struct origin origin,
                             struct error *err);

/* As store_put(), for a source that knows the object's entry already, by store_refer(). */
enum store_outcome store_put_at(struct store *s, struct entry *entry, const cJSON *json,
                                struct origin origin, struct error *err);

/*
 * Put `fresh`, NULL for none, in the place of the entry's and return that: from then on it is the
 * caller's, as the new one is the store's. For who plays with the store and puts everything back.
 */
void *store_exchange(struct store *s, struct entry *entry, void *fresh) MUST_USE;

/* The object no longer exists. Without readers and pins the entry is freed. */
void store_remove(struct store *s, struct entry *entry);

/* Remove the objects of `origin.source` last seen in another pass than this. Returns how many. */
size_t store_sweep(struct store *s, struct origin origin);

/* The entry of an identity, with or without an object; NULL if there is none. */
struct entry *store_find(const struct store *s, const struct identity *id);

/* As store_find(), but adds the entry, so that others can refer to what does not exist yet. */
struct entry *store_refer(struct store *s, const struct identity *id);

/* Free an entry that has no object and that nothing refers to; any other stays. */
void store_tidy(struct store *s, struct entry *entry);

/*
 * For a source that keeps a pointer to an entry: it stays, with or without an object, until
 * every store_pin() has its store_unpin(), which tidies it.
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

/*
 * Somebody needs the entry's object, though nothing refers to it: sources are to read it. It stays
 * wanted for as long as there is the store.
 */
static inline void store_want(struct entry *entry)
{
    entry->wanted = true;
    store_pin(entry);
}

/* True if the entry has an object, and this source has read it last. */
static inline bool store_is_from(const struct entry *entry, uint32_t source)
{
    return entry->object && entry->source == source;
}

/* Mark the object as seen in this pass, valid or not, so that store_sweep() keeps it. */
static inline void store_mark(struct entry *entry, struct origin origin)
{
    entry->source = origin.source;
    entry->sweep = origin.sweep;
}

/* The type of an apiVersion and kind, NULL if no entry has it. Both as shared strings. */
struct type *store_type(const struct store *s, const char *api_version, const char *kind);
/* The same for any texts. */
static inline struct type *store_find_type(const struct store *s, const char *api_version,
                                           const char *kind)
{
    const char *shared_version = intern_find(store_strings(s), api_version);
    const char *shared_kind = intern_find(store_strings(s), kind);

    return shared_version && shared_kind ? store_type(s, shared_version, shared_kind) : NULL;
}
/* The first of all types, linked by `next`. */
struct type *store_types(const struct store *s);
/* The partition of a type and namespace, NULL if no entry is in it. */
struct partition *type_partition(const struct store *s, const struct type *type, const char *ns);

/* How many entries have an object of a class. */
size_t store_count(const struct store *s, enum object_class class);

/* True if the entry has an object. */
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

/* By kind, namespace, name and apiVersion in byte order: the order of all lists for people. */
static inline int entry_compare(const struct entry *a, const struct entry *b)
{
    int order = strcmp(entry_kind(a), entry_kind(b));

    order = order ? order : strcmp(entry_ns(a), entry_ns(b));
    order = order ? order : strcmp(a->name, b->name);
    return order ? order : strcmp(a->partition->type->api_version, b->partition->type->api_version);
}

/* A growing list of entries; all zero is an empty one. The entries are the store's. */
struct entry_list {
    struct entry **items;
    size_t count;
    size_t capacity;
};

void entry_list_add(struct entry_list *list, struct entry *entry);
/* Where an entry is among others in the order of entry_compare(), or would be. */
size_t entry_place(struct entry *const *entries, size_t count, const struct entry *entry);
/* Free the list, not the entries; it is empty and usable again. */
void entry_list_release(struct entry_list *list);

/* The entries of a class that have an object, in the order of entry_compare(), for lists. */
struct listing {
    const struct entry **entries;
    size_t count;
};

/* A listing is valid until the store changes. Release it with listing_release(). */
struct listing listing_make(const struct store *store, enum object_class class);
void listing_release(struct listing *listing);

/*
 * A walk over all entries of some classes, with an object or without, in steps between which the
 * store may change. Whatever is there from its begin to its end is visited; what comes or goes
 * meanwhile may be, and when something goes another one may be visited twice.
 */
struct store_walk {
    struct store *store;
    unsigned classes;     /* A bit for each enum object_class. */
    struct entry *anchor; /* Pinned, so that its partition stays; NULL before the first step. */
    size_t position;      /* The entries before it in the anchor's partition are left. */
};

/* All in `store`, which is borrowed, from the first on. */
static inline struct store_walk store_walk_over(struct store *store, unsigned classes)
{
    return (struct store_walk){.store = store, .classes = classes};
}

/* The next entry; NULL behind the last, and then begins anew. */
struct entry *store_walk_next(struct store_walk *w);

/* Begin anew, and hold on to nothing until then. */
void store_walk_stop(struct store_walk *w);

/*
 * The object of an entry, by its class. NULL if the entry is of another class, has no object, or
 * is NULL itself. Borrowed from the store.
 */
struct binding;
struct cluster;
struct event;
struct lease;
struct override;
struct policy;
struct template;
struct work;

static inline const void *entry_object(const struct entry *e, enum object_class class)
{
    return e && entry_class(e) == class ? e->object : NULL;
}

static inline const struct template *entry_template(const struct entry *e)
{
    return entry_object(e, CLASS_TEMPLATE);
}

/* Objects of both classes are decoded as a struct template (kind.c). */
static inline const struct template *entry_template_or_setting(const struct entry *e)
{
    return e && entry_class(e) == CLASS_SETTING ? e->object : entry_template(e);
}

static inline const struct policy *entry_policy(const struct entry *e)
{
    return entry_object(e, CLASS_POLICY);
}

static inline const struct binding *entry_binding(const struct entry *e)
{
    return entry_object(e, CLASS_BINDING);
}

static inline const struct override *entry_override(const struct entry *e)
{
    return entry_object(e, CLASS_OVERRIDE);
}

static inline const struct cluster *entry_cluster(const struct entry *e)
{
    return entry_object(e, CLASS_CLUSTER);
}

static inline const struct event *entry_event(const struct entry *e)
{
    return entry_object(e, CLASS_EVENT);
}

static inline const struct lease *entry_lease(const struct entry *e)
{
    return entry_object(e, CLASS_LEASE);
}

static inline const struct work *entry_work(const struct entry *e)
{
    return entry_object(e, CLASS_WORK);
}
