/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/explain/explanation.h"
#include "metrics/rules/engine.h"

/*
 * One object explained as a person would. A template: what its state is and means, which policies
 * were in question and what made each lose, whose claim stands, what differs from the binding,
 * who disagrees about a dependency, and what comes next. A policy: whom it selects, wins and has
 * not reached, and what is wrong with it. A binding: what it propagates, by whose will, and who
 * requires it. It reads decisions and decides nothing itself.
 */

/* The classes of what can be explained: bits by enum object_class. */
enum { EXPLAIN_CLASSES = 1U << CLASS_TEMPLATE | 1U << CLASS_POLICY | 1U << CLASS_BINDING };

/*
 * Explain an object of one of these classes; its first line is a heading with its name. `x` is
 * explanation_init()ed before and finished after; the engine has nothing left to evaluate, and is
 * as before when this returns: what comes next is played on it. `now_ms` is the time it is.
 */
void explain_object(struct engine *e, const struct entry *entry, int64_t now_ms,
                    struct explanation *x);
