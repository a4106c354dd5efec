/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/explain/parts.h"

/*
 * The section "overrides": which rules of override policies act on a template, in the order in
 * which Karmada applies them, by the member clusters that its binding means. None without those,
 * and none where no override policy selects the template.
 */
void explain_overrides_of(struct explaining *x, const struct entry *template);
