/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/explain/explanation.h"

/* Sections about verdicts by cluster (product contract 3.13). */

/*
 * Adds the objects "placement" and "verdicts": each member cluster, and why the scheduler does not
 * place the template there. Adds nothing for a template without a placement.
 */
void explain_template_verdicts(struct explain_context *x, const struct entry *template);

/*
 * Adds the section "where": the member clusters that the placement of a policy allows, and why it
 * does not allow the others.
 */
void explain_policy_verdicts(struct explain_context *x, const struct entry *policy);

/* Adds the section "notPlaced": the templates that do not run in a member cluster, and why. */
void explain_cluster_verdicts(struct explain_context *x, const struct entry *cluster);
