/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/simulate/overlay.h"

/*
 * Simulation of Karmada's dependencies distributor (Karmada: pkg/dependenciesdistributor). Each
 * existing dependency has one attached binding; its fields result from all its referrers.
 */

/*
 * Updates the bindings of the dependencies of a ResourceBinding. Call it after the ResourceBinding
 * was written, or after an object that its template requires was created.
 */
void distributor_sync(struct overlay *overlay, struct entry *binding);

/*
 * Removes the binding from the referrers of each dependency in `before` that its template no longer
 * requires.
 */
void distributor_detach_unneeded(struct overlay *overlay, struct entry *binding,
                                 const struct entry_list *before);

/*
 * Removes the binding from the referrers of all its dependencies. Must be called before the object
 * of the binding is removed.
 */
void distributor_detach_all(struct overlay *overlay, struct entry *binding);

/*
 * Calls distributor_sync() for the bindings that depend on a new template; all of them are in its
 * namespace.
 */
void distributor_on_template_created(struct overlay *overlay, struct entry *template);
