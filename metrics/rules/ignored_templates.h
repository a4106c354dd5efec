/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/api_versions.h"
#include "metrics/rules/decision.h"

/*
 * Configuration of the templates that Karmada never propagates (Karmada: EventFilter,
 * NewSkippedResourceConfig).
 */
struct ignored;

/*
 * Parses the configuration. `namespaces`: POSIX extended regular expressions, separated by commas,
 * each for a whole namespace name. `apis`: the value of --skipped-propagating-apis, separated by
 * semicolons: group, group/version, v1/Kind,Kind or group/version/Kind,Kind; Karmada's defaults are
 * added. Returns NULL and sets `err` if a part is not valid.
 */
struct ignored *ignored_new(const char *namespaces, const char *apis, struct error *err) MUST_USE;
/* Accepts NULL. */
void ignored_free(struct ignored *ignored);

/* Sets the source of the versions of kinds: a template in a version not served is ignored. */
void ignored_set_api_versions(struct ignored *ignored, struct api_version_source source);

/*
 * Returns true and sets `reason` if Karmada ignores the template, which must have an object. Caches
 * in `verdict` of the partition whether all templates of the partition are ignored.
 */
bool find_ignored_reason(const struct ignored *ignored, const struct entry *template,
                         enum ignored_reason *reason);
