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
 * Appends a change as text, such as "/spec/replicas: 2 -> 3". `hidden` leaves out the values, as of
 * Secrets.
 */
void override_change_add_text(struct strbuf *out, const struct override_change *change,
                              bool hidden);

/* Writes the members "path", "from" and "to" of a change to the open object. */
void override_change_write(struct json_writer *w, const struct override_change *change,
                           bool hidden);
