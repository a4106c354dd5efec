/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/explain/explanation.h"
#include "metrics/model/store.h"

/* Explanations that read policies: one policy, or the policies of a template. */

/* Adds all sections about a policy to the open object. */
void explain_policy(struct explain_context *x, const struct entry *policy);

/* Adds the version of the claimed policy that a template runs, if any, to the open section. */
void explain_template_version(struct explain_context *x, const struct entry *template);

/*
 * Adds the section "selection": the policies that select a template, best first. Each has its
 * result: it wins, loses by a criterion, or is ruled out. If no policy wins, adds up to 10 policies
 * that almost select the template, with the part of the selector that does not match or, if only
 * the policy's namespace differs, "policyNamespace".
 */
void explain_selection(struct explain_context *x, const struct entry *template);
