/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/explain/parts.h"

/*
 * The section "next": what Karmada makes of a template by itself, and after its user's next
 * change, played. Decisions that were read before are void afterwards, entries are not.
 */
void explain_next(struct explaining *x, const struct entry *template);
