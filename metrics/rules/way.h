/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/delivery.h"
#include "metrics/rules/drift.h"

/*
 * The stage of a template, which follows from its state and, where that says that the binding is
 * right, from how far that has come (product contract 3.8). Pure functions.
 */

/*
 * Fill in out->way, and the flags and risks of a template with a binding, after drift_decide().
 * `delivery` is NULL without a binding that a policy made or others require. Returns when that
 * changes by time alone; INT64_MAX for never.
 */
int64_t way_decide(const struct situation *s, const struct delivery_facts *delivery,
                   struct template_decision *out);
