/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/problems/condition_list.h"

/* Does the work of problem_conditions() for an entry of CLASS_TEMPLATE that has a decision. */
void template_conditions(const struct rule_context *c, const struct entry *template,
                         struct condition_list *out, int64_t *due_ms);
