/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/kube_source.h"
#include "tests/sim/wire.h"
#include "tests/unit/page.h"

/*
 * One run of the simulation: the exporter's source, store, engine and series against the API
 * servers of a plan. The run begins before the exporter's start. It ends long after the storm, the
 * period of writes and faults, or when an invariant fails. The result depends on the plan alone.
 */

struct verdict {
    const char *invariant; /* First invariant that failed; NULL: all hold. */
    int64_t at_ms;         /* Time of the failure. */
    char text[1024];       /* Description of the failure. */
    uint64_t hash;         /* Hash of all requests and responses, and of the last page. */
    uint64_t requests;
    uint64_t strikes; /* Number of times that a fault took effect. */
    uint64_t steps;
    uint64_t pages;   /* Pages compared with those of a fresh exporter. */
    uint64_t partial; /* Pages compared while some kind was unread. */
    uint64_t silent;  /* Restores that only the exporter's audit may detect. */
    int64_t virtual_ms;
    int64_t ready_ms;     /* Time from the exporter's start until it is ready; -1: never ready. */
    int64_t converged_ms; /* Time from the storm's end until the store last differed. */
    unsigned busiest;     /* Highest number of requests for one target between two checks. */
};

/*
 * Interval of the exporter's audits: longer than any other recovery, so that an audit does not
 * conceal a defect in the recovery.
 */
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
    struct rng rng; /* Random choices of the main loop. */
    int64_t now_ms;
    size_t next_write;
    bool begun[PLAN_FAULTS_MAX];
    bool ended[PLAN_FAULTS_MAX];
    int64_t audit_ms;  /* Time of the next check of the invariants. */
    int64_t page_ms;   /* Time of the next scrape. */
    int64_t silent_ms; /* Last restore when the store had no object of an undone change; 0: none. */
    int64_t differed_ms; /* Last check after the storm with a wrong store, else the storm's end. */
    uint64_t requests[SIM_TARGET_COUNT]; /* wire.requests at the last check. */
    /* End of each fault's effects on each target; 0: not affected. */
    int64_t sick_ms[SIM_TARGET_COUNT][PLAN_FAULTS_MAX];
    struct verdict *verdict;
};

/* Plays the plan. `noisy` prints requests, responses and the exporter's debug log on stderr. */
void run_play(const struct plan *plan, bool noisy, struct verdict *out);

/* Returns the virtual wall clock, in milliseconds since the epoch. */
int64_t run_clock_ms(const struct run *r);

/* Records that an invariant failed, which ends the run. Later calls have no effect. */
void run_fail(struct run *r, const char *invariant, const char *fmt, ...) PRINTF_LIKE(3, 4);
