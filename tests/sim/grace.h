/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/sim/run.h"

/* Targets that suffer from faults, and the time that their recovery may take. */

/* Sets r->sick_ms: the end of each fault's effects on each target. */
void grace_init(struct run *r);

/*
 * Returns true while a fault of the target or its effects may last. Also returns true from a
 * restore that only an audit of the exporter detects until this audit ends, and shortly after the
 * start for a kind whose initial events never end.
 */
bool grace_is_sick(const struct run *r, unsigned target);

/* Returns true if grace_is_sick() may have been true at any time so far. */
bool grace_was_struck(const struct run *r, unsigned target);

/* Returns how long after the storm, in milliseconds, the store may differ from the servers. */
int64_t grace_of_calm(const struct run *r);
