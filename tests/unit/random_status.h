/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/unit/world.h"

/*
 * Adds a random status to a binding: conditions, items of target clusters and of others, evictions,
 * suspension. Each part may be absent, incomplete or of a wrong type. `members` are the names of
 * the member clusters.
 */
void random_status(struct world *w, cJSON *binding, const char *const *members, uint32_t count);
