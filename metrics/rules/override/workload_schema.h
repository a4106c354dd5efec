/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/json.h"

/*
 * Types of the kinds with containers that an imageOverrider without predicate changes. Karmada
 * converts the object to a Go struct first (apimachinery: FromUnstructured), which fails if a value
 * has another type.
 */

/*
 * Returns true if all known fields of the object have a type that the conversion accepts, else
 * false with the reason. `kind` is Pod, ReplicaSet, Deployment, DaemonSet, StatefulSet or Job, of
 * any group.
 */
bool workload_fits_schema(const cJSON *object, const char *kind, struct error *err) MUST_USE;

/* Returns true for these kinds, in any group. */
bool workload_has_containers(const char *kind);
