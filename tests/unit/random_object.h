/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/unit/world.h"

/*
 * Returns a random object of a kind that the rules read. Names, namespaces and labels are few, so
 * that objects refer to each other. Claims are complete or incomplete, bindings attached or
 * independent. The caller deletes the object.
 */
cJSON *random_object(struct world *w);

/* Puts `count` random objects into the world. */
void random_objects(struct world *w, size_t count);
