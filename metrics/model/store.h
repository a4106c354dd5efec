/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/map.h"
#include "metrics/model/decode.h"
#include "metrics/model/kind.h"
#include "metrics/model/metadata.h"

/*
 * Store of all objects that the sources have read, by identity. A source puts objects as it reads
 * them. After a complete pass (a list, a file) the source sweeps: the store removes the objects of
 * the source that the pass did not contain. The listener is called once for each change.
 */
struct store;
struct entry;

/* One apiVersion and kind, with its partitions. The strings are interned. */
struct type {
    const char *api_version;
    const char *kind;
    const char *group;
    const struct kind_def *def;
    struct partition *partitions; /* First of a list, linked by next_of_type. */
    struct type *next;            /* Next type of the store. */
    struct type *same_kind; /* Next type with this kind in a ring; the type itself if alone. */
    size_t objects;         /* Number of entries that have an object. */
};

/*
 * The entries of one type in one namespace; the namespace of cluster-scoped types is "".
 * store_free() frees all partitions; store_remove() and store_sweep() free many empty ones at once.
 */
struct partition {
    struct type *type;
    struct object_scope scope;
    struct partition *next_of_type;
    pool_handle entries; /* Cell of `capacity` handles. */
    uint32_t count;
    uint32_t capacity;
    int verdict; /* Cached result of ignored_templates.h for the objects of the partition. */
    bool begun;  /* graph_next() of rules/graph.h has returned an entry of the partition. */
};

/* The decision of the entry that owns the edge (the reader) depends on the entry `read`. */
struct edge {
    pool_handle read;
    uint32_t position; /* Index of the reader in the readers of `read`. */
};

/* Two or more readers. */
struct entry_readers {
    uint32_t count;
    pool_handle entries[];
};

enum {
    ENTRY_PINS_MAX = (1 << 24) - 1,
    ENTRY_MANY_READS = 15, /* `read_count` of an entry with the number of its edges in a header. */
};

/*
 * Entry of the store: an identity, and its object if that exists. An entry without an object stays
 * while it is in use (store_free_if_unused()). The rules own `decision`, `reads`, `readers`,
 * `read_count`, `read_once`, `timed`, `is_subject`, `dirty`, `cause`, `judging` and `judged`; the
 * exposition owns `contribution`.
 *
 * The members are handles in the pool of the entry, because a control plane can have millions of
 * entries: the functions below read them.
 */
struct entry {
    pool_handle partition;
    pool_handle object;
    pool_handle decision;
    pool_handle contribution;
    pool_handle reads;   /* Cell of entry_edges(); 0 without any. */
    pool_handle readers; /* The only reader, or struct entry_readers; 0 without any. */
    uint32_t position;   /* Index of this entry in its partition. */
    uint32_t version;    /* Short version last read, also of a rejected object; 0 if unknown. */
    uint32_t source;     /* `source` and `sweep` are those of the last entry_mark_seen(). */
    unsigned sweep : 16; /* Result of short_sweep(). */
    unsigned cause : 7;  /* Reason why the entry is `dirty` (rules/graph.h). */
    bool dirty : 1;      /* Queued for evaluation. */
    bool read_once : 1;  /* The entry has one reader. */
    bool timed : 1;      /* The entry has a timer of rules/graph.h. */
    bool wanted : 1;     /* Set by store_request_read(). */
    bool audited : 1;    /* During an audit (kube/audit.h): the API server has listed the object. */
    bool is_subject : 1; /* The entry has problems in rules/problems.h. */
    bool judging : 1;    /* Queued by rules/problems.h. */
    bool judged : 1;     /* rules/problems.h has evaluated the conditions of the object. */
    unsigned : 0;
    unsigned pins : 24; /* Number of store_pin() calls without their store_unpin(). */
    unsigned read_count : 4;
    /* Value of enum object_class, that of the type. No bit-field: threads that write lists read it.
     */
    uint8_t class;
    char name[];
};

static_assert(offsetof(struct entry, name) == 45, "an entry has 45 bytes and its name");

static inline struct partition *entry_partition(const struct entry *e)
{
    return pool_beside(e, e->partition);
}

static inline struct type *entry_type(const struct entry *e)
{
    return entry_partition(e)->type;
}

/* Returns an entry of a partition; `index` is below p->count. */
static inline struct entry *partition_entry(const struct partition *p, size_t index)
{
    const pool_handle *entries = pool_beside(p, p->entries);

    return pool_beside(p, entries[index]);
}

/*
 * Returns the edges to the entries that the decision of `e` depends on; NULL without any. The cell
 * of ENTRY_MANY_READS begins with a header, an edge with the number of edges as its position.
 */
static inline struct edge *entry_edges(const struct entry *e)
{
    struct edge *cell = pool_beside(e, e->reads);

    return e->read_count < ENTRY_MANY_READS ? cell : cell + 1;
}

static inline uint32_t entry_read_count(const struct entry *e)
{
    const struct edge *header = pool_beside(e, e->reads);

    return e->read_count < ENTRY_MANY_READS ? e->read_count : header->position;
}

/* Returns an entry that the decision of `e` depends on; `index` is below entry_read_count(). */
static inline struct entry *entry_read(const struct entry *e, uint32_t index)
{
    return pool_beside(e, entry_edges(e)[index].read);
}

static inline uint32_t entry_reader_count(const struct entry *e)
{
    const struct entry_readers *readers = pool_beside(e, e->readers);

    return e->read_once ? 1 : readers ? readers->count : 0;
}

/* Returns an entry with a decision that depends on `e`; `index` is below entry_reader_count(). */
static inline struct entry *entry_reader(const struct entry *e, uint32_t index)
{
    const struct entry_readers *readers = pool_beside(e, e->readers);

    return pool_beside(e, e->read_once ? e->readers : readers->entries[index]);
}

/*
 * Return the object (the result of def->decode), the decision or the contribution of an entry; NULL
 * without one.
 */
static inline void *entry_object(const struct entry *e)
{
    return pool_beside(e, e->object);
}

static inline void *entry_decision(const struct entry *e)
{
    return pool_beside(e, e->decision);
}

static inline void *entry_contribution(const struct entry *e)
{
    return pool_beside(e, e->contribution);
}

static inline bool entry_exists(const struct entry *e)
{
    return e->object != 0;
}

/* Set or, for NULL, clear a member of an entry, without freeing its previous value. */
static inline void entry_set_object(struct entry *e, void *object)
{
    e->object = pool_handle_of(object);
}

static inline void entry_set_decision(struct entry *e, void *decision)
{
    e->decision = pool_handle_of(decision);
}

static inline void entry_set_contribution(struct entry *e, void *contribution)
{
    e->contribution = pool_handle_of(contribution);
}

/*
 * `changed` is called after each change of an entry's object. `old` is the previous object, NULL
 * if the entry had no object; do not keep a pointer to it. The listener may call
 * store_find_or_add(), and store_free_if_unused() for other entries; it must not put, remove or
 * sweep, and must not free the changed entry.
 */
struct store_listener {
    void (*changed)(void *context, struct entry *entry, const void *old);
    void *context;
};

/* Returns an empty store; free it with store_free(). `seed` is the seed of its hash tables. */
struct store *store_new(uint64_t seed) MUST_USE;
/* Frees the store, which may be NULL, and all objects. Free decisions and contributions before. */
void store_free(struct store *s);
/* Replaces the listener; an all-zero `listener` removes it. */
void store_set_listener(struct store *s, struct store_listener listener);
/* Returns the pool of the interned strings of all objects in the store. */
struct intern *store_string_pool(const struct store *s);

/*
 * Sets the key of the label, else annotation, with the owner of a template (its team); NULL
 * disables owners. Call it before the first store_put().
 */
void store_set_owner_key(struct store *s, const char *owner_key);

/* Sets the templates of which template_document() is kept. Call it before the first store_put(). */
void store_keep_documents(struct store *s, enum kept_documents documents);
enum kept_documents store_kept_documents(const struct store *s);

/* Sets the function that reviews the objects of Karmada's groups (struct decode); NULL: none. */
void store_set_review(struct store *s, struct admission *(*review)(const cJSON *object));
/* Returns a decoder for objects that are put into the store, or compared with objects in it. */
struct decode store_make_decoder(const struct store *s, struct error *err);

/* ---- store: put and remove objects ---- */

/* Source of an object, and the pass in which the source read the object. */
struct origin {
    uint32_t source; /* Number of the source. */
    uint32_t sweep;  /* Number of the current pass of the source over all its objects. */
};

/*
 * Pass number that no source uses. It marks an object with an invalid history, for example after
 * the restore of a backup: the next object of the entry inherits nothing (`inherit` of struct
 * kind_def is not called).
 */
#define STORE_HISTORY_INVALID UINT32_MAX

/* STORE_CHANGED: the entry had an object before, possibly with the same content. */
enum store_outcome { STORE_REJECTED, STORE_ADDED, STORE_CHANGED };

/*
 * Adds or replaces one object. Rejects an invalid object, with the reason in `err`. Its entry, if
 * there is one, then keeps the last valid object, gets the version of the rejected one, and is
 * marked as seen, so store_sweep() keeps it.
 */
enum store_outcome store_put(struct store *s, const cJSON *json, struct origin origin,
                             struct error *err);

/* Like store_put(), for an entry from store_find_or_add(). Does not read the identity in `json`. */
enum store_outcome store_put_at(struct store *s, struct entry *entry, const cJSON *json,
                                struct origin origin, struct error *err);

/*
 * Replaces the object of the entry by `fresh` (NULL: removes it), calls the listener and returns
 * the previous object. The store then owns `fresh`, the caller the returned object. For a
 * simulation that changes the store and restores it afterwards.
 */
void *store_swap_object(struct store *s, struct entry *entry, void *fresh) MUST_USE;

/* Removes the object of an entry, and frees the entry if it is unused. */
void store_remove(struct store *s, struct entry *entry);

/* Removes the objects of origin.source not seen in pass origin.sweep; returns their number. */
size_t store_sweep(struct store *s, struct origin origin);

/*
 * Returns the entry of an identity, with or without an object; NULL if there is no entry. For kinds
 * of kind_table(), the version does not matter, nor the namespace if the kind is cluster-scoped.
 */
struct entry *store_find(const struct store *s, const struct identity *id);

/* Like store_find(); adds an entry without an object if there is no entry. */
struct entry *store_find_or_add(struct store *s, const struct identity *id);

/* Frees the entry, unless it is dirty or has an object, decision, contribution, pin or edge. */
void store_free_if_unused(struct store *s, struct entry *entry);

/*
 * Keeps the entry until store_unpin(), even if it has no object. For callers that store a pointer
 * to the entry. Each call needs its own store_unpin().
 */
static inline void store_pin(struct entry *entry)
{
    assert(entry->pins < ENTRY_PINS_MAX);
    entry->pins++;
}

/* Undoes one store_pin(), and frees the entry if it is unused. */
static inline void store_unpin(struct store *s, struct entry *entry)
{
    assert(entry->pins > 0);
    entry->pins--;
    store_free_if_unused(s, entry);
}

/* Requests that the sources read the object. Pins the entry; the request cannot be withdrawn. */
static inline void store_request_read(struct entry *entry)
{
    entry->wanted = true;
    store_pin(entry);
}

/*
 * Returns the number of a pass as entries store it. A source sweeps after each complete pass, so
 * all its entries have the number of one of its last passes.
 */
static inline uint16_t short_sweep(uint32_t sweep)
{
    return sweep == STORE_HISTORY_INVALID ? UINT16_MAX : (uint16_t)(sweep % UINT16_MAX);
}

/* Returns true if the entry has an object that `source` was the last to read. */
static inline bool entry_is_from_source(const struct entry *entry, uint32_t source)
{
    return entry_exists(entry) && entry->source == source;
}

/* Marks the object, valid or not, as seen in the pass `origin`: store_sweep() keeps it. */
static inline void entry_mark_seen(struct entry *entry, struct origin origin)
{
    entry->source = origin.source;
    entry->sweep = short_sweep(origin.sweep);
}

/* ---- types and partitions of the store ---- */

/* Returns the type of an interned apiVersion and kind; NULL if no entry ever had it. */
struct type *store_find_interned_type(const struct store *s, const char *api_version,
                                      const char *kind);
/* Returns the type of an apiVersion and kind; NULL if no entry ever had it. */
static inline struct type *store_find_type(const struct store *s, const char *api_version,
                                           const char *kind)
{
    const char *shared_version = intern_find(store_string_pool(s), api_version);
    const char *shared_kind = intern_find(store_string_pool(s), kind);

    return shared_version && shared_kind ? store_find_interned_type(s, shared_version, shared_kind)
                                         : NULL;
}
/* Returns the head of the list of all types, linked by `next`; NULL if there are no types. */
struct type *store_first_type(const struct store *s);
/* Returns the partition of a type and an interned namespace; NULL if it does not exist. */
struct partition *type_find_partition(const struct store *s, const struct type *type,
                                      const char *ns);

/* Returns the number of objects of a class in the store. */
size_t store_object_count(const struct store *s, enum object_class class);

static inline enum object_class entry_class(const struct entry *e)
{
    return (enum object_class)e->class;
}

static inline const char *entry_kind(const struct entry *e)
{
    return entry_type(e)->kind;
}

static inline bool entry_is_cluster_scoped(const struct entry *e)
{
    return entry_type(e)->def->cluster_scoped;
}

static inline const char *entry_ns(const struct entry *e)
{
    return entry_partition(e)->scope.ns;
}

/*
 * Returns the apiVersion of a template if templates of another API group have the same kind, so
 * that kind and name are ambiguous; else NULL.
 */
const char *entry_distinct_version(const struct entry *e);
/* Appends the name for people: "Kind namespace/name", and entry_distinct_version() in brackets. */
void entry_add_name(struct strbuf *out, const struct entry *e);

/* Returns the identity of an entry; its texts are borrowed from the entry. */
static inline struct identity entry_identity(const struct entry *e)
{
    return (struct identity){entry_type(e)->api_version, entry_kind(e), entry_ns(e), e->name};
}

/* ---- lists of entries ---- */

/* Compares two entries by kind, namespace, name and apiVersion: the order of lists in output. */
static inline int entry_compare(const struct entry *a, const struct entry *b)
{
    int order;

    /* Most pairs of a sort are in one partition: the same kind and namespace. */
    if (entry_partition(a) == entry_partition(b))
        return strcmp(a->name, b->name);
    order = strcmp(entry_kind(a), entry_kind(b));
    order = order ? order : strcmp(entry_ns(a), entry_ns(b));
    order = order ? order : strcmp(a->name, b->name);
    return order ? order : strcmp(entry_type(a)->api_version, entry_type(b)->api_version);
}

/* A growing list of borrowed entries; all zero is an empty list. */
struct entry_list {
    struct entry **items;
    size_t count;
    size_t capacity;
};

void entry_list_add(struct entry_list *list, struct entry *entry);
/* Returns true if the list has the entry. The time is linear. */
bool entry_list_has(const struct entry_list *list, const struct entry *entry);
/* Returns the index of `entry`, or where to insert it, in an array sorted by entry_compare(). */
size_t entry_sort_index(struct entry *const *entries, size_t count, const struct entry *entry);
/* Frees the list, but not the entries. The list is then empty and usable again. */
void entry_list_release(struct entry_list *list);

/* The entries of a class that have an object, sorted by entry_compare(). */
struct listing {
    const struct entry **entries;
    size_t count;
};

/* Returns the listing of a class, valid until the store changes. Call listing_release() on it. */
struct listing listing_make(const struct store *store, enum object_class class);
/* Returns the same entries in no order, which is faster. */
struct listing listing_make_unordered(const struct store *store, enum object_class class);
void listing_release(struct listing *listing);

/*
 * Iterator over all entries of some classes, with or without an object. The store may change
 * between two steps. Every entry that exists from the first to the last step is visited; entries
 * that are added or removed meanwhile may be visited or not, and a removal may cause a second visit
 * of another entry.
 */
struct store_walk {
    struct store *store;  /* Borrowed. */
    unsigned classes;     /* Classes to visit; bits by enum object_class. */
    struct entry *anchor; /* Pinned entry that keeps the partition; NULL at start and end. */
    size_t position;      /* Number of entries still to visit in the partition of `anchor`. */
};

/* Returns an iterator over the entries of `classes`. Stop it with store_walk_stop(). */
static inline struct store_walk store_walk_begin(struct store *store, unsigned classes)
{
    return (struct store_walk){.store = store, .classes = classes};
}

/* Returns the next entry; NULL after the last one. The next call then starts again. */
struct entry *store_walk_next(struct store_walk *w);

/* Resets the iterator to its start and releases its pinned entry. */
void store_walk_stop(struct store_walk *w);

/* ---- objects of entries by class ---- */

/*
 * Each entry_<class>() returns the object of an entry, borrowed from the store; NULL if the entry
 * is NULL, has no object or is of another class.
 */
struct binding;
struct cluster;
struct event;
struct federated_quota;
struct lease;
struct override;
struct policy;
struct template;
struct work;

static inline const void *object_of_class(const struct entry *e, enum object_class class)
{
    return e && entry_class(e) == class ? entry_object(e) : NULL;
}

static inline const struct template *entry_template(const struct entry *e)
{
    return object_of_class(e, CLASS_TEMPLATE);
}

/* Returns the object of an entry of CLASS_TEMPLATE or CLASS_SETTING; else NULL. */
static inline const struct template *entry_template_or_setting(const struct entry *e)
{
    return e && entry_class(e) == CLASS_SETTING ? entry_object(e) : entry_template(e);
}

static inline const struct policy *entry_policy(const struct entry *e)
{
    return object_of_class(e, CLASS_POLICY);
}

static inline const struct binding *entry_binding(const struct entry *e)
{
    return object_of_class(e, CLASS_BINDING);
}

static inline const struct override *entry_override(const struct entry *e)
{
    return object_of_class(e, CLASS_OVERRIDE);
}

static inline const struct cluster *entry_cluster(const struct entry *e)
{
    return object_of_class(e, CLASS_CLUSTER);
}

static inline const struct event *entry_event(const struct entry *e)
{
    return object_of_class(e, CLASS_EVENT);
}

static inline const struct lease *entry_lease(const struct entry *e)
{
    return object_of_class(e, CLASS_LEASE);
}

static inline const struct federated_quota *entry_quota(const struct entry *e)
{
    return object_of_class(e, CLASS_QUOTA);
}

static inline const struct work *entry_work(const struct entry *e)
{
    return object_of_class(e, CLASS_WORK);
}
