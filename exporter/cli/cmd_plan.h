/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/text/text_table.h"
#include "metrics/simulate/plan.h"

/* What of --fail-on a plan brings: bits by the place in fail_on_names. */
unsigned plan_finding_classes(const struct plan_result *r);

/* Print a finished plan for people. */
void plan_print(const struct plan_result *r, struct output *o);
