/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/sim/run.h"

/*
 * Make a plan that fails smaller: without faults and writes that it takes not, with fewer kinds,
 * and shorter; for as long as the same invariant does not hold. `play` is how a plan is tried;
 * `verdict` is that of the plan, and is kept up to date.
 */
typedef void shrink_play_fn(const struct plan *plan, struct verdict *out);

void shrink_plan(struct plan *plan, struct verdict *verdict, shrink_play_fn *play);
