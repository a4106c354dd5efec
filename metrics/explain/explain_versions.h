/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/explain/parts.h"

/* The section "versions" of a policy: which there are, who runs them, and what has changed since.
 */
void explain_versions(struct explaining *x, const struct entry *policy);

/* Which version of its policy a template runs, as members of the open section. */
void explain_version_of(struct explaining *x, const struct entry *template);
