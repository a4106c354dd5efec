/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/serve/own_health.h"
#include "exporter/system/log.h"
#include "exporter/web/metrics_page.h"
#include "metrics/base/base.h"
#include "metrics/expose/registry.h"

/*
 * Decides when a page is due. All times are steady milliseconds.
 *
 * - The first change after a quiet time makes the page due at once.
 * - While changes go on, the interval of pages is five times the processor time of the last page,
 *   but at least `shortest_ms` and at most `longest_ms`.
 * - In any case a page is due `refresh_ms` after the last one, because some values change without
 *   an event, for example processor time.
 */
struct throttle {
    int64_t shortest_ms;
    int64_t longest_ms; /* Takes precedence if it is below `shortest_ms`. */
    int64_t refresh_ms;
    int64_t interval_ms;  /* Minimum between pages with changes; from the cost of the last page. */
    int64_t changed_ms;   /* Time of the oldest unpublished change; 0 without one. */
    int64_t published_ms; /* Time of the last page with a change. */
    int64_t refreshed_ms; /* Time of the last page. */
};

/* Writes the pages that are due, on the loop thread, for the threads of the web server. */
struct publisher {
    struct page_store *page_store;   /* Pages that are served. Owned. */
    const struct log *log;           /* Borrowed. */
    struct metrics_page *metrics;    /* Last page of metrics; the next page reuses parts. Held. */
    struct registry *empty_registry; /* Shown before the first evaluation is complete. */
    struct throttle throttles[PAGE_COUNT];
    size_t lengths[PAGE_COUNT]; /* Bytes of the last pages; unused for metrics. */
};

/* `longest_ms` and `refresh_ms` are those of struct throttle. `log` is borrowed. */
void publisher_init(struct publisher *p, const struct log *log, int64_t longest_ms,
                    int64_t refresh_ms);
void publisher_release(struct publisher *p);

/* Records a change that all pages have to show. `now_ms` is steady here and below. */
void publisher_change(struct publisher *p, int64_t now_ms);

/* Returns the time at which the next page is due; may be in the past. */
int64_t publisher_due(const struct publisher *p);

/* Publishes the pages that are due. */
void publisher_turn(struct publisher *p, const struct health *health, int64_t now_ms);

/* Publishes every page, due or not. */
void publisher_all(struct publisher *p, const struct health *health);

/*
 * Saves memory near a limit of the resident memory: the registry then drops its detail families,
 * which have one series per object and are summed up in other families.
 */
struct memory_guard {
    uint64_t limit;                 /* Bytes; 0: no limit. */
    const struct registry *reduced; /* Registry that has dropped its detail families; or NULL. */
    int64_t checked_ms;
    int64_t reduced_ms;       /* When the families were last dropped. */
    uint64_t resident_before; /* Resident bytes at `reduced_ms`. */
    uint64_t freed; /* Resident bytes freed at `reduced_ms`, measured at the next check. */
    bool measured;  /* `freed` is valid. */
    bool warned;    /* Memory is nearly used up, which the log reports once. */
};

/*
 * Checks the memory, at most once a second, and drops or restores the detail families of `r`.
 * Returns true if the families of the page have changed. All objects must have been evaluated.
 * `now_ms` is steady.
 */
bool memory_guard_turn(struct memory_guard *g, struct registry *r, const struct log *log,
                       int64_t now_ms);

/* Used only by publisher.c and tests. */

/* Initializes a throttle. The first change makes a page due at once. */
void throttle_init(struct throttle *t, int64_t shortest_ms, int64_t longest_ms, int64_t refresh_ms);
/* Records a change. */
void throttle_change(struct throttle *t, int64_t now_ms);
/* Returns the time at which the next page is due; may be in the past. */
int64_t throttle_deadline(const struct throttle *t);
/*
 * Records that a page was published, which took `cost_us` microseconds of processor time. Returns
 * how long its oldest change waited, in milliseconds; 0 without a change.
 */
int64_t throttle_publish(struct throttle *t, int64_t cost_us, int64_t now_ms);

enum memory_action { MEMORY_KEEP, MEMORY_SHED, MEMORY_RESTORE };

/*
 * Returns the action for the detail families of `r`, and records it as done. MEMORY_SHED: drop
 * them, if `resident` is 80 % of the limit or more. MEMORY_RESTORE: restore them, at least a minute
 * later, if the memory with them would be below 70 %. MEMORY_KEEP: neither.
 */
enum memory_action memory_guard_decide(struct memory_guard *g, const struct registry *r,
                                       uint64_t resident, int64_t now_ms);
