/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/simulate/plan.h"

/* Plans in unit tests: changes as JSON texts, and outcomes as texts. */

/* Applies the object in a JSON text to the plan; fails the test if it is invalid. */
void planned_apply(struct plan *p, const char *text);

/* Returns the row of the template with this name; NULL without one. */
const struct plan_template *planned_row(const struct plan_result *r, const char *name);

/*
 * Returns an outcome as "<state> <reason> <policy> <undetermined reason> <cluster>:<replicas> ...".
 * Absent parts are omitted; "-" stands for an absent policy, "none" for an absent template.
 */
const char *planned_outcome(const struct outcome *o, char text[256]);
