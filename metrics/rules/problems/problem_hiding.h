/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/problems/problem.h"

struct rule_context;

/* Which open problem explains another one (product contract 3.10, "One cause, one problem"). */

/* Returns true if an open problem of this kind can hide others. */
bool problem_can_hide(enum problem_id problem);

/* Returns true if an open problem of this kind can hide instances with this reason. */
bool problem_can_hide_reason(enum problem_id cause, enum problem_reason hidden);

/* Returns the open problem that hides the instance; NULL without one. */
const struct problem *problem_find_cause(const struct problems *ps, const struct rule_context *c,
                                         const struct problem *p);
