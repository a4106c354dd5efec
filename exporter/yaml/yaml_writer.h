/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/strbuf.h"
#include "metrics/rules/override/overriders.h"

/*
 * Appends a JSON tree, of at most JSON_DEPTH_MAX levels, as a YAML document. Strings that a YAML
 * reader could take for a number, a boolean or null are quoted.
 */
void yaml_write(const cJSON *tree, struct strbuf *out);

/* Reads and writes YAML texts in fields of objects, as Karmada's fieldOverrider does. */
extern const struct yaml_converter yaml_field_converter;
