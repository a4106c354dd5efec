/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/simulate/overlay.h"

/*
 * Simulation of Karmada's resource detector (Karmada: pkg/detector, with claim.go): claims of
 * policies on templates, preemption, and the resulting bindings. Functions that take a policy
 * enqueue the affected templates in the overlay; detector_process_template() processes these later.
 */

/*
 * Processes one item of the queue (Karmada: Reconcile, propagateResource). Changes nothing if the
 * template does not exist, if Karmada ignores it, or if not all objects of its kind have been read.
 * Without static takeover, removes the claim of a policy that does not exist; the item then counts
 * as a user's change. Claims the template for the policy to apply, if any, unless an override
 * policy in dependentOverrides is missing. Then writes the binding, unless Karmada would fail or a
 * Lazy policy waits for a user's change (`by_karmada` of `item`).
 */
void detector_process_template(struct overlay *overlay, struct queue_item item);

/*
 * Processes a created or changed policy; `old` is the previous version, or NULL. Enqueues the
 * templates of bindings with the policy's claim, and removes the claim if the policy no longer
 * selects them. Enqueues templates that Karmada failed to apply the policy to. Also simulates
 * preemption, by other policies too if the priority is lower than in `old`. Static takeover, the
 * feature gate, or a missing override policy in dependentOverrides can prevent preemption.
 */
void detector_on_policy_changed(struct overlay *overlay, struct entry *policy,
                                const struct policy *old);

/*
 * Enqueues the unclaimed templates that the policy selects (Karmada: the waiting list). Skips a
 * template with an incomplete claim if another policy is eligible. Does nothing if the policy
 * does not exist, or if an override policy in dependentOverrides is missing.
 */
void detector_match_waiting(struct overlay *overlay, struct entry *policy);

/*
 * Processes the deletion of a policy: removes its claims from bindings and templates, and enqueues
 * these templates. A claim stays on a template outside the kinds and namespaces of the policy's
 * selectors, as in Karmada. Must be called before the object of the policy is removed.
 */
void detector_on_policy_deleted(struct overlay *overlay, struct entry *policy);

/*
 * Enqueues the templates that the policy governs, after an override policy or PriorityClass that
 * the policy refers to was written. A stale template is enqueued only if its user's last change is
 * not in the binding.
 */
void detector_on_policy_reference_written(struct overlay *overlay, struct entry *policy);
