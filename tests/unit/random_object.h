/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/unit/world.h"

/*
 * A random object of any kind that the rules look at: few names, namespaces and
 * labels, so that objects meet, and all the shapes that Karmada writes (claims,
 * complete and in part; attached and independent bindings; managedFields). The caller
 * deletes it.
 */
cJSON *random_object(struct world *w);

/* Put so many of them into the world. */
void random_objects(struct world *w, size_t count);
