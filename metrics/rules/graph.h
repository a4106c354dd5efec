/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/store.h"

/*
 * Dependencies between entries, queues of marked entries, and timers. An entry is a reader of each
 * entry that its decision depends on. Marked entries wait in queues by rank until the engine
 * evaluates them. A timer marks its entry at a given time. Each entry is in at most one queue and
 * has at most one timer.
 */
struct graph;

/* Ranks are 0 to GRAPH_RANKS - 1; marked entries of a lower rank are evaluated first. */
enum { GRAPH_RANKS = 4 };

/* Returns a new graph. `rank` returns the rank of an entry, always the same for one entry. */
struct graph *graph_new(struct store *store, unsigned (*rank)(const struct entry *entry)) MUST_USE;
/* Frees the graph, but not the reads and readers of entries: store_free() does. Accepts NULL. */
void graph_free(struct graph *g);

/*
 * Sets the cause that following marks store: a number below 128 that the caller defines. An entry
 * marked for several causes keeps the smallest number. graph_next() sets the cause to that of the
 * returned entry, so that marks made during its evaluation inherit this cause.
 */
void graph_set_cause(struct graph *g, unsigned cause);
unsigned graph_cause(const struct graph *g);

/* Marks an entry for evaluation. A marked entry keeps its place, but may get a smaller cause. */
void graph_mark(struct graph *g, struct entry *entry);
/* Marks the readers of an entry. */
void graph_mark_readers(struct graph *g, const struct entry *entry);
/* Marks the entries of a type that have an object, and the readers of the other entries. */
void graph_mark_type(struct graph *g, const struct type *type);
/* Calls graph_mark_type() for every type of a class. */
void graph_mark_class(struct graph *g, enum object_class class);

/*
 * Unmarks and returns the next entry, by rank, then by time of marking; NULL without a marked
 * entry.
 */
struct entry *graph_next(struct graph *g) MUST_USE;
/* Returns true if no entry is marked. */
bool graph_is_done(const struct graph *g);

/* Returns true if graph_set_reads() with this list would change reader->reads or their order. */
bool graph_reads_differ(const struct entry *reader, const struct entry_list *reads);
/*
 * Replaces the entries that `reader` reads, in the order of the list; duplicates are ignored. Calls
 * store_free_if_unused() for the entries that `reader` no longer reads.
 */
void graph_set_reads(struct graph *g, struct entry *reader, const struct entry_list *reads);

/* Sets the entry's timer, which marks the entry at `due_ms`; INT64_MAX removes the timer. */
void graph_set_timer(struct graph *g, struct entry *entry, int64_t due_ms);
/* Calls graph_set_timer() if the entry has no timer, or a later one. */
void graph_lower_timer(struct graph *g, struct entry *entry, int64_t due_ms);
/*
 * Marks the entries of all timers that are due. These timers stay until the engine calls
 * graph_set_timer(), as it does after each evaluation; graph_deadline() ignores them.
 */
void graph_mark_due_entries(struct graph *g, int64_t now_ms);
/*
 * Returns the time at which to call graph_mark_due_entries(): that of the next timer, or an earlier
 * time if a timer was removed or moved. Returns INT64_MAX for never.
 */
int64_t graph_deadline(const struct graph *g);
