/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/explain/parts.h"
#include "metrics/model/store.h"

/*
 * The section "says" of a policy: its settings, and which of its rules fit none of `templates`,
 * those whose decisions it is part of.
 */
void explain_says(struct explaining *x, const struct entry *policy,
                  const struct listing *templates);
