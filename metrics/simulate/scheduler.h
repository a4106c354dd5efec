/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/replica_projection.h"
#include "metrics/simulate/overlay.h"

/*
 * Simulation of Karmada's scheduler (Karmada: pkg/scheduler, doScheduleBinding).
 *
 * Sets the clusters, observed_group and applied_placement of `fresh`, the binding that is about to
 * be written, in memory of the overlay, and status.required_count to 0. `old` is the present
 * version of the binding, NULL if it is new. Changes nothing if the scheduler would do nothing. If
 * the result cannot be predicted, `fresh` keeps its clusters; `undetermined` gets the reason,
 * unless `old` has a claim and was scheduled with the same placement and replicas.
 */
void scheduler_schedule_binding(struct overlay *overlay, const struct binding *old,
                                struct binding *fresh);

/*
 * Like scheduler_schedule_binding(), for a binding that the scheduler itself has enqueued after a
 * change of a Cluster: it then handles bindings without a claim, too.
 */
void scheduler_schedule_enqueued(struct overlay *overlay, const struct binding *old,
                                 struct binding *fresh);

/* Like scheduler_schedule_enqueued(), but the scheduler processes the binding in any case. */
void scheduler_place_binding(struct overlay *overlay, const struct binding *old,
                             struct binding *fresh);

/* Results of the schedulers of two releases for an existing binding. */
struct release_comparison {
    /* Behaviours that change the result of the scheduler without a change of the binding. */
    behaviour_set at_once;
    /*
     * Behaviours that change the result of the next scheduling, and with it the targets: those of
     * the older release or, if these are undetermined, the present ones.
     */
    behaviour_set next;
    /* The next scheduling cannot be compared: the free capacity of the clusters decides. */
    bool not_compared;
};

/*
 * Compares two releases; the range of placements_release() must include both. All zero if the
 * default scheduler does not process the binding, or no Clusters are known.
 */
struct release_comparison scheduler_compare_releases(struct overlay *overlay,
                                                     const struct binding *b, enum release older,
                                                     enum release newer);
