/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/sim/run.h"

typedef void shrink_play_fn(const struct plan *plan, struct verdict *out);

/*
 * Reduces a failing plan: leaves out faults and writes, and lowers the number of kinds and the
 * duration, as long as the same invariant fails. Plays at most 600 plans, with `play`. `verdict` is
 * the verdict of `plan`, before the call and after it.
 */
void shrink_plan(struct plan *plan, struct verdict *verdict, shrink_play_fn *play);
