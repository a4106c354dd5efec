/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/sim/objects.h"

/*
 * Storage of the simulated API servers: the current objects and a log of all changes. Watches and
 * continued lists cannot start below the compacted version. A restore from a snapshot undoes
 * changes, and later changes use the same versions again.
 */

struct change {
    uint64_t version;
    int64_t at_ms;
    unsigned slot;
    const char *type; /* ADDED, MODIFIED or DELETED. */
    struct cell cell; /* State after the change; last state of a deleted object, with `version`. */
};

struct etcd {
    struct cell cells[SIM_SLOTS];
    struct change *log;
    size_t count;
    size_t capacity;
    uint64_t version;
    uint64_t compacted;    /* Changes up to this version are compacted. */
    unsigned epoch;        /* Number of restores. */
    uint32_t incarnations; /* Number of objects created so far; makes uids unique. */
};

enum { ETCD_FIRST_VERSION = 100 };

void etcd_init(struct etcd *e);
void etcd_release(struct etcd *e);

/* Creates or updates the object of a slot. */
void etcd_put(struct etcd *e, unsigned slot, uint32_t value, uint32_t padding, int64_t now_ms);
/* Removes the object of a slot, if it exists. */
void etcd_remove(struct etcd *e, unsigned slot, int64_t now_ms);

/* Compacts the first `upto` changes of the log. Compacted changes stay compacted. */
void etcd_compact(struct etcd *e, size_t upto);

/*
 * Restores the objects as they were after the first `count` changes, without padding. Compacts
 * those changes, and removes the later ones from the log. Sets written_ms to `now_ms` in each slot
 * with another object or version than before.
 */
void etcd_restore(struct etcd *e, size_t count, int64_t now_ms);

/* Returns the version after the first `count` changes of the log. */
uint64_t etcd_version_at(const struct etcd *e, size_t count);
/* Returns the number of changes up to the version. */
size_t etcd_count_at(const struct etcd *e, uint64_t version);

/* Writes the objects of a kind after the first `count` changes, in the order of their slots. */
void etcd_kind_at(const struct etcd *e, enum sim_kind kind, size_t count,
                  struct cell out[static SIM_PLACES]);
