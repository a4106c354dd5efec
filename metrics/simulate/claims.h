/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/simulate/play.h"

/* Claims as the simulated Karmada writes and takes back (pkg/detector/claim.go). */

/* `claim` if it is the policy's, else a new one that is, kept by the play. */
struct claim *claims_of(struct play *play, const struct entry *policy, struct claim *claim);

/* The policy claims the template; nothing is written if it has that claim. */
void claims_put(struct play *play, struct entry *template, const struct entry *policy);

/* Take the policy's claim off the template or the binding, if that has it. False if not. */
bool claims_strip(struct play *play, struct entry *entry, const struct entry *policy);
