/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/simulate/play.h"

/* Claims as the simulated Karmada writes and takes back (pkg/detector/claim.go). */

/* The claim of a policy, kept by the play. */
const struct claim *claims_of(struct play *play, const struct entry *policy);

/* Write the claim into the template; nothing if it has the same one. */
void claims_put(struct play *play, struct entry *template, const struct claim *claim);

/* Take the policy's claim off the template or the binding, if that has it. False if not. */
bool claims_strip(struct play *play, struct entry *entry, const struct entry *policy);

/* The policy that the template claims itself, existing or not; NULL without a claim. */
struct entry *claims_policy(struct play *play, const struct entry *template);
