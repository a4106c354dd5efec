/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/reflector.h"

/* What a follower does to the store with the objects that it is told of. */

/* The object is so. Out of scope it is passed over; one that cannot be read is counted and told of.
 */
void follower_put(struct follower *f, const cJSON *object);

/* The object is gone. One that another source brought stays. */
void follower_take_away(struct follower *f, const cJSON *object);

/*
 * An object cannot be read: count it and tell of it. The version before it stays, where
 * the object is known (else NULL), for it is there.
 */
void follower_reject(struct follower *f, const cJSON *object, const char *reason);
