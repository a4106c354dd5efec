/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/kube_source.h"
#include "tests/unit/fake_api.h"
#include "tests/unit/world.h"

/* Time since the epoch when the steady clock is 0, and first time of the steady clock. */
#define FOLLOW_CLOCK_OFFSET_MS INT64_C(1767225600000)
enum { FOLLOW_START_MS = 1000 };

/*
 * A source, the fake API server that it watches, and the world that it writes to. The time changes
 * only in follow_pass(), or if the test sets api.now_ms. Do not move the struct after
 * follow_init(): its members point to each other.
 */
struct follow_lab {
    struct fake_api api;
    struct world world;
    struct namespace_filter filter; /* All namespaces, unless set before the start. */
    struct transport transport;     /* Transport of `api`, unless set before the start. */
    struct log log;                 /* Errors only, to stderr. */
    bool references;                /* See struct kube_source_settings. */
    struct kube_source *source;     /* NULL before the start. */
    /* Called between the turns of the source and of the server; may be NULL. */
    void (*disturb)(struct fake_api *api);
};

/* Initializes an empty world and a server without objects, both seeded, without a source. */
void follow_init(struct follow_lab *lab, uint32_t seed);

/*
 * Creates the source, with streaming lists and without audits. The source sends no request before
 * its first turn.
 */
void follow_start(struct follow_lab *lab);

/*
 * Initializes and starts with a server that has random policies and ConfigMaps. The seed decides
 * whether the server has bookmarks and streaming lists. Fails the test unless the source is ready
 * within ten seconds. The first object, a policy, selects all ConfigMaps, and follow_write() never
 * changes it. `audit_interval_ms` is a setting of the source; 0 disables audits.
 */
void follow_start_synced(struct follow_lab *lab, uint32_t seed, int64_t audit_interval_ms);

/* Frees the source, if any, and the members. Fails if a request outlives the source. */
void follow_release(struct follow_lab *lab);

/*
 * Runs source and server in turns, at the present time, until both are idle. Fails after 10,000
 * turns.
 */
void follow_settle(struct follow_lab *lab);

/*
 * Advances the time by `ms`, in steps to the next due time of the source, of at most ten seconds.
 */
void follow_pass(struct follow_lab *lab, int64_t ms);

/* Puts a policy in namespace "a" that selects ConfigMaps. `value` determines its priority. */
void follow_put_policy(struct follow_lab *lab, const char *name, unsigned value);

/* Puts a ConfigMap in namespace "a". */
void follow_put_map(struct follow_lab *lab, const char *name, unsigned value);

/*
 * Removes the first object with this kind and name, in any namespace. Fails without such an object.
 */
void follow_remove(struct follow_lab *lab, enum fake_kind kind, const char *name);

/* Puts or removes `count` random policies and ConfigMaps, at the present time. */
void follow_write(struct follow_lab *lab, unsigned count);

/*
 * Returns how many of the server's policies and templates the store lacks or has with another
 * value, plus 1 for each of these two classes with another number of objects.
 */
unsigned follow_count_wrong(const struct follow_lab *lab);

/* Returns the number of lists so far of all reflectors that the source has now. */
uint64_t follow_count_lists(const struct follow_lab *lab);
