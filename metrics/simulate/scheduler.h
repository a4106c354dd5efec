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
