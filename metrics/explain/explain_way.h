/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/explain/parts.h"

/*
 * The section "way": the first link that is broken on the template's way from match to health,
 * what Karmada says of it, who must act, what ends it; then each link, and each member cluster.
 */
void explain_way(struct explaining *x, const struct entry *template);
