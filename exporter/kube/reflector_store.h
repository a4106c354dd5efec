/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/reflector.h"

/* What a reflector does to the store with the objects that it is told of. */

/* The object is so. Outside the filter it is skipped; one that cannot be read is counted and told
 * of.
 */
void reflector_put(struct reflector *f, const cJSON *object);

/* The object is gone. One that another source brought stays. */
void reflector_take_away(struct reflector *f, const cJSON *object);

/*
 * An object cannot be read: count it and tell of it. The version before it stays, where
 * the object is known (else NULL), for it is there.
 */
void reflector_reject(struct reflector *f, const cJSON *object, const char *reason);
