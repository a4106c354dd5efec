/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/explain/explanation.h"
#include "metrics/model/store.h"

/* Explanations that read policies: one policy, or the policies of a template. */

/* Adds all sections about a policy to the open object. */
void explain_policy(struct explain_context *x, const struct entry *policy);

/* Adds the version of its policy that a template runs to the open section. */
void explain_template_version(struct explain_context *x, const struct entry *template);

/*
 * Adds the section "selection": the policies that select a template, best first, each with the
 * reason why it loses. If no policy wins, the section also has policies for the same kind, with the
 * part of their selector that does not match.
 */
void explain_selection(struct explain_context *x, const struct entry *template);
