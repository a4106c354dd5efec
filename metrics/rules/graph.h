/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/entry_list.h"

/*
 * What has to be looked at again: entries that something marked, entries that read one that
 * changed, and entries whose time has come. It knows no kind of object; what a look finds out
 * is the engine's.
 *
 * An entry that read others to reach its decision is one of their readers. Each entry is in
 * one queue at most, and has one timer at most; both live in the entry itself.
 */
struct graph;

/* Entries of a lower rank are looked at first, because those of a higher one read their decisions.
 */
enum { GRAPH_RANKS = 4 };

/* `rank` answers below GRAPH_RANKS, and the same for an entry as long as it lives. */
struct graph *graph_new(struct store *store, unsigned (*rank)(const struct entry *entry)) MUST_USE;
/* Takes NULL. What it wrote into the entries stays there: the store goes next. */
void graph_free(struct graph *g);

/* Look at this entry again. */
void graph_mark(struct graph *g, struct entry *entry);
/* And at all who read it. */
void graph_mark_readers(struct graph *g, const struct entry *entry);
/* At all entries of a type; of those without an object, at their readers. */
void graph_mark_type(struct graph *g, const struct type *type);
/* At all entries of a class, in the same way. */
void graph_mark_class(struct graph *g, enum object_class class);

/* The next marked entry, no longer marked; NULL if none is left. */
struct entry *graph_next(struct graph *g) MUST_USE;
bool graph_is_done(const struct graph *g);

/* False if graph_set_reads with the same list would change nothing. */
bool graph_reads_differ(const struct entry *reader, const struct entry_list *reads);
/*
 * From now on `reader` reads exactly these entries, in this order, repetitions aside. Entries
 * that nobody reads any more and that have no object are let go.
 */
void graph_set_reads(struct graph *g, struct entry *reader, const struct entry_list *reads);

/* Look at the entry again at `due_ms`, and at no other time; INT64_MAX for never. */
void graph_set_timer(struct graph *g, struct entry *entry, int64_t due_ms);
/* Mark the entries whose time has come. */
void graph_wake(struct graph *g, int64_t now_ms);
/* Not later than the earliest timer; INT64_MAX without any. */
int64_t graph_deadline(const struct graph *g);
