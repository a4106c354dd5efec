/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/explain/explanation.h"
#include "metrics/rules/override/template_overrides.h"

/*
 * Adds the list "overrides": for each member cluster of the binding, else of the prediction, the
 * rules of override policies that are applied in order, the changes, and the rule that fails.
 * Clusters with equal results are described once. Adds nothing if the template has no target, or if
 * it is certain that no override policy selects the template. Values of Secrets are left out.
 */
void explain_template_overrides(struct explain_context *x, const struct entry *template);

/*
 * Adds the section "effects" of an override policy: for each of the first 100 templates that it
 * selects, and each member cluster, the changes by its rules, or the failure. Adds nothing if it
 * selects no template.
 */
void explain_override_effects(struct explain_context *x, const struct entry *policy);
