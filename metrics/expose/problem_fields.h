/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/expose/problem_parties.h"

/*
 * Fields that cause problems, as paths such as "spec.resourceSelectors[1].apiVersion". A path may
 * name a field that the object does not have: then the nearest field above is meant. Keys are as in
 * the object, also those with dots. All decisions must be up to date.
 */

/*
 * Appends the path of the field of `entry` that causes the problem. `entry` is the subject, the
 * policy, or another object of the problem (problem_each_object()). Appends nothing if the object
 * as a whole causes it.
 */
void problem_add_field(const struct engine *e, const struct problem *p, const struct entry *entry,
                       struct strbuf *out);

/* Returns true if a field of the policy of the problem, which is not the subject, causes it. */
bool problem_blames_policy(const struct problem *p);

/*
 * Calls `each` for the policy, if problem_blames_policy(), then for every other object of
 * problem_each_related().
 */
void problem_each_object(const struct engine *e, const struct problem *p, problem_related_fn *each,
                         void *context);

/*
 * Returns the index of the first element of resourceSelectors from index `from` on that names a
 * kind which the API server does not serve (`absent`), or a version that Karmada does not watch.
 * Returns the number of elements if there is none. `subject` is a policy or an override policy.
 */
uint32_t problem_find_wrong_selector(const struct engine *e, const struct entry *subject,
                                     bool absent, uint32_t from);

/* Returns the resourceSelectors of a policy or an override policy, and their number. */
const struct resource_selector *problem_selectors(const struct entry *subject, uint32_t *count);

/* Used only by tests. */

/* Returns true if the table has paths for the problem. */
bool problem_has_fields(enum problem_id problem);
