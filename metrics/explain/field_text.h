/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/policy.h"
#include "metrics/rules/decision.h"

/* The values of the fields that Karmada copies from policies into bindings. */

#define EXPLAIN_NOT_SET "(not set)"

/* A copied field's value, as text; EXPLAIN_NOT_SET if there is none. */
const char *explain_field_value(const struct propagation *p, enum drift_field field);
/* A copied field's value as JSON, in `out` or borrowed from `p`; NULL if it is not set. */
const char *explain_field_json(const struct propagation *p, enum drift_field field,
                               struct strbuf *out);
