/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/decision.h"

/*
 * Which objects Karmada never considers (Karmada: EventFilter,
 * NewSkippedResourceConfig; facts of the default lists).
 */
struct ignored;

/*
 * `namespaces`: comma-separated regular expressions, each for a whole
 * namespace. `apis`: as --skipped-propagating-apis: groups, group/version,
 * v1/Kind,Kind or group/version/Kind,Kind, separated by semicolons. NULL with
 * the reason where one is not valid.
 */
struct ignored *ignored_new(const char *namespaces, const char *apis, struct error *err) MUST_USE;
void ignored_free(struct ignored *ignored);

/* True if the template is ignored, with the reason. The template has an object. */
bool ignored_reason(const struct ignored *ignored, const struct entry *template,
                    enum ignored_reason *reason);
