/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/sim/run.h"

/* Targets that suffer from faults, and the time that their recovery may take. */

/* Computes the end of the effects of every fault in the plan. */
void grace_init(struct run *r);

/*
 * Returns true while a fault of the target is active or its effects may last, after a restore that
 * only the exporter's audit detects, and at first for a kind without an end of initial events.
 */
bool grace_is_sick(const struct run *r, unsigned target);

/* Returns true if grace_is_sick() may have been true at any time so far. */
bool grace_was_struck(const struct run *r, unsigned target);

/* Returns how long after the storm, in milliseconds, the store may differ from the servers. */
int64_t grace_of_calm(const struct run *r);
