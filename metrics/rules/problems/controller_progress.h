/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/binding.h"
#include "metrics/model/store.h"
#include "metrics/rules/decision.h"
#include "metrics/rules/problems/control_plane_work.h"
#include "metrics/rules/problems/problem.h"
#include "metrics/rules/refusals.h"
#include "metrics/rules/selector.h"

/*
 * Judges whether Karmada's controller-manager and scheduler run and make progress (product contract
 * 3.10, "Controllers and scheduler"): problems `controllers_stuck` and `scheduler_stuck`.
 *
 * Work is an action that Karmada owes one template or dependency. It begins and ends with a
 * decision (controller_progress_note). Karmada has processed it if it wrote the binding
 * (controller_progress_binding_changed) or the claim. The cost of a decision does not depend on the
 * amount of work; templates without work take no memory.
 *
 * Times count as observed only while the module is called at its due time: a clock that jumps
 * forwards, or a process that was suspended, makes no work older. A clock that goes back makes no
 * work younger.
 */
struct controller_progress;

struct controller_progress_options {
    const struct rules_options *rules; /* Borrowed; `takeover` and `grace_ms` count. */
    const struct refusals *refusals;   /* Borrowed: Karmada's Events about refused templates. */
    bool some_namespaces; /* Other namespaces are not read: rules 7 to 9 do not apply. */
};

/*
 * Returns a judge of the control plane, which visits all entries of the store in the first calls of
 * controller_progress_evaluate(), and reports to `problems`. All objects must have been read, and
 * all decisions made: later writes count as observed. Free it before both.
 */
struct controller_progress *
controller_progress_new(struct store *store, struct problems *problems,
                        const struct controller_progress_options *options, int64_t now_ms) MUST_USE;
/* Accepts NULL. */
void controller_progress_free(struct controller_progress *p);

/*
 * Takes over work, Leases and observations of `last`, which belongs to another store: after a
 * reload no work is younger than before. If `last` has visited its entries, the writes of bindings
 * that it counted are not counted again. Call it directly after controller_progress_new().
 */
void controller_progress_inherit(struct controller_progress *p,
                                 const struct controller_progress *last);

/* ---- decisions and writes; not to be called during a simulation ---- */

/*
 * Handles a new decision about a template or binding: `before` and `after` are decisions of the
 * entry's class, or NULL without one. Call it once entry->decision is `after`, and again with the
 * same decision after a change of the Events about the template. Ignores other classes. `p` may be
 * NULL.
 */
void controller_progress_note(struct controller_progress *p, struct entry *entry,
                              const void *before, const void *after, int64_t now_ms);

/*
 * Handles a change of a binding that was read before: `old` is NULL if it is new. Call it before
 * the decisions that depend on the binding are made. `p` may be NULL.
 */
void controller_progress_binding_changed(struct controller_progress *p, const struct entry *entry,
                                         const struct binding *old);

/* Handles a write by the component of a binding that belongs to another shard. */
void controller_progress_other_shard(struct controller_progress *p,
                                     enum control_component component);

/* ---- the control plane ---- */

/*
 * Handles a Lease that was read: holderIdentity ("" without a holder), and renewTime and
 * acquireTime in milliseconds since the epoch, 0 if unset or invalid. A holder with a later
 * acquireTime is new, even under the name of the last one. Call it after each read, at least every
 * 90 seconds: a longer gap begins the observation of renewTime anew.
 */
void controller_progress_lease(struct controller_progress *p, enum control_component component,
                               const char *holder, int64_t renew_ms, int64_t acquire_ms,
                               int64_t now_ms);
/* Handles a Lease that does not exist or cannot be read. */
void controller_progress_lease_absent(struct controller_progress *p,
                                      enum control_component component);

/*
 * Sets whether policies, bindings and templates can be read as they are now; initially they can.
 * Meanwhile both problems keep their status, and no time counts as observed.
 */
void controller_progress_set_readable(struct controller_progress *p, bool readable, int64_t now_ms);

/*
 * Sets whether Events about refused templates can be read as they are now; initially they can.
 * Without them a refused template looks like one that Karmada does not process. Meanwhile, if a
 * reason of `controllers_stuck` other than `not_running` would hold, the problem keeps its status
 * and its last reason.
 */
void controller_progress_set_refusals_known(struct controller_progress *p, bool known);

/* Handles a restore of etcd: Karmada reads everything again, as after a new holder of the Lease. */
void controller_progress_restored(struct controller_progress *p, int64_t now_ms);

/* ---- results ---- */

/*
 * Judges both components, and reports or withdraws their conditions. Lowers *due_ms to the time of
 * the next call if no change is handled before. Call it in each run of the engine, after the
 * decisions and before problems_run().
 */
void controller_progress_evaluate(struct controller_progress *p, int64_t now_ms, int64_t *due_ms);

/* Returns the reason that holds for the component; PROBLEM_REASON_COUNT without one. */
enum problem_reason controller_progress_reason(const struct controller_progress *p,
                                               enum control_component component);
/* Returns true if Karmada owes the template work, and refused it after it became due. */
bool controller_progress_is_refused(const struct controller_progress *p,
                                    const struct entry *template);
/*
 * Returns the size of the component's backlog at the last evaluation: work due for more than five
 * minutes that was not processed, refused or passed over.
 */
uint64_t controller_progress_backlog(const struct controller_progress *p,
                                     enum control_component component);
