/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/store.h"

/*
 * Which entries have to be evaluated again: the marked ones, in queues by rank; which entry
 * reads which; and timers that mark an entry at a time. The graph knows no class of objects and
 * evaluates nothing: that is the engine's part.
 *
 * An entry that reads others to reach its decision is one of their readers. Each entry is in at
 * most one queue and has at most one timer; the links are in the entry itself, so that marking
 * allocates nothing.
 */
struct graph;

/* Ranks are 0 to GRAPH_RANKS - 1; marked entries of a lower rank come first. */
enum { GRAPH_RANKS = 4 };

/* `rank` answers the rank of an entry, always the same for one entry. Never NULL. */
struct graph *graph_new(struct store *store, unsigned (*rank)(const struct entry *entry)) MUST_USE;
/* Takes NULL. The entries are not touched: free the store after the graph. */
void graph_free(struct graph *g);

/*
 * Whatever is marked from now on is marked for this reason, a number below 128 that only the caller
 * understands; of several the smallest counts. graph_next() makes it that of what it returns, so
 * that a reason is handed on.
 */
void graph_set_cause(struct graph *g, unsigned cause);
unsigned graph_cause(const struct graph *g);

/* Mark an entry: it has to be evaluated again. Marking it twice is marking it once. */
void graph_mark(struct graph *g, struct entry *entry);
/* Mark the readers of an entry. */
void graph_mark_readers(struct graph *g, const struct entry *entry);
/* Mark every entry of a type that has an object; of one without, its readers. */
void graph_mark_type(struct graph *g, const struct type *type);
/* The same for every type of a class. */
void graph_mark_class(struct graph *g, enum object_class class);

/* Unmark the next entry (lowest rank, then longest marked) and return it; NULL if none is left. */
struct entry *graph_next(struct graph *g) MUST_USE;
/* True if no entry is marked. */
bool graph_is_done(const struct graph *g);

/* True if graph_set_reads() with this list would change what `reader` reads. */
bool graph_reads_differ(const struct entry *reader, const struct entry_list *reads);
/*
 * From now on `reader` reads these entries and no others, in the order of the list, each once.
 * Entries that it no longer reads are tidied (store_tidy).
 */
void graph_set_reads(struct graph *g, struct entry *reader, const struct entry_list *reads);

/* Replace the entry's timer: it is marked at `due_ms`, INT64_MAX for never. */
void graph_set_timer(struct graph *g, struct entry *entry, int64_t due_ms);
/*
 * Mark the entries whose time has come. Their timers stay until graph_set_timer() replaces
 * them: the evaluation that follows does.
 */
void graph_wake(struct graph *g, int64_t now_ms);
/* When graph_wake() is due: never later than the next timer; INT64_MAX without any. */
int64_t graph_deadline(const struct graph *g);
