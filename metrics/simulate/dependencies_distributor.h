/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/simulate/overlay.h"

/*
 * Simulation of Karmada's dependencies distributor (Karmada: pkg/dependenciesdistributor). All
 * referrers of an existing dependency share one attached binding. If the dependency has no policy,
 * the fields of the binding result from the referrers.
 */

/*
 * Adds a binding to the referrers of its existing dependencies, and creates or updates the attached
 * bindings. If propagateDeps is false or the binding has no namespace, removes the binding from the
 * referrers of all dependencies instead. Otherwise writes nothing if the feature gate is off, if
 * the binding is in deletion or is known to have no clusters, or if the dependencies are unknown.
 * Call this function after the binding was written, or after a dependency was created.
 */
void distributor_sync(struct overlay *overlay, struct entry *binding);

/*
 * Removes a binding from the referrers of each dependency in `before` that the binding's template
 * no longer requires. Does nothing if the present dependencies are unknown.
 */
void distributor_detach_unneeded(struct overlay *overlay, struct entry *binding,
                                 const struct entry_list *before);

/*
 * Removes a binding from the referrers of all dependencies. Must be called before the object of the
 * binding is removed.
 */
void distributor_detach_all(struct overlay *overlay, struct entry *binding);

/*
 * Calls distributor_sync() for the ResourceBindings in the namespace of a new template that
 * propagate the template as a dependency.
 */
void distributor_on_template_created(struct overlay *overlay, struct entry *template);
