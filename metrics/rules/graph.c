/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/graph.h"

enum { QUEUE_KEPT = 1024 }; /* Largest capacity that an empty queue keeps. */

/* Marked entries in the order of marking: items[first] to items[end - 1]. */
struct queue {
    struct entry **items;
    size_t first;
    size_t end;
    size_t capacity;
};

struct timer {
    struct entry *entry;
    int64_t due_ms;
};

struct graph {
    struct store *store;
    unsigned (*rank)(const struct entry *entry);
    struct queue queues[GRAPH_RANKS];
    struct timer *timers; /* Unordered; entry->timer is the 1-based index. */
    size_t timer_count;
    size_t timer_capacity;
    int64_t deadline_ms; /* Earliest time at which a timer may be due. */
    unsigned cause : 7;  /* Cause that graph_mark() stores. */
};

struct graph *graph_new(struct store *store, unsigned (*rank)(const struct entry *entry))
{
    struct graph *g = xcalloc(1, sizeof(*g));

    g->store = store;
    g->rank = rank;
    g->deadline_ms = INT64_MAX;
    return g;
}

void graph_free(struct graph *g)
{
    if (!g)
        return;
    for (unsigned i = 0; i < GRAPH_RANKS; i++)
        free(g->queues[i].items);
    free(g->timers);
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
 * Appends a reader and returns its index. The array has room for the lowest power of two from the
 * number of readers on, and after removals for at least that.
 */
static uint32_t add_reader(struct entry *read, struct entry *reader)
{
    uint32_t count = read->reader_count;

    if ((count & (count - 1)) == 0)
        read->readers =
            xreallocarray(read->readers, count > 0 ? 2 * (size_t)count : 1, sizeof(struct entry *));
    read->readers[read->reader_count++] = reader;
    return count;
}

/* Removes the reader at `position`. The last reader takes this position in array and edge. */
static void remove_reader(struct entry *read, uint32_t position)
{
    uint32_t last = --read->reader_count;
    struct entry *moved = read->readers[last];

    if (position == last)
        return;
    read->readers[position] = moved;
    for (uint32_t i = 0; i < moved->read_count; i++) {
        if (moved->reads[i].read == read)
            moved->reads[i].position = position;
    }
}

static bool edges_contain(const struct edge *edges, size_t count, const struct entry *read)
{
    for (size_t i = 0; i < count; i++) {
        if (edges[i].read == read)
            return true;
    }
    return false;
}

bool graph_reads_differ(const struct entry *reader, const struct entry_list *reads)
{
    uint32_t at = 0;

    /* The edges have the order of the list, without its duplicates. */
    for (size_t i = 0; i < reads->count; i++) {
        if (at < reader->read_count && reader->reads[at].read == reads->items[i])
            at++;
        else if (!edges_contain(reader->reads, at, reads->items[i]))
            return true;
    }
    return at != reader->read_count;
}

void graph_set_reads(struct graph *g, struct entry *reader, const struct entry_list *reads)
{
    struct edge *old = reader->reads;
    uint32_t old_count = reader->read_count;

    for (uint32_t i = 0; i < old_count; i++)
        remove_reader(old[i].read, old[i].position);
    reader->reads = reads->count ? xreallocarray(NULL, reads->count, sizeof(struct edge)) : NULL;
    reader->read_count = 0;
    for (size_t i = 0; i < reads->count; i++) {
        struct entry *read = reads->items[i];

        if (edges_contain(reader->reads, reader->read_count, read))
            continue;
        uint32_t position = add_reader(read, reader);
        reader->reads[reader->read_count++] = (struct edge){read, position};
    }
    for (uint32_t i = 0; i < old_count; i++) {
        if (!edges_contain(reader->reads, reader->read_count, old[i].read))
            store_free_if_unused(g->store, old[i].read);
    }
    free(old);
}

/* ---- timers ---- */

void graph_set_timer(struct graph *g, struct entry *entry, int64_t due_ms)
{
    if (entry->timer == 0 && due_ms == INT64_MAX)
        return;
    if (due_ms == INT64_MAX) {
        /* The last timer moves into the gap. */
        struct timer last = g->timers[--g->timer_count];

        g->timers[entry->timer - 1] = last;
        last.entry->timer = entry->timer;
        entry->timer = 0;
        return;
    }
    if (entry->timer == 0) {
        if (g->timer_count == g->timer_capacity) {
            g->timer_capacity = g->timer_capacity ? 2 * g->timer_capacity : 64;
            g->timers = xreallocarray(g->timers, g->timer_capacity, sizeof(*g->timers));
        }
        entry->timer = (uint32_t)++g->timer_count;
    }
    g->timers[entry->timer - 1] = (struct timer){entry, due_ms};
    if (due_ms < g->deadline_ms)
        g->deadline_ms = due_ms;
}

void graph_lower_timer(struct graph *g, struct entry *entry, int64_t due_ms)
{
    if (entry->timer == 0 || due_ms < g->timers[entry->timer - 1].due_ms)
        graph_set_timer(g, entry, due_ms);
}

void graph_mark_due_entries(struct graph *g, int64_t now_ms)
{
    int64_t next = INT64_MAX;

    if (now_ms < g->deadline_ms)
        return;
    for (size_t i = 0; i < g->timer_count; i++) {
        if (g->timers[i].due_ms <= now_ms)
            graph_mark(g, g->timers[i].entry);
        else if (g->timers[i].due_ms < next)
            next = g->timers[i].due_ms;
    }
    g->deadline_ms = next;
}

int64_t graph_deadline(const struct graph *g)
{
    return g->deadline_ms;
}
