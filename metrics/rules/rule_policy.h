/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/decision.h"

/*
 * What is wrong with a policy by itself: bits by enum policy_problem. The API server accepts
 * each of these, and Karmada then silently ignores it. The entry must have an object.
 */
unsigned policy_problems(const struct entry *policy);
