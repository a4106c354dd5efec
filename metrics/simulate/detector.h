/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/simulate/world.h"

/*
 * What Karmada's resource detector makes of templates and policies (pkg/detector). Each function
 * wants the engine to be evaluated (world_evaluate), and puts the templates that Karmada looks at
 * next in the world's queue.
 */

/* Reconcile and propagateResource: take a claim back, match, claim, and apply or wait. */
void detector_template(struct world *w, struct event event);

/*
 * A policy was created or changed: `old` is what it was, NULL if new. Claims that it no longer
 * has are taken back, its templates are looked at, and it preempts.
 */
void detector_policy(struct world *w, struct entry *policy, const struct policy *old);

/* The unclaimed templates that a policy selects, Karmada's waiting list, are looked at. */
void detector_waiting(struct world *w, struct entry *policy);

/*
 * A policy goes: its claims are taken back, and their templates are matched anew. Call it before
 * its object is removed.
 */
void detector_policy_gone(struct world *w, struct entry *policy);

/* What a policy waited for has appeared, or its template may be applied again. */
void detector_retry(struct world *w, struct entry *policy);
