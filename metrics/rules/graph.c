/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/graph.h"

#include "metrics/base/handle_map.h"

enum { QUEUE_KEPT = 1024 }; /* Largest capacity that an empty queue keeps. */

/* Marked entries in the order of marking: items[first] to items[end - 1]. */
struct queue {
    struct entry **items;
    size_t first;
    size_t end;
    size_t capacity;
};

struct timer {
    int64_t due_ms;
    pool_handle entry;
};

struct graph {
    struct store *store;
    unsigned (*rank)(const struct entry *entry);
    struct queue queues[GRAPH_RANKS];
    struct handle_map timers; /* By entry. */
    int64_t deadline_ms;      /* Earliest time at which a timer may be due. */
    unsigned cause : 7;       /* Cause that graph_mark() stores. */
};

static bool timer_equals(const void *item, const void *key)
{
    return ((const struct timer *)item)->entry == *(const pool_handle *)key;
}

struct graph *graph_new(struct store *store, unsigned (*rank)(const struct entry *entry))
{
    struct graph *g = xcalloc(1, sizeof(*g));

    g->store = store;
    g->rank = rank;
    g->timers = HANDLE_MAP_INIT(intern_memory(store_string_pool(store)), timer_equals);
    g->deadline_ms = INT64_MAX;
    return g;
}

void graph_free(struct graph *g)
{
    struct timer *timer;

    if (!g)
        return;
    for (uint64_t at = 0; (timer = handle_map_next(&g->timers, &at));) {
        ((struct entry *)pool_beside(timer, timer->entry))->timed = false;
        pool_free(timer);
    }
    handle_map_release(&g->timers);
    for (unsigned i = 0; i < GRAPH_RANKS; i++)
        free(g->queues[i].items);
    free(g);
}

/* ---- marked entries ---- */

void graph_set_cause(struct graph *g, unsigned cause)
{
    g->cause = cause & 0x7f;
}

unsigned graph_cause(const struct graph *g)
{
    return g->cause;
}

void graph_mark(struct graph *g, struct entry *entry)
{
    struct queue *queue;

    if (entry->dirty) {
        if (g->cause < entry->cause)
            entry->cause = g->cause;
        return;
    }
    queue = &g->queues[g->rank(entry)];
    entry->dirty = true;
    entry->cause = g->cause;
    if (queue->end == queue->capacity && queue->first > queue->capacity / 2) {
        /* Reuse the space of removed items: a queue that never runs empty must stay bounded. */
        queue->end -= queue->first;
        memmove(queue->items, queue->items + queue->first, queue->end * sizeof(struct entry *));
        queue->first = 0;
    } else if (queue->end == queue->capacity) {
        queue->capacity = queue->capacity ? 2 * queue->capacity : 64;
        queue->items = xreallocarray(queue->items, queue->capacity, sizeof(struct entry *));
    }
    queue->items[queue->end++] = entry;
}

void graph_mark_readers(struct graph *g, const struct entry *entry)
{
    for (uint32_t i = 0; i < entry_reader_count(entry); i++)
        graph_mark(g, entry_reader(entry, i));
}

void graph_mark_type(struct graph *g, const struct type *type)
{
    for (const struct partition *p = type->partitions; p; p = p->next_of_type) {
        for (size_t i = 0; i < p->count; i++) {
            struct entry *entry = partition_entry(p, i);

            if (entry_exists(entry))
                graph_mark(g, entry);
            else
                graph_mark_readers(g, entry);
        }
    }
}

void graph_mark_class(struct graph *g, enum object_class class)
{
    for (const struct type *type = store_first_type(g->store); type; type = type->next) {
        if (type->def->class == class)
            graph_mark_type(g, type);
    }
}

/* Resets an empty queue, and frees its memory if larger than QUEUE_KEPT, as after a first load. */
static void reset_empty_queue(struct queue *queue)
{
    queue->first = queue->end = 0;
    if (queue->capacity <= QUEUE_KEPT)
        return;
    free(queue->items);
    *queue = (struct queue){0};
}

struct entry *graph_next(struct graph *g)
{
    for (unsigned i = 0; i < GRAPH_RANKS; i++) {
        struct queue *queue = &g->queues[i];
        struct entry *entry;

        if (queue->first == queue->end)
            continue;
        entry = queue->items[queue->first++];
        entry->dirty = false;
        entry_partition(entry)->begun = true;
        g->cause = entry->cause;
        if (queue->first == queue->end)
            reset_empty_queue(queue);
        return entry;
    }
    return NULL;
}

bool graph_is_done(const struct graph *g)
{
    for (unsigned i = 0; i < GRAPH_RANKS; i++) {
        if (g->queues[i].first < g->queues[i].end)
            return false;
    }
    return true;
}

/* ---- readers ---- */

/*
 * Returns the number of readers for which the cell of `count` readers has room: without a reader 0,
 * else up to an eighth more. A cell has an even number of 32-bit words, one of them the count.
 */
static uint32_t readers_capacity(uint32_t count)
{
    uint32_t step = 2;

    while (step * 16 <= count)
        step *= 2;
    return count > 0 ? (count / step + 1) * step - 1 : 0;
}

/* Appends a reader and returns its index. */
static uint32_t add_reader(struct entry *read, const struct entry *reader)
{
    struct entry_readers *readers = pool_beside(read, read->readers);
    uint32_t count = readers ? readers->count : 0;

    /* After removals the cell has more room than the capacity of its count. */
    if (count == readers_capacity(count)) {
        size_t room = readers_capacity(count + 1) * sizeof(*readers->entries);

        readers = pool_resize(pool_of(read), readers, sizeof(*readers) + room);
        read->readers = pool_handle_of(readers);
    }
    readers->entries[count] = pool_handle_of(reader);
    readers->count = count + 1;
    return count;
}

/* Removes the reader at `position`. The last reader takes this position in array and edge. */
static void remove_reader(struct entry *read, uint32_t position)
{
    struct entry_readers *readers = pool_beside(read, read->readers);
    uint32_t last = --readers->count;

    if (position < last) {
        const struct entry *moved = pool_beside(read, readers->entries[last]);
        struct entry_reads *reads = pool_beside(moved, moved->reads);
        pool_handle handle = pool_handle_of(read);

        readers->entries[position] = readers->entries[last];
        for (uint32_t i = 0; i < reads->count; i++) {
            if (reads->edges[i].read == handle)
                reads->edges[i].position = position;
        }
    }
    if (last == 0) {
        pool_free(readers);
        read->readers = 0;
    }
}

static bool edges_contain(const struct edge *edges, size_t count, pool_handle read)
{
    for (size_t i = 0; i < count; i++) {
        if (edges[i].read == read)
            return true;
    }
    return false;
}

bool graph_reads_differ(const struct entry *reader, const struct entry_list *list)
{
    const struct entry_reads *reads = pool_beside(reader, reader->reads);
    uint32_t count = reads ? reads->count : 0, at = 0;

    /* The edges have the order of the list, without its duplicates. */
    for (size_t i = 0; i < list->count; i++) {
        pool_handle read = pool_handle_of(list->items[i]);

        if (at < count && reads->edges[at].read == read)
            at++;
        else if (at == 0 || !edges_contain(reads->edges, at, read))
            return true;
    }
    return at != count;
}

/* Makes `reader` a reader of the entries of the list. Returns its edges; NULL for an empty list. */
static struct entry_reads *add_edges(const struct entry *reader, const struct entry_list *list)
{
    size_t size = sizeof(struct entry_reads) + list->count * sizeof(struct edge);
    struct entry_reads *reads = NULL;

    if (list->count == 0)
        return NULL;
    reads = pool_alloc(pool_of(reader), size);
    reads->count = 0;
    for (size_t i = 0; i < list->count; i++) {
        struct entry *read = list->items[i];
        pool_handle handle = pool_handle_of(read);

        if (!edges_contain(reads->edges, reads->count, handle))
            reads->edges[reads->count++] = (struct edge){handle, add_reader(read, reader)};
    }
    size = sizeof(*reads) + reads->count * sizeof(struct edge);
    return pool_resize(pool_of(reader), reads, size);
}

void graph_set_reads(struct graph *g, struct entry *reader, const struct entry_list *list)
{
    struct entry_reads *old = pool_beside(reader, reader->reads), *reads;
    uint32_t old_count = old ? old->count : 0;

    for (uint32_t i = 0; i < old_count; i++)
        remove_reader(pool_beside(reader, old->edges[i].read), old->edges[i].position);
    reads = add_edges(reader, list);
    reader->reads = pool_handle_of(reads);
    for (uint32_t i = 0; i < old_count; i++) {
        if (!reads || !edges_contain(reads->edges, reads->count, old->edges[i].read))
            store_free_if_unused(g->store, pool_beside(reader, old->edges[i].read));
    }
    pool_free(old);
}

/* ---- timers ---- */

static uint64_t hash_handle(pool_handle entry)
{
    return map_hash(&entry, sizeof(entry), 0);
}

/* Returns the timer of an entry, or NULL. */
static struct timer *find_timer(const struct graph *g, const struct entry *entry)
{
    pool_handle handle = pool_handle_of(entry);

    return entry->timed ? handle_map_get(&g->timers, hash_handle(handle), &handle) : NULL;
}

void graph_set_timer(struct graph *g, struct entry *entry, int64_t due_ms)
{
    struct timer *timer = find_timer(g, entry);
    pool_handle handle = pool_handle_of(entry);

    if (due_ms == INT64_MAX) {
        if (timer)
            pool_free(handle_map_take(&g->timers, hash_handle(handle), &handle));
        entry->timed = false;
        return;
    }
    if (!timer) {
        timer = pool_alloc(pool_of(entry), sizeof(*timer));
        timer->entry = handle;
        handle_map_add(&g->timers, hash_handle(handle), timer);
        entry->timed = true;
    }
    timer->due_ms = due_ms;
    if (due_ms < g->deadline_ms)
        g->deadline_ms = due_ms;
}

void graph_lower_timer(struct graph *g, struct entry *entry, int64_t due_ms)
{
    const struct timer *timer = find_timer(g, entry);

    if (!timer || due_ms < timer->due_ms)
        graph_set_timer(g, entry, due_ms);
}

void graph_mark_due_entries(struct graph *g, int64_t now_ms)
{
    int64_t next = INT64_MAX;
    const struct timer *timer;

    if (now_ms < g->deadline_ms)
        return;
    for (uint64_t at = 0; (timer = handle_map_next(&g->timers, &at));) {
        if (timer->due_ms <= now_ms)
            graph_mark(g, pool_beside(timer, timer->entry));
        else if (timer->due_ms < next)
            next = timer->due_ms;
    }
    g->deadline_ms = next;
}

int64_t graph_deadline(const struct graph *g)
{
    return g->deadline_ms;
}
