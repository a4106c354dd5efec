/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/simulate/overlay.h"

/*
 * What Karmada's resource detector makes of templates and policies (pkg/detector). The functions
 * about policies put the templates that Karmada looks at next in the queue of the play.
 */

/* Reconcile and propagateResource: take a claim back, match, claim, and apply or wait. */
void detector_template(struct overlay *overlay, struct queue_item item);

/*
 * A policy was created or changed: `old` is what it was, NULL if new. Claims that it no longer
 * has are taken back, its templates are looked at, and it preempts.
 */
void detector_policy(struct overlay *overlay, struct entry *policy, const struct policy *old);

/* The unclaimed templates that a policy selects, Karmada's waiting list, are looked at. */
void detector_waiting(struct overlay *overlay, struct entry *policy);

/*
 * A policy goes: its claims are taken back, and their templates are matched anew. Call it before
 * its object is removed.
 */
void detector_policy_gone(struct overlay *overlay, struct entry *policy);

/* What a policy waited for has appeared, or its template may be applied again. */
void detector_retry(struct overlay *overlay, struct entry *policy);

/* Claims as the simulated Karmada writes and takes back (pkg/detector/claim.go). */
