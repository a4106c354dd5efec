/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/unit/world.h"

/* Objects of a world, written as texts with arguments. */

/* Puts the object of a text with ' in place of ". Fails if the store rejects it. */
__attribute__((format(printf, 2, 3))) void world_put_format(struct world *w, const char *format,
                                                            ...);

/* Puts a member cluster that became Ready, or not Ready, at `now_ms`. */
void world_put_cluster(struct world *w, const char *name, bool ready, int64_t now_ms);
