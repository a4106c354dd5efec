/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/problems/problem.h"

/*
 * History of problems: how many opened and resolved in each interval of the last 24 hours, and the
 * instances that were resolved last. Decisions and metrics do not depend on the history. No entry
 * is pinned: texts are copies, because the objects may be gone. Time is a parameter, and does not
 * go back: an earlier time counts as the latest one, as in engine_run().
 *
 * Balance, checked by tests: the number of open instances is the sum of all changes FOUND and
 * OPENED minus RESOLVED and WITHDRAWN.
 *
 * A restart begins the history anew; a reload does not.
 */
struct problem_history;

enum {
    PROBLEM_INTERVAL_MS = 15 * 60 * 1000,
    PROBLEM_INTERVALS = 96, /* Number of intervals kept, with the present one: 24 hours. */
    /*
     * Limits of the resolved instances. The oldest is dropped first. With the intervals, the
     * history has at most about 1 MiB.
     */
    PROBLEM_RESOLVED_MAX = 1000,
    PROBLEM_RESOLVED_MAX_BYTES = 1024 * 1024,
};

/* Changes of the number of open instances. */
enum problem_change {
    /*
     * The instance opens, but its condition began before the observation so that its patience ended
     * before it too, or it is unknown whether that is so. Not an opening for charts.
     */
    PROBLEM_CHANGE_FOUND,
    PROBLEM_CHANGE_OPENED,   /* The instance opens; counted at the time at which it opens. */
    PROBLEM_CHANGE_RESOLVED, /* The instance ends, after the resolve delay. */
    /*
     * The open instance no longer counts, but is not resolved: another problem hides it, or a
     * reload drops it (disabled problem, or subject that is not read any more).
     */
    PROBLEM_CHANGE_WITHDRAWN,
    PROBLEM_CHANGE_COUNT,
};

/* ---- readers ---- */

/* Changes in one interval, by the severity at the time of the change. */
struct problem_interval {
    int64_t begin_ms; /* Milliseconds since the epoch; a multiple of PROBLEM_INTERVAL_MS. */
    bool partial;     /* The observation began during the interval. */
    uint32_t counts[PROBLEM_CHANGE_COUNT][SEVERITY_COUNT];
};

/*
 * Stores an interval: `back` is 0 for the interval of `now_ms`, 1 for the one before, and so on.
 * Pass engine_now_ms().
 * Returns false if there is no data, because the observation began later or the interval is no
 * longer kept: the counts are unknown then, not 0. `begin_ms` is set even then.
 */
bool problem_history_interval(const struct problem_history *h, int64_t now_ms, unsigned back,
                              struct problem_interval *out);

/* Returns the begin of the observation in milliseconds since the epoch; 0 before it. */
int64_t problem_history_begin_ms(const struct problem_history *h);

/* A resolved instance. Texts are never NULL, except in `names`. */
struct resolved_problem {
    struct problem_names names;
    const char *api_version;
    const char *kind;
    const char *ns;
    const char *name;
    int64_t since_ms;        /* Beginning of the condition. */
    int64_t opened_ms;       /* 0 if it was open before the observation, or this is unknown. */
    int64_t resolved_ms;     /* End of the resolve delay, or deletion of the subject. */
    size_t bytes;            /* Memory of the record with its texts. */
    enum object_class class; /* CLASS_COUNT for external subjects. */
    enum problem_reason reason;
    enum problem_severity severity; /* At the time of the resolution. */
    bool since_seen;                /* No object proves `since_ms`. */
    bool deleted;                   /* The subject was deleted, or replaced by another object. */
};

/*
 * Returns the resolved instance with the number *below - 1, or the last one if *below is higher,
 * and stores its number in *below: newest first. Start with UINT64_MAX. Returns NULL if no older
 * one is kept. Valid until the engine runs again.
 */
const struct resolved_problem *problem_history_next(const struct problem_history *h,
                                                    uint64_t *below);

/* Return the number of resolved instances that are kept, can be kept, and were dropped. */
size_t problem_history_count_kept(const struct problem_history *h);
size_t problem_history_limit(const struct problem_history *h);
uint64_t problem_history_count_dropped(const struct problem_history *h);

/* ---- for problems.c ---- */

/*
 * Sets `names` of an instance with an entry to those of its policy and owner; releases the previous
 * ones.
 */
void problem_names_update(struct problem *p, struct intern *strings);
/* Returns a copy of names, which may be NULL, for an instance of another store. */
const struct problem_names *problem_names_copy(const struct problem_names *names,
                                               struct intern *strings) MUST_USE;
/* Accepts NULL. */
void problem_names_release(const struct problem_names *names, struct intern *strings);

/* Returns an empty history of up to `limit` resolved instances, at most PROBLEM_RESOLVED_MAX. */
struct problem_history *problem_history_new(size_t limit) MUST_USE;
/* Accepts NULL. */
void problem_history_free(struct problem_history *h);

/* Begins the observation, unless it has begun. */
void problem_history_begin(struct problem_history *h, int64_t now_ms);

/* Counts a change at `now_ms`. Ignores instances of disabled problems. */
void problem_history_count(struct problem_history *h, int64_t now_ms, enum problem_change change,
                           enum problem_severity severity);

/* An instance that is resolved now. */
struct resolution {
    const struct problem *problem;
    enum problem_severity severity;
    bool opened_before; /* It was open before the observation, or this is unknown. */
    bool deleted;       /* Because the subject was deleted. */
};
/* Counts and keeps a resolved instance. */
void problem_history_add(struct problem_history *h, int64_t now_ms, const struct resolution *r);

/* Replaces the empty history `h` by a copy of another one, with the limit of `h`. */
void problem_history_copy(struct problem_history *h, const struct problem_history *from);
