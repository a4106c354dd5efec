/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/map.h"
#include "metrics/model/binding.h"
#include "metrics/model/store.h"
#include "metrics/rules/decision.h"
#include "metrics/rules/selector.h"

/*
 * Work of Karmada's controller-manager and scheduler (product contract 3.10, "Controllers and
 * scheduler"): which work a decision shows, and which work a write of a binding processes.
 */

/* Kinds of work: Karmada has a queue for each. */
enum work_kind { WORK_POLICIES, WORK_TEMPLATES, WORK_DEPENDENCIES, WORK_SCHEDULING, WORK_COUNT };

enum control_component { CONTROL_CONTROLLERS, CONTROL_SCHEDULER, CONTROL_COUNT };

static inline enum control_component component_of(enum work_kind kind)
{
    return kind == WORK_SCHEDULING ? CONTROL_SCHEDULER : CONTROL_CONTROLLERS;
}

/* Returns the first kind of work of a component; its kinds are consecutive. */
static inline enum work_kind first_kind(enum control_component component)
{
    return component == CONTROL_SCHEDULER ? WORK_SCHEDULING : WORK_POLICIES;
}

/* Returns the kind after the last one of a component. */
static inline enum work_kind end_kind(enum control_component component)
{
    return component == CONTROL_SCHEDULER ? WORK_COUNT : WORK_SCHEDULING;
}

/* Work that a decision shows. */
struct found_work {
    enum work_kind kind; /* WORK_COUNT: no work. */
    int64_t made_ms;     /* Time of the change that made the work; 0 if unknown. */
    bool stuck;          /* `unbound` `stuck`: no work, but a refused template counts as refused. */
};

/* Returns the work of the controllers about a template with this decision and an object. */
struct found_work find_controller_work(const struct rules_options *options,
                                       const struct entry *template,
                                       const struct template_decision *d);
/* Returns the work of the scheduler about the binding of a template with this decision. */
struct found_work find_scheduler_work(const struct template_decision *d);
/* Returns the work of the controllers about a dependency; `d` may be NULL. */
struct found_work find_dependency_work(const struct dependency_decision *d);

/*
 * Returns true if the controllers wrote a claim on the template between two decisions; `before` may
 * be NULL.
 */
bool was_claimed(const struct template_decision *before, const struct template_decision *after);

/*
 * Returns true if the controllers wrote the binding between two versions, and stores the kinds of
 * work that the changed fields belong to (bits by work_kind; may be 0). `old` is NULL for
 * a new binding.
 */
bool was_written(const struct binding *old, const struct binding *fresh, unsigned *kinds);
/* Returns true if the scheduler processed the binding between two versions; `old` as above. */
bool was_scheduled(const struct binding *old, const struct binding *fresh);

/* ---- bindings that the exporter does not keep ---- */

/*
 * Recognizes writes of bindings of other shards by the times in the bindings: the objects are not
 * kept. Keeps the times of at most OTHER_BINDINGS_MAX bindings, and drops all of them when another
 * one is added. For a binding without kept times, only a write after the latest dropped time
 * counts.
 *
 * Karmada's clock may be ahead by OTHER_BINDINGS_AHEAD_S. A later time in a binding that was
 * dropped can count again with each read.
 */
enum { OTHER_BINDINGS_MAX = 1024, OTHER_BINDINGS_AHEAD_S = 300 };

struct other_bindings {
    struct map times;
    uint64_t seed;
    uint32_t
        newest_s[CONTROL_COUNT]; /* Latest times, limited to OTHER_BINDINGS_AHEAD_S after now. */
    uint32_t dropped_s[CONTROL_COUNT]; /* Latest times that may have been dropped. */
};

/* Initializes without bindings. `seed` is the seed of the hashes of names. */
void other_bindings_init(struct other_bindings *o, uint64_t seed);
void other_bindings_release(struct other_bindings *o);

/*
 * Handles a version of a binding as read from the API server, also one that was read before.
 * Returns the components that wrote the binding since (bits by enum control_component).
 */
unsigned other_bindings_note(struct other_bindings *o, const cJSON *binding, int64_t now_ms);

/*
 * For a list without bindings of other shards: of bindings without kept times, only writes after
 * `now_ms` count from now on.
 */
void other_bindings_skip_list(struct other_bindings *o, int64_t now_ms);
