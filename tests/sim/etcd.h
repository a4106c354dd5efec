/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/sim/objects.h"

/*
 * What the API servers of the simulation keep their objects in: the objects as they are, and a
 * log of all changes, of which the old ones are forgotten when it is compacted. Restoring it from
 * a snapshot takes changes back, and their versions are given away again.
 */
struct change {
    uint64_t version;
    int64_t at_ms;
    unsigned slot;
    const char *type; /* ADDED, MODIFIED or DELETED. */
    struct cell cell; /* As it is then; of what was deleted, its last state. */
};

struct etcd {
    struct cell cells[SIM_SLOTS];
    struct change *log;
    size_t count;
    size_t capacity;
    uint64_t version;
    uint64_t compacted;    /* Changes up to here are forgotten. */
    unsigned epoch;        /* How often it was restored. */
    uint32_t incarnations; /* Of objects, so far: each has a uid of its own. */
};

enum { ETCD_FIRST_VERSION = 100 };

void etcd_init(struct etcd *e);
void etcd_release(struct etcd *e);

/* Write an object, or remove it; one that is not there cannot be removed. */
void etcd_put(struct etcd *e, unsigned slot, uint32_t value, uint32_t padding, int64_t now_ms);
void etcd_remove(struct etcd *e, unsigned slot, int64_t now_ms);

/* Forget the changes up to the log's position `upto`. */
void etcd_compact(struct etcd *e, size_t upto);

/* Go back to where it was when the log had `count` changes. What changed by that was written now.
 */
void etcd_restore(struct etcd *e, size_t count, int64_t now_ms);

/* The version when the log had `count` changes. */
uint64_t etcd_version_at(const struct etcd *e, size_t count);
/* How many changes it had at that version. */
size_t etcd_count_at(const struct etcd *e, uint64_t version);

/* The objects of a kind when the log had `count` changes, by place. */
void etcd_kind_at(const struct etcd *e, enum sim_kind kind, size_t count,
                  struct cell out[static SIM_PLACES]);
