/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/kube_source.h"
#include "tests/sim/wire.h"
#include "tests/unit/page.h"

/*
 * One run of the simulation: the exporter's source, store, engine and series against the API
 * servers of a plan, from before the exporter's start until long after the storm. Nothing in it
 * depends on anything but the plan.
 */
struct verdict {
    const char *invariant; /* The first that did not hold; NULL: all did. */
    int64_t at_ms;
    char text[1024];
    uint64_t hash;     /* Of all that went over the wire, and of the last page. */
    uint64_t requests; /* And other figures, for people. */
    uint64_t strikes;
    uint64_t steps;
    uint64_t pages;   /* Compared with fresh ones, */
    uint64_t partial; /* some of them without kinds that had not been read. */
    uint64_t silent;  /* Restores that the audit alone may find. */
    int64_t virtual_ms;
    int64_t ready_ms;     /* After the start; -1: never. */
    int64_t converged_ms; /* After the storm: from when on the store was the servers'. */
    unsigned busiest;     /* Requests for one kind in one second, at most. */
};

/* Longer than anything else may take, so that the audits take nothing from what they come after. */
enum { RUN_AUDIT_INTERVAL_MS = 30 * 60 * 1000 };

struct run {
    const struct plan *plan;
    struct api api;
    struct wire wire;
    struct world world;
    struct registry *registry;
    struct namespace_filter filter;
    struct log log;
    struct kube_source *source;
    struct rng rng; /* Of what the exporter does by itself. */
    int64_t now_ms;
    size_t next_write;
    bool begun[PLAN_FAULTS_MAX];
    bool ended[PLAN_FAULTS_MAX];
    int64_t audit_ms; /* When the invariants are looked at next. */
    int64_t page_ms;
    int64_t silent_ms; /* When a restore last undid nothing that was known (newest.h); 0: never. */
    int64_t differed_ms; /* When the store was last seen to differ from the servers. */
    uint64_t requests[SIM_TARGET_COUNT];                /* At the last audit. */
    int64_t sick_ms[SIM_TARGET_COUNT][PLAN_FAULTS_MAX]; /* See grace.c. */
    struct verdict *verdict;
};

/* `noisy`: the exporter's log goes to stderr. */
void run_play(const struct plan *plan, bool noisy, struct verdict *out);

int64_t run_clock_ms(const struct run *r);

/* An invariant does not hold. Only the first counts. */
void run_fail(struct run *r, const char *invariant, const char *fmt, ...) PRINTF_LIKE(3, 4);
