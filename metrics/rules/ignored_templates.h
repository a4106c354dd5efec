/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/decision.h"

/*
 * Which templates Karmada never propagates (Karmada: EventFilter, NewSkippedResourceConfig, and
 * the defaults of its flags).
 */
struct ignored;

/*
 * `namespaces`: regular expressions, separated by commas, each for a whole namespace. `apis`: as
 * in --skipped-propagating-apis, separated by semicolons: group, group/version, v1/Kind,Kind or
 * group/version/Kind,Kind. NULL with the reason if one is not valid.
 */
struct ignored *ignored_new(const char *namespaces, const char *apis, struct error *err) MUST_USE;
/* Takes NULL. */
void ignored_free(struct ignored *ignored);

/*
 * True, with the reason, if the template is ignored; it must have an object. What holds for a
 * whole partition is remembered in its `verdict`.
 */
bool ignored_reason(const struct ignored *ignored, const struct entry *template,
                    enum ignored_reason *reason);
