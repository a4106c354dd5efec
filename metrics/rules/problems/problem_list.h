/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/problems/problems.h"

/* Lists of instances in the order of the contract. */

/*
 * Compares two instances in the order of the contract: severity, since (oldest first, unknown
 * last), problem, kind, namespace, name, apiVersion, reason. Returns 0 only for the same instance.
 */
int problem_compare(const struct problems *ps, const struct problem *a, const struct problem *b);

/*
 * Returns an array of `*count` instances whose status is in `statuses` (bits by enum
 * problem_status), in the order of problem_compare(). Valid until the engine runs again; the caller
 * frees the array.
 */
const struct problem **problems_list(const struct problems *ps, unsigned statuses,
                                     size_t *count) MUST_USE;
