/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/decision.h"

/*
 * Configuration of the templates that Karmada never propagates (Karmada: EventFilter,
 * NewSkippedResourceConfig, and the defaults of its flags).
 */
struct ignored;

/*
 * Parses the configuration. `namespaces`: regular expressions, separated by commas, each for a
 * whole namespace name. `apis`: the value of --skipped-propagating-apis, separated by semicolons:
 * group, group/version, v1/Kind,Kind or group/version/Kind,Kind. Returns NULL and sets `err` if a
 * part is not valid.
 */
struct ignored *ignored_new(const char *namespaces, const char *apis, struct error *err) MUST_USE;
/* Accepts NULL. */
void ignored_free(struct ignored *ignored);

/*
 * Returns true and sets `reason` if the template, which must have an object, is ignored. Caches
 * what applies to all templates of its partition in `verdict` of the partition.
 */
bool find_ignored_reason(const struct ignored *ignored, const struct entry *template,
                         enum ignored_reason *reason);
