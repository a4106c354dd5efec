/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/evaluation.h"

/* What the objects of a planned change need from the API server before they are applied. */

/*
 * Removes the namespace of an object of a kind that is cluster-scoped by the discovery of the API
 * server: the manifests do not define the scope of custom kinds. Changes nothing without a session.
 */
void planned_object_set_scope(const struct evaluation *e, cJSON *object);

/*
 * Returns true if the session does not read a kind that the policy `object` selects, or the
 * PriorityClass that it names. False for other objects, and without a session.
 */
bool planned_object_needs_kinds(const struct evaluation *e, const cJSON *object);

/* Makes the session read these kinds: call load_planned_kinds() afterwards. */
void planned_object_select_kinds(struct evaluation *e, const cJSON *object);
