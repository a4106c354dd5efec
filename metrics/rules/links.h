/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/binding.h"
#include "metrics/model/object.h"

/* Which entry an object means when it names another one. */

/* What spec.resource of a binding names. False if that is no template. */
bool binding_resource(const struct binding *b, struct identity *out);

/* The template of a binding, with or without an object; NULL if nobody knows it. */
struct entry *binding_template(const struct store *s, const struct binding *b);

/* The binding that a member of spec.requiredBy names. Borrowed texts. */
struct identity referrer_identity(const struct referrer *r);

/* The policy of a claim, made as an entry where it does not exist. */
struct entry *claim_policy(struct store *s, const struct claim *claim);

/*
 * The policy of a claim still exists under the id that the claim names. `claimed` is the
 * answer of claim_policy, or NULL.
 */
bool claim_holds(const struct claim *claim, const struct entry *claimed);

/*
 * The binding that Karmada makes for this template, if it exists and names this template;
 * else NULL. Of two templates that want one binding name only one gets it.
 */
struct entry *template_binding(const struct store *s, const struct entry *template);
