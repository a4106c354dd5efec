/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/kube_source.h"
#include "tests/unit/fake_api.h"
#include "tests/unit/world.h"

/* The time since the epoch when the steady clock is at 0, and where the steady one begins. */
#define FOLLOW_CLOCK_OFFSET_MS INT64_C(1767225600000)
enum { FOLLOW_START_MS = 1000 };

/*
 * A source, the fake API server that it follows, and the world that it reads into. Time stands
 * still but for follow_pass(), or where the test moves api.now_ms. The lab must stay where it was
 * initialized: its parts point to each other.
 */
struct follow_lab {
    struct fake_api api;
    struct world world;
    struct namespace_filter filter; /* All namespaces. A test may set it before the start, */
    struct transport transport;     /* and put one of its own before this one, the server's. */
    struct log log;                 /* Errors only, to stderr. */
    bool references;                /* As of struct kube_settings. */
    struct kube_source *source;     /* NULL before the start. */
    /* Called after each turn of the source and before the server's; NULL: nothing is. */
    void (*disturb)(struct fake_api *api);
};

/* An empty world and a server without objects, whose choices are the seed's; no source yet. */
void follow_init(struct follow_lab *lab, uint32_t seed);

/* Make the source, with streaming lists and without audits. It asks nothing before a turn. */
void follow_start(struct follow_lab *lab);

/*
 * Both, for a server with a few random policies and ConfigMaps, which may have bookmarks and
 * streaming lists, as the seed says; the test fails unless all has been read within ten seconds.
 * The first object has all ConfigMaps watched, and follow_write() never changes it.
 * `audit_interval_ms` is that of struct kube_settings, 0 for no audits.
 */
void follow_start_synced(struct follow_lab *lab, uint32_t seed, int64_t audit_interval_ms);

/* End the source, if any, and free what the lab holds; fails if a request outlives the source. */
void follow_release(struct follow_lab *lab);

/* Everything that happens at this moment; fails if that has no end. */
void follow_settle(struct follow_lab *lab);

/* Let time pass, from one thing that is due to the next, in steps of ten seconds at most. */
void follow_pass(struct follow_lab *lab, int64_t ms);

/* Write a policy of namespace "a" that selects ConfigMaps, with a priority that the value says. */
void follow_put_policy(struct follow_lab *lab, const char *name, unsigned value);

/* Write a ConfigMap of namespace "a". */
void follow_put_map(struct follow_lab *lab, const char *name, unsigned value);

/* Remove the first object of this kind and name, whatever its namespace; fails if there is none. */
void follow_remove(struct follow_lab *lab, enum fake_kind kind, const char *name);

/* Write or remove so many random policies and ConfigMaps, one after the other, at this moment. */
void follow_write(struct follow_lab *lab, unsigned count);

/* How many objects the store has otherwise than the server: only policies and ConfigMaps count. */
unsigned follow_count_wrong(const struct follow_lab *lab);

/* How many lists the watches of all kinds have counted; a kind that goes takes its own with it. */
uint64_t follow_count_lists(const struct follow_lab *lab);
