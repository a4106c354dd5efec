/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/explain/explanation.h"
#include "metrics/model/store.h"

/* FederatedResourceQuotas in explanations. */

/*
 * Adds the section "quotas" to the explanation of a template: the quotas of its namespace with
 * limits and usage, the usage of the template, how much more the template needs, and the quota that
 * refuses it. Adds nothing if the namespace has no quota, or the template requests nothing.
 */
void explain_template_quotas(struct explain_context *x, const struct entry *template);

/*
 * Adds the section "quotas" to the explanation of a namespace: its quotas with limits and usage,
 * and the templates that they refuse. Adds nothing if the namespace has no quota. Returns the
 * number of quotas.
 */
size_t explain_namespace_quotas(struct explain_context *x, const char *ns);
