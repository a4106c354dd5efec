/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/projection.h"
#include "metrics/simulate/overlay.h"

/*
 * What Karmada's scheduler makes of a binding that is about to be written
 * (pkg/scheduler: doScheduleBinding). `old` is the binding as it is, NULL if there is none.
 *
 * Sets clusters and applied_placement of `fresh`, from memory that the play keeps, or leaves
 * both as they are where the scheduler does nothing. Where only the scheduler can know, with its
 * live view of the clusters, `fresh` keeps its clusters, and `undetermined` says why.
 */
void scheduler_run(struct overlay *overlay, const struct binding *old, struct binding *fresh);
