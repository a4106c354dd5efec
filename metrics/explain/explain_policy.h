/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/explain/explanation.h"
#include "metrics/model/store.h"

/* All sections about a policy, into the open object. */
void explain_policy(struct explaining *x, const struct entry *policy);

/* Which version of its policy a template runs, as members of the open section. */
void explain_version_of(struct explaining *x, const struct entry *template);

/*
 * The section "candidates": the policies that select a template, best first, each with what made
 * it lose. Where none of them may have it, also those that select its kind, and what of their
 * selectors does not fit.
 */
void explain_selection(struct explaining *x, const struct entry *template);
