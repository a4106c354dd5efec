/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/simulate/overlay.h"

/*
 * Simulation of Karmada's resource detector (Karmada: pkg/detector, with claim.go): claims of
 * policies on templates, preemption, and the resulting bindings. Functions that take a policy
 * enqueue the affected templates in the overlay.
 */

/*
 * Processes one template of the queue: removes an outdated claim, finds the policy, claims the
 * template and writes its binding, unless the policy is Lazy (Karmada: Reconcile,
 * propagateResource).
 */
void detector_process_template(struct overlay *overlay, struct queue_item item);

/*
 * Processes a created or changed policy; `old` is its previous version, NULL if it is new. Removes
 * its claims on templates that it no longer selects, enqueues the templates that it holds, and
 * lets it preempt other policies.
 */
void detector_on_policy_changed(struct overlay *overlay, struct entry *policy,
                                const struct policy *old);

/* Enqueues the unclaimed templates that the policy selects (Karmada: the waiting list). */
void detector_match_waiting(struct overlay *overlay, struct entry *policy);

/*
 * Removes all claims of a policy that is deleted and enqueues its templates. Must be called before
 * the object of the policy is removed.
 */
void detector_on_policy_deleted(struct overlay *overlay, struct entry *policy);

/*
 * Enqueues the templates that still wait for the policy, after an object that the policy refers to
 * has changed.
 */
void detector_retry_policy(struct overlay *overlay, struct entry *policy);
