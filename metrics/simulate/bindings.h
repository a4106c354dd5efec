/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/binding.h"
#include "metrics/model/store.h"
#include "metrics/model/template.h"
#include "metrics/rules/projection.h"
#include "metrics/simulate/play.h"

/*
 * Bindings as the simulated Karmada writes them: copies that borrow all that they do not change,
 * and that the play keeps.
 */

/* The entry of a template's binding, existing or not. */
struct entry *bindings_entry(struct play *play, const struct entry *template);
/* True if the binding is this very template's, not a namesake's. */
bool bindings_is_of(const struct binding *b, const struct entry *template);

/* A copy to be changed. */
struct binding *bindings_copy(struct play *play, const struct binding *old) MUST_USE;
/* A new binding of the template, without placement, claim or referrers. */
struct binding *bindings_make(struct play *play, const struct entry *template) MUST_USE;

/* Only the scheduler knows the clusters of a copy, for this reason. */
void bindings_set_undetermined(struct binding *b, enum undetermined_reason reason);

/* The binding is made from the template's present version. */
void bindings_follow(struct binding *b, const struct template *t);
