/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/text/text_table.h"
#include "metrics/simulate/plan.h"

/* Text of a plan about an upgrade of Karmada. */

/*
 * Calls plan_upgrade() for a release that a user typed. `present` are the releases that Karmada may
 * run now. Returns false and sets `err` if the release is not known, is not later than the present
 * one, or if the present release is not known exactly.
 */
bool plan_upgrade_typed(struct plan *p, struct release_range present, const char *typed,
                        struct error *err) MUST_USE;

/*
 * Appends the causes for which an upgrade changes a template, such as "by webster_division";
 * nothing without causes.
 */
void plan_add_causes(const struct plan_template *t, struct strbuf *out);

/*
 * Appends paragraphs about the upgrade: the behaviours that differ between the releases, with the
 * number of templates, and feature gates with another default. Appends nothing without an upgrade.
 */
void plan_print_upgrade(const struct plan_result *r, struct output *o);
