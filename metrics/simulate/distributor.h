/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/simulate/overlay.h"

/*
 * What Karmada's dependencies distributor makes of bindings (pkg/dependenciesdistributor): one
 * attached binding for each dependency that exists, whose fields the referrers decide together.
 */

/*
 * A ResourceBinding was written, or an object appeared that its template needs: the attached
 * bindings follow.
 */
void distributor_sync(struct overlay *overlay, struct entry *binding);

/* Take the binding off those of these dependencies that its template no longer names. */
void distributor_drop(struct overlay *overlay, struct entry *binding,
                      const struct entry_list *before);

/* The binding goes: nobody is required by it any more. Call it before its object is removed. */
void distributor_leave(struct overlay *overlay, struct entry *binding);

/* A template has appeared: sync the bindings in its namespace whose templates need it. */
void distributor_arrive(struct overlay *overlay, struct entry *template);
