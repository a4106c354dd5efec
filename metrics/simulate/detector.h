/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/simulate/overlay.h"

/*
 * What Karmada's resource detector makes of templates and policies (pkg/detector). The functions
 * about policies put the templates that Karmada looks at next in the queue of the play.
 */

/* Reconcile and propagateResource: take a claim back, match, claim, and apply or wait. */
void detector_template(struct play *play, struct queue_item item);

/*
 * A policy was created or changed: `old` is what it was, NULL if new. Claims that it no longer
 * has are taken back, its templates are looked at, and it preempts.
 */
void detector_policy(struct play *play, struct entry *policy, const struct policy *old);

/* The unclaimed templates that a policy selects, Karmada's waiting list, are looked at. */
void detector_waiting(struct play *play, struct entry *policy);

/*
 * A policy goes: its claims are taken back, and their templates are matched anew. Call it before
 * its object is removed.
 */
void detector_policy_gone(struct play *play, struct entry *policy);

/* What a policy waited for has appeared, or its template may be applied again. */
void detector_retry(struct play *play, struct entry *policy);

/* Claims as the simulated Karmada writes and takes back (pkg/detector/claim.go). */

/* `claim` if it is the policy's, else a new one that is, kept by the play. */
struct claim *claims_of(struct play *play, const struct entry *policy, struct claim *claim);

/* The policy claims the template; nothing is written if it has that claim. */
void claims_put(struct play *play, struct entry *template, const struct entry *policy);

/* Take the policy's claim off the template or the binding, if that has it. False if not. */
bool claims_strip(struct play *play, struct entry *entry, const struct entry *policy);

/*
 * A policy is applied to a template that it has claimed: the template's binding is made or
 * renewed, scheduled, and its dependencies follow (ApplyPolicy, ApplyClusterPolicy). Nothing
 * happens where Karmada fails: a namesake's binding is in the way, or a PriorityClass is missing.
 */
void binder_apply(struct play *play, struct entry *template, const struct entry *policy);
