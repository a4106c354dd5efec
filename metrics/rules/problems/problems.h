/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/store.h"
#include "metrics/rules/problems/problem.h"
#include "metrics/rules/problems/problem_history.h"

/*
 * Life of problems (product contract 3.10): one instance for each problem and subject, from the
 * beginning of its condition over patience and resolve delay to its end. The engine owns the
 * problems (engine_judge_problems) and evaluates them after the decisions, on which they depend.
 *
 * Invariant, checked by tests: the open problems equal those of a fresh engine over the same
 * objects that is given the same times.
 */
struct problems;
struct rule_context;

/* Returns the severity of a problem under the settings; SEVERITY_OFF if it is disabled. */
enum problem_severity problem_severity(const struct problems *ps, enum problem_id problem);

/*
 * Returns the beginning of an instance in milliseconds since the epoch; 0 if unknown. With
 * `only_proven_times` (struct problem_options) only times that objects prove are known.
 */
int64_t problem_since_ms(const struct problems *ps, const struct problem *p);

/* Position of an iteration over all instances; all zero is the start. */
struct problem_walk {
    const struct problem *at;
    uint64_t position;
    bool in_externals;
};
/*
 * Returns the next instance, in no order; NULL at the end. No instance may change meanwhile. Leaves
 * out instances about cluster-scoped objects that another shard reports.
 */
const struct problem *problems_next(const struct problems *ps, struct problem_walk *walk);

/* Returns a number that changes when any instance begins, ends or changes. */
uint64_t problems_version(const struct problems *ps);

/* Returns how many instances of the problem have opened and resolved since the start. */
uint64_t problems_opened_total(const struct problems *ps, enum problem_id problem);
uint64_t problems_resolved_total(const struct problems *ps, enum problem_id problem);

/* Returns the history of openings and resolutions; borrowed. */
const struct problem_history *problems_history(const struct problems *ps);

/* ---- for the engine ---- */

struct problem_options {
    struct problem_settings settings;
    size_t history_limit; /* Maximum number of resolved instances kept; may be 0. */
    /*
     * `check`, and objects from files: observation proves nothing. A condition counts as open
     * unless the objects prove that it is younger than its patience.
     */
    bool snapshot;
    /* `check`: the same objects give the same times, so the time of the evaluation is none. */
    bool only_proven_times;
    enum problem_shard shard;
    bool some_namespaces; /* Other namespaces are not read (controller_progress.h). */
    /* Returns true while objects of the type cannot be read as they are now. NULL: never. */
    bool (*is_unreadable)(const void *context, const struct type *type);
    const void *context;
    /* Called after an instance about the entry began, ended or changed; may be NULL. */
    void (*judged)(void *context, struct entry *entry);
    void *judged_context;
};

/*
 * Returns problems without an instance, which judge all entries of the store at the next
 * problems_run(). Free them before the store.
 */
struct problems *problems_new(struct store *store, const struct problem_options *options,
                              uint64_t seed) MUST_USE;
/* Accepts NULL. */
void problems_free(struct problems *ps);

/*
 * Takes over the instances, counters and times of `last`, which belongs to another store: instances
 * keep their times over a reload, except those of disabled problems, which are dropped. The history
 * goes on. Call it before the first problems_run().
 */
void problems_inherit(struct problems *ps, const struct problems *last);

/*
 * Evaluates queued entries, then those that a change of an open problem hides or shows, in at most
 * about `budget` steps. Lowers timers in the graph of `c`, whose decisions must be up to date.
 * Returns true if no step is left.
 */
bool problems_run(struct problems *ps, struct rule_context *c, size_t budget);

/* Returns the time of the next problems_run() for external subjects; INT64_MAX for never. */
int64_t problems_deadline(const struct problems *ps);

/* Judges all entries again if some were not readable; call it when a kind is readable again. */
void problems_visit_skipped(struct problems *ps);

/* Begins the observation of all pending instances anew, as after a start: etcd was restored. */
void problems_restart_observation(struct problems *ps, int64_t now_ms);
