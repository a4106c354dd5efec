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
 * bindings; removes the binding from the referrers of dependencies that its template no longer
 * requires, and records the dependencies on the binding. If propagateDeps is false or the binding
 * has no namespace, removes the binding from the referrers of all dependencies instead. Otherwise
 * writes nothing if the feature gate is off, if the binding is in deletion, if the dependencies are
 * unknown, or if the binding was just created (`created`) and is known to have no clusters. Call
 * this function after the binding was written, or after a dependency was created.
 */
void distributor_sync(struct overlay *overlay, struct entry *binding, bool created);

/*
 * Sets the targets that a binding, about to be written, has for its referrers beside its own
 * clusters. Then calls overlay_suspend_targets(). Call this function after the scheduler has
 * changed the clusters of `old` (NULL: the binding is new).
 */
void distributor_update_targets(struct overlay *overlay, const struct binding *old,
                                struct binding *fresh);

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
