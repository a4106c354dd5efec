/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/unit/world.h"

/*
 * Adds random conditions and items of member clusters to the status of a binding, and evictions,
 * suspension and clusters of requiredBy to its spec. Parts may be absent or incomplete, the items
 * of a wrong type. `members` are the names of the member clusters.
 */
void random_status(struct world *w, cJSON *binding, const char *const *members, uint32_t count);
