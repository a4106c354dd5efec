/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/decision.h"

/*
 * What is wrong with a policy by itself: bits by enum policy_problem. Each is
 * something that the API server stores without a word and Karmada then
 * silently does nothing with.
 */
unsigned policy_problems(const struct entry *policy);
