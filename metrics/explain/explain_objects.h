/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/explain/explanation.h"
#include "metrics/model/store.h"

/* Explanations of objects that are no template, policy or binding, and of namespaces. */

/*
 * Adds all sections about an override policy to the open object: the templates that it selects, the
 * member clusters of its rules, the policies that name it in dependentOverrides, and the Works that
 * it was applied to.
 */
void explain_override(struct explain_context *x, const struct entry *override);

/*
 * Adds all sections about a member cluster to the open object: its condition, the templates placed
 * there by stage, the replicas that leave or arrive once outdated templates follow their policies,
 * and its resources.
 */
void explain_cluster(struct explain_context *x, const struct entry *cluster);

/*
 * Adds all sections about a namespace to the open object: its templates by state, and the policies
 * that govern them, and its quotas. Returns false if the namespace has no template, no policy and
 * no quota.
 */
bool explain_namespace_contents(struct explain_context *x, const char *ns);
