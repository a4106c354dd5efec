/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/unit/world.h"

/*
 * Give a binding whatever Karmada may have written of how far it has come: conditions, items of
 * its clusters and of others, evictions, suspension; each of them now and then, in part, or of
 * another type. `members` are the clusters there may be.
 */
void random_status(struct world *w, cJSON *binding, const char *const *members, uint32_t count);
