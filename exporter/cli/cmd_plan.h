/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/text/text_table.h"
#include "metrics/simulate/plan.h"

/* Returns the words of --fail-on that apply to a plan: bits by index in fail_on_names. */
unsigned plan_finding_classes(const struct plan_result *r);

/* Appends a finished plan as text for people. */
void plan_print(const struct plan_result *r, struct output *o);
