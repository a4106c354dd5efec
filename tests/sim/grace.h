/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/sim/run.h"

/* Which kinds are well, and how long it takes one that was not to be so again. */

/* Find out once for the plan. */
void grace_init(struct run *r);

/* True while a fault strikes the target, and for as long after it as its consequences may last. */
bool grace_is_sick(const struct run *r, unsigned target);

/* True if a fault has struck the target at any time so far. */
bool grace_was_struck(const struct run *r, unsigned target);

/* How long after the storm, in milliseconds, the store may differ from the servers. */
int64_t grace_of_calm(const struct run *r);
