/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/options/fail_on.h"
#include "exporter/text/text_table.h"
#include "metrics/simulate/plan.h"

/* Returns the results of a plan that --fail-on can name: bits by enum plan_failure. */
unsigned plan_failures(const struct plan_result *r);

/* Appends a finished plan as text for people. */
void plan_print(const struct plan_result *r, struct output *o);
