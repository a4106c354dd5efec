/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/explain/parts.h"

/* All sections about a policy, into the open object. */
void explain_policy(struct explaining *x, const struct entry *policy);
