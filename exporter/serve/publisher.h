/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/serve/own_health.h"
#include "exporter/system/log.h"
#include "exporter/web/metrics_page.h"
#include "metrics/base/base.h"
#include "metrics/expose/registry.h"
#include "metrics/rules/findings.h"

/*
 * Decides when a page is due. A change after a quiet time: at once. While changes go on: as
 * often as a fifth of a processor can write the page, at least `shortest_ms` and at most
 * `longest_ms` apart. So a single edit shows at once, and a storm of them does not cost more
 * than it is worth. Without changes: every `refresh_ms`, for the numbers that move by
 * themselves (processor time, requests). All times are steady milliseconds.
 */
struct throttle {
    int64_t shortest_ms;
    int64_t longest_ms; /* Wins if it is the shorter one. */
    int64_t refresh_ms;
    int64_t interval_ms;  /* Between pages with changes, from what the last page cost. */
    int64_t changed_ms;   /* Of the first change that is not published; 0 if there is none. */
    int64_t published_ms; /* Of the last page with a change. */
    int64_t refreshed_ms; /* Of the last page. */
};

/* As if the last page had been long ago. */
void throttle_init(struct throttle *t, int64_t shortest_ms, int64_t longest_ms, int64_t refresh_ms);

/* Note a change. */
void throttle_change(struct throttle *t, int64_t now_ms);

/* When the next page is due. */
int64_t throttle_deadline(const struct throttle *t);

/*
 * Note that a page is published, which cost so much processor time. Answers how long its
 * first change waited; 0 if it has none.
 */
int64_t throttle_publish(struct throttle *t, int64_t cost_ms, int64_t now_ms);

/* Writes each page when it is due, and hands it to the threads that serve it. */
struct publisher {
    struct page_store *page_store; /* Owned. */
    const struct log *log;         /* Borrowed. */
    struct metrics_page *metrics;  /* The last one; what of it stays is shared. Held. */
    struct registry *blank;        /* The exporter's own health, until there is an evaluation. */
    struct throttle throttles[PAGE_COUNT];
    size_t lengths[PAGE_COUNT]; /* Of the pages as they are. */
    /* What the page for people is made from is collected over several turns. */
    struct findings findings;
    const struct evaluation *collected; /* Of which; NULL if nobody collects. Borrowed. */
    uint64_t evaluations;               /* Its engine's when that began. */
};

/* `longest_ms` and `refresh_ms` as in struct throttle. */
void publisher_init(struct publisher *p, const struct log *log, int64_t longest_ms,
                    int64_t refresh_ms);
void publisher_release(struct publisher *p);

/* Note a change; `now_ms` is steady, here and below. */
void publisher_change(struct publisher *p, int64_t now_ms);

/* When the next page is due. */
int64_t publisher_due(const struct publisher *p);

/* Publish what is due, or do a part of what that takes: then it stays due. */
void publisher_turn(struct publisher *p, const struct health *health, int64_t now_ms);

/* Let go of an evaluation that is to be freed. */
void publisher_forget(struct publisher *p);

/* Publish every page, due or not. */
void publisher_all(struct publisher *p, const struct health *health);

/*
 * Keeps memory below its limit. Near it the families with one series an object go first: they
 * say nothing that the others do not count. They come back when there would be room for them.
 */
struct memory_guard {
    uint64_t limit;                  /* In bytes; 0: there is none. */
    const struct registry *registry; /* Whose families were left out; NULL: none are. */
    int64_t looked_ms;
    int64_t changed_ms;
    uint64_t before; /* Resident, when they went. */
    uint64_t freed;  /* By that; known from the next look on. */
    bool measured;
    bool warned; /* Of a limit that is reached all the same. */
};

enum memory_step { MEMORY_KEEP, MEMORY_SHED, MEMORY_RESTORE };

/*
 * What to do where so much is resident: shed from four fifths of the limit on, and restore a
 * minute later or more, once what was freed would leave it below seven tenths. The caller does it.
 */
enum memory_step memory_guard_decide(struct memory_guard *g, const struct registry *r,
                                     uint64_t resident, int64_t now_ms);

/*
 * Look, at most once a second, and do it; true if that changed what is shown. All objects have to
 * be evaluated. `now_ms` is steady.
 */
bool memory_guard_turn(struct memory_guard *g, struct registry *r, const struct log *log,
                       int64_t now_ms);
