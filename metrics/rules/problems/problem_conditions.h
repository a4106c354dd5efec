/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/store.h"
#include "metrics/rules/problems/condition_list.h"

/*
 * Conditions of problems (product contract 3.10): which problems the decision about one entry
 * shows, and since when the objects prove it. The life of a problem is in problems.h.
 */

/*
 * Appends the conditions of one entry, existing or not, from its decision: first those of
 * LINE_POLICY, then those of LINE_DELIVERY, each line in the contract's order of precedence, then
 * the others. Problems that are not PROBLEM_BY_REASON appear once, with the first reason that
 * holds. Lowers *due_ms to the time at which a condition changes without a change of objects.
 * All decisions must be up to date.
 */
void problem_conditions(const struct rule_context *c, const struct entry *entry,
                        struct condition_list *out, int64_t *due_ms);

/*
 * Appends the conditions of a dependency: a binding, or a template without binding. Appends
 * nothing for other entries. problem_conditions() includes them.
 */
void dependency_conditions(const struct entry *entry, struct condition_list *out);
